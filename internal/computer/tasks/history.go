package tasks

import (
	"context"
	"iter"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/fault"
)

// taskLog reads tasks, runs and their events from the computer's log.
type taskLog interface {
	Task(ctx context.Context, id choir.ID) (eventstore.Task, error)
	Run(ctx context.Context, id choir.ID) (eventstore.Run, error)
	First(ctx context.Context, t choir.Type, subject ...string) (choir.Event, error)
	EventsOfRun(ctx context.Context, run choir.ID, after uint64) iter.Seq2[choir.Event, error]
	EventsOfTypes(ctx context.Context, after uint64, types ...choir.Type) iter.Seq2[choir.Event, error]
}

// history answers how far a task has come, from the log.
type history struct{ log taskLog }

// openTask returns a task without an answer; code conflict if it has one, or its result waits
// for the owner's.
func (h history) openTask(ctx context.Context, id choir.ID) (eventstore.Task, error) {
	t, err := h.log.Task(ctx, id)
	if err == nil && t.Result != nil && !fault.NoTaskKeys {
		err = choir.E("computer.task", choir.CodeConflict, "task %s has been answered already", id)
	}
	if err == nil && t.State == eventstore.TaskHeld {
		err = choir.Refuse("computer.task", choir.ReasonEffectHeld)
	}
	return t, err
}

// startedTask returns a task that has begun and has no answer; else code conflict.
func (h history) startedTask(ctx context.Context, id choir.ID) (eventstore.Task, error) {
	t, err := h.openTask(ctx, id)
	if err == nil && t.Base == "" {
		err = choir.E("computer.task", choir.CodeConflict, "task %s has not begun", id)
	}
	return t, err
}

// mustBeOpen returns an error with code conflict if a task has an answer. The caller holds the tree's lock.
func (h history) mustBeOpen(ctx context.Context, id choir.ID) error {
	_, err := h.log.First(ctx, choir.TypeTaskReturned, string(id))
	switch {
	case choir.CodeOf(err) == choir.CodeNotFound, err == nil && fault.NoTaskKeys:
		return nil
	case err != nil:
		return err
	}
	return choir.E("computer.task", choir.CodeConflict, "task %s has been answered already", id)
}

// isCancelled reports whether the log has a request to cancel a task.
func (h history) isCancelled(ctx context.Context, id choir.ID) (bool, error) {
	_, err := h.log.First(ctx, choir.TypeTaskCancelRequested, string(id))
	if choir.CodeOf(err) == choir.CodeNotFound {
		return false, nil
	}
	return err == nil, err
}

// formerCalls returns the number of a task's recorded tool calls, and the ids of those without a recorded
// return.
func (h history) formerCalls(ctx context.Context, t eventstore.Task) (calls int, open []choir.ID, err error) {
	err = h.eachOfTask(ctx, t, func(e choir.Event, p choir.Payload) {
		switch p := p.(type) {
		case *choir.ToolCalled:
			calls++
			open = append(open, p.Call)
		case *choir.ToolReturned:
			for i, id := range open {
				if id == p.Call {
					open = append(open[:i], open[i+1:]...)
					break
				}
			}
		}
	})
	return calls, open, err
}

// outOfMemory returns how often the Associate's sandbox has ended for its memory since a task first
// began, at most 1000.
func (h history) outOfMemory(ctx context.Context, t eventstore.Task) (times int, err error) {
	for e, err := range h.log.EventsOfTypes(ctx, t.StartedSeq, choir.TypeSandboxStopped) {
		var p choir.SandboxStopped
		if err == nil {
			err = choir.DecodeDurable(e.Payload, &p)
		}
		if err != nil {
			return times, err
		}
		if p.Role == choir.RoleAssociate && p.Reason == choir.SandboxOutOfMemory {
			times++
		}
	}
	return min(times, 1000), nil
}

// eachOfTask calls visit for the events of a task with their payloads, in order.
func (h history) eachOfTask(ctx context.Context, t eventstore.Task, visit func(choir.Event, choir.Payload)) error {
	for e, err := range h.log.EventsOfRun(ctx, t.Run, t.DispatchedSeq-1) {
		if err != nil {
			return err
		}
		if _, known := choir.LookupType(e.Type); e.Task != t.ID || !known {
			continue
		}
		p, err := choir.ReadPayload(e.Type, e.Payload)
		if err != nil {
			return err
		}
		visit(e, p)
	}
	return nil
}

// pausedSeq returns the number of the event that paused a run, 0 for a run that is not
// paused, or a task that has none in the log.
func (h history) pausedSeq(ctx context.Context, run choir.ID) (uint64, error) {
	r, err := h.log.Run(ctx, run)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return 0, nil
	}
	return r.PausedSeq, err
}

// pastOf returns what a task goes on from that is begun again: its run was paused when the
// Associate's process ended, so that nothing was under way. nil for another task.
func (h history) pastOf(ctx context.Context, t eventstore.Task) (*choir.TaskPast, error) {
	p := past{task: t.ID, outputs: maxPastOutput}
	for e, err := range h.log.EventsOfRun(ctx, t.Run, t.DispatchedSeq-1) {
		if err != nil {
			return nil, err
		}
		if e.Task != t.ID && e.Type != choir.TypeRunPaused && e.Type != choir.TypeRunResumed {
			continue
		}
		payload, err := choir.ReadPayload(e.Type, e.Payload)
		if err != nil {
			return nil, err
		}
		p.apply(e, payload)
	}
	if !p.held || p.open > 0 || p.found.Models == 0 || t.Attempt > maxGoesOn {
		return nil, nil
	}
	return &p.found, nil
}

// attemptOf returns the task whose attempt a task goes on from.
func (h history) attemptOf(ctx context.Context, t *eventstore.Task) (eventstore.Task, error) {
	from, err := h.log.Task(ctx, t.Task.FromAttempt)
	switch {
	case choir.CodeOf(err) == choir.CodeNotFound, err == nil && (from.Run != t.Run || from.Task.Repo != t.Task.Repo):
		return from, choir.Invalid("from_attempt", "%q is no task of this run in this project", t.Task.FromAttempt)
	case err == nil && (from.Result == nil || from.Result.Attempt == "" || from.Base == ""):
		return from, choir.Invalid("from_attempt", "task %s left no attempt", from.ID)
	}
	return from, err
}
