// Package associate is the role that works on files: it takes tasks from the
// bus and hands them to the task runner, one at a time.
package associate

import (
	"context"
	"log/slog"

	"choiros/internal/associate/taskrunner"
	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/fault"
)

// Doer executes one task; see taskrunner.Runner.
type Doer interface {
	Do(ctx, work context.Context, dispatched choir.Event) error
	// Lost reports that processes of a task may run where Do cannot end them.
	Lost() bool
}

// ErrLost ends a service whose process must end: what a task left behind is killed
// before the next one begins, see guest.Server.
var ErrLost = choir.E("associate", choir.CodeUnavailable, "the process below which commands run was killed")

// Service is the queue in front of a runner: one task at a time, in the order
// of delivery.
type Service struct {
	doer Doer
	log  *slog.Logger

	queue   []choir.Event
	known   map[choir.ID]bool // queued, running or answered
	stopped map[choir.ID]bool // cancelled, tasks and runs
	running *execution
}

type execution struct {
	event choir.Event
	stop  context.CancelCauseFunc
	done  chan error
}

// New makes a service. What a task could not be answered for is logged: control
// delivers it again.
func New(doer Doer, log *slog.Logger) *Service {
	return &Service{doer: doer, log: log, known: map[choir.ID]bool{}, stopped: map[choir.ID]bool{}}
}

// Serve takes deliveries until ctx ends or the channel is closed, and returns
// when the running task has ended; ErrLost when the next could not be kept apart
// from it.
func (s *Service) Serve(ctx context.Context, deliveries <-chan bus.Delivery) error {
	life, end := context.WithCancel(ctx)
	defer end()
	for {
		s.next(life)
		select {
		case d, ok := <-deliveries:
			if !ok {
				end()
				s.wait()
				return ctx.Err()
			}
			s.queueDelivery(d)
		case err := <-s.ended():
			s.finish(err)
			if s.doer.Lost() {
				return ErrLost
			}
		case <-ctx.Done():
			s.wait()
			return ctx.Err()
		}
	}
}

// queueDelivery queues a task once, or notes that it was stopped.
func (s *Service) queueDelivery(d bus.Delivery) {
	switch {
	case d.Kind == bus.DeliverTask && d.Event != nil && (!s.known[d.Event.Task] || fault.NoTaskKeys):
		s.known[d.Event.Task] = true
		s.queue = append(s.queue, *d.Event)
	case d.Kind == bus.DeliverCancel:
		which := d.Task
		if which == "" {
			which = d.Run
		}
		s.stopped[which] = true
		if r := s.running; r != nil && s.isStopped(r.event) {
			r.stop(taskrunner.ErrCancelled)
		}
	}
}

func (s *Service) isStopped(e choir.Event) bool { return s.stopped[e.Task] || s.stopped[e.Run] }

// next starts the oldest task when none runs. A stopped one is started too: its
// result says that it was stopped.
func (s *Service) next(ctx context.Context) {
	if s.running != nil || len(s.queue) == 0 || ctx.Err() != nil {
		return
	}
	r := &execution{event: s.queue[0], done: make(chan error, 1)}
	s.queue = s.queue[1:]
	var work context.Context
	work, r.stop = context.WithCancelCause(ctx)
	if s.isStopped(r.event) {
		r.stop(taskrunner.ErrCancelled)
	}
	s.running = r
	go func() { r.done <- s.doer.Do(ctx, work, r.event) }()
}

// ended gives the end of the running task; without one it never does.
func (s *Service) ended() <-chan error {
	if s.running == nil {
		return nil
	}
	return s.running.done
}

func (s *Service) finish(err error) {
	s.running.stop(nil)
	if err != nil {
		s.log.Error("task without a result", "task", s.running.event.Task, "error", err)
		delete(s.known, s.running.event.Task)
	}
	s.running = nil
}

func (s *Service) wait() {
	if s.running != nil {
		s.finish(<-s.running.done)
	}
}
