// Package grants is what the owner of one computer answers when its programs ask for hosts
// outside that the policy refuses: for one task, for one run, always, or no. It works on the
// computer's log alone, which has every question, answer and use; the proxy of package egress
// carries out what holds.
package grants

import (
	"context"
	"net"
	"strconv"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// Log is the part of the computer's log that Grants reads. eventstore.Store implements it.
type Log interface {
	Egress(ctx context.Context) (eventstore.Egress, error)
	Run(ctx context.Context, id choir.ID) (eventstore.Run, error)
	Task(ctx context.Context, id choir.ID) (eventstore.Task, error)
	Event(ctx context.Context, id choir.ID) (choir.Event, error)
}

// Config configures Grants. All of it is required.
type Config struct {
	// Check returns nil if a grant for a host and port can let something out.
	Check func(host string, port int) error
	// Ended is called with the id of a grant that was revoked, before Revoke returns. It cuts
	// what is open by it.
	Ended func(grant choir.ID)
	Now   func() time.Time
}

// Grants is the owner's answers of one computer. It is safe for concurrent use. The role passed
// to a method is that of the page or the command that answers; the events get its source.
type Grants struct {
	cfg    Config
	log    Log
	events *appender.Appender // appends to log
	// answering is full from an answer's look at the log to its event, so that of two answers the
	// second one knows the first.
	answering chan struct{}

	mu      sync.Mutex        // guards the rest
	revoked map[choir.ID]bool // grants that were revoked and are not in the log as that
	latest  choir.Time        // the latest time so far: a clock that is set back revives no grant
}

// New returns the grants of a computer. It reads log, and appends with events, which must append
// to the same log.
func New(log Log, events *appender.Appender, cfg Config) *Grants {
	return &Grants{cfg: cfg, log: log, events: events, answering: make(chan struct{}, 1), revoked: map[choir.ID]bool{}}
}

// beginAnswer waits until no other answer is being given. The caller calls end. Code cancelled: ctx
// ended first.
func (g *Grants) beginAnswer(ctx context.Context) (end func(), err error) {
	select {
	case g.answering <- struct{}{}:
		return func() { <-g.answering }, nil
	case <-ctx.Done():
		return nil, choir.Wrap("computer.grant", choir.CodeCancelled, ctx.Err(), "wait for another answer")
	}
}

// now returns the time by which grants expire, which never goes back.
func (g *Grants) now() choir.Time {
	now := choir.TimeOf(g.cfg.Now())
	g.mu.Lock()
	defer g.mu.Unlock()
	g.latest = max(g.latest, now)
	return g.latest
}

// Wish describes a grant that the owner wants.
type Wish struct {
	Host      string
	Port      int
	Scope     choir.EgressScope
	Run, Task choir.ID      // of scope run and task; empty for those of the request that is open
	Lasts     time.Duration // until it expires; 0 for no end of its own
}

// MaxLasts is the longest time that a grant may have.
const MaxLasts = 365 * 24 * time.Hour

// Grant lets programs reach a host. Code invalid: a host, port or scope that is none; refused:
// it would let nothing out, or there are too many; not_found: no task asks; conflict: the task or
// run is over.
func (g *Grants) Grant(ctx context.Context, role choir.Role, w Wish) (choir.EgressGranted, error) {
	if err := g.cfg.Check(w.Host, w.Port); err != nil {
		return choir.EgressGranted{}, err
	}
	if w.Lasts < 0 || w.Lasts > MaxLasts {
		return choir.EgressGranted{}, choir.RefuseField("expires", choir.ReasonGrantTooLong)
	}
	end, err := g.beginAnswer(ctx)
	if err != nil {
		return choir.EgressGranted{}, err
	}
	defer end()
	state, err := g.log.Egress(ctx)
	if err != nil {
		return choir.EgressGranted{}, err
	}
	now := g.now()
	if held := holding(state, now); held >= eventstore.MaxEgressGrants {
		return choir.EgressGranted{}, choir.Refuse("computer.grant", choir.ReasonEgressManyGrants, choir.CountOf("n", held))
	}
	if w, err = g.complete(ctx, state, w); err != nil {
		return choir.EgressGranted{}, err
	}
	id, err := g.events.NewID()
	if err != nil {
		return choir.EgressGranted{}, err
	}
	p := choir.EgressGranted{Grant: id, Host: w.Host, Port: w.Port, Scope: w.Scope}
	if w.Lasts > 0 {
		p.Expires = now + choir.Time(w.Lasts.Milliseconds())
	}
	return p, g.append(ctx, role, p, w.Run, w.Task)
}

// holding returns the number of grants that have not expired.
func holding(state eventstore.Egress, now choir.Time) (n int) {
	for _, have := range state.Grants {
		if have.Expires == 0 || have.Expires > now {
			n++
		}
	}
	return n
}

// append appends a payload for a run and a task, which may be empty.
func (g *Grants) append(ctx context.Context, role choir.Role, p choir.Payload, run, task choir.ID) error {
	d, err := g.events.Draft(p)
	if err != nil {
		return err
	}
	_, err = g.events.AppendAs(ctx, role, d.ForRun(run, task))
	return err
}

// complete returns a wish with the run and task that its scope needs, which are open.
func (g *Grants) complete(ctx context.Context, state eventstore.Egress, w Wish) (Wish, error) {
	switch w.Scope {
	case choir.EgressAlways:
		w.Run, w.Task = "", ""
		return w, nil
	case choir.EgressForTask, choir.EgressForRun:
	default:
		return w, choir.RefuseField("scope", choir.ReasonGrantScope, choir.TextOf("given", w.Scope))
	}
	if w.Task == "" && (w.Run == "" || w.Scope == choir.EgressForTask) {
		asker, ok := onlyAsker(state.Request(w.Host, w.Port), w.Run)
		if !ok {
			return w, choir.Refuse("computer.grant", choir.ReasonEgressNobodyAsks, choir.TextOf("host", hostPort(w.Host, w.Port)))
		}
		w.Run, w.Task = asker.Run, asker.Task
	}
	if w.Scope == choir.EgressForTask {
		return g.forTask(ctx, w)
	}
	return g.forRun(ctx, w)
}

// onlyAsker returns the newest task that asks for a host, of a run unless that is empty.
func onlyAsker(r *eventstore.EgressRequest, run choir.ID) (asker eventstore.EgressAsker, ok bool) {
	if r == nil {
		return asker, false
	}
	for _, a := range r.Askers {
		if run == "" || a.Run == run {
			asker, ok = a, true
		}
	}
	return asker, ok
}

// forTask returns the wish for a task that is open.
func (g *Grants) forTask(ctx context.Context, w Wish) (Wish, error) {
	t, err := g.log.Task(ctx, w.Task)
	if err != nil {
		return w, err
	}
	if t.State == eventstore.TaskReturned {
		return w, over("task " + string(w.Task))
	}
	w.Run = t.Run
	return w, nil
}

// forRun returns the wish for a run that is open. A task that was submitted by itself has no
// run in the log, whose end could end the grant.
func (g *Grants) forRun(ctx context.Context, w Wish) (Wish, error) {
	if w.Run == "" {
		t, err := g.log.Task(ctx, w.Task)
		if err != nil {
			return w, err
		}
		w.Run = t.Run
	}
	w.Task = ""
	r, err := g.log.Run(ctx, w.Run)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return w, choir.Refuse("computer.grant", choir.ReasonGrantNoRun, choir.TextOf("run", w.Run))
	}
	if err == nil && !r.State.Open() {
		err = over("run " + string(w.Run))
	}
	return w, err
}

func over(what string) error {
	return choir.Refuse("computer.grant", choir.ReasonEgressOver, choir.TextOf("what", what))
}

// Revoke ends all grants for a host and port, and returns how many; or the one with an id, where
// that is given. What is open by them is cut when it returns. Code not_found: there is none. After an
// error of the log the grant ends all the same, until choir does.
func (g *Grants) Revoke(ctx context.Context, role choir.Role, host string, port int, id choir.ID) (revoked int, err error) {
	end, err := g.beginAnswer(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	state, err := g.log.Egress(ctx)
	if err != nil {
		// On a full disk the newest events cannot be read. What was granted before them can be cut.
		if state, err = g.log.Egress(eventstore.MayLag(ctx)); err != nil {
			return 0, err
		}
	}
	for _, have := range state.Grants {
		if have.ID != id && (id != "" || have.Host != host || have.Port != port) {
			continue
		}
		if err := g.revoke(context.WithoutCancel(ctx), role, have); err != nil {
			return revoked, err
		}
		revoked++
	}
	if revoked == 0 {
		return 0, choir.Refuse("computer.revoke", choir.ReasonEgressNoGrant, choir.TextOf("host", hostPort(host, port)))
	}
	return revoked, nil
}

// revoke ends one grant, and then says so in the log.
func (g *Grants) revoke(ctx context.Context, role choir.Role, have eventstore.EgressGrant) error {
	g.mu.Lock()
	g.revoked[have.ID] = true
	g.mu.Unlock()
	g.cfg.Ended(have.ID)
	err := g.append(ctx, role, choir.EgressRevoked{Grant: have.ID, Host: have.Host, Port: have.Port}, have.Run, have.Task)
	if err != nil && choir.FirstOf(err) == nil { // else it is in the log
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.revoked, have.ID)
	return nil
}

// isRevoked reports whether a grant ended that the log still has.
func (g *Grants) isRevoked(grant choir.ID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.revoked[grant]
}

// Deny answers the request for a host with no. Code not_found: no request is open.
func (g *Grants) Deny(ctx context.Context, role choir.Role, host string, port int) error {
	end, err := g.beginAnswer(ctx)
	if err != nil {
		return err
	}
	defer end()
	state, err := g.log.Egress(ctx)
	if err != nil {
		return err
	}
	if state.Request(host, port) == nil {
		return choir.Refuse("computer.deny", choir.ReasonEgressNobodyAsks, choir.TextOf("host", hostPort(host, port)))
	}
	_, err = g.events.Append(ctx, role, choir.EgressDenied{Host: host, Port: port})
	return err
}

// hostPort returns a host and port as people write them.
func hostPort(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
