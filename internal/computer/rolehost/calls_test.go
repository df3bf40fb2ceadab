package rolehost

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// append appends one event of a run and a task.
func (g *ground) append(role choir.Role, run, task choir.ID, p choir.Payload) {
	g.t.Helper()
	d := must(choir.NewDraft(newID(g.t), p))(g.t)
	must(g.log.Append(g.t.Context(), role, d.ForRun(run, task)))(g.t)
}

// dispatched appends a task of a run.
func (g *ground) dispatched(run choir.ID) choir.DirectorTask {
	g.t.Helper()
	task := choir.DirectorTask{Version: choir.ContractVersion, TaskID: newID(g.t), RunID: run, Kind: choir.TaskRun, Instruction: "x"}
	g.append(choir.RoleCLI, run, task.TaskID, choir.TaskDispatched{Task: task})
	return task
}

// A model is called for what is open in the log, and for nothing that a body
// makes up.
func TestAModelIsCalledForWhatIsOpen(t *testing.T) {
	g := newGround(t, nil)
	h, _ := g.host()
	run, other := newID(t), newID(t)
	g.append(choir.RoleShell, run, "", choir.PromptSubmitted{Text: "hi"})
	task := g.dispatched(newID(t)) // of a run without a prompt
	try := func(role choir.Role, run, task choir.ID, want choir.Code, names string) {
		t.Helper()
		err := h.MayCall(t.Context(), role, run, task)
		if choir.CodeOf(err) != want || err != nil && !strings.Contains(err.Error(), names) {
			t.Errorf("the %s for run %q and task %q: %v, want %q that names %q", role, run, task, err, want, names)
		}
	}
	try(choir.RoleDirector, run, "", "", "")
	try(choir.RoleAssociate, task.RunID, task.TaskID, "", "")
	try(choir.RoleDirector, other, "", choir.CodeConflict, string(other))
	try(choir.RoleDirector, "", "", choir.CodeInvalid, "run")
	try(choir.RoleDirector, run, task.TaskID, choir.CodeInvalid, "task")
	try(choir.RoleAssociate, run, "", choir.CodeInvalid, "task")
	try(choir.RoleAssociate, run, task.TaskID, choir.CodeConflict, string(task.TaskID))
	try(choir.RoleAssociate, task.RunID, other, choir.CodeConflict, string(other))
	g.append(choir.RoleControl, run, "", choir.RunFinished{Outcome: choir.OutcomeDone, Answer: "there"})
	try(choir.RoleDirector, run, "", choir.CodeConflict, string(run))
	g.append(choir.RoleControl, task.RunID, task.TaskID, choir.TaskReturned{Result: choir.AssociateResult{
		Version: choir.ContractVersion, TaskID: task.TaskID, RunID: task.RunID, Status: choir.StatusFailed, Code: choir.ResultCancelled,
		FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
		Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown}, Summary: "stopped",
	}})
	try(choir.RoleAssociate, task.RunID, task.TaskID, choir.CodeConflict, string(task.TaskID))
}

func TestARefusedHostIsRecordedOnceForEachTask(t *testing.T) {
	g := newGround(t, nil)
	h, _ := g.host()
	// The host hears of a request only where its stream came from.
	from := func(mark choir.CallMark) context.Context {
		return context.WithValue(t.Context(), callerKey{}, caller{role: choir.RoleAssociate, at: mark.Addr()})
	}
	refuse := func(ctx context.Context, host string, port int) {
		t.Helper()
		if _, err := h.RecordRefusal(ctx, choir.EgressRefused{Host: host, Port: port, Policy: "none"}, 0); err != nil {
			t.Error(err)
		}
	}
	task, second := g.dispatched(newID(t)), g.dispatched(newID(t))
	for _, at := range []choir.DirectorTask{task, second} { // both work, the second began last
		g.append(choir.RoleControl, at.RunID, at.TaskID, choir.TaskStarted{Base: choir.ZeroHash, Attempt: 1})
	}
	refuse(t.Context(), "example.org", 443) // of a terminal, which is no task's
	refuse(t.Context(), "example.org", 80)
	for range 2 {
		refuse(from(choir.MarkOf(task.TaskID, 7)), "example.org", 443)
		refuse(from(choir.MarkOf(second.TaskID, 0)), "example.org", 443)
		refuse(from(choir.MarkOf(task.TaskID, 0)), strings.Repeat("x", 400), 70_000)
	}
	refuse(from(choir.MarkOf(newID(t), 1)), "example.org", 443) // a mark of no task at work
	type wanted struct {
		host  string
		port  int
		task  choir.ID
		cause choir.ID
	}
	var got []wanted
	for _, e := range g.recorded(choir.TypeEgressRefused) {
		p := payload[choir.EgressRefused](t, e)
		got = append(got, wanted{p.Host, p.Port, e.Task, e.Cause})
	}
	call := choir.DeriveID(choir.ToolCallID(task.TaskID, 7), "called")
	want := []wanted{
		{"example.org", 443, "", ""}, {"example.org", 443, task.TaskID, call},
		{"example.org", 443, second.TaskID, ""}, {strings.Repeat("x", 300), 0, task.TaskID, ""},
	}
	if !slices.Equal(got, want) {
		t.Errorf("recorded are %+v, want %+v", got, want)
	}
	// A control plane that starts again does not record it again.
	again, _ := g.host()
	if _, err := again.RecordRefusal(from(choir.MarkOf(task.TaskID, 0)), choir.EgressRefused{Host: "example.org", Port: 80, Policy: "none"}, 0); err != nil || len(g.recorded(choir.TypeEgressRefused)) != len(want) {
		t.Errorf("%d refusals, %v", len(g.recorded(choir.TypeEgressRefused)), err)
	}
}

// TestWhatGotOutIsRecordedWithTheToolCall has a policy, where each port and reason is told apart.
func TestWhatGotOutIsRecordedWithTheToolCall(t *testing.T) {
	g := newGround(t, nil)
	h, _ := g.host()
	task := g.dispatched(newID(t))
	g.append(choir.RoleControl, task.RunID, task.TaskID, choir.TaskStarted{Base: choir.ZeroHash, Attempt: 1})
	ctx := context.WithValue(t.Context(), callerKey{}, caller{role: choir.RoleAssociate, at: choir.MarkOf(task.TaskID, 3).Addr()})
	for range 2 {
		if err := h.RecordPassage(ctx, must(h.WorkingOn(ctx))(t), choir.EgressPassed{Host: "a.test", Port: 443, Address: "192.0.2.1", Sent: 1, Received: 2}); err != nil {
			t.Fatal(err)
		}
		for _, why := range []choir.EgressWhy{choir.EgressPolicy, choir.EgressTLS} {
			if _, err := h.RecordRefusal(ctx, choir.EgressRefused{Host: "a.test", Port: 443, Policy: "git+pkg", Why: why}, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	call := choir.DeriveID(choir.ToolCallID(task.TaskID, 3), "called")
	for of, want := range map[choir.Type]int{choir.TypeEgressPassed: 2, choir.TypeEgressRefused: 2} {
		all := g.recorded(of)
		for _, e := range all {
			if e.Run != task.RunID || e.Task != task.TaskID || e.Cause != call {
				t.Errorf("%s is of run %s, task %s, caused by %s", e.Type, e.Run, e.Task, e.Cause)
			}
		}
		if len(all) != want {
			t.Errorf("%d of %s, want %d", len(all), of, want)
		}
	}
}

func TestASandboxCannotFillTheLogWithHosts(t *testing.T) {
	t.Parallel()
	var r refusals
	n := 0
	for i := range 10 * eventstore.MaxEgressRefusals {
		if r.first("task", strconv.Itoa(i)) {
			n++
		}
	}
	if n != eventstore.MaxEgressRefusals || r.first("task", "0") || !r.first("another", "0") || r.first("task", "0") {
		t.Errorf("%d hosts were recorded", n)
	}
}

// unreadable is a log of which the open tasks cannot be read.
type unreadable struct{ Log }

func (unreadable) OpenTasks(context.Context) ([]eventstore.Task, error) {
	return nil, choir.E("test", choir.CodeNoSpace, "the disk is full")
}

// TestARequestIsNobodysOnlyIfTheLogSaysSo cannot read which tasks work: a program of a task must not
// pass for one of none, for which other rules hold.
func TestARequestIsNobodysOnlyIfTheLogSaysSo(t *testing.T) {
	g := newGround(t, nil)
	h, _ := g.host()
	task := g.dispatched(newID(t))
	g.append(choir.RoleControl, task.RunID, task.TaskID, choir.TaskStarted{Base: choir.ZeroHash, Attempt: 1})
	ctx := context.WithValue(t.Context(), callerKey{}, caller{role: choir.RoleAssociate, at: choir.MarkOf(task.TaskID, 3).Addr()})
	if on, err := h.WorkingOn(ctx); err != nil || on.Task != task.TaskID {
		t.Fatalf("%+v, %v", on, err)
	}
	h.log = unreadable{h.log}
	if on, err := h.WorkingOn(ctx); choir.CodeOf(err) != choir.CodeNoSpace {
		t.Errorf("%+v, %v", on, err)
	}
}

// TestARefusalThatTheLogDidNotTakeIsRecordedLater refuses a host while nothing can be appended, and
// again: the question to the owner must not be lost.
func TestARefusalThatTheLogDidNotTakeIsRecordedLater(t *testing.T) {
	g := newGround(t, nil)
	h, _ := g.host()
	gone, cancel := context.WithCancel(t.Context())
	cancel() // in place of a full disk
	refused := choir.EgressRefused{Host: "a.test", Port: 443, Policy: "allowlist", Why: choir.EgressPolicy, Asked: true}
	if recorded, err := h.RecordRefusal(gone, refused, 0); recorded || err == nil {
		t.Fatalf("it was appended: %v", err)
	}
	for _, want := range []bool{true, false} {
		if recorded, err := h.RecordRefusal(t.Context(), refused, 0); recorded != want || err != nil {
			t.Errorf("recorded %t, %v", recorded, err)
		}
	}
	if n := len(g.recorded(choir.TypeEgressRefused)); n != 1 {
		t.Errorf("%d are recorded", n)
	}
}
