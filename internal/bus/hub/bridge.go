package hub

import (
	"context"
	"io"
	"net"

	"choiros/internal/choir"
)

// Bridge copies bytes between nc, which speaks the NATS protocol, and the server, until
// either side ends or ctx does. It closes nc.
//
// It serves the doors of sandboxes and the browser's WebSocket (as the NetConn of a
// coder/websocket connection in binary mode, with a read limit above bus.MaxPayload). The
// client authenticates itself by its credentials.
func (s *Server) Bridge(ctx context.Context, nc net.Conn) error {
	defer nc.Close()
	if !s.beginBridge() {
		return ErrClosed
	}
	defer s.pumps.Done()
	inside, err := s.Dial(ctx)
	if err != nil {
		return err
	}
	return Join(ctx, nc, inside)
}

// Join copies bytes between the connection nc of a client and the connection inside of a
// NATS server, until either side ends or ctx does. It closes both.
func Join(ctx context.Context, nc, inside net.Conn) (err error) {
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
