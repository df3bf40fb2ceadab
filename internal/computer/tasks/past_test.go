package tasks

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace/workspacetest"
)

// TestWhatATaskGoesOnFrom reads the events of a task whose run was paused in the middle of
// its second answer.
func TestWhatATaskGoesOnFrom(t *testing.T) {
	task, now := workspacetest.NewID(t), choir.Time(1000)
	p := past{task: task, outputs: maxPastOutput}
	add := func(after choir.Time, payload choir.Payload) {
		now += after
		p.apply(choir.Event{Task: task, Time: now}, payload)
	}
	model := func(n int) choir.ID { return choir.DeriveID(task, "model", strconv.Itoa(n)) }
	asked, answered := choir.DigestOf([]byte("asked")), choir.DigestOf([]byte("answered"))
	add(0, &choir.TaskStarted{Attempt: 1})
	add(5, &choir.ModelCalled{Call: model(1), Request: choir.DigestOf(nil)})
	add(1000, &choir.ModelReturned{Call: model(1), Response: choir.DigestOf(nil), InputTokens: 10, OutputTokens: 1})
	add(1, &choir.ToolCalled{Call: choir.ToolCallID(task, 1)})
	add(7, &choir.ModelCalled{Call: workspacetest.NewID(t)}) // of a program that the call started
	add(1, &choir.ToolReturned{Call: choir.ToolCallID(task, 1), OK: true, Output: "one"})
	add(1, &choir.ModelCalled{Call: model(2), Request: asked})
	add(1000, &choir.ModelReturned{Call: model(2), Response: answered, InputTokens: 20, OutputTokens: 2})
	add(1, &choir.ToolCalled{Call: choir.ToolCallID(task, 2)})
	add(1, &choir.RunPaused{})
	if p.open != 1 {
		t.Errorf("%d calls are open", p.open)
	}
	add(50, &choir.ToolReturned{Call: choir.ToolCallID(task, 2), Output: "two"})
	add(90000, &choir.RunResumed{})
	want := choir.TaskPast{
		Models: 2, Request: asked, Response: answered, Calls: 1, AllCalls: 2, WorkedMS: 5 + 1 + 7 + 1 + 1 + 1 + 1,
		InputTokens: 30, OutputTokens: 3, Returned: []choir.PastReturn{{Call: choir.ToolCallID(task, 2), Output: "two"}},
	}
	if diff := cmp.Diff(want, p.found); diff != "" || !p.held || p.open != 0 {
		t.Errorf("held %v, %d open, %s", p.held, p.open, diff)
	}
	add(1, &choir.ModelCalled{Call: model(3), Request: asked})
	if p.held || p.found.Response != "" || p.found.Calls != 2 || p.found.Returned != nil {
		t.Errorf("after another call: held %v, %+v", p.held, p.found)
	}
}
