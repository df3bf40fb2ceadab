package supervisor

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/rolehost"
	"choiros/internal/control/api"
	"choiros/internal/control/modelgw"
)

// gateways are the model gateways of the computers, created on first use.
type gateways struct {
	mu sync.Mutex // guards of
	of map[choir.ID]*modelgw.Gateway
}

// egress returns the handler of the egress door of a computer's sandboxes. It serves the
// model gateway, and refuses all other hosts, because the egress policy is none.
func (s *System) egress(c *computer.Computer) http.Handler {
	gw := s.gateway(c)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect || r.URL.IsAbs() {
			refuseEgress(c, w, r)
			return
		}
		gw.ServeHTTP(w, r)
	})
}

// get returns a computer's gateway, which make creates on the first call.
func (g *gateways) get(id choir.ID, make func() *modelgw.Gateway) *modelgw.Gateway {
	g.mu.Lock()
	defer g.mu.Unlock()
	if gw, ok := g.of[id]; ok {
		return gw
	}
	gw := make()
	if g.of == nil {
		g.of = map[choir.ID]*modelgw.Gateway{}
	}
	g.of[id] = gw
	return gw
}

// peek returns a computer's gateway; nil if none was created.
func (g *gateways) peek(id choir.ID) *modelgw.Gateway {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.of[id]
}

// drop removes and returns a computer's gateway; nil if none was created.
func (g *gateways) drop(id choir.ID) *modelgw.Gateway {
	g.mu.Lock()
	defer g.mu.Unlock()
	gw := g.of[id]
	delete(g.of, id)
	return gw
}

// close closes all gateways and waits until the ends of their calls are recorded.
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

// gateway returns the model gateway of a computer, and creates it on the first call.
func (s *System) gateway(c *computer.Computer) *modelgw.Gateway {
	return s.gateways.get(c.ID(), func() *modelgw.Gateway { return s.newGateway(c) })
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
	return s.gateway(c).CloseUnreturned(ctx)
}

// drainCalls cancels the model calls of a computer that stops, and waits until their end
// is recorded.
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

// refuseEgress answers a request for a host with code refused, and records the refusal
// in the log.
func refuseEgress(c *computer.Computer, w http.ResponseWriter, r *http.Request) {
	host, port := r.Host, 0
	if h, p, err := net.SplitHostPort(r.Host); err == nil {
		host = h
		port, _ = strconv.Atoi(p)
	}
	e := choir.Refuse("egress", choir.ReasonEgressNone, choir.TextOf("host", strings.ToValidUTF8(host, "?")))
	if err := c.Roles().RecordRefusal(context.WithoutCancel(r.Context()), host, port); err != nil {
		api.WriteProblem(w, err)
		return
	}
	api.WriteProblem(w, e)
}
