package computer

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// together has a command of each of two tasks in worktrees wait until the other's runs.
const together = "mktemp /dev/shm/met-XXXXXX >/dev/null; until [ $(ls /dev/shm/met-* | wc -l) = 2 ]; do sleep 0.02; done; "

// oneProject returns a lab with the project app, a git repository, if tasks are confined.
func oneProject(t *testing.T, change ...func(*labConfig)) *lab {
	t.Helper()
	l := newLab(t, change...)
	l.guest()
	if !l.Roles().ConfinesTasks() {
		t.Skip("this kernel does not confine tasks to their projects, so one works at a time")
	}
	l.write("workspace/app/shared", "1\n2\n3\n4\n5\n6\n7\n8\n")
	l.write("workspace/app/own", "app\n")
	l.write("workspace/app/.gitignore", "out\n")
	l.sh("cd workspace/app; git init -q; git add -A; git -c user.name=P -c user.email=p@x commit -qm base")
	if err := l.Workspace().RecordNow(l.within()); err != nil {
		t.Fatal(err)
	}
	return l
}

// inWorktree returns a deterministic edit of the project app in a worktree.
func inWorktree(l *lab, lines ...string) choir.DirectorTask {
	l.t.Helper()
	task := inProject(l, "app", "", lines...)
	task.Worktree = true
	return task
}

// noWorktrees fails the test unless no worktree and none of its scratch folders are left.
func (l *lab) noWorktrees() {
	l.t.Helper()
	if left := l.sh("ls -A " + sandbox.WorktreesInside + " 2>/dev/null; ls -Ad /tmp/choir-associate/of/.worktree-* 2>/dev/null; git -C workspace/app worktree list | tail -n +2"); left != "" {
		l.t.Errorf("what is left of worktrees: %s", left)
	}
}

// TestTwoTasksOfOneProjectWorkAtOnce has each wait for the other, change the same file at
// other lines and reach for where it may not. Both changes are in the project and committed,
// and an undo of one leaves the other's.
func TestTwoTasksOfOneProjectWorkAtOnce(t *testing.T) {
	l := oneProject(t)
	reach := "for of in " + sandbox.WorktreesInside + "/*/workspace/app; do [ $of = $PWD ] || echo owned > $of/owned; done; echo owned > /workspace/workspace/app/owned; mkdir out; echo built > out/it; "
	first := inWorktree(l, together+reach+"sed -i 's/1/first/' shared; echo first > one")
	second := inWorktree(l, together+reach+"sed -i 's/8/second/' shared; rm own; mkdir -p new/deep; echo second > new/deep/two")
	l.submit(first, second)
	want := map[choir.ID][]string{
		first.TaskID:  {"workspace/app/one", "workspace/app/shared"},
		second.TaskID: {"workspace/app/new/deep/two", "workspace/app/own", "workspace/app/shared"},
	}
	for _, task := range []choir.DirectorTask{first, second} {
		r := l.result(task)
		if got := changedBy(r); r.Status != choir.StatusOK || !slices.Equal(got, want[task.TaskID]) {
			t.Errorf("%s %s; it changed %q, want %q", r.Status, r.Summary, got, want[task.TaskID])
		}
		if r.Checkpoint == nil {
			t.Errorf("its change was not committed: %s", r.Summary)
		}
	}
	l.answeredOnce(first, second)
	const both = "first\n2\n3\n4\n5\n6\n7\nsecond\n"
	if got := l.sh("cd workspace/app; find . -name .git -prune -o -type f -print | sort; cat shared"); got != "./.gitignore\n./new/deep/two\n./one\n./shared\n"+both {
		t.Errorf("the project is\n%s", got)
	}
	if got := l.sh("cd workspace/app; git status --porcelain; git log --format=%s | wc -l; git fsck 2>&1"); got != "3\n" {
		t.Errorf("its repository says\n%s", got)
	}
	l.noWorktrees()
	must(l.Rewinder().Undo(l.within(), choir.RoleCLI, first.TaskID, false))(t)
	if got := l.sh("cd workspace/app; ls -A -I .git; cat shared"); got != ".gitignore\nnew\nshared\n1\n2\n3\n4\n5\n6\n7\nsecond\n" {
		t.Errorf("after the undo of one task the project is\n%s", got)
	}
}

// TestATaskInTheProjectGoesFirst has a task in a worktree end while another works in the
// project, for which it waits.
func TestATaskInTheProjectGoesFirst(t *testing.T) {
	l := oneProject(t)
	inPlace := inProject(l, "app", "", "touch began; "+hold+"; rm began; sed -i 's/4/in place/' shared")
	l.submit(inPlace)
	l.made("workspace/app/began")
	beside := inWorktree(l, "sed -i 's/8/beside/' shared; touch /dev/shm/ended")
	l.submit(beside)
	l.made("/dev/shm/ended")
	l.sh("grep -q beside workspace/app/shared && exit 1; touch /tmp/go")
	for _, task := range []choir.DirectorTask{inPlace, beside} {
		if r := l.result(task); r.Status != choir.StatusOK || !slices.Equal(changedBy(r), []string{"workspace/app/shared"}) {
			t.Errorf("%s %s; it changed %q", r.Status, r.Summary, changedBy(r))
		}
	}
	if got := l.sh("cat workspace/app/shared; cd workspace/app; git status --porcelain"); got != "1\n2\n3\nin place\n5\n6\n7\nbeside\n" {
		t.Errorf("the project is\n%s", got)
	}
	l.noWorktrees()
}

// TestAConflictOfTwoWorktreesIsToldAndLeavesTheProject has both change the same line.
func TestAConflictOfTwoWorktreesIsToldAndLeavesTheProject(t *testing.T) {
	l := oneProject(t)
	a := inWorktree(l, together+"echo a > own; echo a > from-a")
	b := inWorktree(l, together+"echo b > own; echo b > from-b")
	l.submit(a, b)
	results := map[choir.Status]choir.AssociateResult{}
	for _, task := range []choir.DirectorTask{a, b} {
		r := l.result(task)
		results[r.Status] = r
	}
	r := results[choir.StatusFailed]
	if r.Code != choir.ResultConflict || !slices.Equal(r.Conflicts, []string{"workspace/app/own"}) || len(r.FilesChanged) != 2 || r.Diff == nil || r.Attempt == "" {
		t.Errorf("the conflict is told as %+v", r)
	}
	if len(results) != 2 {
		t.Fatalf("both ended as %v", results)
	}
	if got := l.sh("cd workspace/app; cat own; ls from-*; git status --porcelain"); got != "a\nfrom-a\n" && got != "b\nfrom-b\n" {
		t.Errorf("the project is\n%s", got)
	}
	l.noWorktrees()
	// The change can be gone on from, where the project moved on.
	again := inProject(l, "app", "", "cat own from-*; cat own > merged")
	again.FromAttempt, again.RunID = r.TaskID, r.RunID
	l.submit(again)
	if r := l.result(again); r.Status != choir.StatusOK || len(changedBy(r)) != 2 {
		t.Errorf("%s %s; it changed %q", r.Status, r.Summary, changedBy(r))
	}
}

// TestAVerifiedChangeIsVerifiedAgainWhereTheProjectMovedOn has a check that each change passes
// and both together do not.
func TestAVerifiedChangeIsVerifiedAgainWhereTheProjectMovedOn(t *testing.T) {
	l := oneProject(t)
	checked := func(lines ...string) choir.DirectorTask {
		task := inWorktree(l, lines...)
		task.VerifyProfile = &choir.VerifyProfile{Mode: choir.VerifySmoke, Commands: []choir.Command{{Shell: "[ ! -e a ] || [ ! -e b ]"}}}
		return task
	}
	a, b := checked(together+"touch a"), checked(together+"touch b")
	l.submit(a, b)
	codes := []string{string(l.result(a).Code), string(l.result(b).Code)}
	slices.Sort(codes)
	if !slices.Equal(codes, []string{"", string(choir.ResultVerifyFailed)}) {
		t.Errorf("they ended with %q", codes)
	}
	if got := strings.Fields(l.sh("cd workspace/app; ls a b 2>/dev/null; git status --porcelain")); len(got) != 1 {
		t.Errorf("in the project are %q", got)
	}
	l.noWorktrees()
}

// half is a line that changes the worktree and waits.
func half(name string) string {
	return "echo x >> own-" + name + "; touch /dev/shm/began-" + name + "; " + hold
}

// TestAWorktreeIsGoneWhenItsRunIsStopped stops one of two tasks.
func TestAWorktreeIsGoneWhenItsRunIsStopped(t *testing.T) {
	l := oneProject(t)
	stopped, other := inWorktree(l, half("a")), inWorktree(l, half("b"))
	l.submit(stopped, other)
	l.made("/dev/shm/began-a")
	l.made("/dev/shm/began-b")
	if err := l.Runs().Cancel(l.within(), choir.RoleCLI, stopped.RunID, ""); err != nil {
		t.Fatal(err)
	}
	if r := l.result(stopped); r.Code != choir.ResultCancelled {
		t.Errorf("%s %s", r.Code, r.Summary)
	}
	l.sh("touch /tmp/go")
	if r := l.result(other); r.Status != choir.StatusOK {
		t.Errorf("the other: %s %s", r.Status, r.Summary)
	}
	l.onlyOf("b")
}

// onlyOf fails the test unless the project has the changes of tasks of half, once each, and no
// worktree is left.
func (l *lab) onlyOf(names ...string) {
	l.t.Helper()
	var want strings.Builder
	for _, n := range names {
		want.WriteString("own-" + n + ":x\n")
	}
	if got := l.sh("cd workspace/app; grep -H . own-*; git status --porcelain; git fsck 2>&1"); got != want.String() {
		l.t.Errorf("the project has\n%s", got)
	}
	l.noWorktrees()
}

// TestTasksInWorktreesBeginAnewWhenTheAssociateEnds ends its process while two work.
func TestTasksInWorktreesBeginAnewWhenTheAssociateEnds(t *testing.T) {
	l := oneProject(t)
	a, b := inWorktree(l, half("a")), inWorktree(l, half("b"))
	l.submit(a, b)
	l.made("/dev/shm/began-a")
	l.made("/dev/shm/began-b")
	if err := l.guest().StopRole(l.within()); err != nil {
		t.Fatal(err)
	}
	l.sh("touch /tmp/go")
	for _, task := range []choir.DirectorTask{a, b} {
		if r := l.result(task); r.Status != choir.StatusOK {
			t.Errorf("%s %s", r.Status, r.Summary)
		}
	}
	l.answeredOnce(a, b)
	l.onlyOf("a", "b")
}

// TestTasksInWorktreesOutliveAKillOfChoir kills the control plane while two work, which end
// with the next one; a stop ends their worktrees, and they begin anew.
func TestTasksInWorktreesOutliveAKillOfChoir(t *testing.T) {
	l := oneProject(t)
	a, b := inWorktree(l, half("a")), inWorktree(l, half("b"))
	l.stop()
	dispatched(t, l.cfg, a, b)
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), asVictim+"="+string(must(json.Marshal(l.cfg))(t)))
	victim.Stderr = os.Stderr
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	l.eventually(func() bool { return l.countStarted() >= 2 })
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait() // killed
	l = openLab(t, l.cfg)
	l.made("/dev/shm/began-a")
	l.made("/dev/shm/began-b")
	l.stop()
	l = openLab(t, l.cfg)
	l.sh("touch /tmp/go")
	for _, task := range []choir.DirectorTask{a, b} {
		if r := l.result(task); r.Status != choir.StatusOK {
			t.Errorf("%s %s", r.Status, r.Summary)
		}
	}
	l.answeredOnce(a, b)
	l.onlyOf("a", "b")
}

// countStarted returns how many tasks have begun, by the files of the log that another process
// writes.
func (l *lab) countStarted() (n int) {
	l.t.Helper()
	segments := must(filepath.Glob(filepath.Join(l.cfg.Data, string(l.cfg.Computer), "journal", "*")))(l.t)
	for _, file := range segments {
		raw := must(os.ReadFile(file))(l.t)
		n += strings.Count(string(raw), `"type":"task.started"`)
	}
	return n
}
