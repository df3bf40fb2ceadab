// Package rolehost runs the two roles of one computer. It owns the sandbox driver and its
// sandboxes, the notes by which sandboxes are found after a restart, the doors through
// which programs in a sandbox reach the bus and the network, the process of the role in
// it, and the terminals that people open in the Associate's.
//
// It does not know the workspace's content and starts no NATS server: the computer gives
// it a Workspace, a Bus and the handler of the egress door. So it is tested with the driver
// sandbox/fake, in one process.
package rolehost

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/thejerf/suture/v4"

	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/diskquota"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// StartLog reads from the log where a role begins to read. The methods are those of
// eventstore.Store.
type StartLog interface {
	Head() (uint64, choir.Digest)
	OpenRuns(ctx context.Context) ([]eventstore.Run, error)
	Projects(ctx context.Context, seq uint64) ([]string, error)
}

// CallLog reads from the log which runs and tasks are open, to decide about calls from
// sandboxes. The methods are those of eventstore.Store.
type CallLog interface {
	OpenTasks(ctx context.Context) ([]eventstore.Task, error)
	Run(ctx context.Context, id choir.ID) (eventstore.Run, error)
	Task(ctx context.Context, id choir.ID) (eventstore.Task, error)
}

// Log is the log of the computer; eventstore.Store implements it.
type Log interface {
	StartLog
	CallLog
}

// Bus is the message bus of the control plane.
type Bus interface {
	// Mint returns credentials for one connection, see hub.Server.Mint.
	Mint(role choir.Role, user, computer choir.ID, life time.Duration) (bus.Credentials, error)
	// ServeDoor bridges every connection of a listener to the bus until ctx ends or Close,
	// which waits for all of them; see hub.ServeDoor.
	ServeDoor(ctx context.Context, listener net.Listener) io.Closer
}

// Workspace prepares the Associate's workspace while its sandbox starts. The methods are
// called in this order, once for each start, never for two starts at once.
type Workspace interface {
	// Limit sets on the client which files scans leave out, and the receiver of their
	// progress. It is also called for the Director's client, which has no workspace.
	Limit(client *guest.Client)
	// LayOut creates the folders and files that the workspace needs before the role runs. A task may be at
	// work in a recovered workspace. A copied workspace that is not recovered is empty or incomplete, and
	// is filled.
	LayOut(ctx context.Context, client *guest.Client, recovered, copied bool) error
	// MayRewrite reports whether the first look may rewrite the workspace.
	MayRewrite(ctx context.Context) (bool, error)
	// FirstLook reconciles workspace and log. It may go on after the start; an error ends the
	// sandbox.
	FirstLook(ctx context.Context, client *guest.Client, recovered bool) error
	// CopyOut stores the current content of a copied workspace, for LayOut of the next
	// sandbox. It is called before a prepared sandbox is destroyed.
	CopyOut(ctx context.Context, client *guest.Client) error
}

// Observer receives figures. Its methods are called concurrently and must not block.
type Observer interface {
	// EgressRefused is called for each request to a host that the policy refuses, repeated
	// ones included.
	EgressRefused()
	// SandboxFailed is called with the error of each sandbox that did not start.
	SandboxFailed(role choir.Role, err error)
}

// Config configures a Host. HostUIDs, Limits, RequireLimits, Disk, RunLimits, Boot,
// Terminals and the times are optional. With ReadOnly, nothing else is needed.
type Config struct {
	ID, User choir.ID
	// Dir is the computer's data folder, in which each role has a folder.
	Dir string
	// Guest is the folder with the guest binaries; its name is their build's.
	Guest  string
	Driver sandbox.Driver
	// HostUIDs are the host users of the sandboxes when the control plane is root.
	HostUIDs map[choir.Role]int
	Limits   sandbox.Limits
	// RequireLimits makes a start fail on a machine that cannot enforce Limits by cgroups.
	RequireLimits bool
	// Disk limits the disk space of the workspace; nil for no limit.
	Disk      *diskquota.Project
	RunLimits choir.RunLimits // how far one run may go
	// Egress returns the handler of a starting sandbox's egress door. Caller tells it which
	// program made a request.
	Egress func() http.Handler
	// Trust returns a folder of certificates that the Associate's programs trust; "" for none.
	Trust func() string
	// ReadOnly makes every method that needs a sandbox fail with code unavailable.
	ReadOnly bool
	// Boot identifies the machine's current boot; empty if unknown.
	Boot string
	// Terminals limits the terminals open at once; 0 means 16.
	Terminals int
	// TerminalFolder is the working folder of a new terminal, relative to the workspace.
	TerminalFolder string
	// TerminalUsed is called when a terminal receives input or output. It must not block.
	TerminalUsed func()
	Observer     Observer
	Now          func() time.Time
	Log          *slog.Logger

	GuestPatience time.Duration // how long callers wait for a sandbox that does not run; default 20 s
	StartPatience time.Duration // how long a start waits for the first look, which then goes on; default 1 s
	IdentityLife  time.Duration // validity of a role's credentials; default 10 min
}

// Host runs the roles of one computer. Its methods are safe for concurrent use. Their
// parameter role is the Director or the Associate.
type Host struct {
	cfg       Config
	log       Log
	events    *appender.Appender // appends to log
	bus       Bus
	workspace Workspace
	seats     map[choir.Role]*seat
	terminals *Terminals
	refusals  refusals // limits the events that a sandbox can cause by refused requests
}

// New returns the host of a computer's roles. It reads log and appends with events, which
// must append to the same log. Nothing runs before Services are served.
func New(log Log, events *appender.Appender, bus Bus, workspace Workspace, cfg Config) *Host {
	cfg.GuestPatience = cmp.Or(cfg.GuestPatience, 20*time.Second)
	cfg.StartPatience = cmp.Or(cfg.StartPatience, time.Second)
	cfg.IdentityLife = cmp.Or(cfg.IdentityLife, 10*time.Minute)
	h := &Host{cfg: cfg, log: log, events: events, bus: bus, workspace: workspace}
	h.seats = map[choir.Role]*seat{
		choir.RoleDirector:  newSeat(h, choir.RoleDirector),
		choir.RoleAssociate: newSeat(h, choir.RoleAssociate),
	}
	h.terminals = newTerminals(h)
	return h
}

// Services returns one service for each role, which keeps it running. Each can be served
// again after it has ended.
func (h *Host) Services() []suture.Service {
	return []suture.Service{h.seats[choir.RoleDirector], h.seats[choir.RoleAssociate]}
}

// NextSpecs returns what the sandboxes of the next start will be made of, once Services have ended;
// none if a sandbox is still there, which the next start takes up.
func (h *Host) NextSpecs() []sandbox.Spec {
	var specs []sandbox.Spec
	for _, s := range []*seat{h.seats[choir.RoleDirector], h.seats[choir.RoleAssociate]} {
		if _, err := s.readNote(); choir.CodeOf(err) != choir.CodeNotFound || h.cfg.ReadOnly {
			return nil
		}
		specs = append(specs, s.spec())
	}
	return specs
}

// CopyOutError returns the error by which a copied workspace could not be stored when Services ended;
// nil if it was. After an error its sandbox lives on for sandbox.OrphanSeconds with the only copy, and
// Services served again take it up.
func (h *Host) CopyOutError() error { return h.seats[choir.RoleAssociate].copyOutError() }

// Terminals returns the terminals in the Associate's sandbox. They do not end with
// Services; Terminals.Shut ends them.
func (h *Host) Terminals() *Terminals { return h.terminals }

// Guest returns the control client of the Associate's sandbox and waits up to
// GuestPatience for it to run. Code unavailable: it does not.
func (h *Host) Guest(ctx context.Context) (*guest.Client, error) {
	return h.seats[choir.RoleAssociate].guest(ctx)
}

// GuestForNew returns the same as Guest, to callers that start a program which writes to
// the workspace: it also waits for a first look that may rewrite the workspace.
func (h *Host) GuestForNew(ctx context.Context) (*guest.Client, error) {
	return h.seats[choir.RoleAssociate].guestForNew(ctx)
}

// LookedAt returns the same as Guest, to callers that scan or rewrite the workspace: it
// also waits for the end of the first look. Code timeout: ctx ended before.
func (h *Host) LookedAt(ctx context.Context) (*guest.Client, error) {
	return h.seats[choir.RoleAssociate].lookedAt(ctx)
}

// Exec starts a command in the Associate's sandbox that belongs to no task. The command
// ends with ctx and with the sandbox.
func (h *Host) Exec(ctx context.Context, spec guest.ExecSpec) (*guest.Process, error) {
	client, err := h.Guest(ctx)
	if err != nil {
		return nil, err
	}
	return client.Exec(ctx, spec)
}

// DialPort connects to a port inside the Associate's sandbox. Code unavailable: no program
// listens there.
func (h *Host) DialPort(ctx context.Context, port int) (net.Conn, error) {
	client, err := h.Guest(ctx)
	if err != nil {
		return nil, err
	}
	return client.DialPort(ctx, port)
}

// Foreground returns the number of terminals of the Associate's sandbox in whose foreground
// a program runs.
func (h *Host) Foreground(ctx context.Context) (int, error) {
	client, err := h.Guest(ctx)
	if err != nil {
		return 0, err
	}
	return client.Foreground(ctx)
}

// Hello stores the public key of the Director's signatures and records the start of its
// sandbox in the log.
func (h *Host) Hello(ctx context.Context, key string) error {
	return h.seats[choir.RoleDirector].hello(ctx, key)
}

// Level returns the isolation of a role's running sandbox; running is false without one.
func (h *Host) Level(role choir.Role) (level sandbox.Level, running bool) {
	return h.seats[role].level()
}

// ConfinesTasks reports whether the Associate's sandbox prevents a project task's commands
// from writing outside of the project.
func (h *Host) ConfinesTasks() bool {
	level, running := h.Level(choir.RoleAssociate)
	return running && level.Tasks != ""
}

// Failure returns why a role's sandbox could not be started; nil if it runs or the reason
// is unknown.
func (h *Host) Failure(role choir.Role) error { return h.seats[role].failure() }

// Serving reports whether the role's own process runs in its sandbox.
func (h *Host) Serving(role choir.Role) bool { return h.seats[role].serving() }

// PublicKey returns the key that verifies a role's signatures; "" if it signs nothing.
func (h *Host) PublicKey(role choir.Role) string { return h.seats[role].publicKey() }
