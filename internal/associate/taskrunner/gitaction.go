package taskrunner

import (
	"context"
	"errors"
	"slices"
	"strings"

	"choiros/internal/associate/command"
	"choiros/internal/associate/git"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
)

// runAction executes a task of kind git. It returns the action like a command, with its output or
// a sentence about it, and a *failure if git fails. at is the snapshot of the workspace.
func (k *checkpoints) runAction(ctx context.Context, at choir.Digest) (run choir.CommandRun, text string, err error) {
	began := k.rec.now()
	text, err = k.gitVerb(ctx, at)
	run = choir.CommandRun{Command: string(k.task.GitAction), Started: began, DurationMS: max(0, int64(k.rec.now()-began)), StdoutTail: command.Tail([]byte(text))}
	if err != nil && ctx.Err() == nil {
		run.ExitCode, run.StderrTail = 1, command.Tail([]byte(err.Error()))
		if choir.CodeOf(err) == choir.CodeInvalid {
			err = fail(choir.ResultInvalidTask, "the task was refused: %v", err)
		} else {
			err = fail(choir.ResultCommandFailed, "%v", err)
		}
	}
	return run, text, err
}

// gitVerb runs the task's git action and returns its output or a sentence about it.
func (k *checkpoints) gitVerb(ctx context.Context, at choir.Digest) (string, error) {
	args := k.task.GitArgs
	switch k.task.GitAction {
	case choir.GitReset:
		return "reset; the workspace as it was is snapshot " + string(at), k.place.git.Reset(ctx, k.place.scope.Root, args)
	case choir.GitCheckout:
		return "checked out; the workspace as it was is snapshot " + string(at), k.place.git.Checkout(ctx, k.place.scope.Root, args)
	case choir.GitCheckpoint:
		return k.checkpointByHand(ctx, at)
	}
	if len(args) > 0 {
		return "", choir.Invalid("git_args", "git_status takes none")
	}
	return k.place.git.Status(ctx, k.place.scope.Root)
}

// checkpointByHand commits every path that differs from HEAD, no matter who changed it, in the project or
// in all projects of the workspace. It sets committed and returns an English sentence about it.
func (k *checkpoints) checkpointByHand(ctx context.Context, at choir.Digest) (string, error) {
	if len(k.task.GitArgs) > 1 {
		return "", choir.Invalid("git_args[1]", "git_checkpoint takes one subject")
	}
	by, err := k.committer()
	if err != nil {
		return "", err
	}
	made, err := k.commitPending(ctx, by, at)
	k.made, k.only = made, by.only(made)
	// A git that failed says more than the processes that it left.
	if cerr := by.close(); err == nil {
		err = cerr
	}
	text := "made " + count(len(made.Commits), "commit") + ": " + k.subject
	if len(made.Commits) == 0 {
		text = "nothing to commit; the workspace is kept as a snapshot"
	}
	k.committed = &choir.Committed{Commits: len(made.Commits), Subject: excerpt.FirstRunes(k.subject, 500)}
	if err != nil && k.task.Repo == "" && ctx.Err() == nil {
		// The others are committed, and the snapshot has all.
		k.committed.Failed = excerpt.FirstRunes(strings.ReplaceAll(err.Error(), "\n", "; "), 500)
		return text + ". Git could not commit all of it: " + strings.ReplaceAll(err.Error(), "\n", "; "), nil
	}
	return text, err
}

// commitPending commits for checkpointByHand. A task of a project without a repository of
// its own commits the project's files in the workspace's, and no other project's.
func (k *checkpoints) commitPending(ctx context.Context, by *committer, at choir.Digest) (git.Made, error) {
	base, part := k.place.repository(), k.task.Repo != ""
	before := k.shared.state()
	knew := before.holds(k.place.workspace)
	paths, broken := k.pending(ctx, by, base)
	if broken != nil && (ctx.Err() != nil || k.task.Repo != "") {
		return git.Made{}, broken
	}
	part = part && base == "."
	if part {
		paths = slices.DeleteFunc(paths, func(p string) bool { return !below(p, "workspace/"+k.task.Repo) })
	}
	words := ""
	if len(k.task.GitArgs) == 1 {
		words = k.task.GitArgs[0]
	}
	k.subject = subject(words, k.rec.now())
	made, err := k.place.git.Commit(ctx, git.Checkpoint{
		Workspace: k.place.workspace, Paths: paths, Subject: k.subject,
		Seq: k.rec.event.Seq, Run: k.rec.event.Run, Task: k.rec.event.Task, At: k.rec.now(), By: by.git,
	})
	err = errors.Join(broken, err)
	switch {
	case err != nil:
	case !part:
		k.markCommitted(base, at)
	case knew:
		k.updateHeads(before)
	}
	return made, err
}
