package taskrunner

import (
	"cmp"
	"context"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// keepChange ends a task whose work succeeded: it verifies and checkpoints the change of
// an edit, and rolls back changes that the task's kind does not permit. It returns a
// *failure if the task fails after all.
func (j *job) keepChange(work context.Context) error {
	if j.task.GitAction == choir.GitCheckpoint {
		return j.recordCheckpoint(j.made, j.subject, cmp.Or(j.task.Trigger, "manual"), j.only) // what changed is what it committed
	}
	if j.isReviewed() {
		return j.keepReviewed()
	}
	c, err := j.changed()
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
	case j.egress:
		return fail(choir.ResultEgressRefused, "nothing was changed, and something outside was wanted that cannot be reached")
	case j.refused > 0:
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
		j.report.result.Snapshot, err = j.takenBack()
	}
	j.report.result.Status = choir.StatusNeedsInput
	j.report.result.Verify = unverified()
	if j.report.result.Summary == "" {
		j.report.result.Summary = j.report.result.Questions[0].Text
	}
	return err
}

// keepEdit verifies a change and makes a checkpoint of it. It returns a *failure if
// verification fails.
func (j *job) keepEdit(work context.Context, c change) error {
	ran, err := j.verify(work, c)
	if err != nil {
		j.attempt = &c // what the checks wrote is no part of it
		return err
	}
	if ran {
		if c, err = j.withoutDroppings(c); err != nil {
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
	return j.checkpoint(c, subject(j.task.Title, j.cfg.Now()), text, "task")
}

// withoutDroppings rolls back the files that the verification's checks wrote, such as
// caches and lock files, and returns the change that is left. Files of the change before
// the checks and ignored files are kept.
func (j *job) withoutDroppings(before change) (change, error) {
	now, err := j.changed()
	if err != nil || now.snapshot == before.snapshot {
		return now, err
	}
	ignored, err := j.ignored(now)
	if err != nil {
		return now, err
	}
	mine := map[string]bool{}
	for _, f := range before.files {
		mine[f.Path] = true
		mine[f.From] = true
	}
	apart := snapshot.FileChanges(snapshot.Apart(now.all))
	keep := slices.DeleteFunc(slices.Clone(apart), func(f choir.FileChange) bool { return !mine[f.Path] && !ignored[f.Path] })
	if len(keep) == len(apart) {
		return now, nil
	}
	if _, err := j.cfg.Tree.Rollback(j.life, j.event.Task, append(names(keep), repositories(now)...)); err != nil {
		return now, err
	}
	return j.changed()
}

// keepNothing ends a task whose kind may not change files: it rolls the workspace back,
// except for ignored files in a task of kind run.
func (j *job) keepNothing(work context.Context, c change) error {
	if err := j.verifyAsked(work); err != nil {
		return err
	}
	if j.report.result.Verify.Mode != choir.VerifyNone {
		var err error
		if c, err = j.changed(); err != nil {
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
		if ignored, err = j.ignored(c); err != nil {
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
		j.report.result.Snapshot, err = j.takenBack()
		return err
	}
	if j.place.aside {
		j.report.result.Snapshot, err = j.landKept()
		return err
	}
	done, err := j.cfg.Tree.Commit(j.life, j.event.Task, "task_ended", nil)
	j.report.result.Snapshot = done.Snapshot
	return err
}

// takenBack returns the snapshot of the workspace after a rollback: the base, or another one
// where tasks of other projects may have changed those.
func (j *job) takenBack() (choir.Digest, error) {
	if !j.place.scope.Confined {
		return j.base, nil
	}
	now, err := j.cfg.Tree.Changes(j.life, j.event.Task)
	return now.Snapshot, err
}

// ignored returns the changed paths, escaped, that git ignores.
func (j *job) ignored(c change) (map[string]bool, error) {
	raw := map[string]string{}
	var paths []string
	for _, name := range names(c.files) {
		p, err := snapshot.UnescapePath(name)
		if err != nil {
			return nil, err
		}
		raw[string(p)] = name
		paths = append(paths, string(p))
	}
	found, err := j.place.git.Ignored(j.life, j.place.repositoriesTop(), paths)
	ignored := map[string]bool{}
	for p := range found {
		ignored[raw[p]] = true
	}
	return ignored, err
}

// names returns the escaped paths of file changes, and the former paths of renames.
func names(files []choir.FileChange) []string {
	out := make([]string, 0, len(files))
	for _, f := range files {
		out = append(out, f.Path)
		if f.From != "" {
			out = append(out, f.From)
		}
	}
	return out
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
	case j.report.result.Verify.Status == choir.VerifyUnknown:
		j.report.note("The change is not verified: " + j.report.result.Verify.Log + ".")
	}
}

// repositories returns the .git folders that changed, escaped. A rollback of droppings
// must keep them.
func repositories(c change) []string { return c.repos }
