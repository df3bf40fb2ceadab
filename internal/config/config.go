// Package config reads choir.toml, choir's configuration file. Every key is documented and
// has a safe default; unknown keys, and keys of features that do not exist yet, are refused.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"choiros/internal/choir"
	"choiros/internal/control/egress"
	"choiros/internal/effect"
)

// Config is the content of the file, over the defaults.
type Config struct {
	Runtime Runtime `toml:"runtime"`
	Storage Storage `toml:"storage"`
	Git     Git     `toml:"git"`
	TEE     TEE     `toml:"tee"`
	Listen  Listen  `toml:"listen"`
	Models  Models  `toml:"models"`
	Auth    Auth    `toml:"auth"`
	Limits  Limits  `toml:"limits"`
	Bus     Bus     `toml:"bus"`
	Gvisor  Gvisor  `toml:"gvisor"`
	// Container is used with runtime.mode "container".
	Container Container `toml:"container"`
	MicroVM   MicroVM   `toml:"microvm"`
	Sprites   Sprites   `toml:"sprites"`
	Trace     Trace     `toml:"trace"`
	Egress    Egress    `toml:"egress"`
	// Approve lists the rules by which results of tasks wait for the owner.
	Approve []Approve `toml:"approve" also:"approval approvals" doc:"Rules by which the result of a task waits for your approval before it is in the workspace (choir approvals), one table each. A rule applies where all that it says does."`
	// Computers is the section of what concerns computers as wholes.
	Computers Computers `toml:"computers"`

	// given is the set of keys that the file sets, such as "limits.processes".
	given map[string]bool
	// chosen is the set of keys that the owner set on the shell's page, in NetworkFile.
	chosen map[string]bool
}

// Runtime configures sandboxes.
type Runtime struct {
	Mode          string `toml:"mode" report:"shown" doc:"Rung of the isolation ladder: local (bubblewrap), gvisor (a kernel of its own for each sandbox; choir must be root), container (Docker or Podman; see [container]), microvm (a virtual machine for each sandbox; see [microvm]), or sprites (a virtual machine at Fly.io for each sandbox; see [sprites])."`
	RequireLimits bool   `toml:"require_limits" doc:"Refuse to start where process, memory and CPU limits cannot be held by cgroups."`
	// Toolchains are absolute, existing folders: see CheckToolchains.
	Toolchains []string `toml:"toolchains" doc:"Folders with compilers and the like that tasks see, read-only, with their bin first in PATH."`
}

// Storage configures how content is stored.
type Storage struct {
	BlobsURL   string `toml:"blobs_url" doc:"Where blobs go; empty means the data folder."`
	Durability string `toml:"durability" report:"shown" doc:"What an acknowledgement waits for: local (this disk), or replicated (also a majority of bus.cluster)."`
	CacheMB    int    `toml:"cache_mb" doc:"Size in MiB from which a cache in the workspace (node_modules, a folder with CACHEDIR.TAG, ...) is left out of snapshots; a rewind leaves it as it is. 0 keeps all."`
	// Snapshots leave out what exceeds these three limits, and a rewind does not change it.
	FileMB      int `toml:"file_mb" doc:"Length in MiB, holes included, from which a file of the workspace is left out of snapshots; a rewind leaves it where it is. 0 keeps all."`
	WorkspaceMB int `toml:"workspace_mb" doc:"Size in MiB of a workspace from which its largest files, or a folder that holds much of it, are left out of snapshots. 0 keeps all."`
	Entries     int `toml:"entries" doc:"Files and folders of a workspace from which the folder that holds most of them is left out of snapshots."`
	DiskGB      int `toml:"disk_gb" doc:"Disk space in GiB that the workspace of one computer may take; 0 is no limit. choir must be root, and the data folder on ext4 or XFS mounted with prjquota: choir doctor says what is missing."`
	KeepDays    int `toml:"keep_days" doc:"Days after which the moments between the tool calls of a task are let go and the content only they need is removed; 0 keeps all."`
}

// Git configures checkpoints and remotes.
type Git struct {
	RemoteTemplate      string `toml:"remote_template" doc:"Repository that each checkpoint of a project is pushed to, on the branch choir/<computer>, such as https://git.example.com/me/{project}.git; {project}, {computer} and {origin}, what it was cloned from, are filled in. Empty pushes nothing."`
	RemoteCredential    string `toml:"remote_credential" doc:"Entry of the vault (choir vault) for these pushes, where the repository is not the one that the project was cloned from."`
	AutoCommitInterval  int    `toml:"auto_commit_interval" doc:"Seconds between automatic checkpoints."`
	AutoCommitThreshold int    `toml:"auto_commit_threshold" doc:"Tasks between automatic checkpoints."`
}

// TEE configures confidential VMs.
type TEE struct {
	AttestationServer string `toml:"attestation_server" doc:"Verifies attestation reports."`
	KeyServer         string `toml:"key_server" doc:"Releases keys against attestation."`
}

// Listen configures the gateway's port.
type Listen struct {
	Address string `toml:"address" report:"shown" doc:"Host and port the gateway listens on."`
	Shell   string `toml:"shell" report:"shown" doc:"Host name of the trusted shell."`
	Domain  string `toml:"domain" report:"shown" doc:"Domain below which each desktop and preview has a host name of its own. Unless it is localhost: of another site than the shell's, all its names lead here, and scheme is https."`
	Scheme  string `toml:"scheme" report:"shown" doc:"How browsers reach the gateway: http (this machine only), or https through a proxy of yours that ends TLS and passes Host and WebSockets on."`
	// PublicPort is 0 for the port of Address.
	PublicPort int `toml:"public_port" doc:"Port at which browsers reach the gateway; 0 is the port of address."`
}

// Models names the models of the roles, with their services and prices.
type Models struct {
	Director  string     `toml:"director" report:"shown" doc:"Model of the Director, as provider/model."`
	Associate string     `toml:"associate" report:"shown" doc:"Model of the Associate, as provider/model."`
	Roles     []Role     `toml:"role" doc:"Models of a role in order of preference, with their settings, one table each."`
	Providers []Provider `toml:"provider" doc:"Model services, one table each."`
	Prices    []Price    `toml:"price" doc:"Prices of models that choir does not know or that cost you something else, one table each."`
}

// Role names the models of one role. The next is called where the one before it cannot be
// reached, is overloaded or fails.
type Role struct {
	Name        string   `toml:"role" doc:"director, associate, tool (programs in the sandbox), or a name of your own that programs ask for."`
	Models      []string `toml:"models" doc:"Models as provider/model, the preferred one first."`
	Effort      string   `toml:"effort" doc:"How long they think: none, low, medium, high or max; empty leaves it to the model."`
	Temperature *float64 `toml:"temperature" doc:"0 to 2; not given leaves it to the model."`
}

// String returns the role on one line.
func (r Role) String() string {
	out := r.Name + ": " + strings.Join(r.Models, ", ")
	if r.Effort != "" {
		out += ", effort " + r.Effort
	}
	if r.Temperature != nil {
		out += fmt.Sprintf(", temperature %g", *r.Temperature)
	}
	return out
}

// Role returns the table of a role with the models of director and associate where it
// names none; false if nothing is said of it.
func (m Models) Role(name string) (Role, bool) {
	out := Role{Name: name}
	if i := slices.IndexFunc(m.Roles, func(r Role) bool { return r.Name == name }); i >= 0 {
		out = m.Roles[i]
	}
	plain := map[string]string{"director": m.Director, "associate": m.Associate}[name]
	if len(out.Models) == 0 && plain != "" {
		out.Models = []string{plain}
	}
	return out, len(out.Models) > 0
}

// Price is the price of one model, in US dollars per million tokens.
type Price struct {
	Model      string  `toml:"model" report:"shown" doc:"Name of the model, without the provider's."`
	Input      float64 `toml:"input" doc:"Input tokens."`
	Output     float64 `toml:"output" doc:"Output tokens."`
	CacheRead  float64 `toml:"cache_read" doc:"Input tokens read from the provider's cache; 0 means as input."`
	CacheWrite float64 `toml:"cache_write" doc:"Input tokens written to the provider's cache; 0 means as input."`
}

// Provider is one model service.
type Provider struct {
	Name    string `toml:"name" report:"shown" doc:"Name used in director and associate."`
	Kind    string `toml:"kind" report:"shown" doc:"anthropic, openai (any compatible endpoint), openai-responses (OpenAI's Responses API) or bedrock."`
	BaseURL string `toml:"base_url" also:"url endpoint address host api_base" doc:"Address; default the provider's own."`
	KeyFile string `toml:"key_file" also:"key api_key apikey token" doc:"File with the key, readable by you alone; else the key comes from key_env."`
	KeyEnv  string `toml:"key_env" doc:"Environment variable of choir up that holds the key."`
	Region  string `toml:"region" report:"shown" doc:"Region, for bedrock."`
	Free    bool   `toml:"free" doc:"Its models cost nothing, such as those on a machine of your own."`
	// OnPage is set if the owner connected the service on the shell's page, Kept if its key is
	// in choir's keyring under its name. choir.toml cannot set them.
	OnPage bool `toml:"-"`
	Kept   bool `toml:"-"`
}

// HasKey reports whether the service is called with a key.
func (p Provider) HasKey() bool { return p.Kept || p.KeyFile != "" || p.KeyEnv != "" }

// NeedsKey reports whether the service cannot be called without a key. Compatible endpoints of OpenAI's
// kinds need none, nor does one of Anthropic's kind that costs nothing at an address of your own.
func (p Provider) NeedsKey() bool {
	return p.Kind == "bedrock" || p.Kind == "anthropic" && (!p.Free || p.BaseURL == "")
}

// Auth configures logins.
type Auth struct {
	Mode string `toml:"mode" report:"shown" doc:"local: a one-time link printed at start."`
}

// Limits are the limits of one computer.
type Limits struct {
	Processes    int     `toml:"processes" doc:"Processes in one sandbox."`
	MemoryMB     int64   `toml:"memory_mb" doc:"Memory of one sandbox, MiB."`
	CPUMilli     int     `toml:"cpu_milli" doc:"CPU of one sandbox, thousandths of a core."`
	RunSteps     int     `toml:"run_steps" doc:"Model calls of the Director in one run."`
	RunCalls     int     `toml:"run_calls" doc:"Model calls of one run, Director, Associate and programs together."`
	RunTokens    int64   `toml:"run_tokens" doc:"Tokens of one run, Director, Associate and programs together."`
	RunCostUSD   float64 `toml:"run_cost_usd" doc:"Cost of one run, US dollars; 0 is no limit."`
	RunSeconds   int     `toml:"run_seconds" doc:"Wall time of one run, seconds."`
	RunTasks     int     `toml:"run_tasks" doc:"Tasks of one run."`
	CostUSD      float64 `toml:"cost_usd" doc:"Cost of one computer altogether, since its log began, US dollars; 0 is no limit."`
	DesktopCost  float64 `toml:"desktop_cost_usd" doc:"Cost of the runs begun on the desktop, by you or by its page, within 24 hours, US dollars; 0 is no limit. Prompts of the top bar's pages and of the CLI do not count."`
	PromptBurst  int     `toml:"prompt_burst" doc:"Prompts within prompt_window seconds."`
	PromptWindow int     `toml:"prompt_window" doc:"Seconds, see prompt_burst."`
	Terminals    int     `toml:"terminals" doc:"Terminals of one computer that are open at once."`
	UploadMB     int64   `toml:"upload_mb" doc:"Size of a project or a file that is brought in, MiB."`
}

// Run returns the limits of one run. A cost of 0, no limit, becomes choir.MaxCostUSD.
func (l Limits) Run() choir.RunLimits {
	r := choir.RunLimits{Steps: l.RunSteps, Calls: l.RunCalls, Tokens: l.RunTokens, Seconds: l.RunSeconds, CostUSD: l.RunCostUSD, Tasks: l.RunTasks}
	if r.CostUSD == 0 {
		r.CostUSD = choir.MaxCostUSD
	}
	return r
}

// Bus configures the NATS bus.
type Bus struct {
	Mode     string `toml:"mode" report:"shown" doc:"embedded."`
	StreamMB int64  `toml:"stream_mb" doc:"Size of the delivery stream on disk, MiB."`
	// Cluster and the next two are used only if storage.durability is "replicated".
	Cluster            []string `toml:"cluster" doc:"Nodes of the NATS cluster that keeps a second copy of each log, as nats://host:port or tls://host:port."`
	ClusterCredentials string   `toml:"cluster_credentials" doc:"File with NATS credentials (.creds) or one line user:password, readable by you alone."`
	ClusterTimeout     int      `toml:"cluster_timeout" doc:"Seconds an append waits for the cluster before it says that it is not replicated yet."`
}

// Gvisor configures the gvisor rung.
type Gvisor struct {
	Runsc string `toml:"runsc" doc:"Path of runsc, gVisor's program; empty looks it up in PATH. choir doctor says how to install it."`
}

// Container configures the container rung.
type Container struct {
	Socket string `toml:"socket" doc:"Socket of the container engine, Docker's or Podman's; empty takes /var/run/docker.sock, /run/podman/podman.sock, or that of your own Podman, whichever is there first."`
}

// MicroVM configures the microvm rung.
type MicroVM struct {
	Kernel   string `toml:"kernel" doc:"Kernel of the machines: FILE.kernel of choir image build --out FILE."`
	Rootfs   string `toml:"rootfs" doc:"Root file system of the machines: the FILE of choir image build --out FILE."`
	VCPU     int    `toml:"vcpu" doc:"Processors of a machine; 0 is as many as limits.cpu_milli has use for, and one where machines are emulated."`
	MemoryMB int    `toml:"memory_mb" doc:"Memory of a machine, MiB, its kernel's included; 0 is limits.memory_mb and what the kernel needs."`
	// VMM is the monitor: the program that runs the machines.
	VMM         string `toml:"vmm" report:"shown" doc:"Program that runs the machines: qemu, which emulates them where KVM does not serve, or firecracker, which needs KVM."`
	Firecracker string `toml:"firecracker" doc:"Path of firecracker (1.11 or newer); empty looks it up in PATH."`
	Jailer      string `toml:"jailer" doc:"Path of Firecracker's jailer, of the same version, which is used where choir is root; empty looks it up in PATH, none uses none."`
	// The keys of machines that have a vsock; QEMU's have a serial line.
	GuestCID int    `toml:"guest_cid" doc:"Context id of a Firecracker machine's vsock, the same for all; 0 is 3."`
	UDSPath  string `toml:"uds_path" doc:"Name of the socket of a Firecracker machine's vsock, in the machine's folder, such as v.sock, which empty is."`
}

// Sprites configures the sprites rung.
type Sprites struct {
	TokenFile string `toml:"token_file" also:"token key key_file" doc:"File with the access token of Fly Sprites, readable by you alone; make one at https://sprites.dev/account."`
	URL       string `toml:"url" also:"base_url endpoint address" doc:"Address of the Sprites API; empty is https://api.sprites.dev."`
	Region    string `toml:"region" doc:"Region in which sprites are made, such as fra; empty leaves it to Fly."`
}

// Trace configures the export of spans.
type Trace struct {
	Endpoint string `toml:"endpoint" doc:"Address of an OpenTelemetry collector, by OTLP over HTTP, such as http://127.0.0.1:4318; empty sends no traces."`
}

// Egress configures what programs in the sandboxes may reach outside.
type Egress struct {
	Mode string `toml:"mode" also:"policy profile" report:"shown" doc:"What programs in the sandboxes may reach outside: none, git+pkg (known git hosts and package registries), or allowlist."`
	// PackageCacheMB limits the cache of packages.
	PackageCacheMB int `toml:"package_cache_mb" also:"package_cache cache cache_mb" report:"shown" doc:"Disk space in MB for packages of npm, PyPI, Go and cargo that all computers share, each as its registry promises it; 0 for none. With it choir looks into TLS to these registries, which ends with an authority that only the sandbox trusts. From the next start on."`
	// Allowlist adds to git+pkg too.
	Allowlist []EgressHost `toml:"allowlist" also:"allow hosts allowed" doc:"Hosts that may be reached with mode allowlist, or besides those of git+pkg, one table each."`
	// Without may also be chosen in the shell.
	Without []string `toml:"without" also:"except remove" doc:"Hosts of the list of git+pkg that are not let out. Where it is given here, the page and choir egress take none away."`
}

// EgressHost is one host that may be reached.
type EgressHost struct {
	Host    string   `toml:"host" also:"name domain" doc:"Host name in lower case, *.example.com for all names below example.com, or an address."`
	Port    int      `toml:"port" doc:"Port; default 443, where TLS for the same host must be spoken. On another one anything may be."`
	Methods []string `toml:"methods" also:"method" doc:"HTTP methods in capitals; default all. With it or paths choir looks into each request, and ends TLS with an authority that only this sandbox trusts."`
	Paths   []string `toml:"paths" also:"path" doc:"Paths below which requests may go; default all."`
}

// Hosts returns the allow list in the words of tasks' profiles.
func (e Egress) Hosts() []choir.EgressHost {
	var hosts []choir.EgressHost
	for _, h := range e.Allowlist {
		hosts = append(hosts, choir.EgressHost(h))
	}
	return hosts
}

// Policy returns the policy of the section. Code invalid, with the key.
func (e Egress) Policy() (egress.Policy, error) {
	p, err := egress.NewPolicy(choir.EgressMode(e.Mode), e.Hosts())
	if err == nil {
		p, err = p.Without(e.Without)
	}
	return p, choir.Under("egress", err)
}

// Approve is one rule by which results of tasks wait for the owner's approval.
type Approve struct {
	Name    string `toml:"name" also:"why reason" doc:"Why, as you want to read it."`
	Tool    string `toml:"tool" doc:"Tool that was called, such as bash or write_file."`
	Path    string `toml:"path" also:"paths glob" doc:"Glob of a changed path, which begins with its project, such as hello/db/**, or **/db/** for any; without a slash, a name at any depth."`
	Command string `toml:"command" also:"commands" doc:"Text of a command that ran, in which * stands for any text, such as git push*main."`
	Lines   int    `toml:"lines" doc:"More added and removed lines than this."`
	Files   int    `toml:"files" doc:"More changed files than this."`
	Egress  string `toml:"egress" also:"host hosts" doc:"Host that was wanted: example.com, *.example.com, or * for any. Tasks send nothing to such a host, whatever [egress] says."`
}

// Policy returns the policy of the rules. Code invalid, with the key of the rule.
func (c Config) Policy() (effect.Policy, error) {
	var rules []effect.Rule
	for _, a := range c.Approve {
		rules = append(rules, effect.Rule(a))
	}
	p, err := effect.NewPolicy(rules)
	return p, choir.Under("approve", err)
}

// Computers configures when computers are open.
type Computers struct {
	HibernateAfter string `toml:"hibernate_after" report:"shown" doc:"Time without use, such as 30m, after which a computer hibernates: its sandboxes end, and the next request starts them again. It does not while a run is open, a page of it is open, a program runs in the foreground of a terminal, or somebody uses a port. 0 is never, but to make room for another one; see awake_at_most."`
	FreezeAfter    string `toml:"freeze_after" report:"shown" doc:"Time without use, such as 5m, after which the programs of a computer that is open stand still, until the next request, a few milliseconds later. Where a computer would not hibernate it is not frozen either; programs in the background are. Needs cgroups. 0 is never."`
	AwakeAtMost    int    `toml:"awake_at_most" report:"shown" doc:"Largest number of computers that are open or being made at once. A request for one more is refused with status 503 and the time to wait (Retry-After), and the computer whose last use is the longest ago hibernates, if there is one that may and was not used for a minute, also with hibernate_after 0. After a start all computers with open work are opened. 0 is any number."`
	// Ready needs runtime.mode to be one whose waiting sandboxes cost no money.
	Ready int `toml:"ready" report:"shown" doc:"Hibernated computers for which new sandboxes wait, started beforehand, so that they wake sooner: those used last and most, while memory is free. 0 is none. With runtime.mode sprites there are none, because they cost money."`
}

// Idle returns HibernateAfter as a duration; 0 for never. Check has accepted it.
func (c Computers) Idle() time.Duration {
	d, _ := time.ParseDuration(c.HibernateAfter)
	return d
}

// Freezing returns FreezeAfter as a duration; 0 for never. Check has accepted it.
func (c Computers) Freezing() time.Duration {
	d, _ := time.ParseDuration(c.FreezeAfter)
	return d
}

// Default returns the configuration without a file.
func Default() Config {
	run := choir.DefaultRunLimits()
	return Config{
		Runtime: Runtime{Mode: "local"},
		Storage: Storage{Durability: "local", CacheMB: 1024, FileMB: 4096, WorkspaceMB: 65_536, Entries: 500_000},
		Git:     Git{AutoCommitInterval: 300, AutoCommitThreshold: 50},
		Listen:  Listen{Address: "127.0.0.1:8080", Shell: "choir.localhost", Domain: "localhost", Scheme: "http"},
		Auth:    Auth{Mode: "local"},
		Limits: Limits{
			Processes: 1024, MemoryMB: 4096, CPUMilli: 2000,
			RunSteps: run.Steps, RunCalls: run.Calls, RunTokens: run.Tokens, RunCostUSD: run.CostUSD, RunSeconds: run.Seconds, RunTasks: run.Tasks,
			CostUSD: 100, DesktopCost: 20,
			PromptBurst: 5, PromptWindow: 10, Terminals: 16, UploadMB: 4096,
		},
		Bus:       Bus{Mode: "embedded", StreamMB: 512, ClusterTimeout: 5},
		Egress:    Egress{Mode: string(choir.EgressNone)},
		Computers: Computers{HibernateAfter: "30m", FreezeAfter: "5m", Ready: 1},
		MicroVM:   MicroVM{VMM: "qemu"},
	}
}

// Load reads the file explicit, or the first of candidates that exists if explicit is empty,
// over the defaults. It returns the configuration and the file's path, "" for none. Code
// not_found: explicit does not exist.
func Load(explicit string, candidates ...string) (Config, string, error) {
	paths := candidates
	if explicit != "" {
		paths = []string{explicit}
	}
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) && explicit == "" {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			return Config{}, p, choir.Wrap("config.load", choir.CodeNotFound, err, "read the configuration")
		}
		if err != nil {
			return Config{}, p, choir.Wrap("config.load", choir.CodeUnavailable, err, "read the configuration")
		}
		c, err := Parse(raw)
		return c, p, locate(filepath.Base(p), raw, err)
	}
	return Default(), "", nil
}

// Parse decodes TOML over the defaults and checks every value.
func Parse(raw []byte) (Config, error) {
	c := Default()
	dec := toml.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return Config{}, refusal(err)
	}
	var keys map[string]any
	if err := toml.Unmarshal(raw, &keys); err != nil {
		return Config{}, refusal(err)
	}
	c.given = map[string]bool{}
	for section, in := range keys {
		table, ok := in.(map[string]any)
		if !ok {
			c.given[section] = true // a list of tables
		}
		for name := range table {
			c.given[section+"."+name] = true
		}
	}
	return c, c.Check()
}

// refusal returns an error of the TOML decoder with code invalid and the key as its path.
func refusal(err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		return unknownKey(strict.Errors[0].Key())
	}
	var dec *toml.DecodeError
	if errors.As(err, &dec) {
		line, col := dec.Position()
		if wrong := wrongKind(dec.Key(), line); wrong != nil && isKindError(dec) {
			return wrong
		}
		path := key(dec.Key())
		if path == "" {
			path = fmt.Sprintf("line %d", line)
		}
		return choir.RefuseField(path, choir.ReasonConfigSyntax, choir.TextOf("why", dec.Error()), choir.CountOf("line", line), choir.CountOf("column", col))
	}
	return choir.RefuseField("$", choir.ReasonConfigWrong, choir.TextOf("why", err))
}

// isKindError reports whether the decoder's error is about a value of the wrong type, which
// only its message tells.
func isKindError(err *toml.DecodeError) bool {
	return strings.Contains(err.Error(), "cannot decode") || strings.Contains(err.Error(), "cannot store")
}

// key returns a TOML key in dotted form.
func key(k toml.Key) string {
	var b bytes.Buffer
	for i, part := range k {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(part)
	}
	return b.String()
}
