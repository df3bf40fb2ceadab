package hub

import "github.com/nats-io/nats-server/v2/server"

// Figures are measurements of the bus.
type Figures struct {
	Connections   int   // of roles, pages and the control plane
	SlowConsumers int64 // connections ended since the bus started because they did not keep up
	StoreBytes    int64 // size of the stream on disk
}

// Figures returns the current measurements; all are 0 while the bus does not run.
func (s *Server) Figures() Figures {
	ns := s.current()
	if ns == nil || !ns.Running() {
		return Figures{}
	}
	f := Figures{Connections: ns.NumClients(), SlowConsumers: ns.NumSlowConsumers()}
	// A bus without its store says so in Healthy, and has no bytes.
	if info, err := ns.Jsz(&server.JSzOptions{}); err == nil {
		f.StoreBytes = int64(info.Store)
	}
	return f
}
