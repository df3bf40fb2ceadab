package taskrunner_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"choiros/internal/associate/taskrunner"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// TestAPausedTaskBeginsNothingMore pauses the run while the model answers: the tool call of
// the answer, and the next call of the model, come after the run goes on.
func TestAPausedTaskBeginsNothingMore(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a.txt": "one\n"})
	l.model.responses = []model.Response{use("bash", `{"command":"echo two > a.txt"}`), say("Done.")}
	asked := make(chan struct{})
	l.model.on = func(n int) {
		if n == 0 {
			l.runner.SetPaused(run, true, 5)
			close(asked)
		}
	}
	event := l.dispatch(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", VerifyProfile: unverified})
	ended := make(chan choir.AssociateResult, 1)
	go func() { ended <- l.run(context.Background(), event) }()
	<-asked
	l.runner.SetPaused(run, true, 6) // also when it is said twice
	if calls := of[choir.ToolCalled](t, l.log, event.Task); len(calls) != 0 {
		t.Errorf("it called %+v", calls)
	}
	select {
	case r := <-ended:
		t.Fatalf("it ended: %+v", r)
	default:
	}
	l.runner.SetPaused(run, false, 7)
	holds(t, <-ended, choir.StatusOK, "")
	if len(l.model.requests) != 2 || l.read("workspace/app/a.txt") != "two\n" {
		t.Errorf("%d requests, the file is %q", len(l.model.requests), l.read("workspace/app/a.txt"))
	}
}

// TestAPausedTaskCanBeStopped: it ends with its change taken back.
func TestAPausedTaskCanBeStopped(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a.txt": "one\n"})
	l.model.responses = []model.Response{use("bash", `{"command":"echo two > a.txt"}`), use("bash", `{"command":"true"}`)}
	work, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	l.model.on = func(n int) {
		if n == 1 {
			l.runner.SetPaused(run, true, 5)
			stop(taskrunner.ErrCancelled)
		}
	}
	r := l.run(work, l.dispatch(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", VerifyProfile: unverified}))
	holds(t, r, choir.StatusFailed, choir.ResultCancelled)
	if l.read("workspace/app/a.txt") != "one\n" {
		t.Errorf("the file is %q", l.read("workspace/app/a.txt"))
	}
}

// TestATaskGoesOnFromTheLog kills the process in the middle of an answer with two calls, of
// which one was made, while the run is paused.
func TestATaskGoesOnFromTheLog(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a.txt": "one\n"})
	answer := use("bash", `{"command":"echo x >> a.txt"}`)
	answer.Content = append(answer.Content, model.Block{Kind: model.ToolCall, CallID: "c2", Tool: "bash", Input: json.RawMessage(`{"command":"echo y >> a.txt"}`)})
	l.model.responses = []model.Response{answer, say("Done.")}
	event := l.dispatch(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", VerifyProfile: unverified})
	killed := choir.E("log", choir.CodeUnavailable, "killed")
	calls := 0
	l.log.fail = func(d choir.Draft) error {
		if d.Type == choir.TypeToolCalled {
			calls++
		}
		if calls > 1 {
			return killed
		}
		return nil
	}
	if err := l.runner.Do(context.Background(), context.Background(), event); err == nil {
		t.Fatal("it was answered")
	}
	l.log.fail = nil
	l.runner.Close()
	l.start()
	stored := func(v any) choir.Digest {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		d, err := l.tree.store.PutBlob(context.Background(), raw)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	l.tree.goesOn = &choir.TaskPast{
		Models: 1, Request: stored(l.model.requests[0]), Response: stored(answer), AllCalls: 1, InputTokens: 100, OutputTokens: 10,
		Returned: []choir.PastReturn{{Call: choir.ToolCallID(event.Task, 1), OK: true, Output: "as before"}},
	}
	r := l.run(context.Background(), event)
	holds(t, r, choir.StatusOK, "")
	if got := l.read("workspace/app/a.txt"); got != "one\nx\ny\n" {
		t.Errorf("the file is %q: a call was made twice, or not at all", got)
	}
	if len(l.model.requests) != 2 || r.Usage.InputTokens != 200 {
		t.Fatalf("%d requests, %d tokens", len(l.model.requests), r.Usage.InputTokens)
	}
	last := l.model.requests[1].Messages
	results := last[len(last)-1].Content
	if len(results) != 3 || results[0].Text != "as before" || !strings.Contains(results[2].Text, "was started again") {
		t.Errorf("the model is told %+v", results)
	}
}

// TestAToolCallWaitsForAPauseThatIsHeardLate: the log refuses it, the pause is heard of after
// that.
func TestAToolCallWaitsForAPauseThatIsHeardLate(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo(map[string]string{"a.txt": "one\n"})
	l.model.responses = []model.Response{use("bash", `{"command":"echo two > a.txt"}`), say("Done.")}
	refused := 0
	l.log.fail = func(d choir.Draft) error {
		if d.Type != choir.TypeToolCalled || refused > 0 {
			return nil
		}
		refused++
		l.runner.SetPaused(run, true, 5)
		go l.runner.SetPaused(run, false, 6)
		return choir.E("computer.task", choir.CodeNeedsInput, "paused")
	}
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, Repo: "app", VerifyProfile: unverified})
	holds(t, r, choir.StatusOK, "")
	if got := l.read("workspace/app/a.txt"); refused != 1 || got != "two\n" || len(r.CommandsRun) != 1 {
		t.Errorf("refused %d times, the file is %q, %d commands ran", refused, got, len(r.CommandsRun))
	}
}
