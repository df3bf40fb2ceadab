package supervisor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/rolehost"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/control/egress"
	"choiros/internal/durablefile"
	"choiros/internal/effect"
	"choiros/internal/eventstore"
)

// policyInForce has what a reload changes for all computers: the egress policy and the rules by
// which results of tasks wait for the owner.
type policyInForce struct {
	cfg      *Config
	changing sync.Mutex // held for one change of the policy, proxies included

	unkept *config.Network // in force, and not on the disk, which was full; guarded by changing

	mu     sync.Mutex // guards the fields below; held for no call
	policy egress.Policy
	file   config.Config // whose sections [egress] and [[approve]] are in force
	holds  effect.Policy // of its rules
}

// get returns the policy in force.
func (p *policyInForce) get() egress.Policy {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.policy
}

// config returns the configuration whose sections [egress] and [[approve]] are in force.
func (p *policyInForce) config() config.Config {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.file
}

// approvals returns the policy for results of tasks that is in force.
func (p *policyInForce) approvals() effect.Policy {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.holds
}

// set puts the egress policy of a configuration in force.
func (p *policyInForce) set(policy egress.Policy, file config.Config) {
	p.mu.Lock()
	defer p.mu.Unlock()
	approve := p.file.Approve
	p.policy, p.file = policy, file
	p.file.Approve = approve
}

// setApprovals puts the tables [[approve]] of a configuration in force and returns the policy
// before it.
func (p *policyInForce) setApprovals(holds effect.Policy, file config.Config) (before effect.Policy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before = p.holds
	p.holds, p.file.Approve = holds, file.Approve
	return before
}

// reload reads the configuration file again and puts its section [egress] and its tables
// [[approve]] in force, in every computer, where it cuts what does not fit any more. A file with
// an error anywhere is refused, and both stay as they were. The other sections are those of the
// start. The owner's choices that could not be kept stay in force, and are written again.
func (p *policyInForce) reload(gateways *gateways) (api.EgressReloaded, error) {
	p.changing.Lock()
	defer p.changing.Unlock()
	file, from, err := p.reread()
	if err != nil {
		return api.EgressReloaded{}, err
	}
	if p.unkept != nil {
		if file, err = file.WithNetwork(*p.unkept); err != nil {
			return api.EgressReloaded{}, err
		}
	}
	policy, err := file.Egress.Policy()
	if err != nil {
		return api.EgressReloaded{}, err
	}
	holds, err := file.Policy()
	if err != nil {
		return api.EgressReloaded{}, err
	}
	if p.unkept != nil {
		// If it fails they stay unkept, as the owner was told when they were made.
		_ = p.keepChoices(*p.unkept)
	}
	before := p.setApprovals(holds, file)
	done := p.force(gateways, policy, file, from)
	for _, out := range gateways.all() {
		done.Cut += out.proxy.CutHeld(func(host string) bool { return holds.Holds(host) && !before.Holds(host) })
	}
	return done, nil
}

// chooseMode keeps the owner's choice of a mode for hosts outside and puts it in force, see choose.
// Code conflict: the configuration file gives one.
func (p *policyInForce) chooseMode(gateways *gateways, mode choir.EgressMode) (api.EgressReloaded, error) {
	return p.choose(gateways, func(n *config.Network, file config.Config, from string) error {
		if file.GivesEgressMode() {
			return choir.Refuse("egress.choose", choir.ReasonEgressModeGiven, choir.TextOf("path", from))
		}
		n.Mode = string(mode)
		return nil
	})
}

// chooseListed takes a host away from the list of mode git+pkg, or puts it back if out, keeps that
// and puts it in force, see choose. Code invalid: the list does not have the host; conflict: the
// configuration file gives egress.without.
func (p *policyInForce) chooseListed(gateways *gateways, host string, out bool) (api.EgressReloaded, error) {
	if !egress.IsListed(host) {
		return api.EgressReloaded{}, choir.RefuseField("host", choir.ReasonHostNotListed, choir.TextOf("given", host))
	}
	return p.choose(gateways, func(n *config.Network, file config.Config, from string) error {
		if file.GivesEgressWithout() {
			return choir.Refuse("egress.choose", choir.ReasonEgressWithoutGiven, choir.TextOf("path", from))
		}
		n.Without = slices.DeleteFunc(slices.Clone(n.Without), func(h string) bool { return h == host })
		if !out {
			n.Without = append(n.Without, host)
		}
		return nil
	})
}

// choose keeps what change makes of the owner's choices in config.NetworkFile and puts them in
// force, in every computer, where it cuts what does not fit any more. Code unavailable: they cannot
// be kept, and are in force only if the policy before lets out all that they do.
func (p *policyInForce) choose(gateways *gateways, change func(*config.Network, config.Config, string) error) (api.EgressReloaded, error) {
	p.changing.Lock()
	defer p.changing.Unlock()
	file, from, err := p.reread()
	if err != nil {
		return api.EgressReloaded{}, err
	}
	var chosen config.Network
	if p.unkept != nil {
		chosen = *p.unkept
	} else if chosen, err = config.LoadNetwork(p.cfg.Data); err != nil {
		return api.EgressReloaded{}, err
	}
	if err := change(&chosen, file, from); err != nil {
		return api.EgressReloaded{}, err
	}
	if file, err = file.WithNetwork(chosen); err != nil {
		return api.EgressReloaded{}, err
	}
	policy, err := file.Egress.Policy()
	if err != nil {
		return api.EgressReloaded{}, err
	}
	// What lets less out waits for no disk: a full one must not keep the owner from closing the way.
	before := p.get()
	_, wider := before.Beyond(policy)
	wider = wider || before.Mode == choir.EgressNone // under which no grant holds
	var done api.EgressReloaded
	if !wider {
		done = p.force(gateways, policy, file, from)
		p.unkept = &chosen
	}
	if err := p.keepChoices(chosen); err != nil {
		return done, err
	}
	if wider {
		done = p.force(gateways, policy, file, from)
	}
	return done, nil
}

// keepChoices writes the owner's choices to config.NetworkFile. Code unavailable: it cannot be
// written. The caller holds changing.
func (p *policyInForce) keepChoices(chosen config.Network) error {
	raw, err := chosen.Encode()
	if err != nil {
		return err
	}
	err = durablefile.Write(filepath.Join(p.cfg.Data, config.NetworkFile), raw)
	if err != nil && !errors.Is(err, durablefile.ErrReplaced) {
		return choir.Wrap("egress.choose", choir.CodeUnavailable, err, "keep the policy in %s", config.NetworkFile)
	}
	p.unkept = nil
	return nil
}

// reread reads the configuration again, and the path of its file.
func (p *policyInForce) reread() (config.Config, string, error) {
	if p.cfg.Reread == nil {
		return config.Config{}, "", choir.Refuse("egress.reload", choir.ReasonNoConfiguration)
	}
	return p.cfg.Reread()
}

// force puts the policy of a configuration in force. The caller holds changing.
func (p *policyInForce) force(gateways *gateways, policy egress.Policy, file config.Config, from string) api.EgressReloaded {
	p.set(policy, file)
	cut := 0
	for _, out := range gateways.all() {
		cut += out.proxy.SetPolicy(policy)
	}
	return api.EgressReloaded{File: from, Mode: string(policy.Mode), Hosts: len(file.Egress.Allowlist), Rules: len(p.config().Approve), Cut: cut}
}

// errandOf returns what a request at the egress door is for. The Director's sandbox reaches
// nothing outside.
func errandOf(r *http.Request, c *computer.Computer) (egress.Work, error) {
	if role, _ := rolehost.Caller(r); role != choir.RoleAssociate {
		return egress.Work{Closed: true}, nil
	}
	on, err := c.Roles().WorkingOn(r.Context())
	work := egress.Work{Run: on.Run, Task: on.Task, Call: on.Call}
	if err != nil {
		return work, err
	}
	held, err := c.Grants().Holding(r.Context(), on.Run, on.Task)
	if err != nil {
		return work, err
	}
	for _, g := range held {
		work.Grants = append(work.Grants, grantOf(g))
	}
	work.Holds = func(host string) bool {
		return c.Effects().Policy().Holds(host) && taskWorks(r.Context(), c, on.Task)
	}
	if on.Task == "" {
		return work, nil
	}
	t, err := c.Store().Task(r.Context(), on.Task)
	work.Project, work.Profile = t.Task.Repo, t.Task.EgressProfile
	return work, err
}

// taskWorks reports whether rules of [[approve]] are about a request of a task, or of none. While
// a task works they are about those of no task too, because the mark of a task protects nothing.
// A log that cannot be read counts as a task that works.
func taskWorks(ctx context.Context, c *computer.Computer, task choir.ID) bool {
	if task != "" {
		return true
	}
	open, err := c.Store().OpenTasks(ctx)
	return err != nil || slices.ContainsFunc(open, func(t eventstore.Task) bool { return t.State == eventstore.TaskStarted })
}

// grantOf returns a grant of the log as the proxy holds it.
func grantOf(g eventstore.EgressGrant) egress.Grant {
	out := egress.Grant{ID: g.ID, Host: g.Host, Port: g.Port}
	switch g.Scope {
	case choir.EgressForTask:
		out.Run, out.Task = g.Run, g.Task
	case choir.EgressForRun:
		out.Run = g.Run
	}
	if g.Expires != 0 {
		out.Expires = g.Expires.Std()
	}
	return out
}

// followedLog is the part of a log that endGrants reads; eventstore.Store is one.
type followedLog interface {
	Follow(ctx context.Context, cursor uint64) iter.Seq2[choir.Event, error]
}

// followPause is the time after an error of the log before it is read again.
const followPause = time.Second

// endGrants calls end with each task and run that ends, so that what is open by its grants is cut,
// and began when a task begins, which could send by what is open to hosts of rules, until ctx ends.
// It follows the log from an event, and goes on after an error, as on a full disk; what is asked
// anew is decided by the log itself.
func endGrants(ctx context.Context, log followedLog, from uint64, began func(), end func(choir.ID)) {
	pause := time.NewTimer(followPause)
	defer pause.Stop()
	for {
		for e, err := range log.Follow(ctx, from) {
			if err != nil {
				break // the store says what is wrong with it
			}
			from = e.Seq
			switch e.Type {
			case choir.TypeTaskStarted:
				began()
			case choir.TypeTaskReturned:
				end(e.Task)
			case choir.TypeRunFinished:
				end(e.Run)
			}
		}
		pause.Reset(followPause)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// checkGrant returns nil if a grant of a computer for a host and port can let something out.
func (g *gateways) checkGrant(c *computer.Computer, host string, port int) error {
	return g.outlet(c).proxy.CheckGrant(host, port)
}

// openHosts returns the hosts to which programs of a computer have something open, of a task or
// beside it.
func (g *gateways) openHosts(c *computer.Computer, task choir.ID) []choir.EffectHost {
	if out := g.peek(c.ID()); out != nil {
		return out.proxy.OpenHosts(task)
	}
	return nil
}

// endGrant cuts what is open by a grant that was revoked.
func (g *gateways) endGrant(c *computer.Computer, grant choir.ID) {
	if out := g.peek(c.ID()); out != nil {
		out.proxy.EndGrants(grant)
	}
}

// allows says whether a task with an egress profile, nil for none of its own, may reach
// something outside, and why it must not begin; "" if it may. A host of the profile that the policy
// does not let out keeps no task from its work: it is refused when it is wanted, and the owner is
// asked for it. Under a policy that is closed nobody can be asked.
func (p *policyInForce) allows(_ *computer.Computer, profile *choir.EgressProfile) (online bool, wider string) {
	policy := p.get()
	if profile == nil {
		return policy.Mode != choir.EgressNone, ""
	}
	own, err := policy.Narrow(*profile)
	if err != nil {
		return false, err.Error()
	}
	if rule, ok := policy.Beyond(own); ok && policy.Mode == choir.EgressNone {
		return false, fmt.Sprintf("%s with %s, and its policy is none; the owner chooses another on the page Hosts outside, or with: choir egress mode allowlist", profile.Mode, rule)
	}
	return own.Mode != choir.EgressNone, ""
}

// passages records in a computer's log what its proxy refused and let out.
type passages struct {
	c     *computer.Computer
	proxy func() *egress.Proxy
}

// RecordRefusal implements egress.Recorder. What a grant would let out asks the owner for one.
func (p passages) RecordRefusal(ctx context.Context, w egress.Work, r egress.Refusal) (asked bool, err error) {
	e := choir.EgressRefused{Host: r.Host, Port: r.Port, Policy: string(r.Mode), Why: r.Why}
	if !w.Closed {
		if err := p.recordForTasks(ctx, w.Task, e); err != nil {
			return false, err
		}
	}
	if w.Closed || !p.proxy().Askable(r) {
		_, err := p.c.Roles().RecordRefusal(ctx, e, 0)
		return false, err
	}
	asking, err := p.c.Grants().Asking(ctx, r.Host, r.Port, w.Run, w.Task)
	if err != nil {
		return false, err
	}
	e.Asked = asking.May
	recorded, err := p.c.Roles().RecordRefusal(ctx, e, asking.After)
	return asking.Asks || asking.May && recorded, err
}

// recordForTasks records the refusal of a host that a rule of [[approve]] names for all tasks at
// work but one: each of them could have asked as that one, or as a program of no task.
func (p passages) recordForTasks(ctx context.Context, but choir.ID, e choir.EgressRefused) error {
	if !p.c.Effects().Policy().Holds(e.Host) {
		return nil
	}
	open, err := p.c.Store().OpenTasks(ctx)
	for _, t := range open {
		if err == nil && t.State == eventstore.TaskStarted && t.ID != but {
			_, err = p.c.Roles().RecordRefusalOf(ctx, rolehost.Working{Run: t.Run, Task: t.ID}, e, 0)
		}
	}
	return err
}

// RecordPassage implements egress.Recorder.
func (p passages) RecordPassage(ctx context.Context, w egress.Work, e choir.EgressPassed) error {
	return p.c.Roles().RecordPassage(ctx, rolehost.Working{Run: w.Run, Task: w.Task, Call: w.Call}, e)
}
