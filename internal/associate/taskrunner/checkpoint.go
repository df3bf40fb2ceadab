package taskrunner

import (
	"context"

	"choiros/internal/associate/git"
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// subject of a checkpoint: the user's words, or when it was made.
func subject(words string, at choir.Time) string {
	if words = firstLine(words, 200); words != "" {
		return words
	}
	return "checkpoint: " + at.Std().Format("20060102-150405")
}

// checkpoint commits a change in git, takes the snapshot and names both.
func (j *job) checkpoint(c change, subject, body, trigger string) error {
	paths, err := c.paths()
	if err != nil {
		return err
	}
	knew, runs := j.known.holds(j.cfg.Workspace), j.git.Runs()
	made, err := j.git.Commit(j.life, git.Checkpoint{
		Workspace: j.cfg.Workspace, Paths: paths, Subject: subject, Body: body,
		Seq: j.event.Seq, Run: j.event.Run, Task: j.event.Task, At: j.cfg.Now(),
	})
	switch {
	case err != nil && j.life.Err() != nil:
		return err
	case err != nil:
		// The snapshot holds the work; a repository that git cannot use, or that
		// somebody has locked, is no reason to take it back.
		j.note("Git could not commit it, so it is kept as a snapshot only: " + firstLine(err.Error(), 400))
	case knew:
		j.moved()
	}
	return j.named(made, subject, trigger, j.onlyGit(made, runs))
}

// onlyGit are the folders, escaped, that commits changed, when nothing but the
// commits can have changed anything since git had been run so many times: a git
// that runs may run a repository's filters.
func (j *job) onlyGit(made git.Made, runs int64) []string {
	if j.git.Runs() != runs {
		return nil
	}
	var only []string
	for _, dir := range made.Folders {
		only = append(only, snapshot.EscapePath([]byte(dir)))
	}
	return only
}

// named takes the snapshot that a checkpoint names, and puts its event beside
// the result. Only the given folders can have changed, when there are any.
func (j *job) named(made git.Made, subject, trigger string, only []string) error {
	// The process tree may hold what a filter of the repository started.
	used, err := j.procs.Clear()
	j.used(used)
	if err != nil {
		return err
	}
	done, err := j.cfg.Tree.Commit(j.life, j.event.Task, "checkpoint", only)
	if err != nil {
		return err
	}
	j.result.Snapshot = done.Snapshot
	var withheld []string
	for _, p := range made.Withheld {
		withheld = append(withheld, snapshot.EscapePath([]byte(p)))
	}
	if len(withheld) > 0 {
		j.note(count(len(withheld), "file") + " that look like keys were kept out of the commit.")
	}
	if len(made.Commits) > 0 {
		commit := made.Commits[0].Commit
		for _, c := range made.Commits {
			if c.Repo == j.task.Repo {
				commit = c.Commit
			}
		}
		j.result.Checkpoint = &commit
	}
	d, err := choir.NewDraft(choir.DeriveID(j.event.Task, "checkpointed"), choir.CheckpointCreated{
		Checkpoint: choir.DeriveID(j.event.Task, "checkpoint"), Snapshot: done.Snapshot, Subject: subject, Trigger: trigger,
		Verified: j.result.Verify.Status == choir.VerifyPass, Commits: first(made.Commits, 64), Withheld: first(withheld, 256),
	})
	j.drafts = append(j.drafts, j.mine(d))
	return err
}

func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// gitAction is the whole work of a task of kind git.
func (j *job) gitAction(ctx context.Context) error {
	began := j.cfg.Now()
	text, err := j.gitVerb(ctx)
	run := choir.CommandRun{Command: string(j.task.GitAction), Started: began, DurationMS: max(0, int64(j.cfg.Now()-began)), StdoutTail: lastChars([]byte(text))}
	if err != nil && ctx.Err() == nil {
		run.ExitCode, run.StderrTail = 1, lastChars([]byte(err.Error()))
		if choir.CodeOf(err) == choir.CodeInvalid {
			err = fail(choir.ResultInvalidTask, "the task was refused: %v", err)
		} else {
			err = fail(choir.ResultCommandFailed, "%v", err)
		}
	}
	j.result.CommandsRun = append(j.result.CommandsRun, run)
	j.result.Summary = text
	return err
}

// gitVerb does the action and says in words what it did. Whatever it is, the
// snapshot with which the task began leads back.
func (j *job) gitVerb(ctx context.Context) (string, error) {
	args := j.task.GitArgs
	switch j.task.GitAction {
	case choir.GitReset:
		return "reset; the workspace as it was is snapshot " + string(j.base), j.git.Reset(ctx, j.root, args)
	case choir.GitCheckout:
		return "checked out; the workspace as it was is snapshot " + string(j.base), j.git.Checkout(ctx, j.root, args)
	case choir.GitCheckpoint:
		return j.checkpointByHand(ctx)
	}
	if len(args) > 0 {
		return "", choir.Invalid("git_args", "git_status takes none")
	}
	return j.git.Status(ctx, j.root)
}

// checkpointByHand commits everything that differs from HEAD, whoever wrote it,
// in the project or in every project of the workspace.
func (j *job) checkpointByHand(ctx context.Context) (string, error) {
	if len(j.task.GitArgs) > 1 {
		return "", choir.Invalid("git_args[1]", "git_checkpoint takes one subject")
	}
	base := "."
	if j.task.Repo != "" {
		base = git.RepoOf(j.cfg.Workspace, "workspace/"+j.task.Repo)
	}
	runs := j.git.Runs()
	paths, err := j.pending(ctx, base)
	if err != nil {
		return "", err
	}
	words := ""
	if len(j.task.GitArgs) == 1 {
		words = j.task.GitArgs[0]
	}
	j.subject = subject(words, j.cfg.Now())
	made, err := j.git.Commit(ctx, git.Checkpoint{
		Workspace: j.cfg.Workspace, Paths: paths, Subject: j.subject,
		Seq: j.event.Seq, Run: j.event.Run, Task: j.event.Task, At: j.cfg.Now(),
	})
	j.made, j.only = made, j.onlyGit(made, runs)
	if err == nil {
		j.remember(base)
	}
	if len(made.Commits) == 0 {
		return "nothing to commit; the workspace is kept as a snapshot", err
	}
	return "made " + count(len(made.Commits), "commit") + ": " + j.subject, err
}

// keepGit ends a task of kind git: what it did to the tree becomes part of the
// log.
func (j *job) keepGit(c change) error {
	if c.same {
		return nil
	}
	if err := j.show(c); err != nil {
		return err
	}
	done, err := j.cfg.Tree.Commit(j.life, j.event.Task, "task_ended", nil)
	j.result.Snapshot = done.Snapshot
	return err
}
