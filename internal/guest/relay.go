package guest

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	"choiros/internal/choir"
)

// Relay carries every connection that listener accepts to the choir-init at the other
// end of conn, multiplexed, until conn or ctx ends. It closes both, and waits for the
// connections. It is for sandboxes that only a byte stream leads into, so that their
// control planes find a socket that outlives them. If the other end does not answer as a
// choir-init does, the error is code unavailable.
func Relay(ctx context.Context, listener net.Listener, conn net.Conn) error {
	defer listener.Close()
	mux := NewMux(onlyOnce(conn))
	defer mux.Close()
	session, err := mux.connect(ctx)
	if err != nil {
		conn.Close()
		return err
	}
	stop := context.AfterFunc(ctx, session.fail)
	defer stop()
	var carrying sync.WaitGroup
	defer carrying.Wait()
	carrying.Go(func() {
		session.read.Wait() // the sandbox has ended
		listener.Close()
	})
	defer session.close()
	for {
		outer, err := listener.Accept()
		if err != nil {
			return nil
		}
		inner, err := session.open()
		if err != nil {
			outer.Close() // the caller's request fails, and is made again
			continue
		}
		carrying.Go(func() {
			defer outer.Close()
			defer inner.Close()
			join(outer, inner)
		})
	}
}

// onlyOnce returns a dial function that returns conn the first time and fails then.
func onlyOnce(conn net.Conn) func(context.Context) (net.Conn, error) {
	var given atomic.Bool
	return func(context.Context) (net.Conn, error) {
		if given.Swap(true) {
			return nil, choir.E("guest.relay", choir.CodeUnavailable, "the only stream of this sandbox has ended")
		}
		return conn, nil
	}
}

// SingleListener returns a listener whose only connection is conn. Its second Accept waits
// for the end of that connection, and returns net.ErrClosed.
func SingleListener(conn net.Conn) net.Listener {
	l := &singleListener{conn: conn, conns: make(chan net.Conn, 1), ended: make(chan struct{})}
	l.conns <- &watchedConn{Conn: conn, ended: l.markEnded}
	return l
}

type singleListener struct {
	conn  net.Conn
	conns chan net.Conn
	once  sync.Once
	ended chan struct{}
}

func (l *singleListener) markEnded() { l.once.Do(func() { close(l.ended) }) }

// Accept implements net.Listener.
func (l *singleListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.ended:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *singleListener) Close() error {
	l.markEnded()
	return nil
}

// Addr implements net.Listener.
func (l *singleListener) Addr() net.Addr { return l.conn.LocalAddr() }

// watchedConn calls ended when it is closed.
type watchedConn struct {
	net.Conn
	ended func()
}

// Close implements net.Conn.
func (c *watchedConn) Close() error {
	defer c.ended()
	return c.Conn.Close()
}
