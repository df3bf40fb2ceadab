// Package supervisor is the tree of the control plane: the bus, and one
// computer after the other below it.
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
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/dispatch"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/auth"
	"choiros/internal/control/connections"
	"choiros/internal/control/modelgw"
	"choiros/internal/diskquota"
	"choiros/internal/sandbox"
	"choiros/internal/snapshot"
)

// Config of the control plane.
type Config struct {
	Data   string
	File   config.Config
	From   string // file the configuration came from, or empty
	Driver sandbox.Driver
	// OpenBlobs opens the content-addressed store of a computer.
	OpenBlobs func(dir string) (blob.Store, error)
	// Connections are the models in force.
	Connections *connections.Connections
	// Demo is what the recorded demo needs.
	Demo    DemoConfig
	Desktop DesktopConfig
	Version string
	// Boot names the time since the machine was started.
	Boot   string
	Now    func() time.Time
	Random io.Reader
	Log    *slog.Logger
	// Beside is a service that runs beside each computer; nil for none.
	Beside func(*computer.Computer) suture.Service
	// Observer is what receives figures about a computer; nil for none.
	Observer func(computer choir.ID) computer.Observer
}

// System is the running control plane.
type System struct {
	cfg     Config
	folder  *folder
	bus     *hub.Server
	auth    *auth.Local
	started time.Time
	report  sandbox.Report
	disks   disks // its map is guarded by computers.mu once computers are open

	computers computers
	gateways  gateways
	desktops  desktops
	guest     string // folder of the guest binaries
	demos     demos
	sizes     *folderSizes
	scrape    *auth.ScrapeToken
}

// Open takes the data folder, starts the bus and opens every computer. What
// cannot be isolated on this machine is refused, with the remedy.
func Open(ctx context.Context, cfg Config) (*System, error) {
	report := cfg.Driver.Probe(ctx)
	if err := usable(report); err != nil {
		return nil, err
	}
	f, err := openFolder(cfg.Data, cfg.Now, cfg.Random)
	if err != nil {
		return nil, err
	}
	s := &System{cfg: cfg, folder: f, started: cfg.Now(), report: report, sizes: newFolderSizes()}
	s.computers.beside = cfg.Beside
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *System) open(ctx context.Context) (err error) {
	s.bus, err = hub.Start(ctx, hub.Config{
		Dir: filepath.Join(s.cfg.Data, "bus"), Keys: filepath.Join(s.cfg.Data, "keys"),
		StoreMax: s.cfg.File.Bus.StreamMB << 20, Log: s.cfg.Log,
	})
	if err != nil {
		return err
	}
	if s.auth, err = auth.NewLocal(filepath.Join(s.cfg.Data, "keys", "sessions.json"), s.cfg.Now); err != nil {
		return err
	}
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
	if s.guest, err = s.folder.installGuest(); err != nil {
		return err
	}
	if err := s.folder.finish(); err != nil {
		return err
	}
	if err := s.limitDisks(); err != nil {
		return err
	}
	if err := s.openAll(ctx); err != nil {
		return err
	}
	s.tellSources(ctx)
	return nil
}

func (s *System) computerConfig(e entry, guest string) computer.Config {
	l := s.cfg.File.Limits
	var observer computer.Observer
	if s.cfg.Observer != nil {
		observer = s.cfg.Observer(e.ID)
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
		Disk:          s.diskOf(e.ID),
		RunLimits:     l.Run(),
		Egress:        s.egress, CloseUnreturned: s.closeUnreturned, Drain: s.drainCalls,
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
		Source:    s.cfg.Desktop.Source,
		MaxUpload: s.cfg.File.Limits.UploadMB << 20,
		Cluster:   clusterConfig(s.cfg),
		Observer:  observer,
		Version:   s.cfg.Version, Boot: s.cfg.Boot, Now: s.cfg.Now, Random: s.cfg.Random, Log: s.cfg.Log,
	}
}

// diskOf is the limit of a computer's disk; nil for none.
func (s *System) diskOf(id choir.ID) *diskquota.Project {
	s.computers.mu.Lock()
	defer s.computers.mu.Unlock()
	return s.disks.of[id]
}

// Serve wakes every computer and runs until the context ends.
func (s *System) Serve(ctx context.Context) error {
	sup := suture.New("choir", suture.Spec{
		EventHook: func(e suture.Event) { s.cfg.Log.Warn("supervisor", "said", e.String()) },
		Timeout:   30 * time.Second,
	})
	sup.Add(watchdog{s.bus})
	s.computers.wake(sup)
	err := sup.Serve(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// watchdog gives the bus's service a name, which suture would make up from all
// its fields.
type watchdog struct{ *hub.Server }

func (watchdog) String() string { return "bus" }

// Close closes the logs and the bus and gives the data folder back. Serve must
// have returned.
func (s *System) Close() error {
	var errs []error
	s.sizes.close()
	s.desktops.close()
	errs = append(errs, s.gateways.close())
	for _, c := range s.computers.list() {
		errs = append(errs, c.Close())
	}
	if s.auth != nil {
		errs = append(errs, s.auth.Save())
	}
	if s.bus != nil {
		s.bus.Close()
	}
	return joined(append(errs, s.folder.close()))
}

// Auth is who may come in.
func (s *System) Auth() *auth.Local { return s.auth }

// Scrape is who may read the figures over HTTP.
func (s *System) Scrape() *auth.ScrapeToken { return s.scrape }

// RenewScrapeToken makes the token of /metrics; an earlier one is void.
func (s *System) RenewScrapeToken() (string, error) { return s.scrape.Renew() }

// RemoveScrapeToken voids the token of /metrics.
func (s *System) RemoveScrapeToken() error { return s.scrape.Remove() }

// Bus is the bus, for the gateway's WebSocket.
func (s *System) Bus() *hub.Server { return s.bus }

// Computers lists the computers.
func (s *System) Computers() []*computer.Computer { return s.computers.list() }

// Computer finds one; code not_found when there is none, unavailable when it
// could not be opened.
func (s *System) Computer(id choir.ID) (*computer.Computer, error) {
	c, err := find(s.computers.list(), id)
	for _, f := range s.Failed() {
		if err != nil && f.ID == id {
			return nil, f.Why
		}
	}
	return c, err
}

func find(all []*computer.Computer, id choir.ID) (*computer.Computer, error) {
	for _, c := range all {
		if c.ID() == id {
			return c, nil
		}
	}
	return nil, choir.E("computer.find", choir.CodeNotFound, "there is no computer %q", id)
}

// Models says whether a model is connected.
func (s *System) Models() api.ModelState { return s.cfg.Connections.Models() }

// NewLink makes a one-time login token.
func (s *System) NewLink() (string, error) { return s.auth.NewLink() }

// browserTTL is how long one identity of a browser on the bus lives.
const browserTTL = 15 * time.Minute

// Mint makes an identity on the bus for one connection.
func (s *System) Mint(role choir.Role, user, computer choir.ID) (bus.Credentials, error) {
	return s.bus.Mint(role, user, computer, browserTTL)
}

// usable refuses a machine that cannot isolate.
func usable(r sandbox.Report) error {
	if r.Usable {
		return nil
	}
	e := choir.E("choir.up", choir.CodeUnavailable, "this machine cannot isolate a sandbox (%s)", r.Driver)
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

// IsRoot reports whether the control plane runs as root, and so must give each
// computer a host user of its own.
func IsRoot() bool { return os.Geteuid() == 0 }
