package gateway

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// The maximum of connections of the web server, and the maximum times for a request's
// header, the wait for the next request, and each piece of an answer. After strangerAge a
// request without a session loses its connection to a new one, if there are too many.
const (
	maxConns      = 512
	headerAge     = 10 * time.Second
	strangerAge   = 10 * time.Second
	idleAge       = 2 * time.Minute
	writePatience = 30 * time.Second
	writePiece    = 64 << 10
)

// NewServer returns the web server of a gateway, which limits the time of requests'
// bodies. Its listener must come from Bounded.
func NewServer(g http.Handler) *http.Server {
	return &http.Server{
		Handler: serving(g), ReadHeaderTimeout: headerAge, IdleTimeout: idleAge,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
}

// Bounded limits the connections of a listener to maxConns. A further connection closes
// the connection that has waited longest for a request, or else the connection with the
// oldest request without a session, so that strangers keep no client out.
func Bounded(ln net.Listener) net.Listener { return bounded(ln, maxConns, writePatience) }

// bounded limits the connections of a listener to most. patience is the maximum time for
// writing one piece of an answer.
func bounded(ln net.Listener, most int, patience time.Duration) net.Listener {
	return &boundedListener{Listener: ln, most: most, patience: patience, open: map[*boundedConn]struct{}{}}
}

// boundedListener is a listener with a maximum of open connections.
type boundedListener struct {
	net.Listener
	most     int
	patience time.Duration

	mu    sync.Mutex // guards the fields below and the fields of connections
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

// add registers a connection and returns the one to close for it, nil for none. If all
// others serve requests that have a session or are younger than strangerAge, that is c
// itself.
func (l *boundedListener) add(c *boundedConn) (evicted *boundedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = struct{}{}
	l.turns++
	c.turn = l.turns
	if len(l.open) <= l.most {
		return nil
	}
	var idle, stranger *boundedConn
	for one := range l.open {
		switch {
		case one == c:
		case one.serves == 0:
			idle = older(idle, one)
		case !one.admitted && time.Since(one.since) >= strangerAge:
			stranger = older(stranger, one)
		}
	}
	return cmp.Or(idle, stranger, c)
}

// older returns the connection with the lower turn. a may be nil.
func older(a, b *boundedConn) *boundedConn {
	if a == nil || b.turn < a.turn {
		return b
	}
	return a
}

// boundedConn is a connection of a boundedListener. It fails if the peer does not accept
// a piece of an answer in time. A deadline for whole answers would abort streams.
type boundedConn struct {
	net.Conn
	of       *boundedListener
	serves   int       // requests that are being answered
	turn     uint64    // when it began to wait for a request, or to answer one
	since    time.Time // time of turn
	admitted bool      // whether the request that is being answered has a session
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

// count adjusts the number of requests in progress by 1 at a request's begin and by -1
// at its end.
func (c *boundedConn) count(by int) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.serves += by
	c.of.turns++
	c.turn, c.since, c.admitted = c.of.turns, time.Now(), false
}

// admit records that the request in progress has a session.
func (c *boundedConn) admit() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.admitted = true
}

type connKey struct{}

type exchangeKey struct{}

// exchange is one request and its answer. Each field may be nil.
type exchange struct {
	conn *boundedConn
	body *patientBody
}

// serving counts each request as in progress on its connection while next handles it,
// and limits the time of its body. The request's header has been read by then.
func serving(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{}
		if c, ok := r.Context().Value(connKey{}).(*boundedConn); ok {
			x.conn = c
			c.count(1)
			defer c.count(-1)
		}
		// A copy, because the server looks at its own body to know whether the connection
		// can be used again.
		r = r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
		if r.Body != nil && r.Body != http.NoBody {
			x.body = newPatientBody(w, r.Body)
			r.Body = x.body
		}
		next.ServeHTTP(w, r)
	})
}

// admitRequest grants the request of a context the privileges of a session: its
// connection is not closed for a new one, and its body may take any time in which it
// moves.
func admitRequest(ctx context.Context) {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return
	}
	if x.conn != nil {
		x.conn.admit()
	}
	if x.body != nil {
		x.body.renews = true
	}
}
