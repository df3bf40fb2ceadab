// Package dispatch hands the tasks of one computer to its Associate, and runs that
// wait to its Director, until the log has their answers: it sends again what is not
// answered, stops what was cancelled, and answers in the Associate's place when that
// does not.
//
// All of its state is the log's. It knows neither sandbox nor workspace and starts no
// NATS server, so it is tested with a log alone.
package dispatch

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"github.com/thejerf/suture/v4"

	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// EventLog is how Tasks follow their computer's log. The methods are those of
// eventstore.Store.
type EventLog interface {
	Head() (uint64, choir.Digest)
	WaitPast(ctx context.Context, seq uint64) error
	At(ctx context.Context, seq uint64) (choir.Event, error)
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
	EventsOfRun(ctx context.Context, run choir.ID, after uint64) iter.Seq2[choir.Event, error]
	First(ctx context.Context, t choir.Type, subject ...string) (choir.Event, error)
	// CatchUp hurries the copy that TaskLog reads, see eventstore.Store.
	CatchUp()
}

// TaskLog is what Tasks read of their computer's log about tasks, runs and
// checkpoints. The methods are those of eventstore.Store.
type TaskLog interface {
	OpenRuns(ctx context.Context) ([]eventstore.Run, error)
	OpenTasks(ctx context.Context) ([]eventstore.Task, error)
	Task(ctx context.Context, id choir.ID) (eventstore.Task, error)
	Result(ctx context.Context, task choir.ID) (choir.AssociateResult, error)
	Checkpoints(ctx context.Context, limit int, before uint64) ([]eventstore.Checkpoint, error)
}

// Log is the log of the computer whose tasks are dispatched; eventstore.Store is one.
type Log interface {
	EventLog
	TaskLog
}

// Post carries deliveries to the roles, which may not be listening; hub.Post is one.
type Post interface {
	Deliver(role choir.Role, d bus.Delivery) error
	Close()
}

// Workspace is the workspace of the Associate.
type Workspace interface {
	// TakeBack ends the Associate's process, so that it writes no more, and takes back
	// what a task did. The Associate is started again.
	TakeBack(ctx context.Context, task choir.ID) (choir.TaskRollbackReply, error)
}

// Config of Tasks. AutoCheckpoint and the times may be absent.
type Config struct {
	Computer choir.ID
	// OpenPost opens the post to the computer's roles, which is closed again.
	OpenPost func() (Post, error)
	// AutoCheckpoint is when a checkpoint is made without being asked for; never when
	// one of its fields is 0.
	AutoCheckpoint AutoCheckpoint
	Now            func() time.Time
	Log            *slog.Logger

	Resend time.Duration // until a task without an answer is sent again; default 3 s
	Grace  time.Duration // until a stopped task is answered in the Associate's place; default 10 s
}

// Tasks are the tasks of one computer. The methods may be called at once.
type Tasks struct {
	cfg       Config
	log       Log
	events    *appender.Appender // appends to log
	workspace Workspace
}

// New makes the tasks of a computer; nothing is delivered before Services run. It
// reads log and appends with events, which must append to the same log.
func New(log Log, events *appender.Appender, workspace Workspace, cfg Config) *Tasks {
	cfg.Resend = cmp.Or(cfg.Resend, 3*time.Second)
	cfg.Grace = cmp.Or(cfg.Grace, 10*time.Second)
	return &Tasks{cfg: cfg, log: log, events: events, workspace: workspace}
}

// Services deliver tasks and make checkpoints in time. Each may be served again once
// it has ended.
func (ts *Tasks) Services() []suture.Service {
	return []suture.Service{&dispatcher{tasks: ts}, &autoCheckpoint{tasks: ts}}
}

// ended is nil for the ways in which a service is meant to end.
func ended(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
