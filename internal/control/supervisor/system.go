// Package supervisor assembles and runs the control plane: the bus and all computers of
// a data folder.
package supervisor

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/thejerf/suture/v4"

	"choiros/internal/blob"
	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/dispatch"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/auth"
	"choiros/internal/control/connections"
	"choiros/internal/control/egress"
	"choiros/internal/control/modelgw"
	"choiros/internal/control/vault"
	"choiros/internal/keyring"
	"choiros/internal/packages"
	"choiros/internal/replica"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/pool"
	"choiros/internal/snapshot"
)

// Config is the configuration of the control plane.
type Config struct {
	Data   string
	File   config.Config
	From   string // file the configuration came from, or empty
	Driver sandbox.Driver
	// Ready is the pool that Driver is, which keeps sandboxes ready; nil for none.
	Ready *pool.Pool
	// OpenBlobs opens the content-addressed store in a computer's folder.
	OpenBlobs func(dir string) (blob.Store, error)
	// StartBus starts the bus of all computers.
	StartBus func(ctx context.Context, at BusFolders) (bus.Server, error)
	// OpenAuth opens what authenticates people, with a folder that only the control plane's
	// user may read, and the user who owns the computers.
	OpenAuth func(dir string, owner choir.ID) (auth.Authority, error)
	// Cluster stores second copies of the logs; nil for none.
	Cluster replica.Cluster
	// Connections are the models in force.
	Connections *connections.Connections
	// Outside is how programs in the sandboxes reach hosts that File's policy lets out.
	Outside egress.Outside
	// Registries are those whose content the package cache keeps, where File has room for it.
	Registries []packages.Registry
	// Vault keeps the keys that programs use without having them; nil for none.
	Vault keyring.Vault
	// Reread reads the configuration file anew, as at the start, with its path; nil for none.
	Reread func() (config.Config, string, error)
	// Demo configures the recorded demo.
	Demo    DemoConfig
	Desktop DesktopConfig
	Version string
	// Boot identifies the current boot of the machine.
	Boot   string
	Now    func() time.Time
	Random io.Reader
	Log    *slog.Logger
	// Beside returns a service to run beside each computer; nil for none.
	Beside func(*computer.Computer) suture.Service
	// Observer returns the receiver of a computer's figures; nil for none.
	Observer func(computer choir.ID) computer.Observer
}

// BusFolders are the folders of a bus in the data folder, both of mode 0700.
type BusFolders struct {
	Dir  string // of what the bus may lose
	Keys string // of its keys
}

// System is the running control plane: its data folder, bus, sessions and computers.
type System struct {
	cfg     Config
	folder  *folder
	bus     bus.Server
	auth    auth.Authority
	started time.Time
	report  sandbox.Report
	disks   *disks

	policy    *policyInForce // for hosts outside, of all computers
	computers computers
	gateways  *gateways
	vault     *vault.Vault
	signers   *authorities
	packages  packageCache
	desktops  desktops
	guest     string // folder of the guest binaries
	demos     *demos
	sizes     *folderSizes
	scrape    *auth.ScrapeToken
}

// Open locks the data folder, starts the bus and opens the computers that have work without
// a request; Use opens the others. Code unavailable: this machine cannot isolate sandboxes;
// the remedy tells what is missing.
func Open(ctx context.Context, cfg Config) (*System, error) {
	report := cfg.Driver.Probe(ctx)
	if err := usable(report); err != nil {
		return nil, err
	}
	policy, err := cfg.File.Egress.Policy()
	if err != nil {
		return nil, err
	}
	approve, err := cfg.File.Policy()
	if err != nil {
		return nil, err
	}
	f, err := openFolder(cfg.Data, cfg.Now, cfg.Random)
	if err != nil {
		return nil, err
	}
	s := &System{cfg: cfg, folder: f, started: cfg.Now(), report: report, sizes: newFolderSizes(), vault: vault.New(cfg.Vault)}
	s.policy = &policyInForce{cfg: &s.cfg}
	s.policy.set(policy, cfg.File)
	s.policy.setApprovals(approve, cfg.File)
	s.demos = &demos{cfg: cfg.Demo, models: cfg.Connections.Models}
	s.signers = &authorities{data: cfg.Data, now: cfg.Now, log: cfg.Log}
	s.gateways = &gateways{
		cfg: &s.cfg, policy: s.policy, signers: s.signers, packages: &s.packages, vault: s.vault, remotes: remotes{cfg.File.Git}, demos: s.demos,
	}
	s.computers.pool, s.computers.services.beside = s.newPool(), cfg.Beside
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// open starts the bus, reads the sessions and the models, and opens computers by openAll.
func (s *System) open(ctx context.Context) (err error) {
	started, err := s.cfg.StartBus(ctx, BusFolders{Dir: filepath.Join(s.cfg.Data, "bus"), Keys: filepath.Join(s.cfg.Data, "keys")})
	if err != nil {
		return err
	}
	s.bus = started
	people, err := s.cfg.OpenAuth(filepath.Join(s.cfg.Data, "keys"), s.User())
	if err != nil {
		return err
	}
	s.auth = people
	if s.scrape, err = auth.OpenScrapeToken(filepath.Join(s.cfg.Data, "keys", "metrics.json"), s.cfg.Now); err != nil {
		return err
	}
	if err = s.cfg.Connections.Reload(); err != nil {
		return err
	}
	// A key too many does not keep computers from being opened; the next start tries again.
	if err := s.cfg.Connections.Sweep(ctx); err != nil {
		s.cfg.Log.Warn("models: keys without a service are left", "error", err)
	}
	s.packages = openPackages(&s.cfg)
	if s.guest, err = s.folder.installGuest(); err != nil {
		return err
	}
	if err := s.folder.finish(); err != nil {
		return err
	}
	s.disks = newDisks(&s.cfg, s.folder.computers())
	if err := s.disks.limitAll(s.folder); err != nil {
		return err
	}
	if s.cfg.Ready != nil {
		s.cfg.Ready.Clean(ctx)
	}
	if err := s.openAll(ctx); err != nil {
		return err
	}
	s.recordForks(ctx)
	return nil
}

// computerConfig returns the configuration of a computer. guest is the folder of the
// guest binaries.
func (s *System) computerConfig(e entry, guest string) computer.Config {
	l := s.cfg.File.Limits
	var observer computer.Observer
	if s.cfg.Observer != nil {
		observer = s.cfg.Observer(e.ID)
	}
	var tools func(context.Context) error
	if m := s.cfg.Desktop.Modules; m != nil {
		tools = m.UnpackTools
	}
	return computer.Config{
		ID: e.ID, User: s.folder.owner.User, Name: e.Name,
		HostUIDs: map[choir.Role]int{choir.RoleDirector: e.DirectorUID, choir.RoleAssociate: e.HostUID},
		Dir:      filepath.Join(s.cfg.Data, "computers", string(e.ID)), Guest: guest,
		Driver: s.cfg.Driver, Bus: s.bus, OpenBlobs: s.cfg.OpenBlobs,
		Limits: sandbox.Limits{
			Processes: l.Processes, MemoryBytes: l.MemoryMB << 20, CPUMilli: l.CPUMilli,
			OpenFiles: sandbox.DefaultLimits().OpenFiles,
		},
		RequireLimits: s.cfg.File.Runtime.RequireLimits,
		Disk:          s.disks.project(e.ID),
		RunLimits:     l.Run(),
		Approve:       s.policy.approvals,
		Egress:        s.gateways.handler, EgressOf: s.policy.allows, EgressCheck: s.gateways.checkGrant, EgressEnded: s.gateways.endGrant, EgressOpen: s.gateways.openHosts, Trust: s.signers.trust,
		CloseUnreturned: s.gateways.closeUnreturned, Drain: s.gateways.drainCalls,
		PushRemote:     s.gateways.remotes.pushed(),
		DesktopCostUSD: l.DesktopCost, DesktopSpan: modelgw.DesktopSpan,
		AutoCheckpoint: dispatch.AutoCheckpoint{
			Tasks: s.cfg.File.Git.AutoCommitThreshold,
			Every: time.Duration(s.cfg.File.Git.AutoCommitInterval) * time.Second,
		},
		KeepCalls:  time.Duration(s.cfg.File.Storage.KeepDays) * 24 * time.Hour,
		CacheLimit: int64(s.cfg.File.Storage.CacheMB) << 20,
		Hold: snapshot.Limits{
			FileBytes: int64(s.cfg.File.Storage.FileMB) << 20, TreeBytes: int64(s.cfg.File.Storage.WorkspaceMB) << 20,
			Entries: int64(s.cfg.File.Storage.Entries),
		},
		Terminals: l.Terminals,
		Source:    s.cfg.Desktop.Source, DesktopTools: tools,
		MaxUpload: s.cfg.File.Limits.UploadMB << 20,
		Cluster:   s.cfg.Cluster,
		Observer:  observer,
		Version:   s.cfg.Version, Boot: s.cfg.Boot, Now: s.cfg.Now, Random: s.cfg.Random, Log: s.cfg.Log,
	}
}

// Serve runs the services of the bus and of every computer until ctx ends.
func (s *System) Serve(ctx context.Context) error {
	sup := suture.New("choir", suture.Spec{
		EventHook: func(e suture.Event) { s.cfg.Log.Warn("supervisor", "said", e.String()) },
		Timeout:   30 * time.Second,
	})
	sup.Add(watchdog{s.bus})
	sup.Add(s.computers.pool)
	if s.cfg.Ready != nil {
		sup.Add(s.cfg.Ready)
	}
	s.computers.services.serve(sup)
	err := sup.Serve(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// watchdog is the bus's service with a name. Without one suture would format all its
// fields.
type watchdog struct{ bus.Server }

func (watchdog) String() string { return "bus" }

// Close closes the computers and the bus and releases the data folder. Serve must have
// returned.
func (s *System) Close() error {
	var errs []error
	s.computers.pool.Stop()
	s.sizes.close()
	s.desktops.close()
	errs = append(errs, s.gateways.close())
	for _, c := range s.computers.list() {
		errs = append(errs, s.closeComputer(context.Background(), c))
	}
	s.packages.close()
	if s.auth != nil {
		errs = append(errs, s.auth.Save())
	}
	if s.bus != nil {
		s.bus.Close()
	}
	return joined(append(errs, s.folder.close()))
}

// Auth returns the store of sessions and login links.
func (s *System) Auth() auth.Authority { return s.auth }

// Scrape returns the token for reading /metrics.
func (s *System) Scrape() *auth.ScrapeToken { return s.scrape }

// RenewScrapeToken creates a token for /metrics, which replaces the previous one.
func (s *System) RenewScrapeToken() (string, error) { return s.scrape.Renew() }

// RemoveScrapeToken invalidates the token for /metrics.
func (s *System) RemoveScrapeToken() error { return s.scrape.Remove() }

// Bus returns the bus server, for the gateway's WebSockets.
func (s *System) Bus() bus.Server { return s.bus }

// Computers lists the open computers.
func (s *System) Computers() []*computer.Computer { return s.computers.list() }

// find returns the computer with an id. Code not_found: there is none.
func find(all []*computer.Computer, id choir.ID) (*computer.Computer, error) {
	for _, c := range all {
		if c.ID() == id {
			return c, nil
		}
	}
	return nil, notFound(id)
}

// Models returns which models are in force.
func (s *System) Models() api.ModelState { return s.cfg.Connections.Models() }

// User returns the first user of the data folder.
func (s *System) User() choir.ID { return s.folder.owner.User }

// NewLink returns a one-time login token for the first user.
func (s *System) NewLink() (string, error) { return s.auth.NewLink(s.User()) }

// browserTTL is the lifetime of a browser's bus credentials.
const browserTTL = 15 * time.Minute

// Mint issues bus credentials for one connection, valid for browserTTL.
func (s *System) Mint(role choir.Role, user, computer choir.ID) (bus.Credentials, error) {
	return s.bus.Mint(role, user, computer, browserTTL)
}

// usable returns code unavailable if the driver's report shows that this machine cannot
// isolate sandboxes.
func usable(r sandbox.Report) error {
	if r.Usable {
		return nil
	}
	e := choir.Refuse("choir.up", choir.ReasonNoIsolation, choir.TextOf("driver", r.Driver))
	e.Remedy = ""
	for _, c := range r.Checks {
		if c.Required && !c.OK {
			e.Msg += ": " + c.Name + ": " + c.Detail
			if e.Remedy == "" && c.Remedy != "" {
				e.Remedy = "try: " + c.Remedy
			}
		}
	}
	return e
}

// IsRoot reports whether the control plane runs as root, and therefore gives each
// sandbox a host user of its own.
func IsRoot() bool { return os.Geteuid() == 0 }
