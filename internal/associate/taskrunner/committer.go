package taskrunner

import (
	"context"

	"choiros/internal/associate/git"
	"choiros/internal/associate/scope"
	"choiros/internal/snapshot"
)

// committer runs the git of one checkpoint. A project without a repository of its own is
// kept in the workspace's, where the task's commands cannot write: git runs there in a
// scope of the whole workspace, after the task's processes have ended. What the task wrote
// cannot name a program to run there, because git reads that in the configuration of the
// repository only. In all other repositories, whose configuration the task can have
// written, git runs in the task's scope.
type committer struct {
	own, above *git.Git
	whole      *scope.Scope // of above; nil when above is own
	leave      func()       // ends the turn in the workspace's repository; nil without whole
	runs       int64        // of both when the committer was made
}

// committer returns the committer of the task. It waits for another task's in the
// workspace's repository. The caller closes it.
func (k *checkpoints) committer() (*committer, error) {
	c := &committer{own: k.place.git, above: k.place.git}
	if k.task.Repo != "" && k.place.repository() == "." {
		select {
		case k.above <- struct{}{}:
		case <-k.rec.life.Done():
			return nil, context.Cause(k.rec.life)
		}
		whole, err := k.place.scopes.Open("")
		if err != nil {
			<-k.above
			return nil, err
		}
		c.leave = func() { <-k.above }
		c.whole, c.above = whole, &git.Git{Tree: whole.Tree(), Env: k.place.env, Temp: whole.Temp}
	}
	c.runs = c.count()
	return c, nil
}

// git returns the git that runs in a repository, see git.Checkpoint.
func (c *committer) git(repo string) *git.Git {
	if repo == "." {
		return c.above
	}
	return c.own
}

func (c *committer) count() int64 { return c.own.Runs() + c.above.Runs() }

// only returns the folders, escaped, that commits changed, when nothing but the commits
// can have changed anything since the committer was made: a git that runs may run a
// repository's filters.
func (c *committer) only(made git.Made) []string {
	if c.count() != c.runs {
		return nil
	}
	var only []string
	for _, dir := range made.Folders {
		only = append(only, snapshot.EscapePath([]byte(dir)))
	}
	return only
}

// close ends the processes that git started outside of the task's scope. The error says
// that a process does not end.
func (c *committer) close() error {
	if c.whole == nil {
		return nil
	}
	defer c.leave()
	return c.whole.Close()
}
