package rolehost

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/guest/roledoor"
)

// Limits of the streams that a sandbox may have open at once, so that it cannot exhaust
// the control plane's descriptors. Tools have a limit of their own. The role has two
// streams to the bus while its credentials are renewed.
const (
	maxRoleAtBus    = 16
	maxRoleAtEgress = 32
	maxToolAtEgress = 256
)

// doors serves the streams that programs of one sandbox open to the bus and to egress.
type doors struct {
	ofRole []*guest.Listener // listeners for streams of the role
	bus    io.Closer
	egress *http.Server
	end    context.CancelFunc // cancels every request at the egress door
	served chan error         // receives the error of each egress listener
}

// serveDoors starts to accept streams from a sandbox: to the bus from its role only, to
// egress from all programs. choir-init says which program opened a stream.
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

// egressGrace is how long requests at the egress door may take to end when the doors close.
const egressGrace = 2 * time.Second

// endRole closes the streams of the role's process with the given launch number, which has
// exited.
func (d *doors) endRole(launch int) {
	for _, l := range d.ofRole {
		l.EndRole(launch)
	}
}

// close closes every stream and waits for its handler.
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

// caller identifies the program that opened a stream to the egress door.
type caller struct {
	role   choir.Role // the role of its sandbox
	isRole bool
	at     netip.Addr // the address that a tool connected to
}

// withCaller returns ctx with the caller of a connection at the egress door.
func (s *seat) withCaller(ctx context.Context, conn net.Conn) context.Context {
	stream, ok := conn.(*guest.Stream)
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, callerKey{}, caller{s.role, stream.Caller == guest.CallerRole, stream.At})
}

// Caller returns the role whose sandbox a request at the egress door comes from, and
// whether the role's own process made it.
func Caller(r *http.Request) (role choir.Role, isRole bool) {
	c, _ := r.Context().Value(callerKey{}).(caller)
	return c.role, c.isRole
}

// CallerName returns a name of the caller of a request at the egress door: the role of its sandbox and
// the address by which its tool call is known. A program chooses among the addresses of its sandbox.
func CallerName(r *http.Request) string {
	c, _ := r.Context().Value(callerKey{}).(caller)
	return string(c.role) + " " + c.at.String()
}
