package gateway

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// How many connections the web server has at a time, and how long each step of
// one may take: its header, the next request, and each piece of an answer.
const (
	maxConns      = 512
	headerAge     = 10 * time.Second
	idleAge       = 2 * time.Minute
	writePatience = 30 * time.Second
	writePiece    = 64 << 10
)

// NewServer makes the web server of a gateway, to be used with Bounded.
func NewServer(g http.Handler) *http.Server {
	return &http.Server{
		Handler: serving(g), ReadHeaderTimeout: headerAge, IdleTimeout: idleAge,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
}

// Bounded bounds the connections of a listener. When there are too many, the
// connection that has waited longest for a request is closed, so that strangers
// who open connections and say nothing keep nobody out.
func Bounded(ln net.Listener) net.Listener { return bounded(ln, maxConns, writePatience) }

func bounded(ln net.Listener, most int, patience time.Duration) net.Listener {
	return &boundedListener{Listener: ln, most: most, patience: patience, open: map[*boundedConn]struct{}{}}
}

type boundedListener struct {
	net.Listener
	most     int
	patience time.Duration

	mu    sync.Mutex // guards what follows and the fields of connections
	open  map[*boundedConn]struct{}
	turns uint64 // counts the times that a connection began to wait
}

// Accept implements net.Listener.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &boundedConn{Conn: conn, of: l}
		evicted := l.add(c)
		if evicted == nil {
			return c, nil
		}
		// The other side sees it.
		_ = evicted.Close()
		if evicted != c {
			return c, nil
		}
	}
}

// add counts a connection, and returns the one that has to go for it: itself
// when all others serve a request.
func (l *boundedListener) add(c *boundedConn) (evicted *boundedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = struct{}{}
	l.turns++
	c.turn = l.turns
	if len(l.open) <= l.most {
		return nil
	}
	for one := range l.open {
		if one.serves == 0 && (evicted == nil || one.turn < evicted.turn) {
			evicted = one
		}
	}
	return evicted
}

// boundedConn is one connection. A piece of an answer that the other side does
// not take in time ends it: a deadline for whole answers would end streams.
type boundedConn struct {
	net.Conn
	of     *boundedListener
	serves int    // requests that are being answered
	turn   uint64 // when it began to wait for a request
}

// Write implements net.Conn.
func (c *boundedConn) Write(p []byte) (n int, err error) {
	for first := true; err == nil && (first || n < len(p)); first = false {
		if err = c.SetWriteDeadline(time.Now().Add(c.of.patience)); err != nil {
			return n, err
		}
		var wrote int
		wrote, err = c.Conn.Write(p[n:min(n+writePiece, len(p))])
		n += wrote
	}
	return n, err
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// count notes that a request begins or ends.
func (c *boundedConn) count(by int) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.serves += by
	c.of.turns++
	c.turn = c.of.turns
}

type connKey struct{}

// serving notes with each connection that it serves a request, whose header has
// been read by then.
func serving(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*boundedConn); ok {
			c.count(1)
			defer c.count(-1)
		}
		next.ServeHTTP(w, r)
	})
}
