package taskrunner

import (
	"context"
	"strings"
	"time"

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
	landed, err := j.waitToLand(func() (choir.TaskLandReply, error) { return j.cfg.Tree.Land(j.life, j.event.Task, leave) })
	if err != nil {
		return err
	}
	if len(landed.Conflicts) > 0 {
		j.attempt = &c
		return j.conflictWith(landed)
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

// conflictWith returns the failure of a change that cannot be merged.
func (j *job) conflictWith(landed choir.TaskLandReply) error {
	j.report.result.Conflicts = first(landed.Conflicts, maxConflicts)
	return fail(choir.ResultConflict, "the change was not merged, because the project was changed at the same places meanwhile: %s", strings.Join(first(landed.Conflicts, 10), ", "))
}

// maxConflicts limits the paths that a result lists.
const maxConflicts = 100

// The wait before the change is offered again that has to wait for another task, and for how
// long it is offered.
const (
	landRetry    = 200 * time.Millisecond
	landPatience = 20 * time.Minute
)

// waitToLand calls land until no other task works in the project. The wait does
// not count as the task's work. It returns a *failure if it takes too long.
func (j *job) waitToLand(land func() (choir.TaskLandReply, error)) (choir.TaskLandReply, error) {
	if err := j.gate.wait(j.work); err != nil {
		return choir.TaskLandReply{}, err
	}
	j.clock.change(waiting)
	defer j.clock.change(working)
	patience, cancel := context.WithTimeout(j.work, landPatience)
	defer cancel()
	retry := time.NewTicker(landRetry)
	defer retry.Stop()
	for {
		landed, err := land()
		if choir.CodeOf(err) != choir.CodeUnavailable {
			return landed, err
		}
		select {
		case <-retry.C:
		case <-patience.Done():
			if j.work.Err() != nil {
				return landed, context.Cause(j.work)
			}
			return landed, fail(choir.ResultLimit, "the change was not merged, because another task worked in the project for more than %s", landPatience)
		}
	}
}
