package taskrunner_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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
	if c := r.Committed; c == nil || *c != (choir.Committed{Commits: 1, Subject: "before the storm"}) {
		t.Errorf("it says that it committed %+v", c)
	}
	r = task(choir.GitCheckpoint)
	holds(t, r, choir.StatusOK, "")
	if c := r.Committed; c == nil || c.Commits != 0 {
		t.Errorf("with nothing to commit it says that it committed %+v", c)
	}
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
	r = l.do(choir.DirectorTask{Kind: choir.TaskGit, GitAction: choir.GitCheckpoint}) // which makes it
	holds(t, r, choir.StatusOK, "")
	if cp := of[choir.CheckpointCreated](t, l.log, r.TaskID); len(cp[0].Commits) != 2 || l.git(".", "ls-files") != "artifacts/note" {
		t.Errorf("commits %+v, files %s", cp[0].Commits, l.git(".", "ls-files"))
	}
}

func TestARepeatedCheckpointFindsWhatStatusWould(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a": "1\n", "b": "1\n", "gone": "1\n", ".gitignore": "*.log\n"})
	checkpoint := func(want string) {
		t.Helper()
		r := l.do(choir.DirectorTask{Kind: choir.TaskGit, Repo: "app", GitAction: choir.GitCheckpoint})
		holds(t, r, choir.StatusOK, "")
		got := ""
		if r.Checkpoint != nil {
			got = strings.ReplaceAll(l.git("workspace/app", "show", "--name-only", "--no-renames", "--format=", "HEAD"), "\n", " ")
		}
		if got != want || l.git("workspace/app", "status", "--short") != "" {
			t.Errorf("committed %q, want %q; left %q", got, want, l.git("workspace/app", "status", "--short"))
		}
	}
	checkpoint("")
	l.write("workspace/app/a", "2\n")
	l.write("workspace/app/x.log", "kept out")
	checkpoint("a")
	l.write("workspace/app/new", "n\n")
	l.git("workspace/app", "rm", "-q", "--cached", "gone")
	l.git("workspace/app", "commit", "-q", "-m", "a person's") // HEAD moved: what was known is not
	checkpoint("gone new")
	l.write("workspace/app/b", "by a person\n")
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", VerifyProfile: unverified, Commands: sh("echo t > task")})
	holds(t, r, choir.StatusOK, "")
	checkpoint("b")
	l.write("workspace/app/.gitignore", "\n")
	checkpoint(".gitignore x.log")
}

func TestWorkIsKeptWhenGitCannotCommit(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a": "1\n"})
	l.write("workspace/app/.git/index.lock", "")
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", VerifyProfile: unverified, Commands: sh("echo 2 > a")})
	holds(t, r, choir.StatusOK, "")
	if r.Checkpoint != nil || l.git("workspace/app", "rev-list", "--count", "HEAD") != "1" {
		t.Errorf("a commit was made: %v", r.Checkpoint)
	}
	if l.read("workspace/app/a") != "2\n" || !strings.Contains(r.Summary, "kept as a snapshot only") || r.Snapshot != l.hash() {
		t.Errorf("%q, %s", l.read("workspace/app/a"), r.Summary)
	}
}

// TestATaskThatBreaksARepositoryIsTakenBack: it was kept as a snapshot, and nothing of the
// project could be committed or exported any more.
func TestATaskThatBreaksARepositoryIsTakenBack(t *testing.T) {
	t.Parallel()
	for name, task := range map[string]choir.DirectorTask{
		"its project's":          {Repo: "app", Commands: sh("echo 2 > a; git checkout -q -b other; rm -rf .git/refs")},
		"another's, as it may":   {Commands: sh("echo 2 > workspace/app/a; rm -rf workspace/app/.git/refs")},
		"the whole folder":       {Repo: "app", Commands: sh("rm -rf .git")},
		"its head":               {Repo: "app", Commands: sh("echo nothing > .git/HEAD")},
		"without another change": {Repo: "app", Commands: sh("rm -rf .git/objects")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.repo(map[string]string{"a": "1\n"})
			before := l.hash()
			task.Kind, task.VerifyProfile = choir.TaskEditRepo, unverified
			r := l.do(task)
			holds(t, r, choir.StatusFailed, choir.ResultCommandFailed)
			if l.hash() != before || !strings.Contains(r.Summary, "left the repository of workspace/app so that git cannot read it") {
				t.Errorf("%q, %s", l.read("workspace/app/a"), r.Summary)
			}
		})
	}
	l := newLab(t)
	l.repo(map[string]string{"a": "1\n"})
	for _, command := range []string{"git commit -q --allow-empty -m more", "git checkout -q -b other; echo 2 > a", "git init -q new; echo 3 > new/b", "git reset -q --hard HEAD~1"} {
		holds(t, l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", VerifyProfile: unverified, Commands: sh(command)}), choir.StatusOK, "")
	}
	for _, command := range []string{"mv workspace/app workspace/moved", "rm -rf workspace/moved"} {
		holds(t, l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, VerifyProfile: unverified, Commands: sh(command)}), choir.StatusOK, "")
	}
}

// TestABrokenRepositoryHoldsUpNoOther: a checkpoint of the whole workspace commits the others
// and names it; it failed, and did not say whose fault it was.
func TestABrokenRepositoryHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a": "1\n"})
	l.write("workspace/app/a", "2\n")
	l.write("artifacts/note", "x")
	l.mkdir("workspace/aaa")
	l.git("workspace/aaa", "init", "-q")
	l.write("workspace/aaa/.git/HEAD", "nothing\n")
	l.write("workspace/aaa/b", "b\n")
	r := l.do(choir.DirectorTask{Kind: choir.TaskGit, GitAction: choir.GitCheckpoint})
	holds(t, r, choir.StatusOK, "")
	if cp := of[choir.CheckpointCreated](t, l.log, r.TaskID); len(cp) != 1 || len(cp[0].Commits) != 2 {
		t.Errorf("commits %+v", cp)
	}
	if !strings.Contains(r.Summary, "made 2 commits") || !strings.Contains(r.Summary, "read workspace/aaa") || l.git("workspace/app", "status", "--short") != "" {
		t.Errorf("said %q", r.Summary)
	}
}

// A commit that needs no git changes nothing but .git, and that is all that is
// looked at again. Where git runs, a filter of the repository's may write
// anywhere.
func TestACommitWithoutGitIsAllThatIsLookedAt(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a": "1\n"})
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(filepath.Join(l.dir, "workspace/app/a"), old, old); err != nil {
		t.Fatal(err)
	}
	l.git("workspace/app", "update-index", "--refresh")
	checkpoint := choir.DirectorTask{Kind: choir.TaskGit, Repo: "app", GitAction: choir.GitCheckpoint}
	holds(t, l.do(checkpoint), choir.StatusOK, "") // asks git what differs
	for _, task := range []choir.DirectorTask{
		checkpoint, {Kind: choir.TaskEditRepo, Repo: "app", VerifyProfile: unverified, Commands: sh("echo task > a")},
	} {
		if task.Kind == choir.TaskGit {
			l.write("workspace/app/a", "2\n")
		}
		r := l.do(task)
		holds(t, r, choir.StatusOK, "")
		if r.Checkpoint == nil || !slices.Equal(l.tree.only, []string{"workspace/app/.git"}) {
			t.Errorf("%s: checkpoint %v looked at %q", task.Kind, r.Checkpoint, l.tree.only)
		}
		if out := l.git("workspace/app", "status", "--short"); out != "" {
			t.Errorf("%s left %q", task.Kind, out)
		}
	}
	l.write("workspace/app/.gitattributes", "a filter=spy\n")
	l.git("workspace/app", "config", "filter.spy.clean", "touch spied; cat")
	l.write("workspace/app/a", "3\n")
	r := l.do(checkpoint)
	holds(t, r, choir.StatusOK, "")
	if r.Checkpoint == nil || len(l.tree.only) != 0 || l.read("workspace/app/spied") != "" {
		t.Errorf("a filter ran, and only %q was looked at", l.tree.only)
	}
}

func TestWhatTheOwnerWritesIsNoneOfTheTasks(t *testing.T) {
	t.Parallel()
	for _, kind := range []choir.TaskKind{choir.TaskRun, choir.TaskEditRepo} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.repo(map[string]string{"a": "1\n"})
			l.tree.owner = []string{"workspace/app/mine"}
			r := l.do(choir.DirectorTask{Kind: kind, Repo: "app", VerifyProfile: unverified, Commands: sh("echo owner > mine")})
			holds(t, r, choir.StatusOK, "")
			if len(r.FilesChanged) != 0 || r.Diff != nil || strings.Contains(r.Summary, "taken back") {
				t.Errorf("%+v", r)
			}
			if l.read("workspace/app/mine") != "owner\n" {
				t.Errorf("the owner's file is %q", l.read("workspace/app/mine"))
			}
		})
	}
}

// BenchmarkCheckpoint is one changed file among 10,000 and a checkpoint by
// hand, scans included.
func BenchmarkCheckpoint(b *testing.B) {
	l := newLab(b)
	files := map[string]string{".gitignore": "*.log\n"}
	for i := range 10_000 {
		files["d"+strconv.Itoa(i/100)+"/f"+strconv.Itoa(i)] = "content " + strconv.Itoa(i) + "\n"
	}
	l.repo(files)
	task := choir.DirectorTask{Kind: choir.TaskGit, Repo: "app", GitAction: choir.GitCheckpoint}
	l.do(task)
	n := 0
	for b.Loop() {
		n++
		l.write("workspace/app/d50/f5050", strconv.Itoa(n))
		if r := l.do(task); r.Checkpoint == nil {
			b.Fatal(r.Summary)
		}
	}
}
