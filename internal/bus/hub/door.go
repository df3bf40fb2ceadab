package hub

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// Door leads to the bus from wherever its listener accepts.
type Door struct {
	bus      *Server
	listener net.Listener
	cancel   context.CancelFunc
	running  sync.WaitGroup // the accept loop and every connection
}

// ServeDoor bridges every connection of a listener, which it closes, until ctx
// ends or Close. The listener decides who may connect, and how many at a time;
// who speaks is then the business of the credentials.
func ServeDoor(ctx context.Context, listener net.Listener, s *Server) *Door {
	d := &Door{bus: s, listener: listener}
	ctx, d.cancel = context.WithCancel(ctx)
	d.running.Go(func() { d.serve(ctx) })
	context.AfterFunc(ctx, func() { listener.Close() })
	return d
}

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

// Close closes the listener, ends every connection and waits for them.
func (d *Door) Close() error {
	d.cancel()
	err := d.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	d.running.Wait()
	return err
}
