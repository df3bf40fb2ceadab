// Package workspace is the files of one computer: the tree that people, tasks and
// programs change, the lock that lets one at a time look at it or rewrite it, and
// the events that tell the log what changed.
//
// A Workspace reaches the tree through choir-init in the sandbox that has it, and
// needs no more of that sandbox than a client: it knows neither driver nor bus, so
// it is tested with choir-init's server in the test's own process.
package workspace

import (
	"context"
	"log/slog"
	"time"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/diskquota"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// Log is the log of the computer that a Workspace belongs to. The methods are those
// of eventstore.Store.
type Log interface {
	Head() (uint64, choir.Digest)
	MustHave(seq uint64) error
	At(ctx context.Context, seq uint64) (choir.Event, error)
	SnapshotAt(ctx context.Context, seq uint64) (choir.SnapshotTaken, uint64, error)
	LeftOut(ctx context.Context, asOf uint64) (choir.CachesLeftOut, error)
	Files(ctx context.Context, asOf uint64, prefix string, limit int, after string) ([]choir.FileState, error)
	OpenTasks(ctx context.Context) ([]eventstore.Task, error)
	Append(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error)
}

// Sandbox is the sandbox that has the tree.
type Sandbox interface {
	// Guest returns a client of the sandbox's choir-init. It waits a while for a
	// sandbox that does not run; code unavailable when that was in vain.
	Guest(ctx context.Context) (*guest.Client, error)
	// LookedAt returns Guest's client once the first look at the tree after a start
	// has ended: before that nobody else may scan or rewrite the tree.
	LookedAt(ctx context.Context) (*guest.Client, error)
}

// Config of a Workspace.
type Config struct {
	// Dir is the computer's data folder: for the file of the intent, and for files
	// without a name that hold what a person sends or reads.
	Dir string
	// Moment finds the snapshot of the tree as it was after an event. Code not_found
	// when none was taken until then, or what it leads to was collected.
	Moment func(ctx context.Context, seq uint64) (choir.Digest, error)
	// Disk limits what the tree takes of its file system; nil for no limit.
	Disk *diskquota.Project
	// CacheLimit is how many bytes a cache may have until snapshots leave it out; 0
	// keeps all.
	CacheLimit int64
	// Hold is what a snapshot may hold; what is beyond is left out.
	Hold snapshot.Limits
	// MaxUpload bounds a file or a project that a person brings, in bytes; 0 is no
	// limit but the disk's.
	MaxUpload int64
	// ScanPatience is how long one look at the tree may take; 0 is ten minutes.
	ScanPatience time.Duration
	// Scanned, when given, receives how long each look at the tree took, and its error.
	Scanned func(took time.Duration, err error)
	// Computer names the computer to the Logger, which is told what nobody waits for.
	Computer choir.ID
	Logger   *slog.Logger
}

// Service is what goes on in a workspace beside the calls of others, until its
// context ends.
type Service interface {
	Serve(ctx context.Context) error
	String() string
}

// Workspace is the files of one computer, made of parts over one tree: what is done
// under its lock, what people do with files, the trash, steps that rewrite the tree,
// and the tree as it was. Its methods may be called at once, but for those that say
// that the caller holds the tree.
type Workspace struct {
	*tree
	*trash
	*files
	*intents
	*past
	remover   *remover
	terminals *terminalChanges
}

// New makes the workspace of a computer. It reads log, appends to it with events,
// too, and has content in blobs, trees of it by way of keeper.
func New(log Log, events *appender.Appender, blobs blob.Store, keeper *snapshot.Keeper, sandbox Sandbox, cfg Config) *Workspace {
	t := &tree{cfg: cfg, log: log, events: events, keeper: keeper, sandbox: sandbox, lock: make(chan struct{}, 1)}
	w := &Workspace{tree: t, intents: &intents{t}, past: &past{t}, remover: newRemover(t), terminals: newTerminalChanges(t)}
	byPeople := &edits{tree: t}
	w.trash = &trash{tree: t, edits: byPeople, remover: w.remover}
	w.files = &files{tree: t, edits: byPeople, trash: w.trash, remover: w.remover, blobs: blobs}
	return w
}

// Services are what must be served for the workspace to be whole.
func (w *Workspace) Services() []Service { return []Service{w.terminals, w.remover} }

// Limit makes a new client of the sandbox keep to the limits of snapshots, and tell
// how far its looks at the tree are.
func (w *Workspace) Limit(client *guest.Client) {
	client.LimitCaches(w.cfg.CacheLimit)
	client.Limit(w.cfg.Hold)
	client.ReportTo(w.at.report)
}

// TerminalUsed says that something was typed or printed in a terminal. It does not
// block.
func (w *Workspace) TerminalUsed() { w.terminals.terminalUsed() }

// ByTerminal reports whether what a look for a reason finds changed is the owner's,
// who used a terminal since the last look. It forgets that use.
func (w *Workspace) ByTerminal(reason string) bool { return w.terminals.byTerminal(reason) }

// ResumeRemoving has what an earlier session was removing for good removed.
func (w *Workspace) ResumeRemoving() { w.remover.wake() }

// Work returns what is done to the workspace now; nil for nothing.
func (w *Workspace) Work() *Work {
	if now := w.at.work(); now != nil {
		return now
	}
	return w.remover.work()
}
