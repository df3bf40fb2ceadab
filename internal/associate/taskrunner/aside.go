package taskrunner

import (
	"errors"

	"choiros/internal/choir"
)

// A task whose result the owner may have to approve is aside: it works, verifies and commits in
// a copy, and what is in the copy then comes into the workspace exactly as it is, or is held.

// startAside starts the task in a whole copy of its project or of the workspace; in the place
// itself if that cannot be copied.
func (j *job) startAside() (choir.TaskBeginReply, error) {
	copied, err := j.place.moveAside()
	switch {
	case err != nil:
		return choir.TaskBeginReply{}, err
	case !copied:
		return j.cfg.Tree.BeginUncopied(j.life, j.event.Task)
	}
	return j.startInWorktree()
}

// landAside commits a verified change in the copy and brings it from there into the workspace,
// unless it will be held. If the project has changed, it verifies the merged copy first.
func (j *job) landAside(landed choir.TaskLandReply, c change, leave []string) error {
	j.place.aside, j.compared.base = true, landed.Base
	if len(leave) > 0 {
		left := map[string]bool{}
		for _, path := range leave {
			left[path] = true
		}
		kept := c.only(func(path string) bool { return !left[path] })
		if _, err := j.cfg.Tree.Rollback(j.life, j.event.Task, names(kept.files)); err != nil {
			return err
		}
	}
	now, err := j.compared.changed()
	switch {
	case err != nil:
		return err
	case landed.Moved:
		return j.keepEdit(j.work, now)
	}
	if err = j.commitChange(now); !errors.Is(err, errMovedOn) {
		return err
	}
	if now, err = j.compared.changed(); err != nil {
		return err
	}
	return j.keepEdit(j.work, now)
}
