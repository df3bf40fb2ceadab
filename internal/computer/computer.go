// Package computer assembles one computer: its log, blobs, relay, both sandboxes and the
// parts that work on them.
package computer

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"choiros/internal/blob"
	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/collection"
	"choiros/internal/computer/copies"
	"choiros/internal/computer/desk"
	"choiros/internal/computer/dispatch"
	"choiros/internal/computer/effects"
	"choiros/internal/computer/grants"
	"choiros/internal/computer/guestblobs"
	"choiros/internal/computer/moments"
	"choiros/internal/computer/origin"
	"choiros/internal/computer/projects"
	"choiros/internal/computer/reconcile"
	"choiros/internal/computer/rewind"
	"choiros/internal/computer/rolehost"
	"choiros/internal/computer/runs"
	"choiros/internal/computer/selfsource"
	"choiros/internal/computer/session"
	"choiros/internal/computer/tasks"
	"choiros/internal/computer/terminals"
	"choiros/internal/computer/treemerge"
	"choiros/internal/computer/verbs"
	"choiros/internal/computer/verification"
	"choiros/internal/computer/workspace"
	"choiros/internal/diskquota"
	"choiros/internal/durablefile"
	"choiros/internal/effect"
	"choiros/internal/eventstore"
	"choiros/internal/replica"
	"choiros/internal/sandbox"
	"choiros/internal/snapshot"
)

// Config configures a computer.
type Config struct {
	ID, User choir.ID
	Name     string
	Dir      string // its data folder; created if missing
	Guest    string // folder with the guest binaries
	// HostUIDs are the host users of the roles' sandboxes if the control plane is root. Each
	// role has its own, so that neither can access the other's files.
	HostUIDs map[choir.Role]int
	Driver   sandbox.Driver
	// OpenBlobs opens the computer's content-addressed store.
	OpenBlobs func(dir string) (blob.Store, error)
	Bus       bus.Endpoints
	Limits    sandbox.Limits
	// RequireLimits makes a start fail on a machine that cannot enforce Limits by cgroups.
	RequireLimits bool
	// Disk limits the disk space of the workspace; nil for no limit.
	Disk      *diskquota.Project
	RunLimits choir.RunLimits // limits of one run
	// Egress returns the handler of the egress door, which are the model gateway and the proxy.
	Egress func(*Computer) http.Handler
	// EgressOf says whether a task with an egress profile, nil for none of its own, may reach
	// something outside, and what of it the computer's policy does not let out; "" for nothing.
	EgressOf func(*Computer, *choir.EgressProfile) (online bool, wider string)
	// Trust returns a folder of certificates that programs in the Associate's sandbox trust; ""
	// for none. It may be nil.
	Trust func(*Computer) string
	// EgressCheck returns nil if a grant for a host and port can let something out; EgressEnded
	// cuts what is open by a grant that was revoked. Both may be nil where nothing is granted.
	EgressCheck func(c *Computer, host string, port int) error
	EgressEnded func(c *Computer, grant choir.ID)
	// EgressOpen returns the hosts to which programs have something open, of a task or beside it. It
	// may be nil where nothing is let out.
	EgressOpen func(c *Computer, task choir.ID) []choir.EffectHost
	// Approve returns the rules in force by which results of tasks wait for the owner; nil for
	// none.
	Approve func() effect.Policy
	// PushRemote returns where checkpoints of a project are pushed to, see projects.PushConfig;
	// nil where nothing is pushed.
	PushRemote func(c *Computer, name string, link projects.Link) (url, gate string, ok bool)
	// CloseUnreturned appends the end of model calls that the last session left open; it is
	// called before a session begins. Drain ends the model calls in flight and waits until
	// their end is in the log; it is called before a session ends. Both may be nil.
	CloseUnreturned func(context.Context, *Computer) error
	Drain           func(*Computer) error
	// DesktopCostUSD limits the cost of the runs that a desktop began within DesktopSpan; 0 is
	// no limit.
	DesktopCostUSD float64
	DesktopSpan    time.Duration
	// AutoCheckpoint sets when checkpoints are made automatically.
	AutoCheckpoint dispatch.AutoCheckpoint
	// KeepCalls is how long the snapshots between tool calls are kept; 0 is for ever.
	KeepCalls time.Duration
	// CacheLimit is the size in bytes from which snapshots leave out a cache in the workspace;
	// 0 keeps all.
	CacheLimit int64
	// Hold limits the size of snapshots; paths beyond it are left out.
	Hold snapshot.Limits
	// Terminals limits the terminals open at once; 0 means 16.
	Terminals int
	// MaxUpload limits an uploaded project or file, in bytes; 0 is no limit.
	MaxUpload int64
	// Source is the tar of the desktop's source for a new workspace; empty for none.
	Source []byte
	// DesktopTools makes the programs that check the desktop's source available in the
	// sandboxes; nil if this build has none. It is called when a task changed that source.
	DesktopTools func(ctx context.Context) error
	// Cluster configures the second copy of the log, for which appends wait; nil for none.
	Cluster replica.Cluster
	// Observer receives figures about the computer; nil for none.
	Observer Observer
	// Patience sets the waits, for tests; zero means the defaults.
	Patience Patience
	Version  string
	// Boot identifies the machine's current boot; empty if unknown.
	Boot   string
	Now    func() time.Time
	Random io.Reader
	Log    *slog.Logger
}

// Patience is how long a computer waits.
type Patience struct {
	Resend time.Duration // before another attempt to end a stopped task; default 3 s
	Cancel time.Duration // for the Associate's answer to a stopped task; default 10 s
	Guest  time.Duration // for a sandbox to run; default 20 s
	// Identity is the validity of a role's credentials; default 10 min.
	Identity time.Duration
	Scan     time.Duration // for one scan of the workspace; default 10 min
	// Start is how long a start waits for the first look at the workspace, which then goes on;
	// default 1 s.
	Start time.Duration
	// Collect is the time between collections; default a day.
	Collect time.Duration
}

// Computer is one computer. Its methods are safe for concurrent use.
type Computer struct {
	cfg    Config
	store  *eventstore.Store
	events *appender.Appender // appends to store
	desk   *desk.Desk
	// moments reads the past; rewinder rewinds and undoes.
	moments  *moments.Moments
	rewinder *rewind.Rewinder
	// copier forks and exports the computer and merges changes of others into it.
	copier *copies.Copier
	// workspace owns the tree of files and its lock; merger merges other trees into it.
	workspace *workspace.Workspace
	merger    *treemerge.Merger
	// blobs stores the content; guestBlobs serves it to guests; collector removes
	// unreferenced content.
	blobs      blob.Store
	guestBlobs *guestblobs.Blobs
	collector  *collection.Collector
	keeper     *snapshot.Keeper
	// roles runs the Director and the Associate in their sandboxes; reconciler prepares the
	// workspace after a start. tasks submits and ends tasks, taskChanges records their changes
	// of the tree, runs queries and commands runs.
	roles       *rolehost.Host
	reconciler  *reconcile.Reconciler
	tasks       *dispatch.Tasks
	taskChanges *tasks.Changes
	runs        *runs.Runs
	// effects are the results of tasks that wait for the owner's approval.
	effects *effects.Effects
	// grants is the owner's answers to requests for hosts outside.
	grants *grants.Grants
	// source is the desktop's source in the workspace; projects are people's projects there.
	source   *selfsource.Source
	projects *projects.Projects
	// verbs answers the roles' requests over the bus.
	verbs *verbs.Verbs
	// session records the session of the control plane, which begins with Open.
	session *session.Session
	// origin is the beginning of the log: its own, or another computer's past.
	origin *origin.Origin
	// verifier checks the copies of the log; replica is the one in a cluster, or nil.
	verifier *verification.Verifier
	replica  replica.Replica
	// reading is set if the computer was opened by OpenReadOnly.
	reading bool

	// ids guards cfg.Random.
	ids sync.Mutex
	// draftNews tells pages which drafts of the desk changed.
	draftNews *desk.DraftNews
}

// removeUnfinished removes the temporary files that a crash left in a computer's folder.
func removeUnfinished(dir string) error {
	return errors.Join(durablefile.RemoveUnfinished(dir), durablefile.RemoveUnfinished(filepath.Join(dir, "handles")))
}

// Open opens the computer's log and creates missing files. It starts nothing; the caller
// calls Serve, and Close after that.
func Open(ctx context.Context, cfg Config) (*Computer, error) {
	err := os.MkdirAll(cfg.Dir, 0o711)
	if err == nil {
		err = errors.Join(os.Chmod(cfg.Dir, 0o711), removeUnfinished(cfg.Dir)) // whatever the umask
	}
	if err != nil {
		return nil, choir.Wrap("computer.open", choir.CodeUnavailable, err, "make the computer's folder")
	}
	blobs, err := cfg.OpenBlobs(filepath.Join(cfg.Dir, "blobs"))
	if err != nil {
		return nil, err
	}
	c := newComputer(cfg, blobs)
	store := eventstore.Config{
		Computer: cfg.ID, User: cfg.User, Blobs: blobs, Observer: cfg.Observer,
		Now: func() choir.Time { return choir.TimeOf(cfg.Now()) },
		ProjectionFailed: func(f eventstore.ProjectionFailure) {
			cfg.Log.Error("a projection goes on without an event", "computer", cfg.ID, "projection", f.Projection, "event", f.Seq, "said", f.Reason)
		},
	}
	if cfg.Cluster != nil {
		c.replica = cfg.Cluster.Replica(cfg.ID)
		store.Replica = c.replica
	}
	log, err := eventstore.Open(ctx, cfg.Dir, store)
	if err != nil {
		return nil, errorsJoin(err, blob.Close(blobs))
	}
	makeParts(c, log)
	err = c.origin.MustBeOwn(ctx, cfg.Dir)
	if err == nil && log.ReadOnly() == "" {
		var before session.Before
		before, err = c.session.OpenLog(ctx, session.Opening{Name: cfg.Name, Repairs: log.Repairs(), Lost: terminals.Lost})
		if before.MachineWentDown {
			c.reconciler.DistrustWorkspace()
		}
	}
	if err != nil {
		return nil, errorsJoin(err, c.store.Close(), blob.Close(blobs))
	}
	if c.replica != nil && c.store.ReadOnly() == "" {
		c.replica.Start(c.store)
	}
	c.store.Check(c.verifier.Record)
	return c, nil
}

// newComputer returns a Computer without its log and parts, which makeParts adds.
func newComputer(cfg Config, blobs blob.Store) *Computer {
	if cfg.Observer == nil {
		cfg.Observer = unobserved{}
	}
	return &Computer{cfg: cfg, blobs: blobs, guestBlobs: guestblobs.New(blobs), keeper: snapshot.NewKeeper(blobs)}
}

// OpenReadOnly opens the log and content of a computer that does not run. Only ID, User,
// Name, Dir and OpenBlobs of cfg are used, and only reading works.
func OpenReadOnly(ctx context.Context, cfg Config) (*Computer, error) {
	blobs, err := cfg.OpenBlobs(filepath.Join(cfg.Dir, "blobs"))
	if err != nil {
		return nil, err
	}
	c := newComputer(cfg, blobs)
	c.reading = true
	log, err := eventstore.OpenReadOnly(ctx, cfg.Dir)
	if err != nil {
		return nil, errorsJoin(err, blob.Close(blobs))
	}
	makeParts(c, log)
	return c, nil
}

// String returns the name of the computer's service.
func (c *Computer) String() string { return "computer " + string(c.cfg.ID) }

// ID returns the computer's id.
func (c *Computer) ID() choir.ID { return c.cfg.ID }

// User returns the id of the owner.
func (c *Computer) User() choir.ID { return c.cfg.User }

// Name returns the owner's name for the computer.
func (c *Computer) Name() string { return c.cfg.Name }

// Store returns the computer's log, for reading.
func (c *Computer) Store() *eventstore.Store { return c.store }

// Events returns the appender to the computer's log.
func (c *Computer) Events() *appender.Appender { return c.events }

// Desk returns the computer's windows, theme, settings, documents and drafts.
func (c *Computer) Desk() *desk.Desk { return c.desk }

// Moments returns the reader of the computer's past.
func (c *Computer) Moments() *moments.Moments { return c.moments }

// Rewinder returns the part that rewinds the computer and undoes changes.
func (c *Computer) Rewinder() *rewind.Rewinder { return c.rewinder }

// Copier returns the part that forks and exports the computer and merges changes of others
// into it.
func (c *Computer) Copier() *copies.Copier { return c.copier }

// Workspace returns the computer's files.
func (c *Computer) Workspace() *workspace.Workspace { return c.workspace }

// Source returns the desktop's source in the computer's workspace.
func (c *Computer) Source() *selfsource.Source { return c.source }

// Projects returns people's projects in the computer's workspace.
func (c *Computer) Projects() *projects.Projects { return c.projects }

// Roles returns the host of the Director's and the Associate's sandboxes.
func (c *Computer) Roles() *rolehost.Host { return c.roles }

// Runs returns the part that queries and commands runs.
func (c *Computer) Runs() *runs.Runs { return c.runs }

// Grants returns the owner's answers to requests for hosts outside.
func (c *Computer) Grants() *grants.Grants { return c.grants }

// Effects returns the results of tasks that wait for the owner's approval.
func (c *Computer) Effects() *effects.Effects { return c.effects }

// Tasks returns the part that submits tasks to the Associate and ends them.
func (c *Computer) Tasks() *dispatch.Tasks { return c.tasks }

// Verbs returns the handler of the roles' requests over the bus.
func (c *Computer) Verbs() *verbs.Verbs { return c.verbs }

// Session returns the control plane's session on the computer.
func (c *Computer) Session() *session.Session { return c.session }

// Origin returns the beginning of the computer's log.
func (c *Computer) Origin() *origin.Origin { return c.origin }

// Blobs returns the store of the computer's content.
func (c *Computer) Blobs() blob.Store { return c.blobs }

// Verifier returns the part that checks the copies of the log.
func (c *Computer) Verifier() *verification.Verifier { return c.verifier }

// Collector returns the part that removes unreferenced content.
func (c *Computer) Collector() *collection.Collector { return c.collector }

// Replica returns the copy of the log in a cluster, nil if there is none.
func (c *Computer) Replica() replica.Replica { return c.replica }

// Close closes log, content and drafts. Serve must have returned.
func (c *Computer) Close() error {
	if c.replica != nil {
		c.replica.Close()
	}
	return errorsJoin(c.desk.Close(), c.store.Close(), blob.Close(c.blobs))
}

// NewID returns a fresh id. Code unavailable: the computer was opened by OpenReadOnly.
func (c *Computer) NewID() (choir.ID, error) {
	if c.reading {
		return "", choir.Refuse("computer", choir.ReasonComputerNotRunning)
	}
	c.ids.Lock()
	defer c.ids.Unlock()
	return choir.NewID(choir.TimeOf(c.cfg.Now()), c.cfg.Random)
}

// errorsJoin joins errors like errors.Join, but returns first itself if all others are nil,
// so that its code and path stay visible.
func errorsJoin(first error, rest ...error) error {
	joined := errors.Join(rest...)
	if joined == nil {
		return first
	}
	return errors.Join(first, joined)
}
