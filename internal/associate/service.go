// Package associate is the Associate's main loop: it follows its computer's tasks over
// the bus and has the task runner execute them: those of one project in the order of the
// log, and tasks of different projects at once.
package associate

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"choiros/internal/associate/taskrunner"
	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/fault"
)

// Doer executes tasks; see taskrunner.Runner.
type Doer interface {
	// Do executes the task of a task.dispatched event and appends its result. A stopped
	// task's work is cancelled, ctx is not. An error means that no result was appended.
	// Tasks with different projects are executed at once.
	Do(ctx, work context.Context, dispatched choir.Event) error
	// Project returns the project that the task of a task.dispatched event is confined to;
	// "" is the whole workspace.
	Project(dispatched choir.Event) string
	// SetPaused records that the event seq paused a run, or let it go on.
	SetPaused(run choir.ID, paused bool, seq uint64)
	// EndCommand ends the running command that a tool call of a task started, if there is one.
	EndCommand(task, call choir.ID)
	// Lost reports whether processes of a task may run that Do cannot end.
	Lost() bool
}

// ErrLost is returned by Serve when the Associate's process has to exit, so that the
// processes left by a task are killed before the next task begins, see guest.Server.
var ErrLost = choir.E("associate", choir.CodeUnavailable, "the process below which commands run was killed")

// The first and the longest wait before a task without a result is retried. Each wait is twice the
// last.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 3 * time.Second
)

// maxAtOnce limits the tasks that are executed at once. They share the sandbox's memory and
// processors.
const maxAtOnce = 2

// Service executes the open tasks of a computer. Two tasks whose roots overlap are executed
// in the order of the log: those of one project, and one of the whole workspace with any
// other. Up to maxAtOnce others are executed at once; those of paused runs do not count.
type Service struct {
	doer Doer
	log  *slog.Logger

	queue   []waiting         // of tasks that neither run nor have an answer, in the order of the log
	stopped map[choir.ID]bool // tasks that a person stopped or whose run has ended
	alone   map[choir.ID]bool // tasks that a former process began, and this one did not yet
	paused  map[choir.ID]bool // runs
	running map[choir.ID]*execution
	ends    chan outcome // is read until all running tasks have ended
	lost    bool         // nothing may start any more, see ErrLost
}

// waiting is a task that waits to be executed.
type waiting struct {
	event   choir.Event   // task.dispatched
	project string        // "" overlaps every other
	alone   bool          // nothing runs beside it
	wait    time.Duration // the wait before the last retry, 0 before the first attempt
	from    time.Time     // when it is retried; zero for the first attempt
}

// overlaps reports whether two tasks may not be executed at once.
func (w *waiting) overlaps(other *waiting) bool {
	return w.project == "" || other.project == "" || w.project == other.project
}

// execution is a task that the Doer executes.
type execution struct {
	waiting
	stop     context.CancelCauseFunc
	answered bool // the log has the task's answer
}

// outcome is the end of an execution with Do's error.
type outcome struct {
	task choir.ID
	err  error
}

// New returns a Service that executes tasks with doer. It executes the tasks in begun, which
// a former process began, without any other beside them, because one of them may have ended
// that process. It logs errors of tasks to log before it retries the tasks.
func New(doer Doer, begun []choir.ID, log *slog.Logger) *Service {
	s := &Service{doer: doer, log: log, stopped: map[choir.ID]bool{}, alone: map[choir.ID]bool{}, paused: map[choir.ID]bool{}, running: map[choir.ID]*execution{}, ends: make(chan outcome, maxAtOnce)}
	for _, id := range begun {
		s.alone[id] = true
	}
	return s
}

// Serve executes the tasks of the task feed's events, see choir.InTaskFeed, until ctx
// ends or events is closed, and waits for the running tasks. It returns ctx.Err(), or
// ErrLost if processes of a task that has ended may still run: then it has waited for the
// other tasks, and started none.
func (s *Service) Serve(ctx context.Context, events <-chan choir.Event) error {
	life, end := context.WithCancel(ctx)
	defer s.waitForTasks()
	defer end()
	for {
		retry := s.startTasks(life)
		select {
		case e, ok := <-events:
			if !ok {
				return ctx.Err()
			}
			s.apply(e)
		case o := <-s.ends:
			s.finish(o)
			s.lost = s.lost || s.doer.Lost()
			if s.lost && len(s.running) == 0 {
				return ErrLost
			}
		case <-retry:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// apply handles one event: it queues a dispatched task, stops a cancelled task, and drops an answered
// task.
func (s *Service) apply(e choir.Event) {
	switch e.Type {
	case choir.TypeRunPaused, choir.TypeRunResumed:
		if s.paused[e.Run] = e.Type == choir.TypeRunPaused; !s.paused[e.Run] {
			delete(s.paused, e.Run)
		}
		s.doer.SetPaused(e.Run, s.paused[e.Run], e.Seq)
	case choir.TypeTaskDispatched:
		s.queue = append(s.queue, waiting{event: e, project: s.doer.Project(e), alone: s.alone[e.Task]})
	case choir.TypeTaskCancelRequested:
		s.stopped[e.Task] = true
		if r := s.running[e.Task]; r != nil {
			r.stop(taskrunner.ErrCancelled)
		}
	case choir.TypeCommandEndRequested:
		var p choir.CommandEndRequested
		if choir.DecodeDurable(e.Payload, &p) == nil { // a request that cannot be read is about no command
			s.doer.EndCommand(e.Task, p.Call)
		}
	case choir.TypeTaskReturned:
		if fault.NoTaskKeys {
			return
		}
		s.queue = slices.DeleteFunc(s.queue, func(w waiting) bool { return w.event.Task == e.Task })
		delete(s.stopped, e.Task)
		delete(s.alone, e.Task)
		if r := s.running[e.Task]; r != nil {
			r.answered = true
		}
	}
}

// startTasks starts the queued tasks that may run now. It returns a channel that fires when
// the next one is retried; nil if none is to be.
func (s *Service) startTasks(ctx context.Context) (retry <-chan time.Time) {
	if s.lost || ctx.Err() != nil {
		return nil
	}
	var earlier []waiting // they go before tasks that overlap them
	full := false         // nothing more may start before a running task ends
	soonest := time.Duration(-1)
	for _, w := range s.queue {
		left := time.Until(w.from)
		switch {
		case full || slices.ContainsFunc(earlier, func(e waiting) bool { return w.overlaps(&e) }):
		case left > 0:
			if soonest < 0 || left < soonest {
				soonest = left
			}
		case s.isHeldUp(&w):
			full = w.alone // else others could always go before it
		default:
			s.start(ctx, w)
			continue
		}
		earlier = append(earlier, w)
	}
	s.queue = earlier
	if soonest < 0 || s.atWork() >= maxAtOnce {
		return nil
	}
	return time.After(soonest)
}

// isHeldUp reports whether a task has to wait for a running one.
func (s *Service) isHeldUp(w *waiting) bool {
	for _, r := range s.running {
		if w.alone || r.alone || w.overlaps(&r.waiting) {
			return true
		}
	}
	return s.atWork() >= maxAtOnce
}

// atWork counts the running tasks whose runs are not paused.
func (s *Service) atWork() int {
	n := 0
	for _, r := range s.running {
		if !s.paused[r.event.Run] {
			n++
		}
	}
	return n
}

// start starts a task. A stopped one is started with a cancelled context, so that it gets a
// result too.
func (s *Service) start(ctx context.Context, w waiting) {
	r := &execution{waiting: w}
	var work context.Context
	work, r.stop = context.WithCancelCause(ctx)
	if s.stopped[w.event.Task] {
		r.stop(taskrunner.ErrCancelled)
	}
	s.running[w.event.Task] = r
	go func() { s.ends <- outcome{w.event.Task, s.doer.Do(ctx, work, w.event)} }()
}

// finish records the end of a running task. A task without a result is put into its place in
// the queue again, to be retried after a wait.
func (s *Service) finish(o outcome) {
	r := s.running[o.task]
	delete(s.running, o.task)
	r.stop(nil)
	// Without task keys the second answer of a task is refused however often it is retried.
	if o.err == nil || r.answered || fault.NoTaskKeys {
		return
	}
	s.log.Error("task without a result", "task", o.task, "error", o.err)
	w := r.waiting
	w.alone = false // it has not ended this process
	w.wait = min(max(2*w.wait, firstRetry), lastRetry)
	w.from = time.Now().Add(w.wait)
	place := slices.IndexFunc(s.queue, func(q waiting) bool { return q.event.Seq >= w.event.Seq })
	if place < 0 {
		place = len(s.queue)
	}
	s.queue = slices.Insert(s.queue, place, w)
}

// waitForTasks blocks until the running tasks have ended.
func (s *Service) waitForTasks() {
	for len(s.running) > 0 {
		s.finish(<-s.ends)
	}
}

// Feed calls fn with the events of the Associate's tasks after event seq, in the order
// of the log; the bus client implements it.
type Feed interface {
	FollowTasks(ctx context.Context, seq uint64, fn func(choir.Event) error) error
}

// Follow runs Serve on the events of feed after event seq until ctx ends. A feed that breaks is followed
// again from its last event, while the running task goes on. Code forbidden and bus.ErrClosed end it.
func (s *Service) Follow(ctx context.Context, feed Feed, seq uint64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, followed := make(chan choir.Event), make(chan error, 1)
	go func() {
		defer close(events)
		followed <- s.follow(ctx, feed, seq, events)
	}()
	err := s.Serve(ctx, events)
	cancel()
	if lost := <-followed; err == nil {
		err = lost
	}
	return err
}

// follow sends the events of feed after event seq to events. It follows a broken feed again after a wait, and
// returns the error after which it does not.
func (s *Service) follow(ctx context.Context, feed Feed, seq uint64, events chan<- choir.Event) error {
	wait := firstRetry
	for {
		err := feed.FollowTasks(ctx, seq, func(e choir.Event) error {
			select {
			case events <- e:
				seq, wait = e.Seq, firstRetry
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if code := choir.CodeOf(err); ctx.Err() != nil || code == choir.CodeForbidden || errors.Is(err, bus.ErrClosed) {
			return err
		}
		s.log.Warn("the feed of tasks broke and is followed again", "error", err)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		wait = min(2*wait, lastRetry)
	}
}
