package taskrunner_test

import (
	"strings"
	"testing"

	"choiros/internal/choir"
)

func TestGitTasks(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a": "1\n"})
	base := l.git("workspace/app", "rev-parse", "HEAD")
	task := func(action choir.GitAction, args ...string) choir.AssociateResult {
		return l.do(choir.DirectorTask{Kind: choir.TaskGit, Repo: "app", GitAction: action, GitArgs: args})
	}
	l.write("workspace/app/a", "2\n")
	l.write("workspace/app/new", "n\n")
	r := task(choir.GitStatus)
	holds(t, r, choir.StatusOK, "")
	if r.Summary != "## main\n M a\n?? new\n" {
		t.Errorf("status %q", r.Summary)
	}
	r = task(choir.GitCheckpoint, "before the storm")
	holds(t, r, choir.StatusOK, "")
	if r.Checkpoint == nil || l.git("workspace/app", "log", "-1", "--format=%s") != "before the storm" || l.git("workspace/app", "status", "--short") != "" {
		t.Errorf("%+v", r)
	}
	r = task(choir.GitCheckpoint)
	holds(t, r, choir.StatusOK, "")
	cp := of[choir.CheckpointCreated](t, l.log, r.TaskID)
	if r.Checkpoint != nil || len(cp) != 1 || len(cp[0].Commits) != 0 || cp[0].Trigger != "manual" || !strings.HasPrefix(r.Summary, "nothing to commit") {
		t.Errorf("nothing to commit: %+v, %+v", r, cp)
	}
	r = task(choir.GitCheckout, base, "a")
	holds(t, r, choir.StatusOK, "")
	if l.read("workspace/app/a") != "1\n" || len(r.FilesChanged) != 1 {
		t.Errorf("checkout: %q, %+v", l.read("workspace/app/a"), r.FilesChanged)
	}
	r = task(choir.GitReset, base)
	holds(t, r, choir.StatusOK, "")
	if l.git("workspace/app", "rev-parse", "HEAD") != base || !strings.Contains(r.Summary, "snapshot ") {
		t.Errorf("reset: %s", r.Summary)
	}
	before := l.hash()
	for _, args := range [][]string{{"--output=/tmp/x"}, {"absent"}} {
		r = task(choir.GitCheckout, args...)
		holds(t, r, choir.StatusFailed, choir.ResultInvalidTask)
	}
	if l.hash() != before {
		t.Error("a refused action changed the tree")
	}
	// The whole workspace: its own repository and the projects in it.
	l.write("artifacts/note", "x")
	l.write("workspace/app/a", "3\n")
	l.git(".", "init", "-q")
	r = l.do(choir.DirectorTask{Kind: choir.TaskGit, GitAction: choir.GitCheckpoint})
	holds(t, r, choir.StatusOK, "")
	if cp := of[choir.CheckpointCreated](t, l.log, r.TaskID); len(cp[0].Commits) != 2 || l.git(".", "ls-files") != "artifacts/note" {
		t.Errorf("commits %+v, files %s", cp[0].Commits, l.git(".", "ls-files"))
	}
}
