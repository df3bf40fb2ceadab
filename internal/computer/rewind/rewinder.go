// Package rewind undoes changes of a computer: everything after a moment, or the
// changes of one run, task or tool call in the workspace. Each undo is a new event, so
// it can be undone too.
//
// It reaches the tree by way of package workspace and knows neither driver nor bus, so
// it is tested with choir-init's server in the test's own process.
package rewind

import (
	"context"
	"iter"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/moments"
	"choiros/internal/computer/treemerge"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// EventLog is the log of a computer as a list of events. The methods are those of
// eventstore.Store.
type EventLog interface {
	Head() (uint64, choir.Digest)
	ReadOnly() string
	MustHave(seq uint64) error
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
	First(ctx context.Context, t choir.Type, subject ...string) (choir.Event, error)
	FirstSnapshot(ctx context.Context) (choir.SnapshotTaken, uint64, error)
	WaitPast(ctx context.Context, seq uint64) error
}

// RunLog is the part of the log about runs and tasks. The methods are those of
// eventstore.Store.
type RunLog interface {
	Run(ctx context.Context, id choir.ID) (eventstore.Run, error)
	OpenRuns(ctx context.Context) ([]eventstore.Run, error)
	Task(ctx context.Context, id choir.ID) (eventstore.Task, error)
	Tasks(ctx context.Context, run choir.ID) ([]eventstore.Task, error)
	OpenTasks(ctx context.Context) ([]eventstore.Task, error)
}

// Log is the part of its computer's log that a Rewinder reads.
type Log interface {
	EventLog
	RunLog
}

// Moments finds the workspace of earlier moments; moments.Moments is one.
type Moments interface {
	Tree(ctx context.Context, seq uint64) (choir.Digest, error)
	TreeLacking(ctx context.Context, seq uint64) (root choir.Digest, lacking []string, err error)
}

// Tree is the tree that a Rewinder writes to; see Workspace.
type Tree interface {
	Lock(ctx context.Context) (unlock func(), err error)
	LockIdle(ctx context.Context) (unlock func(), err error)
	Waiting() (done func())
	Scan(ctx context.Context, only ...string) (snapshot.Result, *guest.Client, error)
	ScanWith(ctx context.Context, client *guest.Client, only []string) (snapshot.Result, error)
	RecordOwners(ctx context.Context, now snapshot.Result) error
	CarryOut(ctx context.Context, client *guest.Client, in workspace.Intent) (choir.Receipt, error)
	Revert(ctx context.Context, client *guest.Client, in workspace.Intent) error
}

// Trash moves paths that no snapshot holds and that are in the way to the trash, and
// finds them there; see Workspace.
type Trash interface {
	InTheWay(ctx context.Context, target choir.Digest, now snapshot.Result) ([]string, error)
	Without(ctx context.Context, root choir.Digest, paths []string) (choir.Digest, error)
	MoveAside(ctx context.Context, client *guest.Client, paths []string) ([]workspace.Aside, error)
	ThrownSince(ctx context.Context, seq uint64, now snapshot.Result) ([]workspace.Aside, error)
	KeepNotes(ctx context.Context, target choir.Digest, now snapshot.Result, back []workspace.Aside) (choir.Digest, error)
}

// Workspace is the workspace of the computer; workspace.Workspace is one.
type Workspace interface {
	Tree
	Trash
}

// Merger merges changes into the workspace; treemerge.Merger is one.
type Merger interface {
	Apply(ctx context.Context, role choir.Role, s treemerge.Step, dryRun bool) (treemerge.Applied, error)
	Trees(ctx context.Context, base, theirs, ours choir.Digest) (timeline.Merged, error)
}

// Terminals are the terminals that people have open in the workspace.
type Terminals interface {
	// Stop ends all and lets none be opened until release; see terminals.Set.Stop.
	Stop(why choir.TerminalReason, words string) (ended int, release func())
	// Count returns how many are open.
	Count() int
}

// Config of a Rewinder. Only ReadOnly may be absent.
type Config struct {
	// Available returns what the computer has of a snapshot.
	Available moments.Available
	// WrittenByOthers lists the paths that the owner or other tasks wrote between two
	// events, and the task did not.
	WrittenByOthers func(ctx context.Context, task choir.ID, from, to uint64) ([]string, error)
	// ReadOnly says that the computer does not run, so that nothing serves the Rewinder.
	ReadOnly bool
}

// Rewinder undoes changes of one computer. Its methods are safe for concurrent use.
type Rewinder struct {
	log       Log
	events    *appender.Appender // appends to log
	moments   Moments
	workspace Workspace
	keeper    *snapshot.Keeper // of the workspace's trees
	merger    Merger
	terminals Terminals
	cfg       Config
	jobs      jobs
}

// New returns the Rewinder of a computer. events must append to log; moments and merger
// must belong to workspace.
func New(log Log, events *appender.Appender, moments Moments, workspace Workspace, keeper *snapshot.Keeper, merger Merger, terminals Terminals, cfg Config) *Rewinder {
	return &Rewinder{
		log: log, events: events, moments: moments, workspace: workspace, keeper: keeper, merger: merger, terminals: terminals, cfg: cfg,
		jobs: jobs{queue: make(chan *Job)},
	}
}
