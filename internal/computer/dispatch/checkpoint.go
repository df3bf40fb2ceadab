package dispatch

import (
	"context"
	"time"

	"choiros/internal/choir"
)

// AutoCheckpoint is when a checkpoint is made without being asked for.
type AutoCheckpoint struct {
	Tasks int           // after so many tasks that ended
	Every time.Duration // after so long, when something changed
}

// checkpointWait is how long a caller waits for a checkpoint.
const checkpointWait = 2 * time.Minute

// Checkpoint asks the Associate for a checkpoint in the user's words; the
// result says whether there was anything to commit. Code timeout: it is still
// under way.
func (ts *Tasks) Checkpoint(ctx context.Context, role choir.Role, repo, subject string) (choir.AssociateResult, error) {
	task := choir.DirectorTask{Kind: choir.TaskGit, GitAction: choir.GitCheckpoint, Repo: repo, Instruction: "Make a checkpoint."}
	if subject != "" {
		task.GitArgs = []string{subject}
	}
	return ts.checkpoint(ctx, role, task)
}

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
		err = choir.E("computer.checkpoint", choir.CodeTimeout, "the checkpoint is not made yet").
			WithRemedy("choir timeline shows it once it is; choir run %s --cancel stops it", task.RunID)
	}
	return r, err
}

// autoCheckpoint makes a checkpoint after a number of tasks or a time in which
// something changed since the last one. It is a service; what it counts follows
// from the log, so that a restart forgets nothing.
type autoCheckpoint struct {
	tasks   *Tasks
	head    uint64
	ended   int // tasks since the last checkpoint
	changed bool
}

func (a *autoCheckpoint) String() string { return "auto-checkpoint" }

// Serve counts until the context ends. It waits by itself and not in Store.Follow,
// because it wakes for the clock, too, and decides once all that is new is counted.
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

// wait returns when the log has grown, or when it is late.
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

// count takes up what is new in the log.
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

// make asks for the checkpoint; not while a task works, which is asked again
// when it has returned.
func (a *autoCheckpoint) make(ctx context.Context, trigger string) error {
	open, err := a.tasks.log.OpenTasks(ctx)
	if err != nil || len(open) > 0 {
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
