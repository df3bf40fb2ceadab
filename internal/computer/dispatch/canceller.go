package dispatch

import (
	"context"
	"errors"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// takeBackLimit limits one attempt to roll back a stopped task.
const takeBackLimit = 30 * time.Second

// canceller ends the open tasks of runs that were stopped or have ended. Its state is in
// the log, so that after a restart it finds the tasks that are still to be ended.
type canceller struct {
	tasks *Tasks

	ends   sync.WaitGroup
	mu     sync.Mutex // guards ending
	ending map[choir.ID]bool
}

func (c *canceller) String() string { return "canceller" }

// Serve follows the log until ctx ends. It ends several tasks concurrently, because one
// may have to wait for its sandbox.
func (c *canceller) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer c.ends.Wait()
	defer cancel()
	c.ending = map[choir.ID]bool{}
	head, _ := c.tasks.log.Head()
	if err := c.resume(ctx); err != nil {
		return ended(err)
	}
	for e, err := range c.tasks.log.Follow(ctx, head) {
		if err == nil {
			err = c.handleEvent(ctx, e)
		}
		if err != nil {
			return ended(err)
		}
	}
	return nil
}

// resume ends the open tasks whose runs were stopped or ended before this session.
func (c *canceller) resume(ctx context.Context) error {
	open, err := c.tasks.log.OpenTasks(ctx)
	if err != nil {
		return err
	}
	for _, t := range open {
		reason, err := c.stoppedAfter(ctx, t)
		if err != nil {
			// An event that both copies of the log have lost is no reason to end no task at all.
			c.tasks.cfg.Log.Warn("it is not known whether a task was stopped", "computer", c.tasks.cfg.Computer, "task", t.ID, "error", err)
		}
		if reason != "" {
			c.end(ctx, t, reason)
		}
	}
	return ctx.Err()
}

// stoppedAfter returns the reason why the run of task t was stopped or ended after the task's dispatch, or had
// ended before it; "" for none.
func (c *canceller) stoppedAfter(ctx context.Context, t eventstore.Task) (string, error) {
	for e, err := range c.tasks.log.EventsOfRun(ctx, t.Run, t.DispatchedSeq) {
		if err != nil {
			return "", err
		}
		if reason := reasonOf(e); reason != "" {
			return reason, nil
		}
	}
	dispatched, err := c.tasks.log.First(ctx, choir.TypeTaskDispatched, string(t.ID))
	if err != nil {
		return "", err
	}
	return c.endedBefore(ctx, dispatched)
}

// endedBefore returns the reason to end a task by its dispatch event: the Director dispatched it after the end
// of its run; "" for none. People may dispatch tasks in any run.
func (c *canceller) endedBefore(ctx context.Context, dispatched choir.Event) (string, error) {
	if dispatched.Source != choir.SourceDirector {
		return "", nil
	}
	_, err := c.tasks.log.First(ctx, choir.TypeRunFinished, string(dispatched.Run))
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", nil
	}
	return "run_finished", err
}

// reasonOf returns the reason for which an event ends the tasks of its run, "" if it does
// not.
func reasonOf(e choir.Event) string {
	switch e.Type {
	case choir.TypeRunCancelRequested:
		return "run_cancelled"
	case choir.TypeRunFinished: // at a limit, a run leaves nothing running
		return "run_finished"
	}
	return ""
}

// handleEvent ends the open tasks of the event's run if the event stops or ends that run, and a task that
// the event dispatches after the end of its run.
func (c *canceller) handleEvent(ctx context.Context, e choir.Event) error {
	reason, about := reasonOf(e), choir.ID("")
	if e.Type == choir.TypeTaskDispatched {
		var err error
		if reason, err = c.endedBefore(ctx, e); err != nil {
			return err
		}
		about = e.Task
	}
	if reason == "" {
		return nil
	}
	open, err := c.tasks.log.OpenTasks(ctx)
	for _, t := range open {
		if t.Run == e.Run && (about == "" || about == t.ID) {
			c.end(ctx, t, reason)
		}
	}
	return err
}

// end ends a task in a goroutine, which retries after errors and for which Serve waits.
func (c *canceller) end(ctx context.Context, t eventstore.Task, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending[t.ID] {
		return
	}
	c.ending[t.ID] = true
	c.ends.Go(func() {
		for err := c.tasks.end(ctx, t, reason); err != nil && ctx.Err() == nil; err = c.tasks.end(ctx, t, reason) {
			c.tasks.cfg.Log.Warn("a stopped task is not answered yet", "computer", c.tasks.cfg.Computer, "task", t.ID, "error", err)
			if !pause(ctx, c.tasks.cfg.Retry) {
				break
			}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.ending, t.ID)
	})
}

// pause waits for d. It returns false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// end ends a stopped task and returns when it has an answer. It answers a task that has
// not begun at once. Otherwise it asks the Associate to end it and, without an answer
// within the grace period, rolls the task back and answers it.
func (ts *Tasks) end(ctx context.Context, t eventstore.Task, reason string) error {
	done, err := ts.workspace.IfUnbegun(ctx, t.ID, func() error {
		return ts.answer(ctx, t, "The task was stopped; nothing of it is in the workspace.", nil)
	})
	if err != nil || done {
		return err
	}
	if _, err := ts.log.First(ctx, choir.TypeTaskReturned, string(t.ID)); choir.CodeOf(err) != choir.CodeNotFound {
		return err // it has been answered, or nobody knows
	}
	if err := ts.appendOnce(ctx, t, "cancel", choir.TaskCancelRequested{Reason: reason}); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, ts.cfg.Grace)
	defer cancel()
	if _, err := ts.Wait(waiting, t.ID); err == nil || ctx.Err() != nil || !errors.Is(waiting.Err(), context.DeadlineExceeded) {
		return err
	}
	return ts.takeBack(ctx, t)
}

// takeBack ends the Associate's process, rolls the task back and answers it.
func (ts *Tasks) takeBack(ctx context.Context, t eventstore.Task) error {
	limited, cancel := context.WithTimeout(ctx, takeBackLimit)
	defer cancel()
	err := ts.workspace.TakeBack(limited, t.ID, func(back choir.TaskRollbackReply) error {
		return ts.answer(ctx, t, "The task was stopped; the Associate did not answer, so the control plane took back what it had done.", back.Conflicts)
	})
	if choir.CodeOf(err) != choir.CodeConflict {
		return err
	}
	if _, unanswered := ts.log.First(ctx, choir.TypeTaskReturned, string(t.ID)); choir.CodeOf(unanswered) == choir.CodeNotFound {
		return err // its result is held, which the next attempt answers
	}
	return nil // the Associate has answered after all
}

// answer appends a result for a stopped task in the Associate's place, with summary why.
func (ts *Tasks) answer(ctx context.Context, t eventstore.Task, why string, conflicts []string) error {
	return ts.appendOnce(ctx, t, "returned", choir.TaskReturned{Result: choir.AssociateResult{
		Version: choir.ContractVersion, TaskID: t.ID, RunID: t.Run, Status: choir.StatusFailed, Code: choir.ResultCancelled, Summary: why,
		FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
		Conflicts: conflicts,
		Verify:    choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown},
	}})
}

// appendOnce appends the event p about a task, unless the log has one of that type about
// it.
func (ts *Tasks) appendOnce(ctx context.Context, t eventstore.Task, name string, p choir.Payload) error {
	dispatched, err := ts.log.First(ctx, choir.TypeTaskDispatched, string(t.ID))
	if err != nil {
		return err
	}
	draft, err := choir.NewDraft(choir.DeriveID(t.ID, name), p)
	if err == nil {
		_, err = ts.events.AppendAs(ctx, choir.RoleControl, draft.ForRun(t.Run, t.ID).CausedBy(dispatched.ID))
	}
	if first := choir.FirstOf(err); first != nil && first.Type == draft.Type {
		return nil
	}
	return err
}
