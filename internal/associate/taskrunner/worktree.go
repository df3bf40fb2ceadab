package taskrunner

import (
	"choiros/internal/choir"
)

// startInWorktree starts the task in the copy of its project. If the control plane does not
// have it work there, it opens a scope in the project in the place of the copy's.
func (j *job) startInWorktree() (choir.TaskBeginReply, error) {
	begun, err := j.cfg.Tree.BeginCopied(j.life, j.event.Task)
	if err != nil || begun.InWorktree {
		return begun, err
	}
	return begun, j.place.moveToProject()
}

// land merges a verified change from the copy of the project into the project and makes a
// checkpoint of it there. If the project has changed since it was copied, it verifies the
// merged project first. It returns a *failure if both sides changed the same, or that
// verification fails.
func (j *job) land(c change) error {
	leave, err := j.compared.leftBehind(c)
	if err != nil {
		return err
	}
	landed, err := j.landing.merge(leave)
	if len(landed.Conflicts) > 0 {
		j.attempt = &c
	}
	if err != nil {
		return err
	}
	if landed.Aside {
		return j.landAside(landed, c, leave)
	}
	if err := j.place.moveToProject(); err != nil {
		return err
	}
	j.compared.base = landed.Base
	now, err := j.compared.changed()
	if err != nil {
		return err
	}
	if landed.Moved {
		return j.keepEdit(j.work, now)
	}
	return j.keepChecked(now)
}
