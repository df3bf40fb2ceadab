// Package rolehost runs the two roles of one computer. It owns the sandbox driver and
// the sandboxes that the driver makes, the note by which a sandbox is found again
// after a restart, the doors through which programs in a sandbox reach the bus and the
// network, the process of the role in it, and the terminals that people open in the
// Associate's.
//
// A Host does not know what is in the workspace and starts no NATS server: the
// computer gives it a Workspace, a Bus and the handler behind the egress door. So it is
// tested with the driver sandbox/fake, in one process.
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

// StartLog is what a Host reads of its computer's log to tell a Director where to
// begin. The methods are those of eventstore.Store.
type StartLog interface {
	Head() (uint64, choir.Digest)
	OpenRuns(ctx context.Context) ([]eventstore.Run, error)
	Projects(ctx context.Context, seq uint64) ([]string, error)
}

// CallLog is what a Host reads of its computer's log to decide about calls that come
// from sandboxes. The methods are those of eventstore.Store.
type CallLog interface {
	OpenTasks(ctx context.Context) ([]eventstore.Task, error)
	Run(ctx context.Context, id choir.ID) (eventstore.Run, error)
	Task(ctx context.Context, id choir.ID) (eventstore.Task, error)
}

// Log is the log of the computer whose roles a Host runs; eventstore.Store is one.
type Log interface {
	StartLog
	CallLog
}

// Bus is the message bus of the control plane.
type Bus interface {
	// Mint makes the credentials of one connection, see hub.Server.Mint.
	Mint(role choir.Role, user, computer choir.ID, life time.Duration) (bus.Credentials, error)
	// ServeDoor bridges every connection of a listener to the bus until ctx ends or
	// Close, which waits for the ends of all; see hub.ServeDoor.
	ServeDoor(ctx context.Context, listener net.Listener) io.Closer
}

// Workspace is the workspace of the Associate while its sandbox starts. The methods
// are called in the order in which they stand here, once for each start, and not
// for two starts at once.
type Workspace interface {
	// Limit sets what the client leaves out of its looks, and who is told how far they
	// are. It is called for the Director's client, too, which has no workspace.
	Limit(client *guest.Client)
	// LayOut makes what has to be in the workspace before the role runs. A task may be
	// at work in the workspace of a recovered sandbox.
	LayOut(ctx context.Context, client *guest.Client, recovered bool) error
	// MayRewrite reports whether the first look may rewrite the workspace.
	MayRewrite(ctx context.Context) (bool, error)
	// FirstLook brings workspace and log together. It may go on behind the start; an
	// error ends the sandbox.
	FirstLook(ctx context.Context, client *guest.Client, recovered bool) error
}

// Observer receives figures. Its methods are called by many goroutines at once, and
// return at once.
type Observer interface {
	// EgressRefused receives each request for a host that the policy refuses, also
	// those that the log does not repeat.
	EgressRefused()
	// SandboxFailed receives the error of each sandbox that did not start.
	SandboxFailed(role choir.Role, err error)
}

// Config of a Host. HostUIDs, Limits, RequireLimits, Disk, RunLimits, Boot,
// Terminals and the times may be absent. A Host that is ReadOnly needs nothing else.
type Config struct {
	ID, User choir.ID
	// Dir is the computer's data folder, in which each role has a folder.
	Dir string
	// Guest is the folder with the guest binaries, whose name is that of the build.
	Guest  string
	Driver sandbox.Driver
	// HostUIDs are the host users of the sandboxes when the control plane is root.
	HostUIDs map[choir.Role]int
	Limits   sandbox.Limits
	// RequireLimits refuses a machine that cannot hold Limits by cgroups.
	RequireLimits bool
	// Disk limits what the workspace takes of its file system; nil for no limit.
	Disk      *diskquota.Project
	RunLimits choir.RunLimits // how far one run may go
	// Egress makes the handler behind the egress door of a sandbox that starts. Caller
	// says of each request who made it.
	Egress func() http.Handler
	// ReadOnly refuses with code unavailable what needs a sandbox: the computer does not run.
	ReadOnly bool
	// Boot names the time since the machine was started; empty when that is not known.
	Boot string
	// Terminals is how many terminals may be open at once; 0 is 16.
	Terminals int
	// TerminalFolder is where a terminal begins, as a path below the workspace's root.
	TerminalFolder string
	// TerminalUsed is called when something is typed into a terminal or printed there. It
	// must not block.
	TerminalUsed func()
	Observer     Observer
	Now          func() time.Time
	Log          *slog.Logger

	GuestPatience time.Duration // for a sandbox that does not run; default 20 s
	StartPatience time.Duration // of a start for the first look, which goes on after it; default 1 s
	IdentityLife  time.Duration // how long one identity of a role lives; default 10 min
}

// Host runs the roles of one computer. Its methods may be called at once. A role that
// a method is given is the Director or the Associate.
type Host struct {
	cfg       Config
	log       Log
	events    *appender.Appender // appends to log
	bus       Bus
	workspace Workspace
	seats     map[choir.Role]*seat
	terminals *Terminals
	refusals  refusals // bounds what a sandbox can write by asking for hosts
}

// New makes the host of a computer's roles; nothing runs before Services do. It reads
// log and appends with events, which must append to the same log.
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

// Services keep one role running each. They may be served again once they have ended.
func (h *Host) Services() []suture.Service {
	return []suture.Service{h.seats[choir.RoleDirector], h.seats[choir.RoleAssociate]}
}

// Terminals are the terminals that people opened in the Associate's sandbox. They do
// not end with Services; Terminals.Shut ends them.
func (h *Host) Terminals() *Terminals { return h.terminals }

// Guest waits a while until the Associate's sandbox runs and returns its control
// client. Code unavailable when the sandbox does not run.
func (h *Host) Guest(ctx context.Context) (*guest.Client, error) {
	return h.seats[choir.RoleAssociate].guest(ctx)
}

// GuestForNew is Guest for callers that start something which writes to the workspace:
// it waits for a first look that may rewrite the workspace, too.
func (h *Host) GuestForNew(ctx context.Context) (*guest.Client, error) {
	return h.seats[choir.RoleAssociate].guestForNew(ctx)
}

// LookedAt is Guest for callers that scan or rewrite the workspace: it waits for the
// first look, too. Code timeout when ctx ends before the look does.
func (h *Host) LookedAt(ctx context.Context) (*guest.Client, error) {
	return h.seats[choir.RoleAssociate].lookedAt(ctx)
}

// Exec starts a command in the Associate's sandbox that belongs to the computer and
// not to a task. The command ends with the context, and with the sandbox.
func (h *Host) Exec(ctx context.Context, spec guest.ExecSpec) (*guest.Process, error) {
	client, err := h.Guest(ctx)
	if err != nil {
		return nil, err
	}
	return client.Exec(ctx, spec)
}

// DialPort connects to a port inside the Associate's sandbox; code unavailable when
// nothing listens there.
func (h *Host) DialPort(ctx context.Context, port int) (net.Conn, error) {
	client, err := h.Guest(ctx)
	if err != nil {
		return nil, err
	}
	return client.DialPort(ctx, port)
}

// Hello notes the key with which the Director signs, and records that its sandbox runs.
func (h *Host) Hello(ctx context.Context, key string) error {
	return h.seats[choir.RoleDirector].hello(ctx, key)
}

// Level is the isolation of a role's sandbox; running is false without a sandbox.
func (h *Host) Level(role choir.Role) (level sandbox.Level, running bool) {
	return h.seats[role].level()
}

// Failure is why a sandbox that does not run could not be started; nil when that
// is not known.
func (h *Host) Failure(role choir.Role) error { return h.seats[role].failure() }

// Serving reports whether a role's own process runs in its sandbox; while the process
// is started again it does not.
func (h *Host) Serving(role choir.Role) bool { return h.seats[role].serving() }

// PublicKey verifies what the role signs; empty for a role that signs nothing.
func (h *Host) PublicKey(role choir.Role) string { return h.seats[role].publicKey() }
