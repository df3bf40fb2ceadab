package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// watcher looks at the files of a workspace all the time, as a program of its owner could.
type watcher struct {
	t       *testing.T
	root    string
	want    string
	looks   chan int // the number of the last look
	end     func()   // ends it; may be called again
	stopped chan struct{}
}

// watch watches the workspace but for two files of the owner, until its end is called. It fails the
// test if a file or folder is another than now, at any time.
func (a *approver) watch() *watcher {
	a.t.Helper()
	w := &watcher{t: a.t, root: a.workspace(), looks: make(chan int), stopped: make(chan struct{})}
	w.want = w.scanWorkspace()
	stop := make(chan struct{})
	w.end = sync.OnceFunc(func() {
		close(stop)
		<-w.stopped
	})
	a.t.Cleanup(w.end)
	go func() {
		defer close(w.stopped)
		for n := 0; ; n++ {
			if is := w.scanWorkspace(); is != w.want {
				w.t.Errorf("the workspace is another:\n%s", differing(w.want, is))
				w.want = is
			}
			select {
			case w.looks <- n:
			case <-stop:
				return
			default:
			}
		}
	}()
	return w
}

// awaitScans waits until the watcher has looked some more times.
func (w *watcher) awaitScans() {
	from := <-w.looks
	for n := from; n < from+3; {
		n = <-w.looks
	}
}

// scanWorkspace returns all files and folders of the workspace, with their modes, times and content.
func (w *watcher) scanWorkspace() string {
	var b strings.Builder
	err := filepath.WalkDir(w.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(w.root, p)
		if err != nil || name == "workspace/go" || name == "workspace/app/owner.txt" {
			return err
		}
		info, err := os.Lstat(p)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%q %s", name, info.Mode())
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			if !strings.Contains(name, ".git/objects/") { // git renews their times when the copy makes the same object
				fmt.Fprintf(&b, " %d", info.ModTime().UnixNano())
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(content))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		fmt.Fprintln(&b, err)
	}
	return b.String()
}

// differing returns the lines that only one of two texts has.
func differing(a, b string) string {
	var out []string
	for _, side := range []struct{ sign, of, other string }{{"-", a, b}, {"+", b, a}} {
		for line := range strings.Lines(side.of) {
			if !strings.Contains("\n"+side.other, "\n"+line) {
				out = append(out, side.sign+line)
			}
		}
	}
	return strings.Join(out, "")
}

// untilGo is a line of a task that waits for the file workspace/go, which the owner makes.
const untilGo = "until [ -e /workspace/workspace/go ]; do sleep 0.02; done; "

// letGo makes the file of untilGo, once a task works in a copy.
func (a *approver) letGo(task choir.ID) {
	a.t.Helper()
	a.startedAside(task)
	if err := os.WriteFile(a.at("go"), nil, 0o644); err != nil {
		a.t.Fatal(err)
	}
	file := a.at("go")
	a.t.Cleanup(func() { os.Remove(file) })
}

// startedAside waits until a task has begun in a copy.
func (a *approver) startedAside(task choir.ID) {
	a.t.Helper()
	a.eventually("the task has begun in a copy", func() error {
		for _, e := range a.c.log(a.t) {
			if e.Type == choir.TypeTaskStarted && e.Task == task && strings.Contains(string(e.Payload), `"worktree"`) {
				return nil
			}
		}
		return fmt.Errorf("it has not")
	})
}

// inWorkspace is shellTask of no project.
func inWorkspace(kind, shell, more string) string {
	return strings.Replace(shellTask(kind, "", shell, more), `"repo":"",`, "", 1)
}

// inside returns what a shell prints in a sandbox, in a task of its own that no rule is about.
func (a *approver) inside(shell string) string {
	a.t.Helper()
	r, said := a.task(a.t, inWorkspace("inspect", shell, `,"return":{"logs":true}`))
	if r.Status != choir.StatusOK || len(r.CommandsRun) == 0 {
		a.t.Fatalf("%+v: %+v", r, said)
	}
	return r.CommandsRun[0].StdoutTail
}

// TestTheOwnersProgramsSeeNothingOfAResultBeforeItsApproval while the task works, at its end and while
// its result waits; an approval then lands it with its commit. So it is in a project with a
// repository of its own, in one without, in the whole workspace, and of what git ignores.
func TestTheOwnersProgramsSeeNothingOfAResultBeforeItsApproval(t *testing.T) {
	a := openApprover(t, "[[approve]]\npath = 'bare/**'\n[[approve]]\npath = 'out/**'\n[[approve]]\npath = '/app/out/**'\n")
	if err := os.MkdirAll(a.at("bare"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.at("bare/a.txt"), []byte("bare\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.at("app/.gitignore"), []byte("out\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	giveTo(t, a.at(""))
	a.must("checkpoint")
	for _, c := range []struct {
		name, kind, repo, shell string
		want                    map[string]string // content below the projects' folder, empty for none
		commits                 string            // folder of the repository with the commit, empty for none
	}{
		{"project", "edit_repo", "app", "printf TWO > guarded/b.txt; " + untilGo + "rm a.txt; mkdir guarded/deep; chmod 0700 guarded/deep; ln -s ../b.txt guarded/deep/link",
			map[string]string{"app/guarded/b.txt": "TWO", "app/a.txt": "", "app/guarded/deep/link": "TWO"}, "workspace/app"},
		{"without a repository", "edit_repo", "bare", "echo new > new.txt; " + untilGo + "echo more >> a.txt",
			map[string]string{"bare/a.txt": "bare\nmore\n", "bare/new.txt": "new\n"}, "."},
		{"whole workspace", "edit_repo", "", "echo whole > workspace/app/guarded/whole.txt; " + untilGo + "mkdir workspace/fresh; echo fresh > workspace/fresh/it",
			map[string]string{"app/guarded/whole.txt": "whole\n", "fresh/it": "fresh\n"}, "."},
		{"run", "run", "app", "mkdir out; echo built > out/it; echo junk > a.txt; " + untilGo + "echo junk > junk",
			map[string]string{"app/out/it": "built\n", "app/a.txt": "", "app/junk": ""}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &approver{a.in(t), a.r}
			w := a.watch()
			task := shellTask(c.kind, c.repo, c.shell, "")
			if c.repo == "" {
				task = inWorkspace(c.kind, c.shell, "")
			}
			accepted := a.submit(task)
			w.awaitScans()
			a.letGo(accepted.Task)
			a.waits(accepted.Task)
			w.awaitScans()
			w.end()
			a.must("approve", string(accepted.Task))
			r := a.result(accepted.Task)
			if r.Status != choir.StatusOK {
				t.Fatalf("%s: %s", r.Status, r.Summary)
			}
			for name, want := range c.want {
				got, err := os.ReadFile(a.at(name))
				if string(got) != want || (want == "") != (err != nil) {
					t.Errorf("%s is %q, %v", name, got, err)
				}
			}
			if c.commits != "" {
				dir := filepath.Join(a.workspace(), c.commits)
				log := gitIn(t, dir, "-c", "safe.directory=*", "--no-optional-locks", "log", "--format=%H")
				if r.Checkpoint == nil || !strings.Contains(log, *r.Checkpoint) {
					t.Errorf("its commit is not among\n%s\n%+v", log, r)
				}
				if said := gitIn(t, dir, "-c", "safe.directory=*", "fsck", "--strict") + gitIn(t, a.at("app"), "-c", "safe.directory=*", "--no-optional-locks", "status", "--porcelain"); said != "" {
					t.Errorf("git says %s", said)
				}
			}
			if left := a.inside("ls -A /tmp/choir-worktrees /tmp/choir-associate/of 2>/dev/null | grep -e worktree- -e " + string(accepted.Task) + "; find /workspace -name alternates; true"); left != "" {
				t.Errorf("left are %s", left)
			}
		})
	}
}

// TestAProjectThatMovesOnIsMergedBeforeAResultIsHeld has the owner commit while the task works: the
// result is one on top of that, in files and in git.
func TestAProjectThatMovesOnIsMergedBeforeAResultIsHeld(t *testing.T) {
	a := openApprover(t, "")
	accepted := a.submit(shellTask("edit_repo", "app", "echo THREE >> guarded/b.txt; "+untilGo+"echo new > guarded/new.txt", ""))
	a.startedAside(accepted.Task)
	if err := os.WriteFile(a.at("app/a.txt"), []byte("owner\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string {
		return gitIn(t, a.at("app"), append([]string{"-c", "safe.directory=*", "-c", "user.name=O", "-c", "user.email=o@x"}, args...)...)
	}
	git("commit", "-qam", "owner's")
	owners := strings.TrimSpace(git("rev-parse", "HEAD"))
	giveTo(t, a.at(""))
	w := a.watch()
	a.letGo(accepted.Task)
	a.waits(accepted.Task)
	w.awaitScans()
	w.end()
	a.must("approve", string(accepted.Task))
	r := a.result(accepted.Task)
	if r.Status != choir.StatusOK || r.Checkpoint == nil {
		t.Fatalf("%s: %s", r.Status, r.Summary)
	}
	if got := strings.Fields(git("log", "--format=%H")); len(got) != 3 || got[0] != *r.Checkpoint || got[1] != owners {
		t.Errorf("the history is %q, the task's commit %s, the owner's %s", got, *r.Checkpoint, owners)
	}
	if said := git("status", "--porcelain") + git("fsck", "--strict"); said != "" || a.inApp("a.txt") != "owner\n" || a.inApp("guarded/b.txt") != "two\nTHREE\n" || a.inApp("guarded/new.txt") != "new\n" {
		t.Errorf("git says %q; the files are %q %q", said, a.inApp("a.txt"), a.inApp("guarded/b.txt"))
	}
}

// giveTo gives all below a folder to the owner of that, as what a program in the sandbox writes
// there is.
func giveTo(t *testing.T, dir string) {
	t.Helper()
	info, err := os.Lstat(dir)
	if err != nil {
		t.Fatal(err)
	}
	of := info.Sys().(*syscall.Stat_t)
	err = filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(p, int(of.Uid), int(of.Gid))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTwoResultsWaitAtOnce of tasks of two projects; one is refused and leaves nothing, in git and
// of processes neither, as one that fails does, and the other lands.
func TestTwoResultsWaitAtOnce(t *testing.T) {
	a := openApprover(t, "[[approve]]\npath = 'web/**'\n")
	a.add(t, "web", files{"w.txt": "web\n"})
	w := a.watch()
	first := a.submit(shellTask("edit_repo", "app", untilGo+"setsid sleep 86397 >/dev/null 2>&1 & echo 1 >> guarded/b.txt", ""))
	second := a.submit(shellTask("edit_repo", "web", untilGo+"echo 2 >> w.txt", ""))
	a.letGo(first.Task)
	a.startedAside(second.Task)
	a.waits(first.Task)
	a.waits(second.Task)
	w.awaitScans()
	a.must("refuse", string(first.Task))
	if r := a.result(first.Task); r.Code != choir.ResultNotApproved {
		t.Errorf("the refused one is %s %s", r.Status, r.Code)
	}
	failed := a.submit(shellTask("edit_repo", "app", "echo 3 >> guarded/b.txt", `,"verify_profile":{"mode":"smoke","commands":[{"shell":"false"}]}`))
	if r := a.result(failed.Task); r.Code != choir.ResultVerifyFailed || r.Attempt == "" || len(r.FilesChanged) != 1 {
		t.Errorf("the one that fails is %+v", r)
	}
	w.awaitScans()
	w.end()
	if left := a.inside("ls -A /tmp/choir-worktrees; true"); left != "" || strings.Contains(strings.Join(a.processes(), "\n"), "sleep 86397") {
		t.Errorf("left are %s, %q", left, a.processes())
	}
	a.must("approve", string(second.Task))
	r := a.result(second.Task)
	if web, err := os.ReadFile(a.at("web/w.txt")); err != nil || r.Status != choir.StatusOK || string(web) != "web\n2\n" || a.inApp("guarded/b.txt") != "two\n" {
		t.Errorf("%s; the files are %q, %v, %q", r.Status, web, err, a.inApp("guarded/b.txt"))
	}
	if said := gitIn(t, a.at("app"), "-c", "safe.directory=*", "fsck", "--strict", "--unreachable", "--no-reflogs"); said != "" {
		t.Errorf("git has %s", said)
	}
}

// TestATaskInACopySurvivesKills of choir and of the Associate: when it has begun, when the project
// that moved on was merged into its copy, and when its result is held. The owner's programs see
// nothing of it meanwhile, and an approval lands it once.
func TestATaskInACopySurvivesKills(t *testing.T) {
	a := openApprover(t, "")
	started := func(n int) func(choir.Event) bool {
		return func(e choir.Event) bool {
			if e.Type == choir.TypeTaskStarted {
				n--
			}
			return n == 0
		}
	}
	held := func(e choir.Event) bool { return e.Type == choir.TypeEffectHeld }
	for i, c := range []struct {
		victim killed
		at     func(choir.Event) bool
	}{{"choir", started(1)}, {"choir", started(2)}, {"choir", held}, {associate, started(1)}, {associate, started(2)}, {associate, held}} {
		before := strings.Count(a.history("app"), "\n")
		was := a.inApp("guarded/b.txt")
		w := a.watch()
		task := a.submit(shellTask("edit_repo", "app", untilGo+fmt.Sprintf("echo %d >> guarded/b.txt; for n in $(seq 50); do echo $n > guarded/%d-$n; done", i, i), "")).Task
		a.startedAside(task)
		if err := os.WriteFile(a.at("app/owner.txt"), fmt.Append(nil, i), 0o644); err != nil {
			t.Fatal(err)
		}
		giveTo(t, a.at("app"))
		a.letGo(task)
		a.killAt(task, c.victim, c.at)
		a.waits(task)
		w.awaitScans()
		w.end()
		a.must("approve", string(task))
		r := a.result(task)
		if r.Status != choir.StatusOK || a.inApp("guarded/b.txt") != was+fmt.Sprintln(i) || a.inApp(fmt.Sprintf("guarded/%d-50", i)) != "50\n" {
			t.Errorf("%d: %s %s; the files are %q", i, r.Status, r.Summary, a.inApp("guarded/b.txt"))
		}
		if n := strings.Count(a.history("app"), "\n"); n != before+1 {
			t.Errorf("%d: it made %d commits", i, n-before)
		}
		if err := os.Remove(a.at("go")); err != nil {
			t.Fatal(err)
		}
	}
	if left := a.inside("ls -A /tmp/choir-worktrees; true"); left != "" {
		t.Errorf("left are %s", left)
	}
}

// killAt kills choir, and starts it again, or a process of a sandbox when the log has an event of a
// task.
func (a *approver) killAt(task choir.ID, victim killed, at func(choir.Event) bool) {
	a.t.Helper()
	err := a.c.follow(a.t.Context(), "", 0, func(e choir.Event) (bool, error) {
		return e.Task == task && at(e), nil
	})
	switch {
	case err != nil:
	case victim == "choir":
		a.r.kill()
		a.again()
	default:
		err = a.killGuest(victim)
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// TestAResultWithoutARuleComesInThoughItIsCutOff kills choir and the Associate when what a task left
// in its copy begins to come into the workspace.
func TestAResultWithoutARuleComesInThoughItIsCutOff(t *testing.T) {
	a := openApprover(t, "")
	for i, victim := range []killed{"choir", associate} {
		task := a.submit(shellTask("edit_repo", "app", fmt.Sprintf("mkdir many%d; for n in $(seq 300); do echo $n > many%d/$n; done; echo %d >> a.txt", i, i, i), "")).Task
		a.killAt(task, victim, func(e choir.Event) bool {
			return e.Type == choir.TypeTaskStarted && !strings.Contains(string(e.Payload), `"worktree"`)
		})
		r := a.result(task)
		if r.Status != choir.StatusOK || a.inApp(fmt.Sprintf("many%d/300", i)) != "300\n" || !strings.HasSuffix(a.inApp("a.txt"), fmt.Sprintln(i)) || a.count(choir.TypeEffectHeld) > 0 {
			t.Errorf("%s: %s %s; %q", victim, r.Status, r.Summary, a.inApp("a.txt"))
		}
		if said := gitIn(t, a.at("app"), "-c", "safe.directory=*", "fsck", "--strict") + gitIn(t, a.at("app"), "-c", "safe.directory=*", "--no-optional-locks", "status", "--porcelain"); said != "" {
			t.Errorf("%s: git says %s", victim, said)
		}
	}
}

// TestTwoResultsOfOneProjectWaitAtOnce of tasks that asked for worktrees. What git ignores stays
// behind; the first approval is in the way of the second, which is done again.
func TestTwoResultsOfOneProjectWaitAtOnce(t *testing.T) {
	a := openApprover(t, "")
	if err := os.WriteFile(a.at("app/.gitignore"), []byte("out\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	giveTo(t, a.at("app"))
	a.must("checkpoint")
	w := a.watch()
	var waiting []choir.ID
	for i := range 2 {
		task := a.submit(shellTask("edit_repo", "app", untilGo+fmt.Sprintf("echo built > out; echo %d > guarded/%d", i, i), `,"worktree":true`))
		waiting = append(waiting, task.Task)
		a.startedAside(task.Task)
	}
	a.letGo(waiting[0])
	for _, task := range waiting {
		a.waits(task)
	}
	w.awaitScans()
	w.end()
	a.must("approve", string(waiting[0]))
	if r := a.result(waiting[0]); r.Status != choir.StatusOK || a.inApp("guarded/0") != "0\n" || a.inApp("out") != "" {
		t.Errorf("%s; the files are %q %q", r.Status, a.inApp("guarded/0"), a.inApp("out"))
	}
	if no := a.run("approve", string(waiting[1])); no.code == 0 || !strings.Contains(no.errOut, "moved on") || a.inApp("guarded/1") != "" {
		t.Errorf("the second: %+v", no)
	}
	a.must("approve", string(waiting[1]), "--again")
	again := choir.DeriveID(waiting[1], "again")
	a.waits(again)
	a.must("approve", string(again))
	if r := a.result(waiting[1]); r.Status != choir.StatusOK || a.inApp("guarded/0") != "0\n" || a.inApp("guarded/1") != "1\n" || a.inApp("out") != "" {
		t.Errorf("%s; the files are %q %q %q", r.Status, a.inApp("guarded/0"), a.inApp("guarded/1"), a.inApp("out"))
	}
	if n := strings.Count(strings.TrimSpace(a.history("app")), "\n"); n != 3 {
		t.Errorf("the history is\n%s", a.history("app"))
	}
}

// TestATaskWhoseCopyIsGoneBeginsAnew has somebody remove the copy, as a terminal could.
func TestATaskWhoseCopyIsGoneBeginsAnew(t *testing.T) {
	a := openApprover(t, "")
	w := a.watch()
	task := a.submit(shellTask("edit_repo", "app", "echo more >> guarded/b.txt; "+untilGo+"true", "")).Task
	a.startedAside(task)
	if err := os.RemoveAll(a.inSandbox(sandbox.WorktreesInside + "/" + string(task))); err != nil {
		t.Fatal(err)
	}
	a.letGo(task)
	a.waits(task)
	w.awaitScans()
	w.end()
	if n := a.startedInCopies(); n < 2 {
		t.Errorf("it has begun %d times", n)
	}
	a.must("approve", string(task))
	if r := a.result(task); r.Status != choir.StatusOK || a.inApp("guarded/b.txt") != "two\nmore\n" {
		t.Errorf("%s %s; the file is %q", r.Status, r.Summary, a.inApp("guarded/b.txt"))
	}
}

// inSandbox returns where a path of the Associate's sandbox is for the host.
func (a *approver) inSandbox(path string) string {
	a.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		a.t.Fatal(err)
	}
	for _, dir := range all {
		raw, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err == nil && strings.HasPrefix(string(raw), "/opt/choir/"+string(associate)) && a.owns(dir, associate) {
			return filepath.Join(dir, "root", path)
		}
	}
	a.t.Fatal("the Associate does not run")
	return ""
}
