package computer

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

// Checkpoint asks the Associate for a checkpoint in the user's words; the
// result says whether there was anything to commit.
func (c *Computer) Checkpoint(ctx context.Context, role choir.Role, repo, subject string) (choir.AssociateResult, error) {
	task := choir.DirectorTask{Kind: choir.TaskGit, GitAction: choir.GitCheckpoint, Repo: repo, Instruction: "Make a checkpoint."}
	if subject != "" {
		task.GitArgs = []string{subject}
	}
	task, err := c.NewTask(task)
	if err != nil {
		return choir.AssociateResult{}, err
	}
	if _, err := c.SubmitTask(ctx, role, task); err != nil {
		return choir.AssociateResult{}, err
	}
	return c.WaitTask(ctx, task.TaskID)
}

// autoCheckpoint makes a checkpoint after a number of tasks or a time in which
// something changed since the last one. It is a service.
type autoCheckpoint struct {
	c *Computer
}

func (a *autoCheckpoint) String() string { return "auto-checkpoint" }

// Serve counts until the context ends.
func (a *autoCheckpoint) Serve(ctx context.Context) error {
	limits := a.c.cfg.AutoCheckpoint
	if limits.Tasks <= 0 || limits.Every <= 0 {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(limits.Every)
	defer tick.Stop()
	head, _ := a.c.store.Head()
	tasks, changed := 0, false
	for {
		due := false
		grown := make(chan error, 1)
		waiting, stop := context.WithCancel(ctx)
		go func() { grown <- a.c.store.WaitPast(waiting, head) }()
		select {
		case err := <-grown:
			stop()
			if err != nil {
				return ended(err)
			}
		case <-tick.C:
			stop()
			<-grown
			due = changed
		}
		events, err := a.c.store.EventsAfter(ctx, head, choir.MaxEventsAfter)
		if err != nil {
			return ended(err)
		}
		for _, e := range events {
			head = e.Seq
			switch e.Type {
			case "task.returned":
				tasks++
			case "file.written", "file.removed":
				changed = true
			case "checkpoint.created":
				tasks, changed = 0, false
			}
		}
		if due = due || tasks >= limits.Tasks && changed; !due {
			continue
		}
		if err := a.make(ctx); err != nil {
			return ended(err)
		}
		tasks, changed = 0, false
	}
}

// make asks for the checkpoint; not while a task writes.
func (a *autoCheckpoint) make(ctx context.Context) error {
	open, err := a.c.store.OpenTasks(ctx)
	if err != nil || len(open) > 0 {
		return err
	}
	_, err = a.c.Checkpoint(ctx, choir.RoleCLI, "", "")
	return err
}
