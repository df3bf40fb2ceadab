package hub

import (
	"context"
	"io"
	"net"

	"choiros/internal/choir"
)

// Bridge pumps a byte stream that speaks the NATS protocol into the server, and
// returns once either side ended or ctx did. It closes nc.
//
// It serves the sockets of sandboxes and the browser's WebSocket (as the NetConn
// of a coder/websocket connection in binary mode, with a read limit above
// MaxPayload). Who is at the other end is the business of the credentials.
func (s *Server) Bridge(ctx context.Context, nc net.Conn) error {
	defer nc.Close()
	if !s.enter() {
		return errClosed
	}
	defer s.pumps.Done()
	inside, err := s.Dial(ctx)
	if err != nil {
		return err
	}
	defer inside.Close()
	ended := make(chan struct{}, 2)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Either side hangs up when it likes; that is not a failure.
	go func() {
		carry(nc, inside)
		ended <- struct{}{}
	}()
	go func() {
		_, _ = io.Copy(inside, newPaced(ctx, nc))
		ended <- struct{}{}
	}()
	waiting := 2
	select {
	case <-ctx.Done():
		err = choir.Wrap("bus.bridge", choir.CodeCancelled, ctx.Err(), "a connection to the bus")
	case <-ended:
		waiting--
	}
	cancel()
	inside.Close()
	nc.Close()
	for ; waiting > 0; waiting-- {
		<-ended
	}
	return err
}
