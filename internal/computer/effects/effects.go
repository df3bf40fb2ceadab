// Package effects holds results of tasks until the owner of the computer has approved them. A
// task that meets a rule of the policy is taken back at its end, and what it changed is kept as
// a snapshot; an approval merges exactly that into the workspace, as one step that survives a
// crash.
//
// All of its state is in the log.
package effects

import (
	"context"
	"errors"
	"iter"
	"log/slog"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/tasks"
	"choiros/internal/computer/treemerge"
	"choiros/internal/effect"
	"choiros/internal/eventstore"
	"choiros/internal/snapshot"
)

// Log is the part of the computer's log that Effects reads; eventstore.Store is one.
type Log interface {
	Head() (uint64, choir.Digest)
	Follow(ctx context.Context, cursor uint64) iter.Seq2[choir.Event, error]
	First(ctx context.Context, t choir.Type, subject ...string) (choir.Event, error)
	EventsOfRun(ctx context.Context, run choir.ID, after uint64) iter.Seq2[choir.Event, error]
	OpenTasks(ctx context.Context) ([]eventstore.Task, error)
	Task(ctx context.Context, id choir.ID) (eventstore.Task, error)
}

// Changes takes the changes of tasks back; tasks.Changes is one.
type Changes interface {
	TakeAside(ctx context.Context, id choir.ID, decide func(context.Context, tasks.Offered) (held choir.Payload, drop bool, err error)) (bool, error)
	FinishAside(ctx context.Context, id choir.ID) (held bool, err error)
}

// Workspace is the tree that results land in; workspace.Workspace is one.
type Workspace interface {
	Lock(ctx context.Context) (unlock func(), err error)
	// UnfinishedIntent reports whether a step of an earlier session is still to be finished.
	UnfinishedIntent() (bool, error)
}

// Merger merges changes into the workspace; treemerge.Merger is one.
type Merger interface {
	ApplyHeld(ctx context.Context, role choir.Role, s treemerge.Step, dryRun bool) (treemerge.Applied, error)
}

// Config of Effects.
type Config struct {
	Computer choir.ID
	Logger   *slog.Logger
}

// Effects holds and answers the results of one computer's tasks. Its methods may be called at
// once.
type Effects struct {
	cfg       Config
	log       Log
	events    *appender.Appender // appends to log
	blobs     blob.Store
	keeper    *snapshot.Keeper // of blobs
	changes   Changes
	workspace Workspace
	merger    Merger // into workspace
	rules     *Rules
}

// New makes the Effects of a computer. It reads log and appends with events, which must append
// to the same log; the other parts must be those of the same computer.
func New(log Log, events *appender.Appender, blobs blob.Store, keeper *snapshot.Keeper, changes Changes, workspace Workspace, merger Merger, rules *Rules, cfg Config) *Effects {
	return &Effects{rules: rules, cfg: cfg, log: log, events: events, blobs: blobs, keeper: keeper, changes: changes, workspace: workspace, merger: merger}
}

// Policy returns the rules in force.
func (e *Effects) Policy() effect.Policy { return e.rules.policy() }

// String names the service.
func (*Effects) String() string { return "approvals" }

// Serve gives tasks their results once their owner has answered, until ctx ends. It is a service.
func (e *Effects) Serve(ctx context.Context) error {
	head, _ := e.log.Head()
	err := e.answerTasks(ctx)
	for ev, ferr := range e.log.Follow(ctx, head) {
		if err == nil {
			err = ferr
		}
		if err != nil {
			break
		}
		if ev.Type == choir.TypeEffectAnswered || ev.Type == choir.TypeTaskReturned {
			err = e.answerTasks(ctx)
		}
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
