package supervisor

import (
	"context"
	"net/http"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/rolehost"
	"choiros/internal/control/api"
	"choiros/internal/control/egress"
	"choiros/internal/control/gitgate"
	"choiros/internal/control/keygate"
	"choiros/internal/control/modelgw"
	"choiros/internal/control/vault"
	"choiros/internal/eventstore"
)

// outlet serves the egress doors of a computer's sandboxes.
type outlet struct {
	*modelgw.Gateway
	proxy *egress.Proxy
	gate  *gitgate.Gate
	keys  *keygate.Gate
	stop  context.CancelFunc // ends the follower of the log
	done  chan struct{}      // closed when it has ended
}

// Close ends the model calls and the requests for hosts, and waits until that is recorded.
func (o *outlet) Close() error {
	o.stop()
	<-o.done
	o.proxy.Close()
	return o.Gateway.Close()
}

// gateways are the outlets of the computers, created on first use.
type gateways struct {
	cfg      *Config
	policy   *policyInForce
	signers  *authorities
	packages *packageCache
	vault    *vault.Vault
	remotes  remotes
	demos    *demos // which answer model calls in the models' place

	perComputer[*outlet]
}

// handler returns the handler of the egress door of a computer's sandboxes. It serves the
// model gateway, the gateways for git and for keys, the proxy for requests to hosts, and
// what init asks about their names.
func (g *gateways) handler(c *computer.Computer) http.Handler {
	out := g.outlet(c)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gitgate.Serves(r) {
			out.gate.ServeHTTP(w, r)
			return
		}
		if keygate.Serves(r) {
			out.keys.ServeHTTP(w, r)
			return
		}
		if r.Method == http.MethodConnect || r.URL.IsAbs() {
			out.proxy.ServeHTTP(w, r)
			return
		}
		if strings.HasPrefix(r.URL.Path, choir.NamesPath) {
			out.proxy.ServeName(w, r)
			return
		}
		out.ServeHTTP(w, r)
	})
}

// close closes all outlets and waits until the ends of their calls are recorded.
func (g *gateways) close() error {
	var errs []error
	for _, gw := range g.clear() {
		errs = append(errs, gw.Close())
	}
	return joined(errs)
}

// outlet returns the outlet of a computer, and creates it on the first call.
func (g *gateways) outlet(c *computer.Computer) *outlet {
	return g.get(c.ID(), func() *outlet {
		ctx, stop := context.WithCancel(context.Background())
		out := &outlet{Gateway: g.newGateway(c), proxy: g.newProxy(c), stop: stop, done: make(chan struct{})}
		out.gate = g.newGate(c, out.proxy)
		out.keys = &keygate.Gate{Computer: c.ID(), Proxy: out.proxy, Vault: g.vault, Answer: api.WriteProblem}
		head, _ := c.Store().Head()
		go func() {
			defer close(out.done)
			endGrants(ctx, c.Store(), head, func() { out.proxy.CutHeld(c.Effects().Policy().Holds) }, out.proxy.EndGrants)
		}()
		return out
	})
}

// waits returns the reason why a model call of a run waits now; "" if none waits.
func (g *gateways) waits(computer, run choir.ID) string {
	if gw := g.peek(computer); gw != nil {
		return gw.Waits(run)
	}
	return ""
}

// closeUnreturned records the end of model calls that the previous session left open.
func (g *gateways) closeUnreturned(ctx context.Context, c *computer.Computer) error {
	return g.outlet(c).CloseUnreturned(ctx)
}

// drainCalls cancels the model calls and the requests for hosts of a computer that stops, and
// waits until their end is recorded.
func (g *gateways) drainCalls(c *computer.Computer) error {
	if gw := g.drop(c.ID()); gw != nil {
		return gw.Close()
	}
	return nil
}

// newGateway returns the model gateway of a computer, configured from the settings.
func (g *gateways) newGateway(c *computer.Computer) *modelgw.Gateway {
	l := g.cfg.File.Limits
	return modelgw.New(books{c}, modelgw.Config{
		Computer: c.ID(), Routing: g.cfg.Connections.Routing, RunRoutes: g.demos.recordings(c).routes, Log: c.Store(), Blobs: c.Blobs(),
		Budget:  modelgw.Budget{Run: l.Run(), ComputerCostUSD: l.CostUSD, DesktopCostUSD: l.DesktopCost},
		Caller:  rolehost.Caller,
		MayCall: c.Roles().MayCall,
		Hold:    func(ctx context.Context, run choir.ID) error { return holdPaused(ctx, c.Store(), run) },
		Running: func(r *http.Request) (modelgw.Work, error) { return workOf(r.Context(), c) },
		Now:     func() choir.Time { return choir.TimeOf(g.cfg.Now()) },
		NewID:   c.NewID,
	})
}

// holdPaused waits until a run is not paused: neither a role that has not heard of the pause
// yet nor a program that a command started calls a model for it meanwhile.
func holdPaused(ctx context.Context, log *eventstore.Store, run choir.ID) error {
	for {
		head, _ := log.Head()
		r, err := log.Run(ctx, run)
		if choir.CodeOf(err) == choir.CodeNotFound || err == nil && r.PausedSeq == 0 {
			return nil // a task that a person wrote has no run in the log
		}
		if err == nil {
			err = log.WaitPast(ctx, head)
		}
		if err != nil {
			return err
		}
	}
}

// newProxy returns the proxy of a computer, under the policy of the settings.
func (g *gateways) newProxy(c *computer.Computer) *egress.Proxy {
	var proxy *egress.Proxy
	proxy = egress.New(egress.Config{
		Policy: g.policy.get(), Outside: g.cfg.Outside, Limits: egress.DefaultLimits(),
		Work:   func(r *http.Request) (egress.Work, error) { return errandOf(r, c) },
		Caller: rolehost.CallerName,
		Log:    passages{c, func() *egress.Proxy { return proxy }},
		Answer: api.WriteProblem,
		Now:    g.cfg.Now, Authority: g.signers.open(c.ID()), Packages: g.packages.Cache,
		Inject: keygate.Injector{Computer: c.ID(), Vault: g.vault},
	})
	return proxy
}

// Waits returns the reason why a model call of a run waits now; "" if none waits.
func (s *System) Waits(computer, run choir.ID) string { return s.gateways.waits(computer, run) }

// ReloadEgress reads the configuration file again and puts its policy for hosts outside and its
// rules for results of tasks in force, see policyInForce.reload.
func (s *System) ReloadEgress(context.Context) (api.EgressReloaded, error) {
	return s.policy.reload(s.gateways)
}

// ChooseEgress keeps the owner's choice of a policy for hosts outside and puts it in force, see
// policyInForce.chooseMode.
func (s *System) ChooseEgress(_ context.Context, mode choir.EgressMode) (api.EgressReloaded, error) {
	return s.policy.chooseMode(s.gateways, mode)
}

// ChooseListed takes a host away from the list of mode git+pkg, or puts it back, see
// policyInForce.chooseListed.
func (s *System) ChooseListed(_ context.Context, host string, out bool) (api.EgressReloaded, error) {
	return s.policy.chooseListed(s.gateways, host, out)
}
