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

// gateways are the model gateways of the computers.
type gateways struct {
	mu sync.Mutex // guards of
	of map[choir.ID]*modelgw.Gateway
}

// egress is what stands behind the egress door of a computer's sandboxes: the
// model gateway, and nothing else while the policy is none.
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

// peek is a computer's gateway; nil when it has none.
func (g *gateways) peek(id choir.ID) *modelgw.Gateway {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.of[id]
}

// drop takes a computer's gateway out; nil when it has none.
func (g *gateways) drop(id choir.ID) *modelgw.Gateway {
	g.mu.Lock()
	defer g.mu.Unlock()
	gw := g.of[id]
	delete(g.of, id)
	return gw
}

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

// gateway is the model gateway of a computer.
func (s *System) gateway(c *computer.Computer) *modelgw.Gateway {
	return s.gateways.get(c.ID(), func() *modelgw.Gateway { return s.newGateway(c) })
}

// Waits says why a model call of a run waits now; empty when none does.
func (s *System) Waits(computer, run choir.ID) string {
	if gw := s.gateways.peek(computer); gw != nil {
		return gw.Waits(run)
	}
	return ""
}

// closeUnreturned ends the model calls that the session before left open.
func (s *System) closeUnreturned(ctx context.Context, c *computer.Computer) error {
	return s.gateway(c).CloseUnreturned(ctx)
}

// drainCalls ends the model calls of a computer that goes to sleep.
func (s *System) drainCalls(c *computer.Computer) error {
	if gw := s.gateways.drop(c.ID()); gw != nil {
		return gw.Close()
	}
	return nil
}

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

// refuseEgress says no, and says so in the log.
func refuseEgress(c *computer.Computer, w http.ResponseWriter, r *http.Request) {
	host, port := r.Host, 0
	if h, p, err := net.SplitHostPort(r.Host); err == nil {
		host = h
		port, _ = strconv.Atoi(p)
	}
	e := choir.E("egress", choir.CodeRefused, "the computer's egress policy is none: %s cannot be reached from its sandboxes", strings.ToValidUTF8(host, "?")).
		WithRemedy("only the bus and the model gateway can be reached until the owner can grant hosts")
	if err := c.Roles().RecordRefusal(context.WithoutCancel(r.Context()), host, port); err != nil {
		api.WriteProblem(w, err)
		return
	}
	api.WriteProblem(w, e)
}
