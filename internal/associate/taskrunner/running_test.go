package taskrunner_test

import (
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// TestACommandIsGivenBackRunning waits for one command twice, ends another, and leaves a
// third to the end of the task.
func TestACommandIsGivenBackRunning(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.model.responses = []model.Response{
		use("bash", `{"command":"echo begun; while [ ! -f workspace/go ]; do sleep 0.02; done; echo went; exit 3","wait_s":1}`),
		use("bash", `{"command":"echo up; sleep 1000","wait_s":1}`),
		use("write_file", `{"path":"workspace/go","content":""}`),
		use("bash", `{"handle":1}`),
		use("bash", `{"handle":1}`),
		use("bash", `{"handle":2,"end":true}`),
		use("bash", `{"command":"exec sleep 1000","wait_s":1}`),
		say("Done."),
	}
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, VerifyProfile: unverified})
	holds(t, r, choir.StatusOK, "")
	for i, want := range map[int]string{
		1: "begun\n[still running after 1 s]\n[running, handle 1: echo begun; while",
		2: "up\n[still running after 1 s]\n[running, handle 1: ",
		4: "went\n\n[exit code 3]\n[running, handle 2: echo up; sleep 1000]",
		5: "of no command that runs",
		6: "[ended by ",
		7: "[still running after 1 s]\n[running, handle 3: exec sleep 1000]",
	} {
		blocks := l.model.requests[i].Messages[2*i].Content
		if got := blocks[0].Text; !strings.Contains(got, want) || strings.Contains(got, "begun\n") != (i == 1) {
			t.Errorf("after call %d it is told %q, want %q", i, got, want)
		}
	}
	var ran []string
	for _, c := range r.CommandsRun {
		ran = append(ran, c.StdoutTail+"|"+c.Signal)
	}
	if len(ran) != 3 || ran[0] != "begun\nwent\n|" || !strings.HasPrefix(ran[1], "up\n|") || ran[2] == "|" || r.CommandsRun[0].ExitCode != 3 {
		t.Errorf("the result has %q", ran)
	}
	if called := of[choir.ToolCalled](t, l.log, r.TaskID); called[3].Input.Handle != 1 || !called[5].Input.End {
		t.Errorf("the log has %+v", called)
	}
}

func TestNoMoreCommandsRunThanTheLimit(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for range 9 {
		l.model.responses = append(l.model.responses, use("bash", `{"command":"exec sleep 1000","wait_s":1}`))
	}
	l.model.responses = append(l.model.responses, say("Done."))
	r := l.do(choir.DirectorTask{Kind: choir.TaskRun})
	holds(t, r, choir.StatusOK, "")
	if got := l.model.requests[9].Messages[18].Content[0].Text; !strings.Contains(got, "8 commands run already") || len(r.CommandsRun) != 8 {
		t.Errorf("it is told %q, and %d ran", got, len(r.CommandsRun))
	}
}

// TestACommandIsWrittenTo by its handle, until its input is closed; another one's input ends
// at once, and one that does not read says so.
func TestACommandIsWrittenTo(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.model.responses = []model.Response{
		use("bash", `{"command":"while read line; do echo \"got $line\"; done; echo over","stdin":"one\n","stdin_open":true,"wait_s":1}`),
		use("bash", `{"handle":1,"stdin":"two\n","wait_s":1}`),
		use("bash", `{"handle":1,"stdin":"three\n","stdin_close":true}`),
		use("bash", `{"command":"tr a-z A-Z","stdin":"whole"}`),
		use("bash", `{"command":"cat"}`),
		use("bash", `{"command":"exec sleep 1000","wait_s":1}`),
		use("bash", `{"handle":2,"stdin":"x"}`),
		say("Done."),
	}
	r := l.do(choir.DirectorTask{Kind: choir.TaskRun})
	holds(t, r, choir.StatusOK, "")
	for i, want := range map[int]string{
		1: "got one\n[still running after 1 s]", 2: "got two\n[still running", 3: "got three\nover\n", 4: "WHOLE", 5: "[no output, exit code 0]", 7: "stdin_open",
	} {
		if got := l.model.requests[i].Messages[2*i].Content[0].Text; !strings.Contains(got, want) {
			t.Errorf("after call %d it is told %q, want %q", i, got, want)
		}
	}
	if called := of[choir.ToolCalled](t, l.log, r.TaskID); called[2].Input.Stdin != "three\n" || !called[2].Input.StdinClose {
		t.Errorf("the log has %+v", called[2].Input)
	}
}
