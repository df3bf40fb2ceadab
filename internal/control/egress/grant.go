package egress

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"choiros/internal/choir"
)

// Grant lets requests to exactly one host and port out which the policy refuses.
type Grant struct {
	ID   choir.ID
	Host string // canonical
	Port int
	// Run and Task are whose it is and end it; both are empty for one of the whole computer.
	// Task is empty for one of all tasks of the run.
	Run, Task choir.ID
	Expires   time.Time // zero for never
}

// always reports whether the grant is for every program of the computer.
func (g Grant) always() bool { return g.Run == "" && g.Task == "" }

// lets reports whether the grant has the host and port of a target.
func (g Grant) lets(t Target) bool { return g.Host == t.Host && g.Port == t.Port }

// id returns the grant's id; empty for nil.
func (g *Grant) id() choir.ID {
	if g == nil {
		return ""
	}
	return g.ID
}

// endsWith reports whether the grant ends with something of this id: itself, its task, or
// its run where it is for all tasks of that.
func (g *Grant) endsWith(id choir.ID) bool {
	return g != nil && id != "" && (g.ID == id || g.Task == id || g.Task == "" && g.Run == id)
}

// decideByAll decides about a target by the policy, the task's own profile and the owner's
// grants, and returns the grant that lets it out; nil for none. A grant of the whole computer
// adds to its policy, which a profile narrows. One of the task or run stands above both: the
// owner was told what refuses the host, and let it out there. A rule that holds the host stands
// above all.
func decideByAll(policy Policy, work Work, t Target) (*Grant, error) {
	if work.Holds != nil && work.Holds(t.Host) {
		return nil, refuse(t, choir.EgressHeld, policy.Mode, choir.ReasonEgressHeld)
	}
	err := decideByPolicies(policy, work.Profile, t)
	if err == nil {
		return nil, nil
	}
	i := slices.IndexFunc(work.Grants, func(g Grant) bool { return g.lets(t) && !g.always() })
	if i >= 0 {
		return &work.Grants[i], nil
	}
	i = slices.IndexFunc(work.Grants, func(g Grant) bool { return g.lets(t) })
	if i < 0 {
		return nil, err
	}
	if err := decideByPolicies(policy.With(work.Grants[i:i+1]), work.Profile, t); err != nil {
		return nil, err
	}
	return &work.Grants[i], nil
}

// decideByPolicies returns a refusal unless the policy, and the profile under it, let a target
// out. Code invalid: the profile is none.
func decideByPolicies(policy Policy, profile *choir.EgressProfile, t Target) error {
	if err := decide(policy, t, choir.ReasonEgressHost, choir.EgressPolicy); err != nil || profile == nil {
		return err
	}
	own, err := policy.Narrow(*profile)
	if err != nil {
		return choir.Under("egress_profile", err)
	}
	return decide(own, t, choir.ReasonEgressTask, choir.EgressTask)
}

// CheckGrant returns nil if a grant for a host and port can let something out. Code invalid: a
// host that is not canonical or a port that is none; refused: an address that is never dialled,
// or a policy that is closed.
func (p *Proxy) CheckGrant(host string, port int) error {
	rule, err := newRule(choir.EgressHost{Host: host, Port: port})
	switch {
	case err != nil:
		return err
	case rule.Host != host || rule.Port != port || host == "" || host[0] == '*':
		return choir.RefuseField("host", choir.ReasonGrantOneHost, choir.TextOf("given", host))
	case p.Policy().Mode == choir.EgressNone:
		return choir.Refuse("egress.grant", choir.ReasonEgressClosed)
	}
	if a, known := addressOf(host); known && !p.cfg.Outside.Permit(a) {
		return choir.Refuse("egress.grant", choir.ReasonEgressAddress, choir.TextOf("host", Target{Host: host, Port: port}.HostPort()))
	}
	return nil
}

// addressOf returns the address of a canonical host that is known without a look-up: an address
// is its own, and localhost with all names below it is the loopback address (RFC 6761, 6.3).
func addressOf(host string) (a netip.Addr, known bool) {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	a, err := netip.ParseAddr(host)
	return a, err == nil
}

// Askable reports whether a grant would let out what was refused, so that the owner can be
// asked for it.
func (p *Proxy) Askable(r Refusal) bool {
	switch r.Why {
	case choir.EgressPolicy, choir.EgressTask, choir.EgressRule:
		return p.CheckGrant(r.Host, r.Port) == nil
	}
	return false
}

// EndGrants cuts what went out by a grant that ends with id: the grant's own, that of its task
// or of its run.
func (p *Proxy) EndGrants(id choir.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended.add(id)
	for one := range p.open {
		if one.grant.endsWith(id) {
			one.cut("grant")
		}
	}
}

// CutHeld cuts what is open to hosts that rules hold from now on, and returns how many passages
// were cut. Requests that are admitted after it ask Work.Holds.
func (p *Proxy) CutHeld(holds func(host string) bool) (cut int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for one := range p.open {
		if holds(one.target.Host) {
			one.cut("held")
			cut++
		}
	}
	return cut
}

// fits reports whether a policy lets a passage out, or its grant does under it.
func (o *passage) fits(policy Policy) bool {
	if o.grant != nil {
		return policy.Mode != choir.EgressNone
	}
	if o.inspected {
		return policy.names(o.target)
	}
	_, ok := policy.Find(o.target)
	return ok
}

// lookAtClock is how often an open passage asks the clock whether its grant has expired: timers
// stand still while the machine sleeps.
const lookAtClock = 10 * time.Second

// endWithGrant cuts the passage when its grant expires by the clock now, and no later than a clock
// that is set back would have it.
func (o *passage) endWithGrant(now func() time.Time) {
	if o.grant == nil || o.grant.Expires.IsZero() {
		return
	}
	life, from := o.grant.Expires.Sub(o.began), time.Now()
	var look func()
	look = func() {
		left := min(o.grant.Expires.Sub(now()), life-time.Since(from))
		switch {
		case left <= 0:
			o.cut("grant")
		case o.ctx.Err() == nil:
			o.expiry.Store(time.AfterFunc(min(left, lookAtClock), look))
		}
	}
	look()
}

// maxRecent is the number of ends that are remembered, for requests that were read when their
// grant still held.
const maxRecent = 1024

// recent holds the newest ids of what grants ended with.
type recent struct {
	ids  [maxRecent]choir.ID
	next int
}

func (r *recent) add(id choir.ID) {
	r.ids[r.next] = id
	r.next = (r.next + 1) % maxRecent
}

// has reports whether a grant ended lately; false for nil.
func (r *recent) has(g *Grant) bool {
	return g != nil && slices.ContainsFunc(r.ids[:], g.endsWith)
}
