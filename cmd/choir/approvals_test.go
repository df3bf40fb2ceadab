package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/moments"
	"choiros/internal/control/api"
	"choiros/internal/eventstore"
)

// approver is an office whose rules hold what tasks write below app/guarded.
type approver struct {
	*office
	r *running
}

func openApprover(t *testing.T, settings string) *approver {
	t.Helper()
	m := newMachine(t, "[[approve]]\nname = 'guarded files'\npath = 'app/guarded/**'\n"+settings)
	r := m.up()
	c := m.client()
	r.healthy()
	a := &approver{&office{m, c, r.cmd.Process.Pid}, r}
	a.add(t, "app", files{"a.txt": "one\n", "guarded/b.txt": "two\n"})
	return a
}

// again starts choir on the same data after its end.
func (a *approver) again() {
	a.t.Helper()
	a.r = a.up()
	a.c = a.client()
	a.r.healthy()
}

// submit submits a task and does not wait for its result.
func (a *approver) submit(task string) api.TaskAccepted {
	a.t.Helper()
	var accepted api.TaskAccepted
	if err := a.c.post(a.t.Context(), a.c.path("/tasks"), json.RawMessage(task), &accepted); err != nil {
		a.t.Fatal(err)
	}
	return accepted
}

// hold submits a task that must be held, and returns it once it waits.
func (a *approver) hold(task string) choir.ID {
	a.t.Helper()
	accepted := a.submit(task)
	a.waits(accepted.Task)
	return accepted.Task
}

// waits waits until the result of a task waits.
func (a *approver) waits(task choir.ID) {
	a.t.Helper()
	a.eventually("the result is held", func() error {
		var v api.ApprovalView
		if err := a.c.get(a.t.Context(), a.c.path("/approvals/"+string(task)), &v); err != nil {
			for _, e := range a.c.log(a.t) {
				if e.Type == choir.TypeTaskReturned && e.Task == task {
					a.t.Fatalf("it was answered: %s", e.Payload)
				}
			}
			return err
		}
		if v.Answer != "" {
			return errors.New("answered " + string(v.Answer))
		}
		return nil
	})
}

// result waits for the result of a task.
func (a *approver) result(task choir.ID) (result choir.AssociateResult) {
	a.t.Helper()
	a.eventually("the task has its result", func() error {
		for _, e := range a.c.log(a.t) {
			if e.Type == choir.TypeTaskReturned && e.Task == task {
				p, err := choir.ReadPayload(e.Type, e.Payload)
				if err == nil {
					result = p.(*choir.TaskReturned).Result
				}
				return err
			}
		}
		return errors.New("it has none")
	})
	return result
}

// count returns how many events of a type the log has.
func (a *approver) count(t choir.Type) (n int) {
	for _, e := range a.c.log(a.t) {
		if e.Type == t {
			n++
		}
	}
	return n
}

// startedInCopies returns how often a task has begun in a copy.
func (a *approver) startedInCopies() (n int) {
	a.t.Helper()
	for _, e := range a.c.log(a.t) {
		if e.Type != choir.TypeTaskStarted {
			continue
		}
		p, err := choir.ReadPayload(e.Type, e.Payload)
		if err != nil {
			a.t.Fatal(err)
		}
		if p.(*choir.TaskStarted).Worktree != "" {
			n++
		}
	}
	return n
}

// inApp returns the content of a file of the project on the disk; "" for none.
func (a *approver) inApp(name string) string {
	a.t.Helper()
	raw, err := os.ReadFile(filepath.Join(a.workspace(), "workspace", "app", name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		a.t.Fatal(err)
	}
	return string(raw)
}

// guard is a task that changes guarded files, and one that is not.
func guard(text string) string {
	return shellTask("edit_repo", "app", fmt.Sprintf("printf '%s' > guarded/b.txt; printf x > guarded/new.txt; printf three > a.txt; rm -f gone", text), "")
}

func TestAHeldResultLandsExactlyOnceApproved(t *testing.T) {
	a := openApprover(t, "")
	if r := a.ends(t, shellTask("edit_repo", "app", "echo more >> a.txt", ""), 0, choir.StatusOK, ""); len(r.FilesChanged) != 1 {
		t.Fatalf("a task that no rule is about: %+v", r)
	}
	before := exact(t, filepath.Join(a.workspace(), "workspace", "app"))
	task := a.hold(guard("TWO"))
	sameTree(t, before, exact(t, filepath.Join(a.workspace(), "workspace", "app")))
	if said := a.must("approvals"); !strings.Contains(said, string(task)) || !strings.Contains(said, "guarded files (path app/guarded/**)") || !strings.Contains(said, "3 files, lines: 3 added, 3 removed") {
		t.Errorf("it lists %s", said)
	}
	if said := a.must("approvals", string(task)); !strings.Contains(said, "-two\n+TWO") || !strings.Contains(said, "printf 'TWO' > guarded/b.txt") {
		t.Errorf("it shows %s", said)
	}
	if n := a.count(choir.TypeTaskReturned); n != 1 {
		t.Errorf("%d results while one is held", n)
	}
	a.must("approve", string(task))
	r := a.result(task)
	if r.Status != choir.StatusOK || a.inApp("guarded/b.txt") != "TWO" || a.inApp("guarded/new.txt") != "x" || a.inApp("a.txt") != "three" {
		t.Errorf("%s; the files are %q %q %q", r.Status, a.inApp("guarded/b.txt"), a.inApp("guarded/new.txt"), a.inApp("a.txt"))
	}
	if r.Checkpoint == nil || !strings.HasPrefix(strings.Split(a.history("app"), "\n")[0], *r.Checkpoint) {
		t.Errorf("the commit is not there: %v\n%s\n%s", *r.Checkpoint, a.history("app"), a.must("approvals", string(task)))
	}
	if again := a.must("approve", string(task)); !strings.Contains(again, "Approved") || a.count(choir.TypeEffectAnswered) != 1 || a.count(choir.TypeTaskReturned) != 2 {
		t.Errorf("approved again: %s, %d answers", again, a.count(choir.TypeEffectAnswered))
	}
	if no := a.run("refuse", string(task)); no.code == 0 || !strings.Contains(no.errOut, "approve") {
		t.Errorf("refused after it was approved: %+v", no)
	}
	if said := a.must("approvals"); !strings.Contains(said, "Nothing waits") {
		t.Errorf("it still lists %s", said)
	}
	// Commands ran once, in a copy; the first task came into the workspace after that.
	if in, all := a.startedInCopies(), a.count(choir.TypeTaskStarted); in != 2 || all != 3 {
		t.Errorf("tasks were started %d times, %d in copies", all, in)
	}
	var marks []eventstore.Mark
	if err := json.Unmarshal([]byte(a.must("timeline", "--json")), &marks); err != nil {
		t.Fatal(err)
	}
	for _, m := range marks {
		if m.Kind == eventstore.MarkOutside {
			t.Errorf("the timeline says that nobody did it: %+v", m)
		}
	}
	a.must("undo", string(task))
	if a.inApp("guarded/b.txt") != "two\n" || a.inApp("guarded/new.txt") != "" || a.inApp("a.txt") != "one\nmore\n" {
		t.Errorf("undone it is %q %q %q", a.inApp("guarded/b.txt"), a.inApp("guarded/new.txt"), a.inApp("a.txt"))
	}
}

func TestARefusedResultLeavesNoTrace(t *testing.T) {
	a := openApprover(t, "")
	before := exact(t, filepath.Join(a.workspace(), "workspace", "app"))
	task := a.hold(guard("TWO"))
	a.must("refuse", string(task), "--because", "keep two")
	r := a.result(task)
	sameTree(t, before, exact(t, filepath.Join(a.workspace(), "workspace", "app")))
	if r.Status != choir.StatusFailed || r.Code != choir.ResultNotApproved || !strings.Contains(r.Summary, "keep two") || r.Checkpoint != nil {
		t.Errorf("the Director is told %+v", r)
	}
	if no := a.run("approve", string(task)); no.code == 0 {
		t.Errorf("approved after it was refused: %+v", no)
	}
	if no := a.run("approve", string(choir.DeriveID(task, "another"))); no.code == 0 || !strings.Contains(no.errOut, "waits for approval") {
		t.Errorf("a task that there is not: %+v", no)
	}
}

func TestAWorkspaceThatMovedOnIsDoneAgain(t *testing.T) {
	a := openApprover(t, "")
	task := a.hold(guard("TWO"))
	path := filepath.Join(a.workspace(), "workspace", "app", "a.txt")
	if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	no := a.run("approve", string(task))
	if no.code == 0 || !strings.Contains(no.errOut, "moved on") || !strings.Contains(no.errOut, "app/a.txt") || !strings.Contains(no.errOut, "--again") {
		t.Errorf("%+v", no)
	}
	if a.inApp("a.txt") != "mine" || a.inApp("guarded/b.txt") != "two\n" {
		t.Errorf("something landed: %q %q", a.inApp("a.txt"), a.inApp("guarded/b.txt"))
	}
	a.must("approve", string(task), "--again")
	var v api.ApprovalView
	if err := a.c.get(t.Context(), a.c.path("/approvals/"+string(task)), &v); err != nil || v.Again == "" {
		t.Fatalf("%+v, %v", v, err)
	}
	a.waits(v.Again)
	a.must("approve", string(v.Again))
	first, second := a.result(task), a.result(v.Again)
	if first.Status != choir.StatusOK || second.Status != choir.StatusOK || first.TaskID != task || first.Snapshot != second.Snapshot {
		t.Errorf("%+v\n%+v", first, second)
	}
	if a.inApp("a.txt") != "three" || a.inApp("guarded/b.txt") != "TWO" {
		t.Errorf("%q %q", a.inApp("a.txt"), a.inApp("guarded/b.txt"))
	}
}

// TestAHeldResultSurvivesKills kills choir while a result waits, and again in the middle of its
// landing.
func TestAHeldResultSurvivesKills(t *testing.T) {
	a := openApprover(t, "")
	before := exact(t, filepath.Join(a.workspace(), "workspace", "app"))
	many := "for i in $(seq 300); do echo $i > guarded/$i.txt; done; echo last > a.txt"
	task := a.hold(shellTask("edit_repo", "app", many, ""))
	a.r.kill()
	a.again()
	a.waits(task)
	sameTree(t, before, exact(t, filepath.Join(a.workspace(), "workspace", "app")))
	intent := filepath.Join(a.data, "computers", string(a.c.computer), "intent.json")
	seen := make(chan bool)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_ = a.c.post(t.Context(), a.c.path("/approvals/"+string(task)), api.ApprovalAnswer{Answer: choir.EffectApprove}, nil) // it is cut off
	}()
	go func() {
		for {
			select {
			case <-answered:
				seen <- false
				return
			default:
			}
			if _, err := os.Lstat(intent); err == nil {
				seen <- true
				return
			}
		}
	}()
	if !<-seen {
		t.Fatal("it landed before the kill")
	}
	a.r.kill()
	<-answered
	a.again()
	r := a.result(task)
	if r.Status != choir.StatusOK || a.count(choir.TypeEffectAnswered) != 1 || a.count(choir.TypeTaskReturned) != 1 {
		t.Errorf("%s with %d answers and %d results", r.Status, a.count(choir.TypeEffectAnswered), a.count(choir.TypeTaskReturned))
	}
	if a.inApp("guarded/1.txt") != "1\n" || a.inApp("guarded/300.txt") != "300\n" || a.inApp("a.txt") != "last\n" {
		t.Errorf("%q %q %q", a.inApp("guarded/1.txt"), a.inApp("guarded/300.txt"), a.inApp("a.txt"))
	}
	a.must("approve", string(task))
	if no := a.run("refuse", string(task)); no.code == 0 || a.count(choir.TypeEffectAnswered) != 1 {
		t.Errorf("refused after it landed: %+v", no)
	}
}

// TestTwoOwnersAtOnceGiveOneAnswer, by approving and refusing at the same time.
func TestTwoOwnersAtOnceGiveOneAnswer(t *testing.T) {
	a := openApprover(t, "")
	for range 3 {
		was := a.inApp("guarded/b.txt")
		task := a.hold(shellTask("edit_repo", "app", "echo more >> guarded/b.txt", ""))
		answers := a.count(choir.TypeEffectAnswered)
		given := make(chan error, 4)
		for _, answer := range []choir.EffectAnswer{choir.EffectApprove, choir.EffectRefuse, choir.EffectApprove, choir.EffectRefuse} {
			go func() {
				given <- a.c.post(t.Context(), a.c.path("/approvals/"+string(task)), api.ApprovalAnswer{Answer: answer}, nil)
			}()
		}
		var told []string
		for range 4 {
			if err := <-given; err != nil {
				told = append(told, err.Error())
			}
		}
		failed := len(told)
		r := a.result(task)
		landed := a.inApp("guarded/b.txt") != was
		first := map[bool]string{true: "approved already", false: "refused already"}[landed]
		for _, said := range told {
			if !strings.Contains(said, first) {
				t.Errorf("landed: %v, and an answer is refused with %q", landed, said)
			}
		}
		if failed != 2 || a.count(choir.TypeEffectAnswered) != answers+1 || landed != (r.Status == choir.StatusOK) {
			t.Errorf("%d failed, %d answers, %s, landed: %v", failed, a.count(choir.TypeEffectAnswered)-answers, r.Status, landed)
		}
	}
}

// TestEachKindOfRuleHoldsAResult has one task for each condition that a rule can have, and one that
// meets none, and holds that the owner is told the rule, the commands and what was verified.
func TestEachKindOfRuleHoldsAResult(t *testing.T) {
	m := newMachine(t, "[[approve]]\nname = 'by command'\ncommand = 'touch*deployed'\n[[approve]]\nname = 'by lines'\nlines = 5\n[[approve]]\nname = 'by files'\nfiles = 3\n"+
		"[[approve]]\nname = 'by path'\npath = '*.sql'\n[[approve]]\nname = 'by tool'\ntool = 'bash'\npath = 'app/tooled'\n")
	r := m.up()
	c := m.client()
	r.healthy()
	a := &approver{&office{m, c, r.cmd.Process.Pid}, r}
	a.add(t, "app", files{"a.txt": "one\n"})
	const verified = `,"verify_profile":{"mode":"smoke","commands":[{"shell":"test -e a.txt"}]}`
	if r := a.ends(t, shellTask("edit_repo", "app", "seq 5 > five", verified), 0, choir.StatusOK, ""); len(r.FilesChanged) != 1 {
		t.Fatalf("a task that no rule is about: %+v", r)
	}
	for rule, line := range map[string]string{
		"by command (command touch*deployed)":  "touch is-deployed",
		"by lines (more than 5 lines)":         "seq 6 > six",
		"by files (more than 3 files)":         "touch f1 f2 f3 f4",
		"by path (path *.sql)":                 "mkdir -p db; touch db/new.sql",
		"by tool (tool bash, path app/tooled)": "touch tooled",
	} {
		task := a.hold(shellTask("edit_repo", "app", line, verified))
		said := a.must("approvals", string(task))
		for _, want := range []string{rule, "command  " + line, "checked  test -e a.txt  (exit code 0)", "checks   verified"} {
			if !strings.Contains(said, want) {
				t.Errorf("of %q the owner is not told %q: %s", line, want, said)
			}
		}
		if n := strings.Count(a.must("approvals"), "by "); n != 1 {
			t.Errorf("%d rules hold %q", n, line)
		}
		a.must("refuse", string(task))
		a.result(task)
	}
}

// TestNothingIsSentToHostsOfARule, with the mark of the task or without, and what was wanted is
// shown.
func TestNothingIsSentToHostsOfARule(t *testing.T) {
	m := newMachine(t, "[egress]\nmode = 'allowlist'\n[[egress.allowlist]]\nhost = 'outside.test'\nport = 80\n[[approve]]\negress = '*'\n")
	r := m.up()
	c := m.client()
	r.healthy()
	a := &approver{&office{m, c, r.cmd.Process.Pid}, r}
	a.add(t, "app", files{"a.txt": "one\n"})
	task := a.hold(shellTask("edit_repo", "app", "echo two > a.txt; curl -sS http://outside.test/x; curl -sS -x http://127.0.0.1:8801 http://outside.test/y; true", ""))
	if said := a.must("approvals"); !strings.Contains(said, "host     outside.test:80  not sent") || !strings.Contains(said, "egress *") {
		t.Errorf("it lists %s", said)
	}
	held := 0
	for _, e := range a.c.log(t) {
		if e.Type == choir.TypeEgressPassed {
			t.Errorf("something was sent: %s", e.Payload)
		}
		if e.Type == choir.TypeEgressRefused && strings.Contains(string(e.Payload), `"why":"held"`) {
			held++
		}
	}
	if held != 2 {
		t.Errorf("%d requests were held, want that of the task and that of no task", held)
	}
	a.must("approve", string(task))
	if got := a.inApp("a.txt"); got != "two\n" {
		t.Errorf("it landed as %q", got)
	}
}

// TestWhatADiffLeavesOutIsSaid: content that is no text, and files beyond the list.
func TestWhatADiffLeavesOutIsSaid(t *testing.T) {
	var out bytes.Buffer
	a := &app{printer: newPrinter(newConsole(&out, io.Discard), func(string) string { return "" })}
	files := []moments.FileDiff{{FileChange: choir.FileChange{Path: "large", Change: choir.ChangeAdded}, Binary: true}, {FileChange: choir.FileChange{Path: "text", Change: choir.ChangeAdded}, Diff: "+x\n"}}
	a.printDiff(api.DiffView{Files: files})
	if said := out.String(); strings.Count(said, "its content is not shown") != 1 || strings.Contains(said, "more files") {
		t.Errorf("all of the files: %s", said)
	}
	out.Reset()
	a.printDiff(api.DiffView{Files: files, Cut: true})
	if said := out.String(); !strings.HasSuffix(said, "There are more files than are listed.\n") {
		t.Errorf("some of the files: %s", said)
	}
}

// TestAHostOfARuleIsWantedHoweverItIsAskedFor: as a program of no task, after another task had
// asked so, and behind more hosts than the log has of a task.
func TestAHostOfARuleIsWantedHoweverItIsAskedFor(t *testing.T) {
	m := newMachine(t, "[egress]\nmode = 'allowlist'\n[[egress.allowlist]]\nhost = 'outside.test'\nport = 80\n[[approve]]\nname = 'wanted'\negress = 'outside.test'\n")
	r := m.up()
	c := m.client()
	r.healthy()
	a := &approver{&office{m, c, r.cmd.Process.Pid}, r}
	a.add(t, "app", files{"a.txt": "one\n"})
	if r := a.ends(t, shellTask("edit_repo", "app", "echo none >> a.txt; curl -sS http://other.test/; true", ""), 0, choir.StatusOK, ""); len(r.FilesChanged) != 1 {
		t.Fatalf("a task that wants another host: %+v", r)
	}
	asNobody := "curl -sS -x http://127.0.0.1:8801 http://outside.test/y; true"
	flood := fmt.Sprintf("for i in $(seq %d); do echo url = http://n$i.test/; done > $TMPDIR/many; curl -sS -K $TMPDIR/many >/dev/null 2>&1; curl -sS http://outside.test/; true", eventstore.MaxEgressRefusals+5)
	for i, how := range []string{asNobody, asNobody, flood} {
		task := a.hold(shellTask("edit_repo", "app", fmt.Sprintf("echo %d >> a.txt; %s", i, how), ""))
		said := a.must("approvals", string(task))
		if !strings.Contains(said, "wanted (egress outside.test)") || strings.Contains(said, "and more than are listed") != (how == flood) {
			t.Errorf("%s\nis shown as\n%s", how, said)
		}
		a.must("refuse", string(task))
	}
}

// TestARunWaitsWhileAResultIsHeld, goes on with its answer, and can be stopped meanwhile.
func TestARunWaitsWhileAResultIsHeld(t *testing.T) {
	s := scriptNamed(t, "two_dependent_tasks")
	m := newMachine(t, "")
	m.model(s)
	if err := os.WriteFile(filepath.Join(m.data, "choir.toml"), []byte(m.config()+"\n[[approve]]\npath = '*.sh'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := m.up()
	c := m.client()
	r.healthy()
	a := &approver{&office{m, c, r.cmd.Process.Pid}, r}
	a.must("repo", "add", m.project(s, "greeter"), "--name", "greeter")
	for _, answer := range []string{"approve", "stop"} {
		run := begin(t, c, s)
		var task choir.ID
		c.waitFor(t, run, func(e choir.Event) bool {
			task = e.Task
			return e.Type == choir.TypeEffectHeld
		})
		if v := c.view(t, run); v.State != "waiting" || len(v.Held) != 1 || v.Held[0] != task {
			t.Errorf("the run is %s, held %v", v.State, v.Held)
		}
		if answer == "stop" {
			m.must("run", string(run), "--cancel")
			if r := a.result(task); r.Code != choir.ResultCancelled {
				t.Errorf("the stopped task is %s %s", r.Status, r.Code)
			}
			if no := m.run("approve", string(task)); no.code == 0 {
				t.Errorf("approved after it was stopped: %+v", no)
			}
			continue
		}
		m.must("approve", string(task))
		m.play(c, s, run)
		if v := c.view(t, run); v.State != "done" || len(v.Held) != 0 {
			t.Errorf("the run is %s, held %v: %s", v.State, v.Held, v.Answer)
		}
		// The next run changes it anew.
		if err := os.WriteFile(filepath.Join(a.workspace(), "workspace", "greeter", "hello.sh"), []byte("#!/bin/sh\necho hello\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(a.workspace(), "workspace", "greeter", "README.md"), []byte("# greeter\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatTheOwnerDidBesideAResultStays, and is in its way below a folder that it removes.
func TestWhatTheOwnerDidBesideAResultStays(t *testing.T) {
	a := openApprover(t, "")
	app := filepath.Join(a.workspace(), "workspace", "app")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(app, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	task := a.hold(guard("TWO"))
	write("guarded/mine.txt", "mine")
	write("other.txt", "other")
	a.must("approve", string(task))
	if r := a.result(task); r.Status != choir.StatusOK || a.inApp("guarded/mine.txt") != "mine" || a.inApp("other.txt") != "other" || a.inApp("guarded/b.txt") != "TWO" {
		t.Errorf("%s; %q %q %q", r.Status, a.inApp("guarded/mine.txt"), a.inApp("other.txt"), a.inApp("guarded/b.txt"))
	}
	task = a.hold(shellTask("edit_repo", "app", "rm -r guarded", ""))
	write("guarded/late.txt", "late")
	if no := a.run("approve", string(task)); no.code == 0 || !strings.Contains(no.errOut, "guarded/late.txt") || a.inApp("guarded/b.txt") != "TWO" {
		t.Errorf("%+v; %q", no, a.inApp("guarded/b.txt"))
	}
	if err := os.Remove(filepath.Join(app, "guarded/late.txt")); err != nil {
		t.Fatal(err)
	}
	a.must("approve", string(task))
	if a.result(task); a.inApp("guarded/b.txt") != "" || a.inApp("other.txt") != "other" {
		t.Errorf("%q %q", a.inApp("guarded/b.txt"), a.inApp("other.txt"))
	}
}
