package eventstore

import (
	"context"
	"slices"

	"choiros/internal/choir"
)

// egressTable has one row, with an empty key: an Egress. All of it together is bounded, so
// that the ends of runs and tasks find what ends with them without an index.
var egressTable = &keyed[Egress]{projection: projection{
	name: "egress", since: 11, key: 1, columns: []column{keyColumn, valueColumn},
	on: reducers{
		choir.TypeEgressRefused:    on(egressRefused),
		choir.TypeEgressDenied:     on(egressDenied),
		choir.TypeEgressGranted:    on(egressGranted),
		choir.TypeEgressRevoked:    on(egressRevoked),
		choir.TypeTaskReturned:     on(egressTaskReturned),
		choir.TypeRunFinished:      on(egressRunFinished),
		choir.TypeComputerForked:   on(egressOfAnother[choir.ComputerForked]),
		choir.TypeComputerImported: on(egressOfAnother[choir.ComputerImported]),
	},
}}

// Bounds of an Egress. Programs in a sandbox cause requests, so that those beyond the bound
// are counted only; the owner makes grants, and is refused more than MaxEgressGrants.
const (
	MaxEgressRequests = 32
	maxEgressAskers   = 8
	maxEgressDenied   = 64
	MaxEgressGrants   = 256
)

// MaxEgressRefusals is the number of refused hosts that the log has of one task, which chooses
// them and could fill the log. A task with so many can have wanted others besides.
const MaxEgressRefusals = 256

// Egress has the hosts that a computer's programs ask for, and the owner's grants.
type Egress struct {
	Requests []EgressRequest `json:"requests,omitempty"` // oldest first
	Unlisted int             `json:"unlisted,omitempty"` // refusals that found no room among the requests
	Grants   []EgressGrant   `json:"grants,omitempty"`   // oldest first; expired ones may be among them
	Denied   []egressDenial  `json:"denied,omitempty"`   // oldest first
	// Answered is the event of the newest answer or end of a grant.
	Answered uint64 `json:"answered,omitempty"`
}

// EgressRequest is a host that tasks were refused and the owner has not answered for.
type EgressRequest struct {
	Host   string           `json:"host"`
	Port   int              `json:"port"`
	Why    choir.EgressWhy  `json:"why"`
	Policy choir.EgressMode `json:"policy"`
	Seq    uint64           `json:"seq"` // of the first refusal
	At     choir.Time       `json:"at"`
	Count  int              `json:"count"` // refusals, of which each task has one
	Askers []EgressAsker    `json:"askers"`
}

// EgressAsker is a task that wants a host, and the event of its tool call.
type EgressAsker struct {
	Run  choir.ID `json:"run"`
	Task choir.ID `json:"task"`
	Call choir.ID `json:"call,omitempty"`
}

// EgressGrant is a grant that has neither been revoked nor ended with its task or run.
type EgressGrant struct {
	ID      choir.ID          `json:"id"`
	Host    string            `json:"host"`
	Port    int               `json:"port"`
	Scope   choir.EgressScope `json:"scope"`
	Run     choir.ID          `json:"run,omitempty"`
	Task    choir.ID          `json:"task,omitempty"`
	Expires choir.Time        `json:"expires,omitempty"`
	By      choir.Source      `json:"by"`
	Seq     uint64            `json:"seq"`
	At      choir.Time        `json:"at"`
}

// egressDenial is a host that a run does not ask for again.
type egressDenial struct {
	Host string   `json:"host"`
	Port int      `json:"port"`
	Run  choir.ID `json:"run"`
}

// Request returns the request for a host and port; nil if none is open.
func (e *Egress) Request(host string, port int) *EgressRequest {
	for i := range e.Requests {
		if r := &e.Requests[i]; r.Host == host && r.Port == port {
			return r
		}
	}
	return nil
}

// Denies reports whether the owner said no to a run's request for a host and port.
func (e *Egress) Denies(host string, port int, run choir.ID) bool {
	return slices.Contains(e.Denied, egressDenial{host, port, run})
}

// Asks reports whether a task is an asker of the request.
func (r *EgressRequest) Asks(task choir.ID) bool {
	return slices.ContainsFunc(r.Askers, func(a EgressAsker) bool { return a.Task == task })
}

// Holds reports whether a grant is for a task of a run; both are empty for a program of none.
func (g *EgressGrant) Holds(run, task choir.ID, now choir.Time) bool {
	if g.Expires != 0 && g.Expires <= now {
		return false
	}
	switch g.Scope {
	case choir.EgressForTask:
		return task != "" && g.Task == task
	case choir.EgressForRun:
		return run != "" && g.Run == run
	case choir.EgressAlways:
		return true
	}
	return false
}

// egressRefused opens a request, or adds the task to its askers.
func egressRefused(rows *cells[Egress], e *choir.Event, p *choir.EgressRefused) error {
	if !p.Asked {
		return nil
	}
	state, err := rows.edit("")
	if err != nil {
		return err
	}
	r := state.Request(p.Host, p.Port)
	if r == nil {
		if len(state.Requests) >= MaxEgressRequests {
			state.Unlisted++
			return nil
		}
		state.Requests = append(state.Requests, EgressRequest{Host: p.Host, Port: p.Port, Why: p.Why, Policy: choir.EgressMode(p.Policy), Seq: e.Seq, At: e.Time})
		r = &state.Requests[len(state.Requests)-1]
	}
	r.Count++
	if len(r.Askers) < maxEgressAskers && !r.Asks(e.Task) {
		r.Askers = append(r.Askers, EgressAsker{Run: e.Run, Task: e.Task, Call: e.Cause})
	}
	return nil
}

// answerEgress changes the row by an answer of the owner's or the end of a grant.
func answerEgress(rows *cells[Egress], e *choir.Event, change func(*Egress)) error {
	state, err := rows.edit("")
	if err != nil {
		return err
	}
	change(state)
	state.Answered = e.Seq
	return nil
}

// removeAskers removes the askers that an answer is for from a request, which ends with its last one.
func (e *Egress) removeAskers(host string, port int, settled func(EgressAsker) bool) {
	r := e.Request(host, port)
	if r == nil {
		return
	}
	r.Askers = slices.DeleteFunc(r.Askers, settled)
	if len(r.Askers) > 0 {
		return
	}
	e.Requests = slices.DeleteFunc(e.Requests, func(r EgressRequest) bool { return r.Host == host && r.Port == port })
	if len(e.Requests) == 0 {
		e.Unlisted = 0
	}
}

func egressDenied(rows *cells[Egress], e *choir.Event, p *choir.EgressDenied) error {
	return answerEgress(rows, e, func(state *Egress) {
		state.removeAskers(p.Host, p.Port, func(a EgressAsker) bool {
			if !state.Denies(p.Host, p.Port, a.Run) {
				state.Denied = append(state.Denied, egressDenial{p.Host, p.Port, a.Run})
			}
			return true
		})
		state.Denied = slices.Delete(state.Denied, 0, max(0, len(state.Denied)-maxEgressDenied))
	})
}

func egressGranted(rows *cells[Egress], e *choir.Event, p *choir.EgressGranted) error {
	if over, err := workIsOver(rows.view, e, p.Scope); err != nil || over {
		return err // it came behind the end that it would have ended with
	}
	return answerEgress(rows, e, func(state *Egress) {
		g := EgressGrant{
			ID: p.Grant, Host: p.Host, Port: p.Port, Scope: p.Scope, Run: e.Run, Task: e.Task, Expires: p.Expires,
			By: e.Source, Seq: e.Seq, At: e.Time,
		}
		// What has expired is gone with the next answer, which has the log's own time.
		state.Grants = slices.DeleteFunc(state.Grants, func(old EgressGrant) bool { return old.Expires != 0 && old.Expires <= e.Time })
		if len(state.Grants) >= MaxEgressGrants {
			return
		}
		state.Grants = append(state.Grants, g)
		state.removeAskers(p.Host, p.Port, func(a EgressAsker) bool { return g.Scope == choir.EgressAlways || g.Holds(a.Run, a.Task, 0) })
		state.Denied = slices.DeleteFunc(state.Denied, func(d egressDenial) bool {
			return d.Host == p.Host && d.Port == p.Port && (g.Scope == choir.EgressAlways || d.Run == e.Run)
		})
	})
}

// workIsOver reports whether the task or run of a grant has ended.
func workIsOver(v *view, e *choir.Event, scope choir.EgressScope) (bool, error) {
	switch scope {
	case choir.EgressForTask:
		task, known, err := tasksTable.of(v).get(e.Task)
		return !known || task.State == TaskReturned, err
	case choir.EgressForRun:
		run, known, err := runsTable.of(v).get(e.Run)
		return !known || !run.State.Open(), err
	}
	return false, nil
}

func egressRevoked(rows *cells[Egress], e *choir.Event, p *choir.EgressRevoked) error {
	return answerEgress(rows, e, func(state *Egress) {
		state.Grants = slices.DeleteFunc(state.Grants, func(g EgressGrant) bool { return g.ID == p.Grant })
	})
}

func egressTaskReturned(rows *cells[Egress], e *choir.Event, p *choir.TaskReturned) error {
	return endGrants(rows, e, func(g EgressGrant) bool {
		return g.Scope == choir.EgressForTask && g.Task == p.Result.TaskID
	})
}

func egressRunFinished(rows *cells[Egress], e *choir.Event, _ *choir.RunFinished) error {
	return endGrants(rows, e, func(g EgressGrant) bool { return g.Scope != choir.EgressAlways && g.Run == e.Run })
}

// egressOfAnother forgets the past of another computer: its owner may be another person, and may have
// revoked a grant after the moment at which this computer begins.
func egressOfAnother[P any](rows *cells[Egress], e *choir.Event, _ *P) error {
	return answerEgress(rows, e, func(state *Egress) { *state = Egress{} })
}

// endGrants removes the grants that end with an event.
func endGrants(rows *cells[Egress], e *choir.Event, ends func(EgressGrant) bool) error {
	state, ok, err := rows.get("")
	if err != nil || !ok || !slices.ContainsFunc(state.Grants, ends) {
		return err
	}
	return answerEgress(rows, e, func(state *Egress) { state.Grants = slices.DeleteFunc(state.Grants, ends) })
}

// Egress returns the requests for hosts that are open, and the grants that hold.
func (t *Tables) Egress(ctx context.Context) (Egress, error) {
	rows, err := list[Egress](ctx, t, "SELECT value FROM egress WHERE key = ''")
	if err != nil || len(rows) == 0 {
		return Egress{}, err
	}
	return rows[0], nil
}
