package hub

import (
	"github.com/nats-io/nats-server/v2/server"

	"choiros/internal/bus"
)

// Figures returns the current measurements; all are 0 while the bus does not run.
func (s *Server) Figures() bus.Figures {
	ns := s.current()
	if ns == nil || !ns.Running() {
		return bus.Figures{}
	}
	f := bus.Figures{Connections: ns.NumClients(), SlowConsumers: ns.NumSlowConsumers()}
	// A bus without its store says so in Healthy, and has no bytes.
	if info, err := ns.Jsz(&server.JSzOptions{}); err == nil {
		f.StoreBytes = int64(info.Store)
	}
	return f
}
