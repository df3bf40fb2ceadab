package verify

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"choiros/internal/choir"
)

// Host runs the commands of checks.
type Host interface {
	Machine
	// Run runs a command to its end and returns its record and its output, stdout first.
	// The error is nil if the command fails or cannot be started.
	Run(ctx context.Context, o Order) (choir.CommandRun, []byte, error)
}

// Order is one command that a Host is to run.
type Order struct {
	Root    string // the folder that the command's Cwd is below
	Command choir.Command
	Shown   choir.Command // the command in the record
	// Text returns the text for people of the next bytes of the command's stdout; nil
	// if they are that text.
	Text func(p []byte) []byte
}

// Case is a change that is to be verified.
type Case struct {
	Root    string // the task's folder
	Whole   bool   // Root is the workspace of many projects
	Scratch string // folder for copies of the project, outside of Root
	Changed []Changed
	Profile choir.VerifyProfile
	Base    choir.Digest // the tree before the change; may be empty
	Memory  *Memory      // optional
}

// Verdict is the result of a verification.
type Verdict struct {
	choir.VerifyOutcome
	Failed *choir.CommandRun // the check that failed; nil if none did
	// FailedBefore is set if no check failed but for tests that failed before the change too.
	FailedBefore bool
	Output       []byte // of Failed, or of the check with such tests
}

// Examine runs the checks of a change, the given ones or else what it discovers, until one
// fails, and judges their outcome. It runs them again on the tree before the change where
// one failed, and with the tests of before where the change touched what judges it. The
// error is one of running a command, or of the disk.
func Examine(ctx context.Context, h Host, c Case) (v Verdict, err error) {
	if c.Memory == nil {
		c.Memory = &Memory{}
	}
	t := &trial{Case: c, host: h, tree: folder(c.Root), machine: &asked{Machine: h}}
	t.verdict.Mode, t.verdict.Status = c.Profile.Mode, choir.VerifyUnknown
	defer func() { err = errors.Join(err, t.close()) }()
	checks := t.checks()
	t.readJudges(checks)
	if len(checks) == 0 {
		t.conclude(nil)
		t.verdict.Log = strings.Join(append([]string{"no check was found in the project"}, t.verdict.Suspect...), "; ")
		return t.verdict, nil
	}
	var found []finding
	for _, check := range checks {
		f, err := t.examine(ctx, check)
		if err != nil {
			return t.verdict, err
		}
		found = append(found, f)
		if f.status == choir.VerifyFail {
			break
		}
	}
	t.conclude(found)
	t.verdict.FailedBefore = t.verdict.FailedBefore && t.verdict.Failed == nil
	return t.verdict, nil
}

// trial is one verification.
type trial struct {
	Case
	host    Host
	machine Machine // asks the host once
	tree    fs.FS
	judges  []Changed // the changed files that judge the change, CI files apart
	plain   bool      // none of judges can change how the tests of before run
	tests   testDiff
	places  map[string]*fresh // by the folder copied and what was restored
	verdict Verdict
}

// finding is the result of one check.
type finding struct {
	check   Check
	ran     Ran
	status  choir.VerifyStatus
	reasons []string // why unknown
	suspect []string
	weak    string // what its command cannot prove, unless another check proves it
	failed  string // what is new in a failed check
}

func (f *finding) unknown(reason string) {
	f.status = choir.VerifyUnknown
	if reason != "" {
		f.reasons = append(f.reasons, reason)
	}
}

func (f *finding) suspicious(reason string) {
	f.status = choir.VerifyUnknown
	f.suspect = append(f.suspect, reason)
}

// close removes the copies.
func (t *trial) close() error {
	var err error
	for _, p := range t.places {
		err = errors.Join(err, p.remove())
	}
	return err
}

// checks returns the given checks, or discovered ones.
func (t *trial) checks() []Check {
	if len(t.Profile.Commands) == 0 {
		return t.discover()
	}
	var checks []Check
	for _, c := range t.Profile.Commands {
		checks = append(checks, t.given(c))
	}
	return checks
}

func (t *trial) discover() []Check {
	var paths []string
	for _, c := range t.Changed {
		paths = append(paths, c.Path)
	}
	return DiscoverIn(t.tree, paths, t.Profile.Mode, t.machine)
}

// plainShell matches command lines that a shell would run as words alone.
var plainShell = regexp.MustCompile(`^[\w@%+=:,./ -]+$`)

// given returns the check of a command that the task gave.
func (t *trial) given(c choir.Command) Check {
	if c.Shell != "" && c.Cwd == "" && plainShell.MatchString(c.Shell) {
		c.Argv, c.Shell = strings.Fields(c.Shell), ""
	}
	dir := "."
	if c.Cwd != "" {
		dir = path.Clean(c.Cwd)
	}
	check := Check{Kind: "given", Dir: dir, Command: c, Tests: true, given: true}
	if len(c.Argv) > 0 && natureOf(c, noScript) == runs {
		switch program := path.Base(c.Argv[0]); {
		case program == "go", program == "make", program == "node":
			check.Kind = program
		case program == "cargo":
			check.Kind = "rust"
		case program == "npm", program == "pnpm", program == "yarn":
			check.Kind = "node"
		case strings.HasPrefix(program, "py"):
			check.Kind = "python"
		}
	}
	return check
}

func noScript(string, string) string { return "" }

// project returns the project of a check.
func (t *trial) project(c Check) project { return project{tree: t.tree, dir: c.Dir} }

// run runs a check below root. aside, for runs that are not the check itself, is the time
// that it may take; 0 for no limit.
func (t *trial) run(ctx context.Context, root string, c Check, aside time.Duration) (Ran, error) {
	o := Order{Root: root, Command: c.Command, Shown: c.Command}
	o.Command.Cwd = c.Dir
	if s := int(aside.Seconds()); s > 0 {
		o.Command.TimeoutS = s
	}
	scratch, err := os.MkdirTemp(t.Scratch, "report-")
	if err != nil {
		return Ran{}, err
	}
	defer os.RemoveAll(scratch)
	file := filepath.Join(scratch, "junit.xml")
	o.Command.Env = append(slices.Clone(o.Command.Env), t.environment(root, c, file)...)
	text := &reportLine{}
	o.Text = text.text
	var stream goStream
	if args := c.Command.Argv; c.Kind == "go" && len(args) > 1 && args[1] == "test" && !slices.ContainsFunc(args, isGoOutput) {
		o.Command.Argv = slices.Insert(slices.Clone(args), 2, "-json")
		o.Text = stream.text
	}
	run, out, err := t.host.Run(ctx, o)
	ran := Ran{ExitCode: run.ExitCode, Output: out, Run: run}
	switch {
	case stream.report.Known:
		stream.report.total()
		ran.Report = stream.report
	default:
		if ran.Report = junit(file); !ran.Report.Known {
			ran.Report = textReport(string(out))
		}
	}
	return ran, err
}

// isGoOutput reports whether an argument of go test changes what it prints.
func isGoOutput(arg string) bool {
	return arg == "-json" || arg == "-c" || strings.HasPrefix(arg, "-exec") || strings.HasPrefix(arg, "-bench") || arg == "-list"
}

// environment returns the variables that a check gets besides those of all commands.
func (t *trial) environment(root string, c Check, report string) []choir.EnvVar {
	env := []choir.EnvVar{{Name: "PYTEST_ADDOPTS", Value: "--junitxml=" + report + " -o junit_family=xunit1"}}
	if c.Kind != "python" && c.Kind != "make" && c.Kind != "given" {
		return env
	}
	p := t.project(c)
	var sources []string
	for _, dir := range []string{"src", "lib"} {
		if p.hasPackages(dir) {
			sources = append(sources, filepath.Join(root, c.Dir, dir))
		}
	}
	if len(sources) > 0 {
		env = append(env, choir.EnvVar{Name: "PYTHONPATH", Value: strings.Join(append(sources, filepath.Join(root, c.Dir)), ":")})
	}
	return env
}

// reportLine leaves out the line by which pytest names the file of its report, whose name
// differs from run to run.
type reportLine struct{ partial []byte }

func (r *reportLine) text(p []byte) []byte {
	var shown []byte
	for line := range bytes.Lines(append(r.partial, p...)) {
		switch {
		case !bytes.HasSuffix(line, []byte("\n")) && bytes.HasPrefix(line, []byte("-")):
			r.partial = slices.Clone(line)
			return shown
		case bytes.HasPrefix(line, []byte("-")) && bytes.Contains(line, []byte("- generated xml file: ")):
		default:
			shown = append(shown, line...)
		}
	}
	r.partial = nil
	return shown
}

// place returns a copy of the project of a check with the given files as they were
// before the change. what names them. Code too_large, no_space: it cannot be made.
func (t *trial) place(ctx context.Context, c Check, what string, restored []Changed) (*fresh, error) {
	top := t.top(c)
	key := what + " " + top
	if p := t.places[key]; p != nil {
		return p, nil
	}
	p, err := newFresh(t.Scratch)
	if err != nil {
		return nil, err
	}
	if t.places == nil {
		t.places = map[string]*fresh{}
	}
	t.places[key] = p
	if err := p.copyFrom(ctx, t.Root, top); err != nil {
		return nil, err
	}
	for _, ch := range restored {
		if top != "." && !strings.HasPrefix(ch.Path, top+"/") {
			continue
		}
		if err := p.restore(ch); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// top returns the folder to copy for a check: all of a project, one of many in a workspace.
func (t *trial) top(c Check) string {
	if !t.Whole || c.Dir == "." {
		return "."
	}
	parts := strings.Split(c.Dir, "/")
	if parts[0] == "workspace" && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// spare returns the time that another run of a check may take that took so long; false if
// the task has not enough left.
func spare(ctx context.Context, ran Ran) (time.Duration, bool) {
	took := time.Duration(ran.Run.DurationMS) * time.Millisecond
	limit := 4*took + time.Minute
	if end, ok := ctx.Deadline(); ok {
		left := time.Until(end) - 2*time.Second
		return min(limit, left), left > 2*took+time.Second
	}
	return limit, true
}

// asked is a Machine that asks another one only once about each module.
type asked struct {
	Machine
	modules map[string]bool
}

// HasModule implements Machine.
func (a *asked) HasModule(python, module string) bool {
	key := python + " " + module
	has, known := a.modules[key]
	if !known {
		if a.modules == nil {
			a.modules = map[string]bool{}
		}
		has = a.Machine.HasModule(python, module)
		a.modules[key] = has
	}
	return has
}
