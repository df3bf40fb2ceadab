package guest

import (
	"context"
	"errors"
	"net"
	"strconv"
	"syscall"

	"choiros/internal/choir"
)

// dialPort handles the operation dial: it joins the connection with a port on loopback.
func (s *Server) dialPort(ctx context.Context, w *wire, r *request) (any, error) {
	if r.Port == 0 {
		return nil, choir.Invalid("request.port", "is required")
	}
	dial := s.cfg.DialPort
	if dial == nil {
		dial = dialLoopback
	}
	port, err := dial(ctx, r.Port)
	if err != nil {
		return nil, err
	}
	defer port.Close()
	stop := context.AfterFunc(ctx, func() { port.Close() })
	defer stop()
	if err := w.writeJSON(frameReply, &done{}); err != nil {
		return nil, err
	}
	join(w.bare(), port)
	return nil, nil
}

// dialLoopback connects to a port on 127.0.0.1, or on ::1 if that fails.
func dialLoopback(ctx context.Context, port int) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err == nil {
		return conn, nil
	}
	// Some servers listen on the other loopback only.
	other, failed := d.DialContext(ctx, "tcp", net.JoinHostPort("::1", strconv.Itoa(port)))
	if failed != nil {
		return nil, portUnreachable(port, err)
	}
	return other, nil
}

// portUnreachable returns the error that tells a person why there is no server at a port.
func portUnreachable(port int, err error) error {
	e := &choir.Error{Code: choir.CodeUnavailable, Msg: "nothing listens at port " + strconv.Itoa(port) + " of the sandbox"}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		e.Msg, e.Err = "port "+strconv.Itoa(port)+" of the sandbox cannot be reached", err
	}
	return e.WithRemedy("start a server at that port, in a terminal or by asking for one, then try again")
}

// DialPort connects to a port on the sandbox's loopback. The caller closes the
// connection; ctx bounds only the dialling. If nothing listens there the error is code
// unavailable.
func (c *Client) DialPort(ctx context.Context, port int) (net.Conn, error) {
	s, err := c.open(ctx, &request{Op: opDial, Port: port})
	if err != nil {
		return nil, err
	}
	if err := s.reply(opDial, &done{}); err != nil {
		s.close()
		// What the sandbox says is for people: as it is, with its remedy.
		if said := new(choir.Error); errors.As(errors.Unwrap(err), &said) {
			return nil, said
		}
		return nil, err
	}
	if !s.stop() {
		s.close()
		return nil, s.fail(opDial, ctx.Err())
	}
	return s.bare(), nil
}

// bare is the connection of a wire used as a byte stream, without frames. Bytes that the
// wire had buffered are read first.
type bare struct {
	net.Conn
	w *wire
}

func (w *wire) bare() bare { return bare{w.conn, w} }

// Read implements net.Conn.
func (b bare) Read(p []byte) (int, error) { return b.w.in.Read(p) }

// CloseWrite ends the outgoing direction; a connection that cannot do that is closed.
func (b bare) CloseWrite() error {
	if half, ok := b.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return b.Close()
}
