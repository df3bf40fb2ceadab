// Package tasks is what the tasks of one computer change in its workspace: the tree that
// a task starts from, the moments around its tool calls, the commit of its changes, and
// the rollback to the tree it started from.
//
// It reaches the tree by way of package workspace and knows neither driver nor bus, so it
// is tested with choir-init's server in the test's own process. Package dispatch delivers
// the tasks and waits for their answers.
package tasks

import (
	"context"
	"iter"
	"log/slog"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
	"choiros/internal/fault"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// Log is what Changes read of their computer's log. The methods are those of
// eventstore.Store.
type Log interface {
	Task(ctx context.Context, id choir.ID) (eventstore.Task, error)
	Event(ctx context.Context, id choir.ID) (choir.Event, error)
	First(ctx context.Context, t choir.Type, subject ...string) (choir.Event, error)
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
	EventsOfRun(ctx context.Context, run choir.ID, after uint64) iter.Seq2[choir.Event, error]
	// CatchUp hurries the copy that Task reads, see eventstore.Store.
	CatchUp()
}

// Tree is the workspace's tree. Whoever looks at it or rewrites it holds its lock.
type Tree interface {
	Lock(ctx context.Context) (unlock func(), err error)
	TaskAtWork(ctx context.Context) (*eventstore.Task, error)
	Scan(ctx context.Context, only ...string) (snapshot.Result, *guest.Client, error)
	ClearWay(ctx context.Context, client *guest.Client, base choir.Digest, now snapshot.Result, keep []string) (snapshot.Result, []string, error)
	RestoreTree(ctx context.Context, client *guest.Client, root choir.Digest, opts guest.RestoreOptions) (snapshot.RestoreResult, error)
}

// Record is what the log knows of the tree, and how it learns what changed.
type Record interface {
	LastSnapshot(ctx context.Context) (choir.Digest, error)
	Changes(ctx context.Context, from, to choir.Digest) ([]snapshot.Change, error)
	Lookup(ctx context.Context, root choir.Digest, path string) (*snapshot.Entry, error)
	ByTerminal(reason string) bool
	Record(ctx context.Context, now snapshot.Result, reason string, always bool) ([]choir.Draft, error)
	RecordFor(ctx context.Context, now snapshot.Result, reason string, task *eventstore.Task) error
	RecordOwners(ctx context.Context, now snapshot.Result) error
	AppendAll(ctx context.Context, role choir.Role, drafts []choir.Draft) error
}

// Workspace is the workspace that the tasks work in; workspace.Workspace is one.
type Workspace interface {
	Tree
	Record
}

// Sandbox is the sandbox of the Associate, which has the tree.
type Sandbox interface {
	// Guest returns a client of the sandbox's choir-init. Code unavailable when the
	// sandbox does not run.
	Guest(ctx context.Context) (*guest.Client, error)
}

// Changes is what the tasks of one computer change. Its methods may be called at once.
// Those that are given a task return code not_found when there is none, and code conflict
// when it has been answered.
type Changes struct {
	computer  choir.ID
	log       Log
	events    *appender.Appender // appends to log
	keeper    *snapshot.Keeper   // of the workspace's trees
	workspace Workspace
	sandbox   Sandbox
	logger    *slog.Logger
}

// New makes the Changes of a computer. It reads log and appends with events, which must
// append to the same log; sandbox must have the tree of the workspace. The logger is told
// under the computer's name of what nobody waits for.
func New(computer choir.ID, log Log, events *appender.Appender, keeper *snapshot.Keeper, workspace Workspace, sandbox Sandbox, logger *slog.Logger) *Changes {
	return &Changes{computer: computer, log: log, events: events, keeper: keeper, workspace: workspace, sandbox: sandbox, logger: logger}
}

// openTask returns a task that is dispatched and not yet answered.
func (c *Changes) openTask(ctx context.Context, id choir.ID) (eventstore.Task, error) {
	t, err := c.log.Task(ctx, id)
	if err == nil && t.Result != nil && !fault.NoTaskKeys {
		err = choir.E("computer.task", choir.CodeConflict, "task %s has been answered already", id)
	}
	return t, err
}

// startedTask returns an open task that has a base.
func (c *Changes) startedTask(ctx context.Context, id choir.ID) (eventstore.Task, error) {
	t, err := c.openTask(ctx, id)
	if err == nil && t.Base == "" {
		err = choir.E("computer.task", choir.CodeConflict, "task %s has not begun", id)
	}
	return t, err
}
