package rolehost

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/guest/roledoor"
)

// How many streams a sandbox may have open at a time, so that it cannot use up
// the control plane's descriptors. Tools have places of their own and cannot take
// the role's. At the bus a role has two streams while its credentials are renewed.
const (
	maxRoleAtBus    = 16
	maxRoleAtEgress = 32
	maxToolAtEgress = 256
)

// doors serve the streams that the programs of one sandbox open.
type doors struct {
	ofRole []*guest.Listener // where the role's streams come from
	bus    io.Closer
	egress *http.Server
	end    context.CancelFunc // of every request at the egress door
	served chan error         // one for each listener at the egress door
}

// serveDoors begins to accept streams from a sandbox, at the bus from its role
// only. Who opened one comes with it from init.
func (s *seat) serveDoors(ctx context.Context, client *guest.Client) *doors {
	bus := client.Listen(roledoor.Bus, guest.CallerRole, maxRoleAtBus)
	role := client.Listen(roledoor.Egress, guest.CallerRole, maxRoleAtEgress)
	tools := client.Listen(roledoor.Egress, guest.CallerTool, maxToolAtEgress)
	requests, end := context.WithCancel(context.WithoutCancel(ctx))
	d := &doors{ofRole: []*guest.Listener{bus, role}, end: end, served: make(chan error, 2)}
	d.egress = &http.Server{
		Handler:           s.h.cfg.Egress(),
		BaseContext:       func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ConnContext:       s.withCaller,
	}
	d.bus = s.h.bus.ServeDoor(context.WithoutCancel(ctx), bus)
	for _, l := range []*guest.Listener{role, tools} {
		go func() { d.served <- d.egress.Serve(l) }()
	}
	return d
}

// egressGrace is how long requests at the egress door may take to notice that
// they ended.
const egressGrace = 2 * time.Second

// endRole ends the streams of a role that has exited.
func (d *doors) endRole(launch int) {
	for _, l := range d.ofRole {
		l.EndRole(launch)
	}
}

// close ends every stream and waits for whoever serves them.
func (d *doors) close(ctx context.Context) error {
	d.end()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), egressGrace)
	defer cancel()
	err := d.egress.Shutdown(grace)
	if err != nil {
		err = d.egress.Close()
	}
	for range cap(d.served) {
		if served := <-d.served; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
	}
	return errors.Join(err, d.bus.Close())
}

type callerKey struct{}

// caller is who opened a stream.
type caller struct {
	role   choir.Role // whose sandbox it is
	isRole bool
}

// withCaller notes with a connection at the egress door who opened it.
func (s *seat) withCaller(ctx context.Context, conn net.Conn) context.Context {
	stream, ok := conn.(*guest.Stream)
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, callerKey{}, caller{s.role, stream.Caller == guest.CallerRole})
}

// Caller says whose sandbox a request at the egress door comes from, and
// whether it is the role's own process or any other program in it.
func Caller(r *http.Request) (role choir.Role, isRole bool) {
	c, _ := r.Context().Value(callerKey{}).(caller)
	return c.role, c.isRole
}
