package taskrunner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"choiros/internal/associate/git"
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// subject returns the subject of a checkpoint's commit: the first line of words, or the
// time at if words is empty.
func subject(words string, at choir.Time) string {
	if words = firstLine(words, 200); words != "" {
		return words
	}
	return "checkpoint: " + at.Std().Format("20060102-150405")
}

// maxCommitText is the maximum length of the text of a commit below its subject, in
// characters.
const maxCommitText = 2000

// commitText returns the text below the subject of the commit of the task's change: the
// first paragraph of what its model said last, "" without one. Of a task without a title it
// is the first line of the instruction.
func (j *job) commitText() string {
	if j.task.Title == "" {
		return firstLine(j.task.Instruction, 72)
	}
	if j.models == 0 {
		return ""
	}
	said, _, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(j.result.Summary, "\r\n", "\n")), "\n\n")
	var lines []string
	for line := range strings.Lines(firstRunes(said, maxCommitText)) {
		lines = append(lines, wrap(line, 72)...)
	}
	return strings.Join(lines, "\n")
}

// wrap returns the words of a line in lines of at most width characters; longer words have
// lines of their own. Characters that control something are left out.
func wrap(line string, width int) (lines []string) {
	at := -1
	for _, word := range strings.Fields(strings.Map(printable, line)) {
		n := utf8.RuneCountInString(word)
		if at < 0 || at+1+n > width {
			lines, at = append(lines, word), n
			continue
		}
		lines[len(lines)-1] += " " + word
		at += 1 + n
	}
	return lines
}

// printable returns r, or -1 for a character that controls something other than a space.
func printable(r rune) rune {
	if r != '\t' && r != '\n' && !unicode.IsPrint(r) {
		return -1
	}
	return r
}

// checkpoint commits a change in git, takes the snapshot and records both as a
// checkpoint. If git fails, the checkpoint has the snapshot only.
func (j *job) checkpoint(c change, subject, body, trigger string) error {
	paths, err := c.paths()
	if err != nil {
		return err
	}
	by, err := j.committer()
	if err != nil {
		return err
	}
	if err := j.mustReadRepositories(c, by); err != nil {
		return errors.Join(err, by.close())
	}
	before := j.committed.state()
	knew := !j.aside && before.holds(j.cfg.Workspace)
	made, err := j.git.Commit(j.life, git.Checkpoint{
		Workspace: j.commitTop(), Paths: paths, Subject: subject, Body: body,
		Seq: j.event.Seq, Run: j.event.Run, Task: j.event.Task, At: j.cfg.Now(), By: by.git,
	})
	only := by.only(made)
	// What git started may write, until it has ended.
	if err := by.close(); err != nil {
		return err
	}
	switch {
	case err != nil && j.life.Err() != nil:
		return err
	case err != nil:
		// The snapshot holds the work; a repository that git cannot use, or that
		// somebody has locked, is no reason to take it back.
		j.note("Git could not commit it, so it is kept as a snapshot only: " + firstLine(err.Error(), 400))
	case knew:
		j.updateHeads(before)
	}
	return j.recordCheckpoint(made, subject, trigger, only)
}

// mustReadRepositories returns a *failure if the task left a repository, which was there
// before it, so that git cannot read what is checked out. A repository that was moved or
// removed together with its folder is none of these.
func (j *job) mustReadRepositories(c change, by *committer) error {
	for _, dir := range c.harmed {
		raw, err := snapshot.UnescapePath(dir)
		if err != nil {
			return err
		}
		repo := path.Dir(string(raw))
		if _, err := os.Lstat(filepath.Join(j.commitTop(), repo)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := by.git(repo).CheckHead(j.life, filepath.Join(j.commitTop(), repo)); err != nil {
			if j.life.Err() != nil {
				return err
			}
			return fail(choir.ResultCommandFailed, "the task left the repository of %s so that git cannot read it, and was taken back: %s", repo, firstLine(err.Error(), 400))
		}
	}
	return nil
}

// recordCheckpoint takes the snapshot of a checkpoint and adds its event to j.drafts, to be
// appended with the result. If only is not empty, only those folders are scanned.
func (j *job) recordCheckpoint(made git.Made, subject, trigger string, only []string) error {
	// The process tree may hold what a filter of the repository started.
	used, err := j.scope.Clear()
	j.used(used)
	if err != nil {
		return err
	}
	at, err := j.takeSnapshot(only)
	if err != nil {
		return err
	}
	j.result.Snapshot = at
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
		Checkpoint: choir.DeriveID(j.event.Task, "checkpoint"), Snapshot: at, Subject: subject, Trigger: trigger,
		Verified: j.result.Verify.Status == choir.VerifyPass, Commits: first(made.Commits, 64), Withheld: first(withheld, 256),
	})
	j.drafts = append(j.drafts, j.mine(d))
	return err
}

// takeSnapshot returns the snapshot of a checkpoint, in which a task that is aside has come into
// the workspace. If only is not empty, only those folders are scanned.
func (j *job) takeSnapshot(only []string) (choir.Digest, error) {
	if j.aside {
		return j.landCommitted()
	}
	done, err := j.cfg.Tree.Commit(j.life, j.event.Task, "checkpoint", only)
	return done.Snapshot, err
}

// first returns the first n elements of list, or all if there are fewer.
func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// gitAction executes a task of kind git and records the action like a command. It returns
// a *failure if git fails.
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

// gitVerb runs the task's git action and returns its output or a sentence about it.
func (j *job) gitVerb(ctx context.Context) (string, error) {
	args := j.task.GitArgs
	switch j.task.GitAction {
	case choir.GitReset:
		return "reset; the workspace as it was is snapshot " + string(j.base), j.git.Reset(ctx, j.scope.Root, args)
	case choir.GitCheckout:
		return "checked out; the workspace as it was is snapshot " + string(j.base), j.git.Checkout(ctx, j.scope.Root, args)
	case choir.GitCheckpoint:
		return j.checkpointByHand(ctx)
	}
	if len(args) > 0 {
		return "", choir.Invalid("git_args", "git_status takes none")
	}
	return j.git.Status(ctx, j.scope.Root)
}

// checkpointByHand commits every path that differs from HEAD, no matter who changed it, in the project or
// in all projects of the workspace. It records the commits in the result and returns an English sentence about them.
func (j *job) checkpointByHand(ctx context.Context) (string, error) {
	if len(j.task.GitArgs) > 1 {
		return "", choir.Invalid("git_args[1]", "git_checkpoint takes one subject")
	}
	by, err := j.committer()
	if err != nil {
		return "", err
	}
	made, err := j.commitPending(ctx, by)
	j.made, j.only = made, by.only(made)
	// A git that failed says more than the processes that it left.
	if cerr := by.close(); err == nil {
		err = cerr
	}
	text := "made " + count(len(made.Commits), "commit") + ": " + j.subject
	if len(made.Commits) == 0 {
		text = "nothing to commit; the workspace is kept as a snapshot"
	}
	j.result.Committed = &choir.Committed{Commits: len(made.Commits), Subject: firstRunes(j.subject, 500)}
	if err != nil && j.task.Repo == "" && ctx.Err() == nil {
		// The others are committed, and the snapshot has all.
		j.result.Committed.Failed = firstRunes(strings.ReplaceAll(err.Error(), "\n", "; "), 500)
		return text + ". Git could not commit all of it: " + strings.ReplaceAll(err.Error(), "\n", "; "), nil
	}
	return text, err
}

// commitPending commits for checkpointByHand. A task of a project without a repository of
// its own commits the project's files in the workspace's, and no other project's.
func (j *job) commitPending(ctx context.Context, by *committer) (git.Made, error) {
	base, part := j.repository(), j.task.Repo != ""
	before := j.committed.state()
	knew := before.holds(j.cfg.Workspace)
	paths, broken := j.pending(ctx, by, base)
	if broken != nil && (ctx.Err() != nil || j.task.Repo != "") {
		return git.Made{}, broken
	}
	part = part && base == "."
	if part {
		paths = slices.DeleteFunc(paths, func(p string) bool { return !below(p, "workspace/"+j.task.Repo) })
	}
	words := ""
	if len(j.task.GitArgs) == 1 {
		words = j.task.GitArgs[0]
	}
	j.subject = subject(words, j.cfg.Now())
	made, err := j.git.Commit(ctx, git.Checkpoint{
		Workspace: j.cfg.Workspace, Paths: paths, Subject: j.subject,
		Seq: j.event.Seq, Run: j.event.Run, Task: j.event.Task, At: j.cfg.Now(), By: by.git,
	})
	err = errors.Join(broken, err)
	switch {
	case err != nil:
	case !part:
		j.markCommitted(base)
	case knew:
		j.updateHeads(before)
	}
	return made, err
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
	j.result.Snapshot = done.Snapshot
	return err
}
