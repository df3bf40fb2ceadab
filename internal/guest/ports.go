package guest

import (
	"context"
	"net"
	"strconv"

	"choiros/internal/choir"
)

// dialPort joins the connection with a port on loopback.
func (s *Server) dialPort(ctx context.Context, w *wire, r *request) (any, error) {
	if r.Port == 0 {
		return nil, choir.Invalid("request.port", "is required")
	}
	var d net.Dialer
	port, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(r.Port)))
	if err != nil {
		// Some servers listen on the other loopback only.
		port, err = d.DialContext(ctx, "tcp", net.JoinHostPort("::1", strconv.Itoa(r.Port)))
	}
	if err != nil {
		return nil, &choir.Error{Op: "guest.dial", Code: choir.CodeUnavailable, Path: "port " + strconv.Itoa(r.Port), Msg: "nothing listens", Err: err}
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

// DialPort connects to a port on the sandbox's loopback; code unavailable when
// nothing listens there. ctx bounds the dialling only; the caller closes.
func (c *Client) DialPort(ctx context.Context, port int) (net.Conn, error) {
	s, err := c.open(ctx, &request{Op: opDial, Port: port})
	if err != nil {
		return nil, err
	}
	if err := s.reply(opDial, &done{}); err != nil {
		s.close()
		return nil, err
	}
	if !s.stop() {
		s.close()
		return nil, s.fail(opDial, ctx.Err())
	}
	return s.bare(), nil
}

// bare is a connection after its frames: what was read ahead comes first.
type bare struct {
	net.Conn
	w *wire
}

func (w *wire) bare() bare { return bare{w.conn, w} }

// Read implements net.Conn.
func (b bare) Read(p []byte) (int, error) { return b.w.in.Read(p) }

// CloseWrite ends one direction, where the connection can.
func (b bare) CloseWrite() error {
	if half, ok := b.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return b.Close()
}
