package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/report"
	"choiros/internal/control/supervisor"
	"choiros/internal/foldersize"
	"choiros/internal/keyring"
	keyvault "choiros/internal/keyring/vault"
	"choiros/internal/logbook"
	"choiros/internal/sandbox"
)

// runReport writes a report into a new file and prints its contents. Code conflict: the file exists.
func runReport(ctx context.Context, a *app, path string) error {
	r, err := a.newReport(ctx)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return choir.Refuse("", choir.ReasonReportExists, choir.TextOf("path", path))
	}
	if err != nil {
		return choir.Refuse("", choir.ReasonReportNotWritten, choir.TextOf("why", err))
	}
	if err := errors.Join(r.Write(f), f.Close()); err != nil {
		return choir.Wrap("", choir.CodeUnavailable, errors.Join(err, os.Remove(path)), "write the report %s", path)
	}
	if a.json {
		a.printJSON(struct {
			File     string `json:"file"`
			Contents string `json:"contents"`
		}{path, r.Contents()})
		return nil
	}
	a.printf("%s\n", lines(r.Contents()))
	a.say("report.written", "path", path)
	return nil
}

// newReport collects the report. Parts that cannot be read are left out, with the reason.
func (a *app) newReport(ctx context.Context) (*report.Report, error) {
	file, _, configErr := a.loadConfig()
	if configErr != nil {
		file = config.Default()
	}
	connected, connectedErr := config.LoadConnected(a.data)
	r := report.New(now(), a.secrets(ctx, file, connected), file.Keys())
	for _, add := range []func() error{
		func() error { return addVersions(ctx, r) },
		func() error { return a.addConfiguration(r, file, connected, configErr, connectedErr) },
		func() error {
			return r.AddJSON("machine.json", "kernel, cgroups, namespaces", report.LookAtMachine(a.data))
		},
		func() error { return a.addFindings(ctx, r) },
		func() error { return a.addDiagnosis(ctx, r, file) },
		func() error { return a.addLog(r) },
		func() error { return a.addSizes(ctx, r) },
	} {
		if err := add(); err != nil {
			return nil, err
		}
	}
	for _, l := range [][2]string{
		{"keys and tokens", "none of keys/ is read for the report but to take its content out of it"},
		{"prompts, answers, documents, files, names", "nothing of an event but its type, and nothing of a workspace but its size"},
		{"the environment", "neither names nor values"},
		{"texts of errors", "their code, operation and kind are in log.json"},
	} {
		r.Leave(l[0], l[1])
	}
	return r, nil
}

// secrets returns the texts that must not occur in a report: keys, values of the configuration that
// strangers may not read, and the environment of this command.
func (a *app) secrets(ctx context.Context, file config.Config, connected config.Connected) []string {
	page := config.Config{Models: connected.Models()}
	out := slices.Concat(file.Withheld(), page.Withheld(), config.TextsOf(a.configPath()), config.TextsOf(filepath.Join(a.data, config.ConnectedFile)))
	for _, p := range slices.Concat(file.Models.Providers, page.Models.Providers) {
		if source := a.keySource(p); source != nil {
			if key, err := source(ctx); err == nil {
				out = append(out, key)
			}
		}
	}
	out = append(out, a.keptKeys(ctx)...)
	if kept, err := keyvault.New(filepath.Join(a.data, "keys", "vault"), now).Keys(ctx, nil); err == nil {
		out = slices.AppendSeq(out, maps.Values(kept))
	}
	if raw, err := os.ReadFile(file.Bus.ClusterCredentials); err == nil {
		out = append(out, string(raw))
	}
	for _, variable := range os.Environ() {
		_, value, _ := strings.Cut(variable, "=")
		out = append(out, value)
	}
	host, _ := os.Hostname() // a host without a name has none to keep
	return append(out, a.data, host)
}

// configPath returns the path of the configuration file.
func (a *app) configPath() string {
	if a.config != "" {
		return a.config
	}
	return filepath.Join(a.data, "choir.toml")
}

// keptKeys returns the keys that the owner entered on the shell's page.
func (a *app) keptKeys(ctx context.Context) (out []string) {
	var reader keyring.Reader = a.keys()
	names, err := a.keys().Names(ctx)
	if err != nil {
		return nil
	}
	for _, name := range names {
		if key, err := reader.Read(ctx, name); err == nil {
			out = append(out, key)
		}
	}
	return out
}

// versions lists the versions of choir's build and of the programs it runs with.
type versions struct {
	Choir    string            `json:"choir"`
	Go       string            `json:"go"`
	System   string            `json:"system"`
	Build    map[string]string `json:"build"`
	Modules  map[string]string `json:"modules"`
	Programs map[string]string `json:"programs"`
}

// plainVersion matches a program's output of its name and version.
var plainVersion = regexp.MustCompile(`^[A-Za-z]+( version)? v?[0-9][0-9A-Za-z.+~-]*( \([0-9A-Za-z .+~-]+\))?$`)

// addVersions adds the versions of choir, its modules, bubblewrap and git to the report.
func addVersions(ctx context.Context, r *report.Report) error {
	v := versions{
		Choir: version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Build: map[string]string{}, Modules: map[string]string{}, Programs: map[string]string{},
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if strings.HasPrefix(s.Key, "vcs.") || s.Key == "-tags" || s.Key == "CGO_ENABLED" {
				v.Build[s.Key] = s.Value
			}
		}
		for _, m := range info.Deps {
			v.Modules[m.Path] = m.Version
		}
	}
	for _, program := range []string{"bwrap", "git"} {
		ctx, cancel := context.WithTimeout(ctx, toolTimeout)
		out, err := exec.CommandContext(ctx, program, "--version").Output()
		cancel()
		said := strings.TrimSpace(string(out))
		switch {
		case err != nil:
			v.Programs[program] = "does not run"
		case plainVersion.MatchString(said):
			v.Programs[program] = said
		default:
			v.Programs[program] = "says something else than a version"
		}
	}
	return r.AddJSON("versions.json", "choir, Go, modules, bubblewrap and git", v)
}

// settings is the configuration without texts that strangers may not read.
type settings struct {
	File []config.Shown `json:"file"`
	Page []config.Shown `json:"page"` // models connected on the shell's page
}

// addConfiguration adds the settings that strangers may read to the report, unless errs has an error.
func (a *app) addConfiguration(r *report.Report, file config.Config, connected config.Connected, errs ...error) error {
	if err := errors.Join(errs...); err != nil {
		r.LeaveFailed("configuration.json", err)
		return nil
	}
	page := config.Config{Models: connected.Models()}.Shown()
	page = slices.DeleteFunc(page, func(s config.Shown) bool { return !strings.HasPrefix(s.Key, "models.") })
	return r.AddJSON("configuration.json", "the settings; texts that are not words of choir are withheld", settings{file.Shown(), page})
}

// finding is one check of the doctor.
type finding struct {
	Name     string `json:"name"`
	OK       bool   `json:"ok"`
	Required bool   `json:"required,omitempty"`
	Detail   string `json:"detail,omitempty"`
	Remedy   string `json:"remedy,omitempty"`
}

// findings are the doctor's findings, without texts that strangers may not read.
type findings struct {
	Running   bool      `json:"running"` // they come from a running choir
	Driver    string    `json:"driver"`
	Usable    bool      `json:"usable"`
	Level     string    `json:"level"`
	Limits    string    `json:"limits,omitempty"`
	Missing   []string  `json:"missing,omitempty"`
	Connected bool      `json:"model_connected"`
	Checks    []finding `json:"checks"`
}

// ofTheMachine are the checks whose texts concern the machine only. Of other checks, whose texts may
// have the owner's words, a report has the kind and the outcome.
var ofTheMachine = []string{
	"disk", "browser", sandbox.ToolCargo, sandbox.ToolGo, sandbox.ToolNode, sandbox.ToolPython, sandbox.ToolPytest, sandbox.ToolMake, sandbox.ToolGit,
}

// addFindings adds the doctor's findings to the report.
func (a *app) addFindings(ctx context.Context, r *report.Report) error {
	d, running, err := a.diagnoseMachine(ctx)
	if err != nil {
		r.LeaveFailed("doctor.json", err)
		return nil
	}
	f := findings{
		Running: running, Driver: d.Isolation.Driver, Usable: d.Isolation.Usable, Level: d.Isolation.Level.Name, Limits: d.Isolation.Level.Limits,
		Missing: d.Isolation.Level.Missing, Connected: d.Models.Connected,
	}
	for _, c := range d.Isolation.Checks {
		f.Checks = append(f.Checks, finding{c.Name, c.OK, c.Required, c.Detail, c.Remedy})
	}
	for _, c := range d.Checks {
		if slices.Contains(ofTheMachine, c.Name) {
			f.Checks = append(f.Checks, finding{c.Name, c.OK, c.Required, c.Detail, c.Remedy})
			continue
		}
		kind, _, _ := strings.Cut(c.Name, " ")
		f.Checks = append(f.Checks, finding{Name: kind, OK: c.OK, Required: c.Required})
	}
	return r.AddJSON("doctor.json", "what this machine isolates, and what is missing", f)
}

// addDiagnosis adds the diagnosis of the running choir, or of the data folder, to the report. It works
// with an invalid configuration too.
func (a *app) addDiagnosis(ctx context.Context, r *report.Report, file config.Config) error {
	var d api.Diagnosis
	running := false
	ask := func(ctx context.Context, c *client) error { return c.get(ctx, "/api/diagnosis", &d) }
	c, err := a.dial(ctx)
	if err == nil {
		running, err = true, ask(ctx, c)
	} else {
		err = a.withReaderOf(ctx, file, "", func(_ *supervisor.Reader, c *client) error { return ask(ctx, c) })
	}
	if err != nil {
		r.LeaveFailed("computers.json", err)
		return nil
	}
	if running {
		r.AddText("goroutines.txt", "what the running choir does", []byte(d.Goroutines))
	} else {
		r.Leave("goroutines.txt", "no choir is running")
	}
	d.Goroutines = ""
	return r.AddJSON("computers.json", "logs, counts of events by type, open work", d)
}

// records is the largest number of log records in a report.
const records = 2000

// logTail is the end of choir's log.
type logTail struct {
	Skipped int             `json:"lines_that_are_no_records"`
	Records []logbook.Entry `json:"records"`
}

// addLog adds the end of choir's log, without private attributes, to the report.
func (a *app) addLog(r *report.Report) error {
	entries, skipped, err := logbook.Tail(a.logPath(), records)
	if err != nil {
		r.LeaveFailed("log.json", err)
		return nil
	}
	if entries == nil {
		entries = []logbook.Entry{}
	}
	return r.AddJSON("log.json", "the end of choir.log, without what is private", logTail{skipped, entries})
}

// logPath returns the path of choir's log.
func (a *app) logPath() string { return filepath.Join(a.data, "choir.log") }

const (
	// sizesTime limits the time to measure all folders, sizesMost the entries of each.
	sizesTime = 20 * time.Second
	sizesMost = 2 << 20
)

// folderSize is the size of one of choir's folders or files.
type folderSize struct {
	Path string `json:"path"`
	foldersize.Size
}

// addSizes adds the sizes of choir's own folders to the report. The workspace's size is in
// computers.json.
func (a *app) addSizes(ctx context.Context, r *report.Report) error {
	ctx, cancel := context.WithTimeout(ctx, sizesTime)
	defer cancel()
	paths := []string{"bus", "guest", "keys", "sandbox", "choir.log", "choir.log.1"}
	entries, err := os.ReadDir(filepath.Join(a.data, "computers"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.LeaveFailed("sizes of computers", err)
	}
	for _, e := range entries {
		if !choir.ID(e.Name()).Valid() {
			continue
		}
		for _, part := range []string{"journal", "store.sqlite", "store.sqlite-wal", "blobs", "drafts.sqlite"} {
			paths = append(paths, filepath.Join("computers", e.Name(), part))
		}
	}
	sizes := []folderSize{}
	for _, path := range paths {
		size, err := foldersize.Of(ctx, filepath.Join(a.data, path), sizesMost)
		if err != nil {
			r.LeaveFailed("further sizes", err)
			break
		}
		sizes = append(sizes, folderSize{path, size})
	}
	return r.AddJSON("sizes.json", "what the folders of choir take", sizes)
}
