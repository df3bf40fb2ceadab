// Package computer is one computer as one value: its log, blobs, relay and both
// sandboxes, reachable only through its methods.
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
	"choiros/internal/bus/cluster"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/collection"
	"choiros/internal/computer/copies"
	"choiros/internal/computer/desk"
	"choiros/internal/computer/dispatch"
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
	"choiros/internal/eventstore"
	"choiros/internal/sandbox"
	"choiros/internal/snapshot"
)

// Config is what a computer needs from the control plane.
type Config struct {
	ID, User choir.ID
	Name     string
	Dir      string // its data folder; made when absent
	Guest    string // folder with the guest binaries
	// HostUIDs are the host users of its sandboxes when the control plane is root:
	// one for each role, so that neither reaches what is the other's.
	HostUIDs map[choir.Role]int
	Driver   sandbox.Driver
	// OpenBlobs opens the computer's content-addressed store.
	OpenBlobs func(dir string) (blob.Store, error)
	Bus       *hub.Server
	Limits    sandbox.Limits
	// RequireLimits refuses a machine that cannot hold Limits by cgroups.
	RequireLimits bool
	// Disk limits what the workspace takes of its file system; nil for no limit.
	Disk      *diskquota.Project
	RunLimits choir.RunLimits // how far one run may go
	// Egress makes the handler behind the egress door: the model gateway, and
	// later the proxy.
	Egress func(*Computer) http.Handler
	// CloseUnreturned writes the end of the model calls that the session before left open;
	// it runs before a session begins. Drain ends the calls in flight and waits
	// until their end is in the log; it runs before a session ends. Nil does
	// nothing.
	CloseUnreturned func(context.Context, *Computer) error
	Drain           func(*Computer) error
	// DesktopCostUSD bounds what the runs that a desktop began within DesktopSpan
	// may cost; 0 is no bound.
	DesktopCostUSD float64
	DesktopSpan    time.Duration
	// AutoCheckpoint is after how many tasks, or how long, a checkpoint is made.
	AutoCheckpoint dispatch.AutoCheckpoint
	// KeepCalls is how long the moments between tool calls are kept; zero is for
	// ever.
	KeepCalls time.Duration
	// CacheLimit is how many bytes a cache in the workspace may have until
	// snapshots leave it out; 0 keeps all.
	CacheLimit int64
	// Hold is what a snapshot of the workspace may hold; what is beyond is left out.
	Hold snapshot.Limits
	// Terminals is how many may be open at once; 0 is the default of 16.
	Terminals int
	// MaxUpload bounds a project or a file that a person brings, in bytes; 0 is
	// no limit but the disk's.
	MaxUpload int64
	// Source is the desktop's source for a new workspace, as a tar; empty for none.
	Source []byte
	// Cluster keeps a second copy of the log, which acknowledgements wait for; nil
	// for none.
	Cluster *cluster.Config
	// Observer receives figures about the computer; nil for none.
	Observer Observer
	// Patience is for tests; zero means the defaults.
	Patience Patience
	Version  string
	// Boot names the time since the machine was started; empty when that is not
	// known.
	Boot   string
	Now    func() time.Time
	Random io.Reader
	Log    *slog.Logger
}

// Patience is how long a computer waits for its sandboxes.
type Patience struct {
	Resend time.Duration // until a task without an answer is sent again; default 3 s
	Cancel time.Duration // until a stopped task is answered in the Associate's place; default 10 s
	Guest  time.Duration // for a sandbox that does not run; default 20 s
	// Identity is how long one identity of a role lives; default 10 min.
	Identity time.Duration
	Scan     time.Duration // for one look at the workspace; default 10 min
	// Start is how long a start waits for the first look at the workspace, which goes
	// on after it; default 1 s.
	Start time.Duration
	// Collect is between collections; default a day.
	Collect time.Duration
}

// Computer is one computer. Its methods may be called at once.
type Computer struct {
	cfg    Config
	store  *eventstore.Store
	events *appender.Appender // appends to store
	desk   *desk.Desk
	// moments is the past, to be read; rewinder takes back what happened.
	moments  *moments.Moments
	rewinder *rewind.Rewinder
	// copier makes copies of the computer, and takes changes of others into it.
	copier *copies.Copier
	// workspace owns the tree of files and its lock, merger merges other trees into it.
	workspace *workspace.Workspace
	merger    *treemerge.Merger
	// blobs is the content, guestBlobs the same as guests write and read it; collector
	// removes of it what nothing leads to.
	blobs      blob.Store
	guestBlobs *guestblobs.Blobs
	collector  *collection.Collector
	keeper     *snapshot.Keeper
	// roles runs the Director and the Associate in their sandboxes, reconciler prepares the
	// workspace when the latter has come up. tasks is what the Associate is to do,
	// taskChanges is what that changes, runs is what people ask for.
	roles       *rolehost.Host
	reconciler  *reconcile.Reconciler
	tasks       *dispatch.Tasks
	taskChanges *tasks.Changes
	runs        *runs.Runs
	// source is the desktop's own source in the workspace, projects are people's.
	source   *selfsource.Source
	projects *projects.Projects
	// verbs answers what the roles ask for.
	verbs *verbs.Verbs
	// session is the control plane's, from Open on.
	session *session.Session
	// origin is where the log begins.
	origin *origin.Origin
	// verifier checks the copies of the log, of which replica is nil where durability is
	// local.
	verifier *verification.Verifier
	replica  *cluster.Replica
	// reading says that the computer was opened for reading only.
	reading bool

	// ids guards cfg.Random.
	ids sync.Mutex
	// draftNews tells pages which drafts of the desk changed.
	draftNews *desk.DraftNews
}

// Open opens the computer's log and creates what is missing. It starts nothing;
// Serve does.
func Open(ctx context.Context, cfg Config) (*Computer, error) {
	err := os.MkdirAll(cfg.Dir, 0o711)
	if err == nil {
		err = os.Chmod(cfg.Dir, 0o711) // whatever the umask
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
		c.replica = cluster.New(*cfg.Cluster, cfg.ID)
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

func newComputer(cfg Config, blobs blob.Store) *Computer {
	if cfg.Observer == nil {
		cfg.Observer = unobserved{}
	}
	return &Computer{cfg: cfg, blobs: blobs, guestBlobs: guestblobs.New(blobs), keeper: snapshot.NewKeeper(blobs)}
}

// OpenReadOnly opens the log and content of a computer that does not run. Only
// ID, User, Name, Dir and OpenBlobs of the configuration are used, and nothing but reading
// works.
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

// String names the computer's service.
func (c *Computer) String() string { return "computer " + string(c.cfg.ID) }

// ID is the computer's identity.
func (c *Computer) ID() choir.ID { return c.cfg.ID }

// User is the owner.
func (c *Computer) User() choir.ID { return c.cfg.User }

// Name is what the owner calls it.
func (c *Computer) Name() string { return c.cfg.Name }

// Store is the computer's log, for reading.
func (c *Computer) Store() *eventstore.Store { return c.store }

// Desk is the computer's windows, theme, settings, documents and drafts.
func (c *Computer) Desk() *desk.Desk { return c.desk }

// Moments is the computer's past, to be read.
func (c *Computer) Moments() *moments.Moments { return c.moments }

// Rewinder takes back what happened to the computer.
func (c *Computer) Rewinder() *rewind.Rewinder { return c.rewinder }

// Copier makes copies of the computer, and takes changes of others into it.
func (c *Computer) Copier() *copies.Copier { return c.copier }

// Workspace is the computer's files.
func (c *Computer) Workspace() *workspace.Workspace { return c.workspace }

// Source is the desktop's own source in the computer's workspace.
func (c *Computer) Source() *selfsource.Source { return c.source }

// Projects is people's own projects in the computer's workspace.
func (c *Computer) Projects() *projects.Projects { return c.projects }

// Roles is what runs the computer's Director and Associate: their sandboxes, and what
// people start in the Associate's.
func (c *Computer) Roles() *rolehost.Host { return c.roles }

// Runs is what people ask of the computer's runs.
func (c *Computer) Runs() *runs.Runs { return c.runs }

// Tasks is the computer's tasks, and how they get to the Associate.
func (c *Computer) Tasks() *dispatch.Tasks { return c.tasks }

// Verbs answers what the computer's roles ask for over the bus.
func (c *Computer) Verbs() *verbs.Verbs { return c.verbs }

// Session is the session of the control plane on the computer.
func (c *Computer) Session() *session.Session { return c.session }

// Origin is where the computer's log begins.
func (c *Computer) Origin() *origin.Origin { return c.origin }

// Blobs is the computer's content.
func (c *Computer) Blobs() blob.Store { return c.blobs }

// Verifier checks the copies of the computer's log.
func (c *Computer) Verifier() *verification.Verifier { return c.verifier }

// Collector removes content that nothing leads to any more.
func (c *Computer) Collector() *collection.Collector { return c.collector }

// Replica is the copy of the log in a cluster; nil when there is none.
func (c *Computer) Replica() *cluster.Replica { return c.replica }

// Close closes the log and the content. Serve must have returned.
func (c *Computer) Close() error {
	if c.replica != nil {
		c.replica.Close()
	}
	return errorsJoin(c.desk.Close(), c.store.Close(), blob.Close(c.blobs))
}

// NewID makes an id now. Code unavailable when the computer is open for reading only.
func (c *Computer) NewID() (choir.ID, error) {
	if c.reading {
		return "", choir.E("computer", choir.CodeUnavailable, "the computer does not run").WithRemedy("start it with: choir up")
	}
	c.ids.Lock()
	defer c.ids.Unlock()
	return choir.NewID(choir.TimeOf(c.cfg.Now()), c.cfg.Random)
}

// errorsJoin joins errors as errors.Join does, but keeps a single error as it is
// so that its code and path stay visible.
func errorsJoin(first error, rest ...error) error {
	joined := errors.Join(rest...)
	if joined == nil {
		return first
	}
	return errors.Join(first, joined)
}
