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
	Event(ctx context.Context, id choir.ID) (choir.Event, error)
	SnapshotAt(ctx context.Context, seq uint64) (choir.SnapshotTaken, uint64, error)
	LeftOut(ctx context.Context, asOf uint64) (choir.CachesLeftOut, error)
	Files(ctx context.Context, asOf uint64, prefix string, limit int, after string) ([]choir.FileState, error)
	OpenTasks(ctx context.Context) ([]eventstore.Task, error)
	Append(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error)
}

// Sandbox is the sandbox that contains the tree.
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
	// Hold bounds a snapshot; paths beyond it are left out.
	Hold snapshot.Limits
	// MaxUpload bounds a file or a project that a person brings, in bytes; 0 is no
	// limit but the disk's.
	MaxUpload int64
	// ScanPatience is how long one look at the tree may take; 0 is ten minutes.
	ScanPatience time.Duration
	// Scanned, when given, receives how long each look at the tree took, and its error.
	Scanned func(took time.Duration, err error)
	// Confines, when given, reports whether the sandbox keeps the commands of a task in
	// a project from writing outside of it.
	Confines func() bool
	// Computer names the computer to the Logger, which is told what nobody waits for.
	Computer choir.ID
	Logger   *slog.Logger
}

// Service is background work of a workspace; Serve runs until its context ends.
type Service interface {
	Serve(ctx context.Context) error
	String() string
}

// Workspace gives access to the files of one computer: scans and restores under a lock,
// edits by people, the trash, intents, and earlier states of the tree. Its methods are
// safe for concurrent use, except where the caller must hold the tree.
type Workspace struct {
	*tree
	*trash
	*files
	*intents
	*past
	remover   *remover
	terminals *terminalChanges
}

// New returns the workspace of a computer. It reads log and appends to it through
// events; keeper stores trees in blobs, and blobs stores the content of files.
func New(log Log, events *appender.Appender, blobs blob.Store, keeper *snapshot.Keeper, sandbox Sandbox, cfg Config) *Workspace {
	t := &tree{cfg: cfg, log: log, events: events, keeper: keeper, sandbox: sandbox, lock: make(chan struct{}, 1)}
	w := &Workspace{tree: t, intents: &intents{t}, past: &past{t}, remover: newRemover(t), terminals: newTerminalChanges(t)}
	byPeople := &edits{tree: t}
	w.trash = &trash{tree: t, edits: byPeople, remover: w.remover}
	w.files = &files{tree: t, edits: byPeople, trash: w.trash, remover: w.remover, blobs: blobs}
	return w
}

// Services returns the services that the caller must run for the workspace to work.
func (w *Workspace) Services() []Service { return []Service{w.terminals, w.remover} }

// Limit sets the snapshot limits on a new client of the sandbox, and makes it report
// the progress of scans.
func (w *Workspace) Limit(client *guest.Client) {
	client.LimitCaches(w.cfg.CacheLimit)
	client.Limit(w.cfg.Hold)
	client.ReportTo(w.at.report)
}

// TerminalUsed records that a terminal had input or output. It does not block.
func (w *Workspace) TerminalUsed() { w.terminals.terminalUsed() }

// ByTerminal reports whether the changes found by a scan with the given reason are the
// owner's, made in a terminal since the last scan. It clears the record of terminal
// use.
func (w *Workspace) ByTerminal(reason string) bool { return w.terminals.byTerminal(reason) }

// ResumeRemoving continues the pending removals of an earlier session.
func (w *Workspace) ResumeRemoving() { w.remover.wake() }

// Work returns the current operation on the workspace; nil if there is none.
func (w *Workspace) Work() *Work {
	if now := w.at.work(); now != nil {
		return now
	}
	return w.remover.work()
}
