package grants

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// Asking describes a task's wish for a host by the log.
type Asking struct {
	Asks bool // the task is an asker of the open request
	May  bool // it may become one: its run was not told no, and there is room
	// After is the owner's newest answer, after which the same host is a new question.
	After uint64
}

// Asking returns whether a task that was refused a host asks the owner for it, or may. A program
// of no task asks for nothing: who started it can grant what it needs.
func (g *Grants) Asking(ctx context.Context, host string, port int, run, task choir.ID) (Asking, error) {
	if task == "" {
		return Asking{}, nil
	}
	state, err := g.log.Egress(ctx)
	if err != nil {
		return Asking{}, err
	}
	out := Asking{After: state.Answered}
	r := state.Request(host, port)
	out.Asks = r != nil && r.Asks(task)
	out.May = !out.Asks && !state.Denies(host, port, run) && (r != nil || len(state.Requests) < eventstore.MaxEgressRequests)
	return out, nil
}

// Holding returns the grants that hold for a task of a run now; both are empty for a program of
// none.
func (g *Grants) Holding(ctx context.Context, run, task choir.ID) ([]eventstore.EgressGrant, error) {
	state, err := g.log.Egress(ctx)
	if err != nil {
		return nil, err
	}
	now := g.now()
	var out []eventstore.EgressGrant
	for _, have := range state.Grants {
		if have.Holds(run, task, now) && !g.isRevoked(have.ID) {
			out = append(out, have)
		}
	}
	return out, nil
}

// CountRequests returns the number of open requests.
func (g *Grants) CountRequests(ctx context.Context) (int, error) {
	state, err := g.log.Egress(ctx)
	return len(state.Requests), err
}

// Listed has the open requests and the grants in force.
type Listed struct {
	Requests []Request
	Unlisted int // refusals beyond the requests that are listed
	Grants   []eventstore.EgressGrant
}

// Request is a request with what its tasks were doing.
type Request struct {
	eventstore.EgressRequest
	Askers []Asker
}

// Asker is a task that asks. Its texts are those of guests and models: untrusted.
type Asker struct {
	eventstore.EgressAsker
	Instruction string // of the task
	Over        bool   // the task has its answer
	RunOver     bool   // the run has ended, or is none of the log
	Tool        string // of the tool call; empty if it is not known
	Input       choir.ToolInput
}

// List returns what is asked for, and what is granted.
func (g *Grants) List(ctx context.Context) (Listed, error) {
	state, err := g.log.Egress(ctx)
	if err != nil {
		return Listed{}, err
	}
	out := Listed{Unlisted: state.Unlisted}
	for _, r := range state.Requests {
		one := Request{EgressRequest: r}
		for _, a := range r.Askers {
			asker, err := g.describeAsker(ctx, a)
			if err != nil {
				return Listed{}, err
			}
			one.Askers = append(one.Askers, asker)
		}
		out.Requests = append(out.Requests, one)
	}
	now := g.now()
	for _, have := range state.Grants {
		if have.Expires == 0 || have.Expires > now {
			out.Grants = append(out.Grants, have)
		}
	}
	return out, nil
}

// describeAsker returns an asker with what the log has of its task and its tool call.
func (g *Grants) describeAsker(ctx context.Context, a eventstore.EgressAsker) (Asker, error) {
	out := Asker{EgressAsker: a}
	t, err := g.log.Task(ctx, a.Task)
	if err != nil && choir.CodeOf(err) != choir.CodeNotFound {
		return out, err
	}
	out.Instruction, out.Over = t.Instruction, err != nil || t.State == eventstore.TaskReturned
	r, err := g.log.Run(ctx, a.Run)
	if err != nil && choir.CodeOf(err) != choir.CodeNotFound {
		return out, err
	}
	out.RunOver = err != nil || !r.State.Open()
	if a.Call == "" {
		return out, nil
	}
	e, err := g.log.Event(ctx, a.Call)
	// A guest can put another event under the id that a tool call would have.
	if choir.CodeOf(err) == choir.CodeNotFound || err == nil && (e.Type != choir.TypeToolCalled || e.Task != a.Task) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return out, err
	}
	called := p.(*choir.ToolCalled)
	out.Tool, out.Input = called.Tool, called.Input
	return out, nil
}
