package hub

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// Door connects the clients of one listener to the bus.
type Door struct {
	bus      *Server
	listener net.Listener
	cancel   context.CancelFunc
	running  sync.WaitGroup // the accept loop and every connection
}

// ServeDoor bridges every connection of listener to the bus, until ctx ends or Close, and
// closes the listener. The listener limits who connects and how often; clients
// authenticate by their credentials.
func ServeDoor(ctx context.Context, listener net.Listener, s *Server) *Door {
	d := &Door{bus: s, listener: listener}
	ctx, d.cancel = context.WithCancel(ctx)
	d.running.Go(func() { d.serve(ctx) })
	context.AfterFunc(ctx, func() { listener.Close() })
	return d
}

// serve accepts connections and bridges each to the bus, until the listener is closed.
func (d *Door) serve(ctx context.Context) {
	for {
		nc, err := d.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Out of descriptors or memory: others give some back, so wait a little.
			if !pause(ctx, 50*time.Millisecond) {
				return
			}
			continue
		}
		d.running.Go(func() {
			defer nc.Close()
			// How a connection of a sandbox ends is the sandbox's business.
			_ = d.bus.Bridge(ctx, nc)
		})
	}
}

// Close closes the listener and every connection, and waits for their handlers.
func (d *Door) Close() error {
	d.cancel()
	err := d.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	d.running.Wait()
	return err
}
