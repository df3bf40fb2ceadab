package taskrunner_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/associate/taskrunner"
	"choiros/internal/choir"
)

// holds fails unless the result has the status and code.
func holds(t testing.TB, r choir.AssociateResult, status choir.Status, code choir.ResultCode) {
	t.Helper()
	if r.Status != status || r.Code != code {
		t.Fatalf("the result is %s %s, want %s %s\n%s", r.Status, r.Code, status, code, r.Summary)
	}
}

func TestCommandsRunInOrderToTheFirstFailure(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	r := l.do(choir.DirectorTask{Kind: choir.TaskRun, Commands: sh("echo one; echo err >&2", "pwd; exit 3", "echo never")})
	holds(t, r, choir.StatusFailed, choir.ResultCommandFailed)
	if len(r.CommandsRun) != 2 || r.CommandsRun[0].StdoutTail != "one\n" || r.CommandsRun[0].StderrTail != "err\n" || r.CommandsRun[1].ExitCode != 3 {
		t.Errorf("commands %+v", r.CommandsRun)
	}
	if b, err := l.tree.store.GetBlob(context.Background(), r.CommandsRun[1].Stdout); string(b) != l.dir+"\n" || err != nil {
		t.Errorf("the whole output is %q, %v", b, err)
	}
	if !strings.Contains(l.log.shown.String(), "one\n") {
		t.Errorf("nothing was shown live: %q", l.log.shown.String())
	}
	if r.Usage.MaxRSSBytes == 0 || r.Usage.WallMS == 0 {
		t.Errorf("usage %+v", r.Usage)
	}
	if len(l.model.requests) != 0 {
		t.Error("a model was called")
	}
}

func TestAMissingProgramAndATimeoutAreFailuresOfTheCommand(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	r := l.do(choir.DirectorTask{Kind: choir.TaskRun, Commands: []choir.Command{{Argv: []string{"no-such-program"}}}})
	holds(t, r, choir.StatusFailed, choir.ResultCommandFailed)
	if r.CommandsRun[0].ExitCode != 127 {
		t.Errorf("%+v", r.CommandsRun[0])
	}
	r = l.do(choir.DirectorTask{Kind: choir.TaskRun, Commands: []choir.Command{{Shell: "echo begun; sleep 100", TimeoutS: 1}}})
	holds(t, r, choir.StatusFailed, choir.ResultCommandFailed)
	if c := r.CommandsRun[0]; c.Signal != "SIGTERM" || c.StdoutTail != "begun\n" || !strings.Contains(c.StderrTail, "its time limit") {
		t.Errorf("%+v", c)
	}
}

func TestAnEditIsCheckpointedAndItsDiffApplies(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	long := strings.Repeat("line\n", 50)
	l.repo(map[string]string{"a.txt": "a\nb", "old": long, "bin": "\x00\x01", "run.sh": "#!/bin/sh\n", "gone": "x\n", ".gitignore": "*.log\n"})
	base := t.TempDir()
	if out, err := exec.Command("cp", "-a", l.dir+"/workspace/app/.", base).CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
	r := l.do(choir.DirectorTask{
		Kind: choir.TaskEditRepo, Repo: "app", Instruction: "Change everything\nat once", VerifyProfile: unverified,
		Commands: sh("printf 'a\\nB' > a.txt", "mv old 'new name'; echo more >> 'new name'", "printf '\\000\\002' > bin",
			"chmod +x run.sh; rm gone; ln -s a.txt link; mkdir -p deep/er; echo n > deep/er/new; : > empty; echo l > x.log"),
		Return: &choir.ReturnSpec{Artifacts: []string{"deep/**"}},
	})
	holds(t, r, choir.StatusOK, "")
	after := l.hash()
	if r.Verify.Status != choir.VerifyUnknown || !strings.Contains(r.Summary, "not verified") {
		t.Errorf("verify %+v, summary %q", r.Verify, r.Summary)
	}
	if got := l.git("workspace/app", "log", "-1", "--format=%s|%b"); !strings.HasPrefix(got, "checkpoint: 2023") || !strings.Contains(got, "Change everything\n\nChoir-Seq: 1\nChoir-Run: ") {
		t.Errorf("the commit is %q", got)
	}
	if r.Checkpoint == nil || *r.Checkpoint != l.git("workspace/app", "rev-parse", "HEAD") || l.git("workspace/app", "status", "--short") != "" {
		t.Errorf("checkpoint %v, status %q", r.Checkpoint, l.git("workspace/app", "status", "--short"))
	}
	if len(r.Artifacts) != 1 || r.Artifacts[0].Name != "deep/er/new" {
		t.Errorf("artifacts %+v", r.Artifacts)
	}
	cp := of[choir.CheckpointCreated](t, l.log, r.TaskID)
	if len(cp) != 1 || cp[0].Verified || cp[0].Trigger != "task" || cp[0].Snapshot != after || cp[0].Commits[0].Repo != "app" {
		t.Errorf("checkpoint %+v", cp)
	}
	patch := filepath.Join(t.TempDir(), "patch")
	if err := os.WriteFile(patch, []byte(r.Diff.Content), 0o644); err != nil {
		t.Fatal(err)
	}
	apply := exec.Command("git", "apply", patch)
	apply.Dir = base
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("%s\n%s", out, r.Diff.Content)
	}
	if out, err := exec.Command("diff", "-r", "--no-dereference", "-x", ".git", "-x", "*.log", base, l.dir+"/workspace/app").CombinedOutput(); err != nil {
		t.Errorf("after git apply:\n%s", out)
	}
}

func TestAFailureLeavesExactlyTheStartingTree(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a": "1\n", ".gitignore": "ignored\n"})
	l.write("workspace/app/ignored", "kept")
	l.write("workspace/app/untracked", "kept")
	l.mkdir("workspace/app/empty")
	l.git("workspace/app", "init", "-q", "nested")
	l.write("workspace/app/nested/file", "nested")
	old := time.Date(2020, 1, 2, 3, 4, 5, 678901234, time.UTC)
	if err := os.Chtimes(filepath.Join(l.dir, "workspace/app/a"), old, old); err != nil {
		t.Fatal(err)
	}
	before := l.hash()
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", Commands: sh(
		"echo 2 > a; chmod 600 a; rmdir empty; echo x > ignored; echo x > nested/file; rm -rf nested/.git; git add -A 2>/dev/null; git commit -q -m mine; echo new > new",
		"exit 1")})
	holds(t, r, choir.StatusFailed, choir.ResultCommandFailed)
	if after := l.hash(); after != before {
		t.Errorf("the tree is %s, was %s\n%s", after, before, l.git("workspace/app", "status", "--short", "--ignored"))
	}
	if r.Diff == nil || !strings.Contains(r.Diff.Content, "+2") || len(r.FilesChanged) == 0 || r.Checkpoint != nil {
		t.Errorf("the attempted diff is not in the result: %+v", r)
	}
}

func TestATimeBudgetEndsTheWholeTree(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("workspace/a", "1")
	before := l.hash()
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, TimeBudgetS: 1, Commands: sh(
		`echo partial; echo 2 > workspace/a; setsid sh -c 'trap "" TERM; while :; do echo 3 >> workspace/a; sleep 0.05; done' & echo pid $!; sleep 100`)})
	holds(t, r, choir.StatusFailed, choir.ResultTimeBudget)
	if !strings.HasPrefix(r.CommandsRun[0].StdoutTail, "partial\n") || l.hash() != before {
		t.Errorf("commands %+v, tree changed: %v", r.CommandsRun, l.hash() != before)
	}
	if r.Usage.CPUMS < 0 || r.Diff == nil {
		t.Errorf("%+v", r)
	}
}

func TestACancelledTaskSaysSo(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	before := l.hash()
	work, stop := context.WithCancelCause(context.Background())
	l.log.onShow = func(string) { stop(taskrunner.ErrCancelled) }
	began := time.Now()
	r := l.run(work, l.dispatch(choir.DirectorTask{Kind: choir.TaskEditRepo, Commands: sh("echo x > workspace/x; echo begun; sleep 100")}))
	holds(t, r, choir.StatusFailed, choir.ResultCancelled)
	if took := time.Since(began); took > 30*time.Second || l.hash() != before {
		t.Errorf("stopped after %v, tree changed: %v", took, l.hash() != before)
	}
	r = l.run(work, l.dispatch(choir.DirectorTask{Kind: choir.TaskRun, Commands: sh("true")}))
	holds(t, r, choir.StatusFailed, choir.ResultCancelled)
}

func TestARunChangesNoFileButIgnoredOnes(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a": "1\n", ".gitignore": "cache/\n"})
	r := l.do(choir.DirectorTask{Kind: choir.TaskRun, Repo: "app", Commands: sh("echo 2 > a; echo n > new; mkdir cache; echo c > cache/c")})
	holds(t, r, choir.StatusOK, "")
	if l.read("workspace/app/a") != "1\n" || l.read("workspace/app/cache/c") != "c\n" || !strings.Contains(l.read("workspace/app/new"), "no such file") {
		t.Errorf("files: %q %q %q", l.read("workspace/app/a"), l.read("workspace/app/cache/c"), l.read("workspace/app/new"))
	}
	if diff := cmp.Diff([]string{"workspace/app/cache/c"}, r.IgnoredFiles); diff != "" {
		t.Error(diff)
	}
	want := []choir.FileChange{{Path: "workspace/app/a", Change: "modified"}, {Path: "workspace/app/new", Change: "added"}}
	if diff := cmp.Diff(want, r.FilesChanged); diff != "" || r.Diff == nil || !strings.Contains(r.Summary, "taken back") {
		t.Errorf("%s %+v", diff, r)
	}
	before := l.hash()
	r = l.do(choir.DirectorTask{Kind: choir.TaskInspect, Repo: "app", Commands: sh("rm -r cache; touch -d 2001-01-01 a")})
	holds(t, r, choir.StatusOK, "")
	if l.hash() != before {
		t.Error("an inspection changed the tree")
	}
}

// TestWhatGitIgnoresIsNotInTheDiff: also what a tool's cache ignores of itself, and a new
// folder of dependencies that nothing ignores is only listed.
func TestWhatGitIgnoresIsNotInTheDiff(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a": "1\n"})
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", VerifyProfile: unverified,
		Commands: sh("echo 2 > a; mkdir .pytest_cache node_modules; echo '*' > .pytest_cache/.gitignore; echo ids > .pytest_cache/v; echo m > node_modules/m")})
	holds(t, r, choir.StatusOK, "")
	if diff := cmp.Diff([]string{"workspace/app/.pytest_cache/.gitignore", "workspace/app/.pytest_cache/v"}, r.IgnoredFiles); diff != "" {
		t.Error(diff)
	}
	want := []choir.FileChange{{Path: "workspace/app/a", Change: "modified"}, {Path: "workspace/app/node_modules/m", Change: "added"}}
	if diff := cmp.Diff(want, r.FilesChanged); diff != "" || r.Diff == nil || strings.Contains(r.Diff.Content, "cache") || strings.Contains(r.Diff.Content, "node_modules") || !strings.Contains(r.Diff.Content, "+2") {
		t.Errorf("%s %+v", diff, r.Diff)
	}
	if l.read("workspace/app/.pytest_cache/v") != "ids\n" {
		t.Error("the cache was taken away")
	}
}

func TestWhatTheOwnerWroteStays(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("workspace/mine", "1")
	l.write("workspace/other", "1")
	l.tree.owner = []string{"workspace/mine"}
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Commands: sh("echo owner > workspace/mine; echo task > workspace/other; exit 1")})
	holds(t, r, choir.StatusFailed, choir.ResultCommandFailed)
	if l.read("workspace/mine") != "owner\n" || l.read("workspace/other") != "1" || len(r.Conflicts) != 1 {
		t.Errorf("%q %q %v", l.read("workspace/mine"), l.read("workspace/other"), r.Conflicts)
	}
}

func TestConditionsThatDoNotHold(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a": "1"})
	head := l.git("workspace/app", "rev-parse", "HEAD")
	for _, c := range []struct {
		name string
		task choir.DirectorTask
		code choir.ResultCode
	}{
		{"absent repo", choir.DirectorTask{Repo: "absent"}, choir.ResultInvalidTask},
		{"egress", choir.DirectorTask{EgressProfile: &choir.EgressProfile{Mode: choir.EgressGitPkg}}, choir.ResultEgressRefused},
		{"no egress", choir.DirectorTask{EgressProfile: &choir.EgressProfile{Mode: choir.EgressNone}}, ""},
		{"other snapshot", choir.DirectorTask{BaseRef: strings.Repeat("0", 64)}, choir.ResultStaleBase},
		{"this snapshot", choir.DirectorTask{BaseRef: string(l.hash())}, ""},
		{"this commit", choir.DirectorTask{Repo: "app", BaseRef: head}, ""},
		{"this branch", choir.DirectorTask{Repo: "app", BaseRef: "main"}, ""},
		{"no commit", choir.DirectorTask{Repo: "app", BaseRef: "v9"}, choir.ResultStaleBase},
		{"cwd outside", choir.DirectorTask{Commands: []choir.Command{{Shell: "true", Cwd: "../.."}}}, choir.ResultInvalidTask},
	} {
		c.task.Kind = choir.TaskRun
		if c.task.Commands == nil {
			c.task.Commands = sh("true")
		}
		want := choir.StatusFailed
		if c.code == "" {
			want = choir.StatusOK
		}
		if r := l.do(c.task); r.Status != want || r.Code != c.code {
			t.Errorf("%s: %s %s %s", c.name, r.Status, r.Code, r.Summary)
		}
	}
	bad := l.dispatch(choir.DirectorTask{Kind: choir.TaskRun, Commands: sh("true")})
	bad.Payload = []byte(strings.Replace(string(bad.Payload), `"kind":"run"`, `"kind":"fly"`, 1))
	r := l.run(context.Background(), bad)
	holds(t, r, choir.StatusFailed, choir.ResultInvalidTask)
	if !strings.Contains(r.Summary, "task.kind must be one of") {
		t.Errorf("the summary does not name the field: %s", r.Summary)
	}
}

var errGone = errors.New("the process was killed")

func TestTheFirstResultStandsAndACrashIsSaid(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ev := l.dispatch(choir.DirectorTask{Kind: choir.TaskEditRepo, VerifyProfile: unverified, Commands: sh("echo x >> workspace/x")})
	first := l.run(context.Background(), ev)
	if again := l.run(context.Background(), ev); !cmp.Equal(first, again) || l.read("workspace/x") != "x\n" {
		t.Errorf("a second delivery ran again: %q", l.read("workspace/x"))
	}

	// Killed before its result: no tool ran, so it runs again, from where it began.
	l.log.fail = func(d choir.Draft) error {
		if d.Type == "task.returned" {
			return errGone
		}
		return nil
	}
	ev = l.dispatch(choir.DirectorTask{Kind: choir.TaskEditRepo, VerifyProfile: unverified, Commands: sh("echo y >> workspace/x")})
	if err := l.runner.Do(context.Background(), context.Background(), ev); !errors.Is(err, errGone) {
		t.Fatal(err)
	}
	l.log.fail = nil
	l.runner.Close()
	l.start()
	holds(t, l.run(context.Background(), ev), choir.StatusOK, "")
	if l.read("workspace/x") != "x\ny\n" || l.git(".", "rev-list", "--count", "HEAD") != "2" {
		t.Errorf("after the crash: %q, %s commits", l.read("workspace/x"), l.git(".", "rev-list", "--count", "HEAD"))
	}

	// Killed inside a tool call: nothing is repeated.
	before := l.hash()
	l.model.responses = append(l.model.responses, use("bash", `{"command":"echo z >> workspace/x"}`))
	l.log.fail = func(d choir.Draft) error {
		if d.Type == "tool.returned" || d.Type == "task.returned" {
			return errGone
		}
		return nil
	}
	ev = l.dispatch(choir.DirectorTask{Kind: choir.TaskEditRepo})
	if err := l.runner.Do(context.Background(), context.Background(), ev); !errors.Is(err, errGone) {
		t.Fatal(err)
	}
	l.log.fail = nil
	r := l.run(context.Background(), ev)
	holds(t, r, choir.StatusFailed, choir.ResultCrashed)
	call := choir.DeriveID(ev.Task, "call", "1")
	if l.hash() != before || !strings.Contains(r.Summary, string(call)) || len(l.model.requests) != 1 {
		t.Errorf("tree changed: %v, summary %q, %d model calls", l.hash() != before, r.Summary, len(l.model.requests))
	}
}

// TestATaskIsNotBegunForEver has a task end its Associate each time it is begun, which must not
// keep every other task from its turn.
func TestATaskIsNotBegunForEver(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"crashes": "5 times in the middle of this task;",
		"memory":  "2 times in the middle of this task, because programs took more memory than its sandbox may have;",
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			ev := l.dispatch(choir.DirectorTask{Kind: choir.TaskEditRepo, VerifyProfile: unverified, Commands: sh("echo x >> workspace/x")})
			l.log.fail = func(d choir.Draft) error {
				if d.Type == "task.returned" {
					return errGone
				}
				return nil
			}
			before := l.hash()
			times, err := strconv.Atoi(says[:1])
			if err != nil {
				t.Fatal(err)
			}
			for range times {
				if err := l.runner.Do(context.Background(), context.Background(), ev); !errors.Is(err, errGone) {
					t.Fatal(err)
				}
				l.runner.Close()
				l.start()
				if name == "memory" {
					l.tree.outOfMemory++
				}
			}
			l.log.fail = nil
			r := l.run(context.Background(), ev)
			holds(t, r, choir.StatusFailed, choir.ResultCrashed)
			if l.hash() != before || !strings.Contains(r.Summary, says) {
				t.Errorf("tree changed: %v, summary %q", l.hash() != before, r.Summary)
			}
		})
	}
}

// BenchmarkTrue is the Associate's own cost of the smallest task; the tree has
// 1,000 files and the scans are counted in.
func BenchmarkTrue(b *testing.B) {
	l := newLab(b)
	for i := range 1000 {
		l.write("workspace/app/d"+string(rune('a'+i%20))+"/f"+strconv.Itoa(i), "content")
	}
	for b.Loop() {
		if r := l.do(choir.DirectorTask{Kind: choir.TaskRun, VerifyProfile: unverified, Commands: []choir.Command{{Argv: []string{"true"}}}}); r.Status != choir.StatusOK {
			b.Fatal(r.Summary)
		}
	}
}

// TestATaskThatIsToEndExecutesNothing has the control plane say so as the task begins, before
// the event that says so arrives.
func TestATaskThatIsToEndExecutesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	before := l.hash()
	e := l.dispatch(choir.DirectorTask{Kind: choir.TaskEditRepo, Commands: sh("echo x > workspace/x")})
	l.tree.cancelled = e.Task
	r := l.run(context.Background(), e)
	holds(t, r, choir.StatusFailed, choir.ResultCancelled)
	if len(r.CommandsRun) > 0 || l.hash() != before {
		t.Errorf("%+v; tree changed: %v", r.CommandsRun, l.hash() != before)
	}
}
