// Package dispatch submits tasks of one computer and waits for their answers, ends the
// tasks of stopped runs, and makes checkpoints that are due. The Associate receives tasks
// as events over the bus; if it does not end a stopped task, this package answers it.
//
// All of its state is in the log. It does not import sandbox, workspace or bus, so it is
// tested with a log alone.
package dispatch

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"github.com/thejerf/suture/v4"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// EventLog reads and follows the events of the log. The methods are those of
// eventstore.Store.
type EventLog interface {
	Head() (uint64, choir.Digest)
	WaitPast(ctx context.Context, seq uint64) error
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
	Follow(ctx context.Context, cursor uint64) iter.Seq2[choir.Event, error]
	EventsOfRun(ctx context.Context, run choir.ID, after uint64) iter.Seq2[choir.Event, error]
	EventsOfRunOf(ctx context.Context, run choir.ID, types ...choir.Type) iter.Seq2[choir.Event, error]
	First(ctx context.Context, t choir.Type, subject ...string) (choir.Event, error)
}

// TaskLog reads tasks, runs and checkpoints from the log. The methods are those of
// eventstore.Store.
type TaskLog interface {
	OpenRuns(ctx context.Context) ([]eventstore.Run, error)
	OpenTasks(ctx context.Context) ([]eventstore.Task, error)
	Task(ctx context.Context, id choir.ID) (eventstore.Task, error)
	Result(ctx context.Context, task choir.ID) (choir.AssociateResult, error)
	// CatchUp hurries the SQLite copy, which has the tasks, see eventstore.Store.
	CatchUp()
	Checkpoints(ctx context.Context, limit int, before uint64) ([]eventstore.Checkpoint, error)
}

// Log is the log of the computer; eventstore.Store implements it.
type Log interface {
	EventLog
	TaskLog
}

// Workspace is the workspace in which the Associate works.
type Workspace interface {
	// TakeBack ends the Associate's process, so that it stops writing, rolls the task back, and calls
	// answer, before which no task begins. The Associate is restarted. Code conflict: the task has an answer.
	TakeBack(ctx context.Context, task choir.ID, answer func(choir.TaskRollbackReply) error) error
	// IfUnbegun calls do if the task has neither begun nor an answer, and prevents it from
	// beginning meanwhile. It reports whether it called do.
	IfUnbegun(ctx context.Context, task choir.ID, do func() error) (bool, error)
}

// Config configures Tasks. AutoCheckpoint and the times are optional.
type Config struct {
	Computer choir.ID
	// AutoCheckpoint sets when checkpoints are made automatically: never if one of its fields
	// is 0.
	AutoCheckpoint AutoCheckpoint
	Now            func() time.Time
	Log            *slog.Logger

	Grace time.Duration // how long the Associate may take to answer a stopped task; default 10 s
	Retry time.Duration // wait before another attempt to end a stopped task; default 3 s
}

// Tasks submits and ends the tasks of one computer. Its methods are safe for concurrent
// use.
type Tasks struct {
	cfg       Config
	log       Log
	events    *appender.Appender // appends to log
	workspace Workspace
}

// New returns the Tasks of a computer. It reads log and appends with events, which must
// append to the same log. Stopped tasks are ended only while Services run.
func New(log Log, events *appender.Appender, workspace Workspace, cfg Config) *Tasks {
	cfg.Grace = cmp.Or(cfg.Grace, 10*time.Second)
	cfg.Retry = cmp.Or(cfg.Retry, 3*time.Second)
	return &Tasks{cfg: cfg, log: log, events: events, workspace: workspace}
}

// Services returns the services that end the tasks of stopped runs and make automatic
// checkpoints. Each can be served again after it has ended.
func (ts *Tasks) Services() []suture.Service {
	return []suture.Service{&canceller{tasks: ts}, &autoCheckpoint{tasks: ts}}
}

// ended returns err, or nil if it is context.Canceled, which ends a service in order.
func ended(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
