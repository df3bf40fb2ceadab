package taskrunner

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"choiros/internal/associate/git"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
	"choiros/internal/snapshot"
)

// snapshotter takes snapshots of the tree in which a task works and records them in the log.
type snapshotter interface {
	Commit(ctx context.Context, task choir.ID, reason string, only []string) (choir.TaskCommitReply, error)
}

// checkpoints makes the commits of one task and its checkpoint. Of a task of kind git it does
// the action too.
type checkpoints struct {
	rec    *record
	place  *place
	tree   snapshotter
	shared *commits
	above  chan struct{} // see Runner
	task   *choir.DirectorTask
	land   func() (choir.Digest, error) // brings what a task that is aside committed into the workspace

	known         committedState   // before the task
	since         []string         // raw paths that differ between the snapshot of known and the task's base
	sinceComplete bool             // since lists all of them
	made          git.Made         // the commits of git_checkpoint
	only          []string         // the only folders, escaped, that git_checkpoint changed
	subject       string           // the commit subject of git_checkpoint
	committed     *choir.Committed // the commits of git_checkpoint, for the result
}

// words are what a checkpoint says of the change.
type words struct {
	subject, body string
	trigger       string
	verified      bool
}

// point is a checkpoint that was made, for the result of its task.
type point struct {
	snapshot choir.Digest
	commit   *string
	notes    []string      // sentences for the summary
	drafts   []choir.Draft // to be appended with the result
}

// compareSince returns the snapshot with which the task's base is to be compared, "" for none.
func (k *checkpoints) compareSince() choir.Digest {
	if k.task.GitAction != choir.GitCheckpoint {
		return ""
	}
	k.known = k.shared.state()
	return k.known.snapshot
}

// setChanged records the escaped paths that changed since the snapshot of compareSince.
func (k *checkpoints) setChanged(paths []string) (err error) {
	k.since, err = rawPaths(paths)
	k.sinceComplete = err == nil
	return err
}

// recordAction records the checkpoint of git_checkpoint: what changed is what it committed.
func (k *checkpoints) recordAction(verified bool) (point, error) {
	return k.recordPoint(k.made, words{subject: k.subject, trigger: cmp.Or(k.task.Trigger, "manual"), verified: verified}, k.only)
}

// commit commits a change in git, takes the snapshot and records both as a
// checkpoint. If git fails, the checkpoint has the snapshot only.
func (k *checkpoints) commit(c change, w words) (point, error) {
	paths, err := c.paths()
	if err != nil {
		return point{}, err
	}
	by, err := k.committer()
	if err != nil {
		return point{}, err
	}
	if err := k.mustReadRepositories(c, by); err != nil {
		return point{}, errors.Join(err, by.close())
	}
	before := k.shared.state()
	knew := !k.place.aside && before.holds(k.place.workspace)
	made, err := k.place.git.Commit(k.rec.life, git.Checkpoint{
		Workspace: k.place.commitTop(), Paths: paths, Subject: w.subject, Body: w.body,
		Seq: k.rec.event.Seq, Run: k.rec.event.Run, Task: k.rec.event.Task, At: k.rec.now(), By: by.git,
	})
	only := by.only(made)
	// What git started may write, until it has ended.
	if err := by.close(); err != nil {
		return point{}, err
	}
	var notes []string
	switch {
	case err != nil && k.rec.life.Err() != nil:
		return point{}, err
	case err != nil:
		// The snapshot holds the work; a repository that git cannot use, or that
		// somebody has locked, is no reason to take it back.
		notes = append(notes, "Git could not commit it, so it is kept as a snapshot only: "+excerpt.FirstLine(err.Error(), 400))
	case knew:
		k.updateHeads(before)
	}
	p, err := k.recordPoint(made, w, only)
	p.notes = append(notes, p.notes...)
	return p, err
}

// mustReadRepositories returns a *failure if the task left a repository, which was there
// before it, so that git cannot read what is checked out. A repository that was moved or
// removed together with its folder is none of these.
func (k *checkpoints) mustReadRepositories(c change, by *committer) error {
	for _, dir := range c.harmed {
		raw, err := snapshot.UnescapePath(dir)
		if err != nil {
			return err
		}
		repo := path.Dir(string(raw))
		if _, err := os.Lstat(filepath.Join(k.place.commitTop(), repo)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := by.git(repo).CheckHead(k.rec.life, filepath.Join(k.place.commitTop(), repo)); err != nil {
			if k.rec.life.Err() != nil {
				return err
			}
			return fail(choir.ResultCommandFailed, "the task left the repository of %s so that git cannot read it, and was taken back: %s", repo, excerpt.FirstLine(err.Error(), 400))
		}
	}
	return nil
}

// recordPoint takes the snapshot of a checkpoint and makes its event. If only is not empty, only those folders are scanned.
func (k *checkpoints) recordPoint(made git.Made, w words, only []string) (p point, err error) {
	// The process tree may hold what a filter of the repository started.
	if err := k.place.clear(); err != nil {
		return p, err
	}
	if p.snapshot, err = k.takeSnapshot(only); err != nil {
		return p, err
	}
	var withheld []string
	for _, p := range made.Withheld {
		withheld = append(withheld, snapshot.EscapePath([]byte(p)))
	}
	if len(withheld) > 0 {
		p.notes = append(p.notes, count(len(withheld), "file")+" that look like keys were kept out of the commit.")
	}
	if len(made.Commits) > 0 {
		commit := made.Commits[0].Commit
		for _, c := range made.Commits {
			if c.Repo == k.task.Repo {
				commit = c.Commit
			}
		}
		p.commit = &commit
	}
	d, err := choir.NewDraft(choir.DeriveID(k.rec.event.Task, "checkpointed"), choir.CheckpointCreated{
		Checkpoint: choir.DeriveID(k.rec.event.Task, "checkpoint"), Snapshot: p.snapshot, Subject: w.subject, Trigger: w.trigger,
		Verified: w.verified, Commits: first(made.Commits, 64), Withheld: first(withheld, 256),
	})
	p.drafts = []choir.Draft{k.rec.mine(d)}
	return p, err
}

// takeSnapshot returns the snapshot of a checkpoint, in which a task that is aside has come into
// the workspace. If only is not empty, only those folders are scanned.
func (k *checkpoints) takeSnapshot(only []string) (choir.Digest, error) {
	if k.place.aside {
		return k.land()
	}
	done, err := k.tree.Commit(k.rec.life, k.rec.event.Task, "checkpoint", only)
	return done.Snapshot, err
}

// subject returns the subject of a checkpoint's commit: the first line of words, or the
// time at if words is empty.
func subject(words string, at choir.Time) string {
	if words = excerpt.FirstLine(words, 200); words != "" {
		return words
	}
	return "checkpoint: " + at.Std().Format("20060102-150405")
}

// maxCommitText is the maximum length of the text of a commit below its subject, in
// characters.
const maxCommitText = 2000

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

// first returns the first n elements of list, or all if there are fewer.
func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }
