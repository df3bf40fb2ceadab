package supervisor

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/rolehost"
	"choiros/internal/control/api"
	"choiros/internal/control/egress"
	"choiros/internal/control/modelgw"
)

// outlet serves the egress doors of a computer's sandboxes.
type outlet struct {
	*modelgw.Gateway
	proxy *egress.Proxy
}

// Close ends the model calls and the requests for hosts, and waits until that is recorded.
func (o *outlet) Close() error {
	o.proxy.Close()
	return o.Gateway.Close()
}

// gateways are the outlets of the computers, created on first use.
type gateways struct {
	mu sync.Mutex // guards of
	of map[choir.ID]*outlet
}

// egress returns the handler of the egress door of a computer's sandboxes. It serves the
// model gateway, and the proxy for requests to hosts.
func (s *System) egress(c *computer.Computer) http.Handler {
	out := s.outlet(c)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect || r.URL.IsAbs() {
			out.proxy.ServeHTTP(w, r)
			return
		}
		out.ServeHTTP(w, r)
	})
}

// get returns a computer's outlet, which make creates on the first call.
func (g *gateways) get(id choir.ID, make func() *outlet) *outlet {
	g.mu.Lock()
	defer g.mu.Unlock()
	if gw, ok := g.of[id]; ok {
		return gw
	}
	gw := make()
	if g.of == nil {
		g.of = map[choir.ID]*outlet{}
	}
	g.of[id] = gw
	return gw
}

// peek returns a computer's outlet; nil if none was created.
func (g *gateways) peek(id choir.ID) *outlet {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.of[id]
}

// drop removes and returns a computer's outlet; nil if none was created.
func (g *gateways) drop(id choir.ID) *outlet {
	g.mu.Lock()
	defer g.mu.Unlock()
	gw := g.of[id]
	delete(g.of, id)
	return gw
}

// close closes all outlets and waits until the ends of their calls are recorded.
func (g *gateways) close() error {
	g.mu.Lock()
	all := g.of
	g.of = nil
	g.mu.Unlock()
	var errs []error
	for _, gw := range all {
		errs = append(errs, gw.Close())
	}
	return joined(errs)
}

// outlet returns the outlet of a computer, and creates it on the first call.
func (s *System) outlet(c *computer.Computer) *outlet {
	return s.gateways.get(c.ID(), func() *outlet { return &outlet{s.newGateway(c), s.newProxy(c)} })
}

// Waits returns the reason why a model call of a run waits now; "" if none waits.
func (s *System) Waits(computer, run choir.ID) string {
	if gw := s.gateways.peek(computer); gw != nil {
		return gw.Waits(run)
	}
	return ""
}

// closeUnreturned records the end of model calls that the previous session left open.
func (s *System) closeUnreturned(ctx context.Context, c *computer.Computer) error {
	return s.outlet(c).CloseUnreturned(ctx)
}

// drainCalls cancels the model calls and the requests for hosts of a computer that stops, and
// waits until their end is recorded.
func (s *System) drainCalls(c *computer.Computer) error {
	if gw := s.gateways.drop(c.ID()); gw != nil {
		return gw.Close()
	}
	return nil
}

// newGateway returns the model gateway of a computer, configured from the settings.
func (s *System) newGateway(c *computer.Computer) *modelgw.Gateway {
	l := s.cfg.File.Limits
	return modelgw.New(books{c}, modelgw.Config{
		Computer: c.ID(), Routing: s.cfg.Connections.Routing, RunRoutes: s.recordings(c).routes, Log: c.Store(), Blobs: c.Blobs(),
		Budget:  modelgw.Budget{Run: l.Run(), ComputerCostUSD: l.CostUSD, DesktopCostUSD: l.DesktopCost},
		Caller:  rolehost.Caller,
		MayCall: c.Roles().MayCall,
		Running: func(r *http.Request) (modelgw.Work, error) { return workOf(r.Context(), c) },
		Now:     func() choir.Time { return choir.TimeOf(s.cfg.Now()) },
		NewID:   c.NewID,
	})
}

// newProxy returns the proxy of a computer, under the policy of the settings.
func (s *System) newProxy(c *computer.Computer) *egress.Proxy {
	return egress.New(egress.Config{
		Policy: s.policy, Outside: s.cfg.Outside, Limits: egress.DefaultLimits(),
		Work:   func(r *http.Request) (egress.Work, error) { return errandOf(r, c) },
		Log:    passages{c},
		Answer: api.WriteProblem,
		Now:    s.cfg.Now,
	})
}

// errandOf returns what a request at the egress door is for. The Director's sandbox reaches
// nothing outside.
func errandOf(r *http.Request, c *computer.Computer) (egress.Work, error) {
	if role, _ := rolehost.Caller(r); role != choir.RoleAssociate {
		return egress.Work{Closed: true}, nil
	}
	on := c.Roles().WorkingOn(r.Context())
	work := egress.Work{Run: on.Run, Task: on.Task, Call: on.Call}
	if on.Task == "" {
		return work, nil
	}
	t, err := c.Store().Task(r.Context(), on.Task)
	work.Profile = t.Task.EgressProfile
	return work, err
}

// egressOf says whether a task with an egress profile, nil for none of its own, may reach
// something outside, and which host of it the policy does not let out, or why the profile is
// none; "" if the policy lets all of it out.
func (s *System) egressOf(_ *computer.Computer, p *choir.EgressProfile) (online bool, wider string) {
	if p == nil {
		return s.policy.Mode != choir.EgressNone, ""
	}
	own, err := s.policy.Narrow(*p)
	if err != nil {
		return false, err.Error()
	}
	if rule, ok := s.policy.Beyond(own); ok {
		return false, fmt.Sprintf("%s with %s, and its policy is %s", p.Mode, rule, s.policy.Mode)
	}
	return own.Mode != choir.EgressNone, ""
}

// passages records in a computer's log what its proxy refused and let out.
type passages struct{ c *computer.Computer }

// RecordRefusal implements egress.Recorder.
func (p passages) RecordRefusal(ctx context.Context, _ egress.Work, r egress.Refusal) error {
	return p.c.Roles().RecordRefusal(ctx, choir.EgressRefused{Host: r.Host, Port: r.Port, Policy: string(r.Mode), Why: r.Why})
}

// RecordPassage implements egress.Recorder.
func (p passages) RecordPassage(ctx context.Context, w egress.Work, e choir.EgressPassed) error {
	return p.c.Roles().RecordPassage(ctx, rolehost.Working{Run: w.Run, Task: w.Task, Call: w.Call}, e)
}
