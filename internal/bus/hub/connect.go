package hub

import (
	"context"
	"net"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"

	"choiros/internal/bus"
	"choiros/internal/choir"
)

// InProcessConn opens a byte stream to the current NATS server. It implements
// nats.InProcessConnProvider, so that connections survive a Restart.
func (s *Server) InProcessConn() (net.Conn, error) {
	ns := s.current()
	if ns == nil {
		return nil, ErrClosed
	}
	nc, err := ns.InProcessConn()
	return nc, choir.Wrap("bus.dial", choir.CodeUnavailable, err, "open a connection to the bus")
}

// Dial opens a byte stream to the server, for bus.DialConfig.
func (s *Server) Dial(context.Context) (net.Conn, error) { return s.InProcessConn() }

// Connect opens an in-process connection that reconnects after a Restart. The caller
// closes it.
func (s *Server) Connect(creds bus.Credentials, opts ...nats.Option) (*nats.Conn, error) {
	warn := nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		s.cfg.Log.Warn("a connection of control", "error", err)
	})
	return connect(s, creds, append([]nats.Option{warn}, opts...)...)
}

// connect opens an in-process NATS connection that reconnects for ever, unless opts say otherwise.
func connect(to nats.InProcessConnProvider, creds bus.Credentials, opts ...nats.Option) (*nats.Conn, error) {
	nc, err := nats.Connect("", append([]nats.Option{
		nats.InProcessServer(to), nats.UserJWTAndSeed(creds.JWT, creds.Seed),
		nats.CustomInboxPrefix(creds.Inbox), nats.Name(creds.Connection),
		nats.MaxReconnects(-1), nats.ReconnectWait(20 * time.Millisecond), nats.ReconnectBufSize(-1),
	}, opts...)...)
	return nc, choir.Wrap("bus.connect", choir.CodeUnavailable, err, "connect to the bus")
}

// own opens a connection of the control plane with the given permissions. Its credentials
// do not expire, because its key never leaves the process.
func (s *Server) own(perms jwt.Permissions, connection string, opts ...nats.Option) (*nats.Conn, error) {
	creds, err := s.mint(perms, connection, 0)
	if err != nil {
		return nil, err
	}
	return s.Connect(creds, opts...)
}

// ownControl opens a connection of the control plane with its permissions for one computer.
func (s *Server) ownControl(user, computer choir.ID, opts ...nats.Option) (*nats.Conn, error) {
	if !user.Valid() || !computer.Valid() {
		return nil, choir.Invalid("computer", "a connection of control needs a user and a computer, not %q and %q", user, computer)
	}
	c := choir.Caller{Role: choir.RoleControl, User: user, Computer: computer, Connection: newConnection()}
	return s.own(permissions(c), c.Connection, opts...)
}
