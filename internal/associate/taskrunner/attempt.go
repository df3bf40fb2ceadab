package taskrunner

import (
	"choiros/internal/choir"
	"choiros/internal/excerpt"
)

// restoreAttempt restores the attempt that the task goes on from, if it names one, and
// fills in what that had changed. It returns a *failure if there is no such attempt.
func (j *job) restoreAttempt() error {
	if j.task.FromAttempt == "" {
		return nil
	}
	reply, err := j.cfg.Tree.RestoreAttempt(j.life, j.event.Task)
	switch choir.CodeOf(err) {
	case choir.CodeInvalid, choir.CodeNotFound:
		return fail(choir.ResultInvalidTask, "the task was refused: %v", err)
	}
	if err != nil {
		return err
	}
	c, err := j.compared.changed()
	j.talk.began = c.files
	if len(reply.Left) > 0 {
		j.report.note("Of the attempt, " + count(len(reply.Left), "path") + " changed meanwhile and stayed: " + excerpt.FirstLine(reply.Left[0], 200))
	}
	return err
}
