package taskrunner

import (
	"choiros/internal/choir"
)

// takeBack rolls the workspace back to the task's base and reports the failure, with the
// attempted change in it.
func (j *job) takeBack(f *failure) error {
	if err := j.attempted(); err != nil {
		return err
	}
	if j.task.Kind == choir.TaskEditRepo && len(j.attempt.all) > 0 {
		j.report.result.Attempt = j.attempt.snapshot
	}
	j.talk.addLastWords(f)
	back, err := j.cfg.Tree.Rollback(j.life, j.event.Task, nil)
	if err != nil {
		return err
	}
	if j.report.result.Conflicts = back.Conflicts; f.code == choir.ResultConflict {
		j.report.result.Conflicts = f.conflicts
	}
	j.report.dropCheckpoint()
	j.endFailed(f)
	return nil
}

// giveUp rolls the workspace back, if possible, and reports a failure with the
// reason because and the error why. It is for tasks whose repetition cannot succeed.
func (j *job) giveUp(because string, why error) error {
	f := fail(choir.ResultCrashed, "%s: %v", because, why)
	back, err := j.cfg.Tree.Rollback(j.life, j.event.Task, nil)
	if lasting(err) && j.life.Err() == nil {
		f.summary = "the workspace could not be put back and was left as the task made it: " + err.Error()
		err = nil
	}
	j.report.result.Conflicts = back.Conflicts
	j.report.dropCheckpoint()
	j.endFailed(f)
	return err
}

// attempted puts the task's change so far and its artifacts into the result.
func (j *job) attempted() error {
	if j.attempt == nil {
		c, err := j.compared.changed()
		if err != nil {
			return err
		}
		j.attempt = &c
	}
	if err := j.report.addArtifacts(j.place.scope.Root, j.task.Return); err != nil {
		return err
	}
	return j.show(*j.attempt)
}

// show puts the diff and the changed files of c into the result, and what git ignores of them
// only as names.
func (j *job) show(c change) error {
	c, ignored, err := j.compared.withoutIgnored(c)
	if err != nil {
		return err
	}
	if len(ignored) > 0 {
		j.report.result.IgnoredFiles = ignored
	}
	diff, left, err := j.compared.diff(c)
	if err != nil {
		return err
	}
	j.report.showChange(diff, left, c.files)
	return nil
}
