package dispatch

import (
	"context"
	"time"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// AutoCheckpoint sets when checkpoints are made automatically.
type AutoCheckpoint struct {
	Tasks int           // after this number of ended tasks
	Every time.Duration // after this time, if files changed
}

// checkpointWait is how long Checkpoint waits for the result.
const checkpointWait = 2 * time.Minute

// Checkpoint submits a checkpoint task for the project repo, or all if empty, with the
// given commit subject, and returns its result. Code timeout: it is still in progress.
func (ts *Tasks) Checkpoint(ctx context.Context, role choir.Role, repo, subject string) (choir.AssociateResult, error) {
	task := choir.DirectorTask{Kind: choir.TaskGit, GitAction: choir.GitCheckpoint, Repo: repo, Instruction: "Make a checkpoint."}
	if subject != "" {
		task.GitArgs = []string{subject}
	}
	return ts.checkpoint(ctx, role, task)
}

// checkpoint submits a checkpoint task and waits for its result. Code timeout: it is still in progress.
func (ts *Tasks) checkpoint(ctx context.Context, role choir.Role, task choir.DirectorTask) (choir.AssociateResult, error) {
	task, err := ts.NewTask(task)
	if err != nil {
		return choir.AssociateResult{}, err
	}
	if _, err := ts.Submit(ctx, role, task); err != nil {
		return choir.AssociateResult{}, err
	}
	waiting, cancel := context.WithTimeout(ctx, checkpointWait)
	defer cancel()
	r, err := ts.Wait(waiting, task.TaskID)
	if err != nil && ctx.Err() == nil && waiting.Err() != nil {
		err = choir.Refuse("computer.checkpoint", choir.ReasonCheckpointLate, choir.TextOf("run", task.RunID))
	}
	return r, err
}

// autoCheckpoint is the service that makes automatic checkpoints. Its counts are derived
// from the log, so that a restart loses nothing.
type autoCheckpoint struct {
	tasks   *Tasks
	head    uint64
	ended   int // tasks since the last checkpoint
	changed bool
}

func (a *autoCheckpoint) String() string { return "auto-checkpoint" }

// Serve makes checkpoints when they are due, until ctx ends.
func (a *autoCheckpoint) Serve(ctx context.Context) error {
	limits := a.tasks.cfg.AutoCheckpoint
	if limits.Tasks <= 0 || limits.Every <= 0 {
		<-ctx.Done()
		return nil
	}
	last, err := a.tasks.log.Checkpoints(ctx, 1, 0)
	if err != nil {
		return ended(err)
	}
	a.head, a.ended, a.changed = 0, 0, false
	if len(last) > 0 {
		a.head = last[0].Seq
	}
	tick := time.NewTicker(limits.Every)
	defer tick.Stop()
	for {
		if err := a.count(ctx); err != nil {
			return ended(err)
		}
		if a.changed && a.ended >= limits.Tasks {
			if err := a.make(ctx, "count"); err != nil {
				return ended(err)
			}
		}
		late, err := a.wait(ctx, tick.C)
		if err == nil && late && a.changed {
			err = a.make(ctx, "time")
		}
		if err != nil {
			return ended(err)
		}
	}
}

// wait waits until the log has grown or the clock ticks; late reports a tick.
func (a *autoCheckpoint) wait(ctx context.Context, tick <-chan time.Time) (late bool, err error) {
	waiting, stop := context.WithCancel(ctx)
	grown := make(chan error, 1)
	go func() { grown <- a.tasks.log.WaitPast(waiting, a.head) }()
	select {
	case err = <-grown:
		stop()
		return false, err
	case <-tick:
		stop()
		<-grown // it may have ended with the wait, which is no error
		return true, ctx.Err()
	}
}

// count updates the counters from the new events of the log.
func (a *autoCheckpoint) count(ctx context.Context) error {
	for e, err := range a.tasks.log.Events(ctx, a.head+1, 0) {
		if err != nil {
			return err
		}
		a.head = e.Seq
		switch e.Type {
		case choir.TypeTaskReturned:
			a.ended++
		case choir.TypeFileWritten, choir.TypeFileRemoved:
			a.changed = true
		case choir.TypeCheckpointCreated:
			a.ended, a.changed = 0, false
		}
	}
	return nil
}

// make makes a checkpoint and resets the counters. It does nothing while a task is open.
func (a *autoCheckpoint) make(ctx context.Context, trigger string) error {
	open, err := a.tasks.log.OpenTasks(ctx)
	if err != nil || len(eventstore.Unheld(open)) > 0 {
		return err
	}
	_, err = a.tasks.checkpoint(ctx, choir.RoleControl, choir.DirectorTask{
		Kind: choir.TaskGit, GitAction: choir.GitCheckpoint, Trigger: trigger, Instruction: "Make a checkpoint.",
	})
	if choir.CodeOf(err) == choir.CodeTimeout {
		err = nil // it is under way, and whoever wonders sees it in the log
	}
	// One that could not be made is tried again after the next change.
	a.ended, a.changed = 0, false
	return err
}
