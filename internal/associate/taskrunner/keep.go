package taskrunner

import (
	"context"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/excerpt"
)

// keepChange ends a task whose work succeeded: it verifies and checkpoints the change of
// an edit, and rolls back changes that the task's kind does not permit. It returns a
// *failure if the task fails after all.
func (j *job) keepChange(work context.Context) error {
	if j.task.GitAction == choir.GitCheckpoint {
		p, err := j.commits.recordAction(j.checks.hasPassed())
		j.report.addCheckpoint(p)
		return err
	}
	if j.checks.isReviewed(j.talk.made) {
		return j.keepReviewed()
	}
	c, err := j.compared.changed()
	if err != nil {
		return err
	}
	j.report.result.Snapshot = c.snapshot
	switch {
	case len(j.report.result.Questions) > 0:
		return j.ask(c)
	case j.task.Kind == choir.TaskGit:
		return j.keepGit(c)
	case j.task.Kind != choir.TaskEditRepo:
		return j.keepNothing(work, c)
	}
	if f := j.refusedInstead(c); f != nil {
		return f
	}
	return j.keepEdit(work, c)
}

// refusedInstead returns the failure for an edit that changed nothing because something
// that it wanted was refused, else nil.
func (j *job) refusedInstead(c change) error {
	switch {
	case len(c.all) > 0:
		return nil
	case j.talk.egress:
		return fail(choir.ResultEgressRefused, "nothing was changed, and something outside was wanted that cannot be reached")
	case j.talk.refused > 0:
		return fail(choir.ResultToolRefused, "nothing was changed, and the model wanted tools that this task does not allow")
	}
	return nil
}

// ask ends a task with its questions to the user: it rolls back the change, which stays
// in the result.
func (j *job) ask(c change) error {
	if err := j.show(c); err != nil {
		return err
	}
	back, err := j.cfg.Tree.Rollback(j.life, j.event.Task, nil)
	j.report.result.Conflicts = back.Conflicts
	if err == nil {
		j.report.result.Snapshot, err = j.compared.takenBack()
	}
	j.report.result.Status = choir.StatusNeedsInput
	j.checks.outcome = unverified()
	if j.report.result.Summary == "" {
		j.report.result.Summary = j.report.result.Questions[0].Text
	}
	return err
}

// keepEdit verifies a change and makes a checkpoint of it. It returns a *failure if
// verification fails.
func (j *job) keepEdit(work context.Context, c change) error {
	ran, err := j.checks.check(work, c)
	if err != nil {
		j.attempt = &c // what the checks wrote is no part of it
		return err
	}
	if ran {
		if c, err = j.compared.withoutDroppings(c); err != nil {
			return err
		}
	}
	return j.keepChecked(c)
}

// keepChecked makes a checkpoint of a change after its verification, without what the
// checks wrote.
func (j *job) keepChecked(c change) error {
	j.report.result.Snapshot = c.snapshot
	if err := j.report.addArtifacts(j.place.scope.Root, j.task.Return); err != nil {
		return err
	}
	if j.place.scope.Worktree && (len(c.all) > 0 || j.place.aside && !c.same) {
		return j.land(c)
	}
	return j.commitChange(c)
}

// commitChange makes a checkpoint of a change in the repositories where the task works.
func (j *job) commitChange(c change) error {
	if err := j.show(c); err != nil {
		return err
	}
	text := j.commitText()
	j.summarize(c)
	if c.same {
		return nil
	}
	p, err := j.commits.commit(c, words{subject: subject(j.task.Title, j.cfg.Now()), body: text, trigger: "task", verified: j.checks.hasPassed()})
	j.report.addCheckpoint(p)
	return err
}

// keepNothing ends a task whose kind may not change files: it rolls the workspace back,
// except for ignored files in a task of kind run.
func (j *job) keepNothing(work context.Context, c change) error {
	if err := j.checks.checkAsked(work); err != nil {
		return err
	}
	if j.checks.outcome.Mode != choir.VerifyNone {
		var err error
		if c, err = j.compared.changed(); err != nil {
			return err
		}
		j.report.result.Snapshot = c.snapshot
	}
	if j.report.result.Summary == "" {
		j.report.result.Summary = "done; no file was changed"
	}
	if err := j.report.addArtifacts(j.place.scope.Root, j.task.Return); err != nil || c.same {
		return err
	}
	ignored := map[string]bool{}
	if j.task.Kind == choir.TaskRun {
		var err error
		if ignored, err = j.compared.ignored(c); err != nil {
			return err
		}
		c = c.apart(ignored)
	}
	rest := c.only(func(p string) bool { return !ignored[p] })
	kept := c.only(func(p string) bool { return ignored[p] })
	j.report.result.IgnoredFiles = names(kept.files)
	if len(rest.files) > 0 {
		if err := j.show(rest); err != nil {
			return err
		}
		j.report.note("It changed " + count(len(rest.files), "file") + ", which a task of kind " + string(j.task.Kind) + " may not; the change was taken back.")
	}
	back, err := j.cfg.Tree.Rollback(j.life, j.event.Task, names(kept.files))
	if err != nil {
		return err
	}
	j.report.result.Conflicts = back.Conflicts
	if len(kept.files) == 0 {
		j.report.result.Snapshot, err = j.compared.takenBack()
		return err
	}
	if j.place.aside {
		j.report.result.Snapshot, err = j.landing.bringKept()
		return err
	}
	done, err := j.cfg.Tree.Commit(j.life, j.event.Task, "task_ended", nil)
	j.report.result.Snapshot = done.Snapshot
	return err
}

// summarize writes a summary of the change if the model wrote none, and notes a change
// that is not verified.
func (j *job) summarize(c change) {
	if j.report.result.Summary == "" {
		j.report.result.Summary = "changed " + count(len(c.files), "file")
	}
	switch {
	case len(c.files) == 0:
		j.report.note("Nothing was changed.")
	case j.checks.outcome.Status == choir.VerifyUnknown:
		j.report.note("The change is not verified: " + j.checks.outcome.Log + ".")
	}
}

// keepGit ends a task of kind git: it puts the change into the result and records the
// new snapshot in the log.
func (j *job) keepGit(c change) error {
	if c.same {
		return nil
	}
	if err := j.show(c); err != nil {
		return err
	}
	done, err := j.cfg.Tree.Commit(j.life, j.event.Task, "task_ended", nil)
	j.report.result.Snapshot = done.Snapshot
	return err
}

// commitText returns the text below the subject of the commit of the task's change: the
// first paragraph of what its model said last, "" without one. Of a task without a title it
// is the first line of the instruction.
func (j *job) commitText() string {
	if j.task.Title == "" {
		return excerpt.FirstLine(j.task.Instruction, 72)
	}
	if j.talk.made == 0 {
		return ""
	}
	said, _, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(j.report.result.Summary, "\r\n", "\n")), "\n\n")
	var lines []string
	for line := range strings.Lines(excerpt.FirstRunes(said, maxCommitText)) {
		lines = append(lines, wrap(line, 72)...)
	}
	return strings.Join(lines, "\n")
}

// review verifies the change when the model is done, see verification.reviewChange.
func (j *job) review(ctx context.Context) (string, error) {
	return j.checks.reviewChange(ctx, j.talk.made, func(c change) bool { return j.refusedInstead(c) != nil })
}

// keepReviewed keeps the change of the last review, which is the last that the task did. It
// returns its *failure if a check failed.
func (j *job) keepReviewed() error {
	if j.checks.last.failed != nil {
		j.attempt = &j.checks.last.before
		return j.checks.last.failed
	}
	return j.keepChecked(j.checks.last.after)
}
