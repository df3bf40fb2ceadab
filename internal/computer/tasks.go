package computer

import (
	"choiros/internal/bus/hub"
	"choiros/internal/computer/dispatch"
)

// newTasks makes what delivers the tasks of the computer.
func (c *Computer) newTasks() *dispatch.Tasks {
	return dispatch.New(c.store, c.events, c.taskChanges, dispatch.Config{
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
