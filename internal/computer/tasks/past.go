package tasks

import (
	"strconv"

	"choiros/internal/choir"
)

// The bounds of what a task goes on from: how often it does, and the outputs in bytes.
const (
	maxGoesOn     = 5
	maxPastOutput = 256 << 10
)

// past is how far a task had come after some of its run's events.
type past struct {
	task    choir.ID
	outputs int // bytes that are left for outputs

	found  choir.TaskPast
	call   choir.ID // the last model call
	asks   bool     // the model has not answered it
	open   int      // tool calls that have not returned
	paused bool
	held   bool       // the run was paused after the last event of the task
	last   choir.Time // of the last event that counts as work; 0 outside of work
}

// apply adds an event of the task, or an event that pauses or resumes its run.
func (p *past) apply(e choir.Event, payload choir.Payload) {
	if p.last > 0 && !p.asks && !p.paused {
		p.found.WorkedMS += max(0, int64(e.Time-p.last))
	}
	p.last = e.Time
	switch x := payload.(type) {
	case *choir.RunPaused:
		p.paused, p.held = true, true
		return
	case *choir.RunResumed:
		p.paused = false
		return
	case *choir.TaskStarted:
		return
	case *choir.ModelCalled:
		p.addModelCall(x)
	case *choir.ModelReturned:
		if x.Call == p.call {
			p.asks = false
			if x.Code == "" {
				p.found.Response = x.Response
			}
			p.found.InputTokens += x.InputTokens
			p.found.OutputTokens += x.OutputTokens
		}
	case *choir.ToolCalled:
		p.found.AllCalls++
		p.open++
	case *choir.ToolReturned:
		p.open--
		out := x.Output
		if len(out) > p.outputs {
			out = out[:p.outputs] + "\n[cut]"
		}
		p.outputs -= min(p.outputs, len(out))
		p.found.Returned = append(p.found.Returned, choir.PastReturn{Call: x.Call, OK: x.OK, Output: out})
	}
	p.held = p.paused
}

// addModelCall adds a model call of the task, not one of a program that it started.
func (p *past) addModelCall(x *choir.ModelCalled) {
	if x.Call != choir.DeriveID(p.task, "model", strconv.Itoa(p.found.Models+1)) {
		return
	}
	p.found.Models++
	p.call, p.asks = x.Call, true
	p.found.Request, p.found.Response = x.Request, ""
	p.found.Calls, p.found.Returned, p.outputs = p.found.AllCalls, nil, maxPastOutput
}
