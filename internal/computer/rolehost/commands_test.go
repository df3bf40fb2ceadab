package rolehost

import (
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox/fake"
)

// work appends a task that the Associate has begun, and returns its id.
func (l *lab) work() choir.ID {
	l.t.Helper()
	run, task := newID(l.t), newID(l.t)
	dispatched := choir.TaskDispatched{Task: choir.DirectorTask{
		Version: 1,
		TaskID:  task, RunID: run, Kind: choir.TaskRun, Instruction: "Serve the\n pages.", Commands: []choir.Command{{Shell: "true"}},
		Return: &choir.ReturnSpec{FilesChanged: true}, VerifyProfile: &choir.VerifyProfile{Mode: choir.VerifyNone},
	}}
	for _, one := range []struct {
		role choir.Role
		p    choir.Payload
	}{
		{choir.RoleShell, choir.PromptSubmitted{Text: "Serve."}},
		{choir.RoleDirector, dispatched},
		{choir.RoleControl, choir.TaskStarted{Base: choir.ZeroHash, Attempt: 1}},
		{choir.RoleAssociate, choir.ToolCalled{Call: choir.ToolCallID(task, 1), Tool: "bash", Input: choir.ToolInput{Command: "serve"}}},
	} {
		if _, err := l.ground.events.AppendToRun(l.within(), one.role, newID(l.t), run, task, one.p); err != nil {
			l.t.Fatal(err)
		}
	}
	return task
}

// show shows a part of the output of a task's first command, and returns what is wanted next.
func (l *lab) show(task choir.ID, from int64, text string, ended *choir.CommandExit) int64 {
	l.t.Helper()
	r := choir.TaskOutputRequest{Task: task, Call: 1, Command: "serve", Started: 1, From: from, Chunk: []byte(text), Ended: ended}
	return must(l.ShowCommand(l.within(), r))(l.t).Next
}

func TestAPersonSeesWhatACommandOfAnAgentPrints(t *testing.T) {
	l := newGround(t, map[string]fake.Program{"bash": shell}).serve()
	task := l.work()
	if next := l.show(task, 5, "late", nil); next != 0 || len(l.Terminals().List()) != 0 {
		t.Errorf("the middle of an unknown output: from %d is wanted, %d are shown", next, len(l.Terminals().List()))
	}
	if next := l.show(task, 0, "up\n", nil); next != 3 {
		t.Errorf("from %d is wanted", next)
	}
	if next := l.show(task, 0, "up\n", nil); next != 3 {
		t.Errorf("once more: from %d is wanted", next)
	}
	all := l.Terminals().List()
	if len(all) != 1 || all[0].ID != choir.ToolCallID(task, 1) || all[0].Agent.Title != "Serve the pages." || all[0].Agent.Task != task {
		t.Fatalf("shown are %+v", all)
	}
	view := l.attach(all[0].ID)
	if out, _ := l.read(view, "up"); out != "up\r\n" {
		t.Errorf("it shows %q", out)
	}
	if err := view.Type([]byte("keys")); err != nil {
		t.Error(err)
	}
	if next := l.show(task, 50, "later\n", nil); next != 3 {
		t.Errorf("with a gap that is not said: from %d is wanted", next)
	}
	late := choir.TaskOutputRequest{Task: task, Call: 1, Command: "serve", Started: 1, From: 103, Lost: true, Chunk: []byte("later\n")}
	if next := must(l.ShowCommand(l.within(), late))(t).Next; next != 109 {
		t.Errorf("with a gap: from %d is wanted", next)
	}
	if next := l.show(task, 109, "over\n", &choir.CommandExit{Code: 3}); next != 114 {
		t.Errorf("from %d is wanted", next)
	}
	if out, end := l.read(view, ""); out != "\r\n[... 100 bytes left out ...]\r\nlater\r\nover\r\n" || end.Reason != choir.TerminalExited || end.Code != 3 {
		t.Errorf("it ends with %q, %+v", out, end)
	}
	l.eventually(func() bool { return len(l.Terminals().List()) == 0 })
	if next := l.show(task, 109, "over\n", &choir.CommandExit{Code: 3}); next != 114 || len(l.Terminals().List()) != 0 {
		t.Errorf("the end once more: from %d is wanted, shown are %+v", next, l.Terminals().List())
	}
	if events := l.recorded(choir.TypeTerminalOpened, choir.TypeTerminalClosed); len(events) != 0 {
		t.Errorf("it is in the log: %+v", events)
	}
}

func TestAPersonsEndOfACommandIsInTheLogOnce(t *testing.T) {
	l := newGround(t, map[string]fake.Program{"bash": shell}).serve()
	task := l.work()
	l.show(task, 0, "up\n", nil)
	call := choir.ToolCallID(task, 1)
	view := l.attach(call)
	ended := make(chan error, 2)
	for _, role := range []choir.Role{choir.RoleDesktop, choir.RoleCLI} {
		go func() { ended <- l.Terminals().Close(l.within(), role, call) }()
	}
	l.eventually(func() bool { return len(l.recorded(choir.TypeCommandEndRequested)) == 1 })
	l.show(task, 3, "", &choir.CommandExit{Code: -1, Signal: "SIGTERM"})
	for range 2 {
		if err := <-ended; err != nil && choir.CodeOf(err) != choir.CodeNotFound { // the second may come after the end
			t.Error(err)
		}
	}
	if _, end := l.read(view, ""); end.Reason != choir.TerminalShut || end.Signal != "SIGTERM" {
		t.Errorf("it ends with %+v", end)
	}
	events := l.recorded(choir.TypeCommandEndRequested)
	if p := payload[choir.CommandEndRequested](t, events[0]); len(events) != 1 || events[0].Task != task || p.Call != call {
		t.Errorf("in the log is %+v", events)
	}
}

// TestCommandsAreOfTasksAtWork refuses an unknown task, and one that has not begun. What is shown
// goes with the process of the Associate.
func TestCommandsAreOfTasksAtWork(t *testing.T) {
	l := newGround(t, map[string]fake.Program{"bash": shell}).serve()
	_, err := l.ShowCommand(l.within(), choir.TaskOutputRequest{Task: newID(t), Call: 1, Command: "serve", Chunk: []byte("x")})
	wantCode(t, err, choir.CodeNotFound)
	task := l.work()
	l.show(task, 0, strings.Repeat("x", 10), nil)
	view := l.attach(choir.ToolCallID(task, 1))
	l.client()
	if pid := l.seats[choir.RoleAssociate].rolePID.Load(); pid == 0 {
		t.Fatal("no Associate runs")
	}
	if err := l.client().StopRole(l.within()); err != nil {
		t.Fatal(err)
	}
	if _, end := l.read(view, ""); end.Reason != choir.TerminalLost {
		t.Errorf("it ends with %+v", end)
	}
	l.show(task, 0, "again", nil)
	l.Terminals().Shut("choir was stopped")
	if all := l.Terminals().List(); len(all) != 0 {
		t.Errorf("shown are %+v", all)
	}
}
