package taskrunner_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/associate/proctree"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// A task of one project changes, deletes and commits nothing in another, and its result
// says nothing of it (findings on 58cce4f, agents B2).
func TestATaskChangesItsOwnProjectOnly(t *testing.T) {
	t.Parallel()
	if !proctree.Confines() {
		t.Skip("this kernel has no Landlock that covers every way of writing")
	}
	l := newLab(t)
	l.repo(map[string]string{"a": "1\n"})
	l.write("workspace/other/README.md", "theirs\n")
	l.git("workspace/other", "init", "-q")
	l.git("workspace/other", "add", "-A")
	l.git("workspace/other", "commit", "-q", "-m", "base")
	before := l.git("workspace/other", "rev-parse", "HEAD")
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", VerifyProfile: unverified, Commands: sh(
		"echo x >> ../other/README.md; rm -rf ../other/README.md ../other/.git/refs; echo x > ../../choiros/evil.js; git -C ../other commit -qm x --allow-empty; echo 2 > a",
	)})
	holds(t, r, choir.StatusOK, "")
	if len(r.FilesChanged) != 1 || r.FilesChanged[0].Path != "workspace/app/a" || r.Checkpoint == nil {
		t.Errorf("changed are %+v, checkpoint %v", r.FilesChanged, r.Checkpoint)
	}
	if got := l.read("workspace/other/README.md"); got != "theirs\n" || l.git("workspace/other", "rev-parse", "HEAD") != before {
		t.Errorf("the other project has %q", got)
	}
	if _, err := os.Lstat(filepath.Join(l.dir, "choiros/evil.js")); err == nil {
		t.Error("the desktop was changed")
	}
}

// A project without a repository of its own is committed in the workspace's.
func TestAProjectWithoutARepositoryIsCommittedInTheWorkspaces(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("workspace/app/a", "1\n")
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", VerifyProfile: unverified, Commands: sh("echo 2 > a")})
	holds(t, r, choir.StatusOK, "")
	if r.Checkpoint == nil || !strings.Contains(l.git(".", "show", "HEAD:workspace/app/a"), "2") {
		t.Errorf("the checkpoint is %v: %s", r.Checkpoint, r.Summary)
	}
}

// Each project has temporary files, a home and caches of its own, which the next task
// there does not find full of the former's scratch files.
func TestAScopeHasFoldersOfItsOwn(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a": "1\n"})
	show := choir.DirectorTask{Kind: choir.TaskRun, Repo: "app", Commands: sh("echo $TMPDIR $HOME; ls $TMPDIR; touch $TMPDIR/left")}
	first, second := l.do(show), l.do(show)
	if out := first.CommandsRun[0].StdoutTail; out != second.CommandsRun[0].StdoutTail || !strings.Contains(out, "/of/app/tmp ") || !strings.HasSuffix(out, "/of/app/home\n") {
		t.Errorf("the first task saw %q, the second %q", out, second.CommandsRun[0].StdoutTail)
	}
}

// planted is a command that makes a repository below a project whose filter writes into
// another project.
const planted = `git init -q sub && cd sub && git config filter.x.clean 'echo pwned > ../../other/file; cat' && echo '* filter=x' > .gitattributes; echo hi > f`

// The checkpoint of a project without a repository of its own runs what the task wrote
// into a repository below it as the task, and not as the whole workspace.
func TestACheckpointRunsFiltersOfARepositoryBelowAProjectInTheTasksScope(t *testing.T) {
	t.Parallel()
	if !proctree.Confines() {
		t.Skip("this kernel has no Landlock that covers every way of writing")
	}
	for _, tt := range []struct{ name, repo, command, other string }{
		{"control", "", "cd workspace/app && " + planted, "pwned\n"},
		{"project", "app", "echo 2 > a; " + planted, "theirs\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.write("workspace/app/a", "1\n")
			l.write("workspace/other/file", "theirs\n")
			r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: tt.repo, VerifyProfile: unverified, Commands: sh(tt.command)})
			holds(t, r, choir.StatusOK, "")
			if got := l.read("workspace/other/file"); got != tt.other {
				t.Errorf("the other project has %q, want %q", got, tt.other)
			}
			if r.Checkpoint == nil || l.git("workspace/app/sub", "ls-files") != ".gitattributes\nf" {
				t.Errorf("the checkpoint is %v: %s", r.Checkpoint, r.Summary)
			}
		})
	}
}

// A checkpoint by hand of a project without a repository of its own commits that project
// and starts no filter of another project's repository.
func TestACheckpointByHandOfAProjectLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("workspace/app/a", "1\n")
	l.write("workspace/plain/b", "1\n")
	l.write("workspace/other/file", "1\n")
	l.git("workspace/other", "init", "-q")
	l.git("workspace/other", "add", "-A")
	l.git("workspace/other", "commit", "-q", "-m", "base")
	l.write("workspace/other/.gitattributes", "* filter=x\n")
	l.git("workspace/other", "config", "filter.x.clean", "touch ../other-ran; cat")
	l.write("workspace/other/file", "2\n")
	checkpoint := choir.DirectorTask{Kind: choir.TaskGit, Repo: "app", GitAction: choir.GitCheckpoint}
	for _, content := range []string{"1\n", "2\n"} {
		l.write("workspace/app/a", content)
		r := l.do(checkpoint)
		holds(t, r, choir.StatusOK, "")
		if r.Checkpoint == nil || l.git(".", "ls-files") != "workspace/app/a" || l.git(".", "show", "HEAD:workspace/app/a")+"\n" != content {
			t.Errorf("the checkpoint is %v, files %q: %s", r.Checkpoint, l.git(".", "ls-files"), r.Summary)
		}
	}
	if l.read("workspace/other-ran") == "" {
		t.Error("a filter of another project ran")
	}
	// The whole workspace finds what is left.
	checkpoint.Repo = ""
	holds(t, l.do(checkpoint), choir.StatusOK, "")
	if l.git(".", "ls-files") != "workspace/app/a\nworkspace/plain/b" {
		t.Errorf("the workspace has %q", l.git(".", "ls-files"))
	}
}

// A task that expects a snapshot expects it of its project: what tasks of others changed
// meanwhile is not its matter.
func TestTheBaseThatATaskExpectsIsThatOfItsProject(t *testing.T) {
	t.Parallel()
	if !proctree.Confines() {
		t.Skip("this kernel has no Landlock that covers every way of writing")
	}
	l := newLab(t)
	l.write("workspace/app/a", "1\n")
	task := choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", VerifyProfile: unverified, Commands: sh("echo 2 > a")}
	first := l.do(task)
	holds(t, first, choir.StatusOK, "")
	l.write("workspace/other/x", "meanwhile\n")
	task.BaseRef, task.Commands = string(first.Snapshot), sh("true")
	r := l.do(task)
	holds(t, r, choir.StatusOK, "")
	if r.Checkpoint != nil || len(r.FilesChanged) > 0 {
		t.Errorf("a task that changed nothing made the checkpoint %v of %v", r.Checkpoint, r.FilesChanged)
	}
	l.write("workspace/app/a", "3\n")
	holds(t, l.do(task), choir.StatusFailed, choir.ResultStaleBase)
	task.BaseRef = string(choir.DigestOf([]byte("made up")))
	holds(t, l.do(task), choir.StatusFailed, choir.ResultStaleBase)
}

// A command that goes on after a file that it may not write ends well; its model is told all the same where
// it can write.
func TestACommandThatGoesOnIsToldWhereItCanWrite(t *testing.T) {
	t.Parallel()
	if !proctree.Confines() {
		t.Skip("this kernel has no Landlock that covers every way of writing")
	}
	l := newLab(t)
	l.repo(map[string]string{"a": "1\n"})
	l.model.responses = []model.Response{use("bash", `{"command":"echo x > ../other; echo on"}`), say("Done.")}
	l.do(choir.DirectorTask{Kind: choir.TaskRun, Repo: "app"})
	content := l.model.requests[1].Messages[2].Content[0]
	if content.IsError || !strings.Contains(content.Text, "on\n") || !strings.Contains(content.Text, "$TMPDIR, and nowhere else") {
		t.Errorf("it is told %+v", content)
	}
}
