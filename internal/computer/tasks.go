package computer

import (
	"context"

	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/computer/dispatch"
)

// newTasks makes the tasks of the computer.
func (c *Computer) newTasks() *dispatch.Tasks {
	return dispatch.New(c.store, c.events, taskWorkspace{c}, dispatch.Config{
		Computer: c.cfg.ID,
		OpenPost: func() (dispatch.Post, error) {
			post, err := hub.NewPost(c.cfg.Bus, c.cfg.User, c.cfg.ID)
			if err != nil {
				return nil, err
			}
			return post, nil
		},
		AutoCheckpoint: c.cfg.AutoCheckpoint, Now: c.cfg.Now, Log: c.cfg.Log,
		Resend: c.cfg.Patience.Resend, Grace: c.cfg.Patience.Cancel,
	})
}

// taskWorkspace is the Associate's workspace as the dispatcher of tasks uses it.
type taskWorkspace struct{ c *Computer }

// TakeBack implements dispatch.Workspace.
func (w taskWorkspace) TakeBack(ctx context.Context, task choir.ID) (choir.TaskRollbackReply, error) {
	client, err := w.c.roles.Guest(ctx)
	if err == nil {
		err = client.StopRole(ctx) // its seat starts another
	}
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	return w.c.taskRollback(ctx, task, nil)
}
