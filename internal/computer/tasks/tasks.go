// Package tasks records and undoes the changes that tasks make in the workspace of one
// computer: the base of a task, the snapshots around its tool calls, the commit of its
// changes, and the rollback to its base.
//
// It uses the tree through package workspace and does not import driver or bus, so it is
// tested with choir-init's server in the test's own process. Package dispatch delivers
// the tasks and waits for their answers.
package tasks

import (
	"context"
	"iter"
	"log/slog"
	"path/filepath"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// Log reads the computer's log. The methods are those of eventstore.Store.
type Log interface {
	Task(ctx context.Context, id choir.ID) (eventstore.Task, error)
	Run(ctx context.Context, id choir.ID) (eventstore.Run, error)
	Event(ctx context.Context, id choir.ID) (choir.Event, error)
	First(ctx context.Context, t choir.Type, subject ...string) (choir.Event, error)
	SnapshotAt(ctx context.Context, seq uint64) (choir.SnapshotTaken, uint64, error)
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
	EventsOfRun(ctx context.Context, run choir.ID, after uint64) iter.Seq2[choir.Event, error]
	EventsOfTypes(ctx context.Context, after uint64, types ...choir.Type) iter.Seq2[choir.Event, error]
	// CatchUp hurries the SQLite copy that Task reads, see eventstore.Store.
	CatchUp()
}

// Tree is the workspace's tree of files. Callers hold its lock while they scan or change
// it.
type Tree interface {
	Lock(ctx context.Context) (unlock func(), err error)
	TasksAtWork(ctx context.Context) ([]eventstore.Task, error)
	// Scope returns the part of the tree that a task can change.
	Scope(task *eventstore.Task) workspace.Scope
	Scan(ctx context.Context, only ...string) (snapshot.Result, *guest.Client, error)
	// ScanWorktree takes a snapshot of a task's worktree. Code not_found: there is none.
	ScanWorktree(ctx context.Context, task choir.ID) (snapshot.Result, *guest.Client, error)
	ClearWay(ctx context.Context, client *guest.Client, scope workspace.Scope, base choir.Digest, now snapshot.Result, keep []string) (snapshot.Result, []string, error)
	RestoreTree(ctx context.Context, client *guest.Client, root choir.Digest, opts guest.RestoreOptions) (snapshot.RestoreResult, error)
	// UnfinishedIntent reports whether a rewrite of an earlier session is still to be finished.
	UnfinishedIntent() (bool, error)
}

// Record reads from the log which state of the tree is recorded, and appends changes.
type Record interface {
	LastSnapshot(ctx context.Context) (choir.Digest, error)
	Changes(ctx context.Context, from, to choir.Digest) ([]snapshot.Change, error)
	Lookup(ctx context.Context, root choir.Digest, path string) (*snapshot.Entry, error)
	// Without returns a tree without some paths, see workspace.Workspace.
	Without(ctx context.Context, root choir.Digest, paths []string) (choir.Digest, error)
	// Confines reports whether the sandbox keeps the commands of a task in its folder.
	Confines() bool
	ByTerminal(reason string) bool
	Record(ctx context.Context, now snapshot.Result, reason string, always bool) ([]choir.Draft, error)
	// RecordTask appends changes by scope, see workspace.Workspace.
	RecordTask(ctx context.Context, now snapshot.Result, reason string, always bool, task *eventstore.Task, cause choir.ID) error
	// RecordOwnersBeside appends changes as the owner's but for other tasks' scopes.
	RecordOwnersBeside(ctx context.Context, now snapshot.Result, task *eventstore.Task) error
	AppendAll(ctx context.Context, role choir.Role, drafts []choir.Draft) error
}

// Workspace is the workspace in which the tasks work; workspace.Workspace implements it.
type Workspace interface {
	Tree
	Record
}

// Sandbox is the Associate's sandbox.
type Sandbox interface {
	// Guest returns a client of the sandbox's choir-init. Code unavailable: the sandbox does not run.
	Guest(ctx context.Context) (*guest.Client, error)
}

// Approvals says which results of tasks the owner must approve; effects.Rules is one.
type Approvals interface {
	// Concern reports whether a rule could be about what a task will do.
	Concern(task *choir.DirectorTask) bool
	// Demand reports whether a rule is about what a task did.
	Demand(ctx context.Context, o Offered) (bool, error)
}

// Changes records and undoes the changes of one computer's tasks. Its methods are safe
// for concurrent use. Methods with a task return code not_found if there is none, and code
// conflict if it has an answer.
type Changes struct {
	computer  choir.ID
	log       Log
	events    *appender.Appender // appends to log
	keeper    *snapshot.Keeper   // of the workspace's trees
	workspace Workspace
	sandbox   Sandbox
	approvals Approvals
	logger    *slog.Logger
	scopes    scopes
	notes     asideNotes

	history   history
	copies    *copies
	rollbacks *rollbacks
}

// New returns the Changes of a computer whose folder is dir. It reads log and appends with events, which must
// append to the same log; sandbox must be that of the workspace. Errors that no caller
// receives are logged to logger.
func New(computer choir.ID, dir string, log Log, events *appender.Appender, keeper *snapshot.Keeper, workspace Workspace, sandbox Sandbox, approvals Approvals, logger *slog.Logger) *Changes {
	return &Changes{
		computer: computer, log: log, events: events, keeper: keeper, workspace: workspace, sandbox: sandbox, approvals: approvals, logger: logger,
		notes:   asideNotes{filepath.Join(dir, asideFolder)},
		history: history{log}, copies: &copies{keeper, workspace}, rollbacks: &rollbacks{log, keeper, workspace},
	}
}

// lockStarted locks the tree and returns a started task without an answer, and the function that unlocks the
// tree. It reads the task under the lock, because the task may be answered while a verb waits for the lock.
func (c *Changes) lockStarted(ctx context.Context, id choir.ID) (t eventstore.Task, unlock func(), err error) {
	if unlock, err = c.workspace.Lock(ctx); err != nil {
		return t, nil, err
	}
	if t, err = c.history.startedTask(ctx, id); err != nil {
		unlock()
		return t, nil, err
	}
	return t, unlock, nil
}
