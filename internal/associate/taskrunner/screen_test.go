package taskrunner_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// screen keeps what people are shown of running commands, as the control plane does.
type screen struct {
	mu     sync.Mutex                // guards what follows
	texts  map[int]string            // by the number of the tool call
	ends   map[int]choir.CommandExit // of those that have ended
	refuse int                       // so many parts are not accepted
	// on is called with what is shown of a command, if not nil.
	on func(r choir.TaskOutputRequest, text string)
}

func (s *screen) ShowCommand(_ context.Context, r choir.TaskOutputRequest) (choir.TaskOutputReply, error) {
	s.mu.Lock()
	if s.texts == nil {
		s.texts, s.ends = map[int]string{}, map[int]choir.CommandExit{}
	}
	known := int64(len(s.texts[r.Call]))
	if s.refuse > 0 || r.From != known {
		s.refuse--
		s.mu.Unlock()
		return choir.TaskOutputReply{Next: known}, nil
	}
	s.texts[r.Call] += string(r.Chunk)
	if r.Ended != nil {
		s.ends[r.Call] = *r.Ended
	}
	text := s.texts[r.Call]
	s.mu.Unlock()
	if s.on != nil {
		s.on(r, text)
	}
	return choir.TaskOutputReply{Next: known + int64(len(r.Chunk))}, nil
}

// TestPeopleAreShownARunningCommand from its first output to its end, and none that ends at once.
func TestPeopleAreShownARunningCommand(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.screen.refuse = 2
	var begun sync.Once
	l.screen.on = func(r choir.TaskOutputRequest, text string) {
		if strings.HasPrefix(text, "begun") {
			begun.Do(func() { l.write("workspace/go", "") })
		}
	}
	l.model.responses = []model.Response{
		use("bash", `{"command":"echo at once"}`),
		use("bash", `{"command":"echo begun; while [ ! -f workspace/go ]; do sleep 0.02; done; seq 20000; exit 3"}`),
		say("Done."),
	}
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, VerifyProfile: unverified})
	holds(t, r, choir.StatusOK, "")
	if text := l.screen.texts[2]; len(l.screen.texts) != 1 || !strings.HasPrefix(text, "begun\n1\n2\n") || !strings.HasSuffix(text, "\n19999\n20000\n") || strings.Count(text, "\n") != 20001 {
		t.Errorf("of %d commands %d bytes are shown: %.100q", len(l.screen.texts), len(text), text)
	}
	if end, ok := l.screen.ends[2]; !ok || end.Code != 3 {
		t.Errorf("it is shown to have ended %v with %+v", ok, end)
	}
}

// TestAPersonEndsACommand that the model waits for, and one in the background. The model is told.
func TestAPersonEndsACommand(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.screen.on = func(r choir.TaskOutputRequest, text string) {
		l.runner.EndCommand(r.Task, choir.ToolCallID(r.Task, r.Call+10)) // none
		if strings.HasPrefix(text, "up\n") {
			l.runner.EndCommand(r.Task, choir.ToolCallID(r.Task, r.Call))
		}
	}
	l.model.responses = []model.Response{
		use("bash", `{"command":"echo up; exec sleep 1000"}`),
		use("bash", `{"command":"sleep 1.2; echo up; exec sleep 1000","wait_s":1}`),
		use("bash", `{"handle":1}`),
		say("Done."),
	}
	r := l.do(choir.DirectorTask{Kind: choir.TaskRun})
	holds(t, r, choir.StatusOK, "")
	for i, want := range map[int]string{1: "up\n", 2: "still running", 3: "up\n"} {
		got := l.model.requests[i].Messages[2*i].Content[0].Text
		if !strings.Contains(got, want) || strings.Contains(got, "[a person ended this command") != (i != 2) {
			t.Errorf("after call %d it is told %q", i, got)
		}
	}
	for call := 1; call <= 2; call++ {
		if end := l.screen.ends[call]; end.Signal != "SIGTERM" {
			t.Errorf("command %d is shown to have ended with %+v", call, end)
		}
	}
}

// TestPeopleAreShownATasksOwnCommandsAndChecks: they are no tool calls of the model, and can hang as well.
func TestPeopleAreShownATasksOwnCommandsAndChecks(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a.txt": "one\n"})
	// Each waits until it is shown.
	waiting := func(name string) string {
		return "echo begun; while [ ! -f ../" + name + " ]; do sleep 0.02; done; echo ended"
	}
	l.screen.on = func(r choir.TaskOutputRequest, text string) {
		if strings.HasPrefix(text, "begun") {
			for _, name := range []string{"ran", "checked"} {
				if strings.Contains(r.Command, "../"+name+" ") {
					l.write("workspace/"+name, "")
				}
			}
		}
	}
	r := l.do(choir.DirectorTask{
		Kind: choir.TaskEditRepo, Repo: "app", Instruction: "Run it", Commands: []choir.Command{{Shell: "echo two > a.txt; " + waiting("ran")}},
		VerifyProfile: &choir.VerifyProfile{Mode: choir.VerifySmoke, Commands: []choir.Command{{Shell: waiting("checked")}}},
	})
	holds(t, r, choir.StatusOK, "")
	l.screen.mu.Lock()
	defer l.screen.mu.Unlock()
	for number, want := range map[int]string{900_001: "begun\nended\n", 900_002: "begun\nended\n"} {
		if exit, ended := l.screen.ends[number]; l.screen.texts[number] != want || !ended || exit.Code != 0 {
			t.Errorf("of command %d was shown %q, ended %v with %+v", number, l.screen.texts[number], ended, exit)
		}
	}
}

// TestAPersonEndsATasksOwnCommand: the task has failed, and says why.
func TestAPersonEndsATasksOwnCommand(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a.txt": "one\n"})
	l.screen.on = func(r choir.TaskOutputRequest, text string) {
		if r.Ended == nil {
			l.runner.EndCommand(r.Task, choir.ToolCallID(r.Task, r.Call))
		}
	}
	r := l.do(choir.DirectorTask{Kind: choir.TaskRun, Repo: "app", Instruction: "Run it", Commands: []choir.Command{{Shell: "echo begun; sleep 600"}}})
	holds(t, r, choir.StatusFailed, choir.ResultCommandFailed)
	if len(r.CommandsRun) != 1 || !strings.Contains(r.CommandsRun[0].StderrTail, "a person ended this command") {
		t.Errorf("the result has %+v", r.CommandsRun)
	}
}
