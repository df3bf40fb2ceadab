package guest

import (
	"context"
	"net"
	"sync"

	"choiros/internal/choir"
)

// Mux multiplexes connections to one choir-init over a single byte stream, for sandboxes
// that allow only one. Its connections behave like those of a socket: each direction can
// be closed alone, a close reaches the other end, and a slow reader of one delays no
// other. It is safe for concurrent use.
type Mux struct {
	dial func(context.Context) (net.Conn, error)
	// connecting has a place for the caller that opens the stream; the others wait for it.
	connecting chan struct{}

	mu      sync.Mutex  // guards what follows
	session *muxSession // nil before the first connection
	closed  bool
	paused  bool
}

// NewMux returns a mux that opens its stream with dial, at the first connection and again
// after the stream has ended.
func NewMux(dial func(context.Context) (net.Conn, error)) *Mux {
	return &Mux{dial: dial, connecting: make(chan struct{}, 1)}
}

// Dial opens a connection. Code unavailable when the sandbox has ended, or behind Close;
// rate_limited when there are as many connections as there may be.
func (m *Mux) Dial(ctx context.Context) (net.Conn, error) {
	select {
	case m.connecting <- struct{}{}:
		defer func() { <-m.connecting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l, closed := m.current()
	if closed {
		return nil, errMuxClosed()
	}
	if l != nil {
		if c, err := l.open(); err == nil || !l.ended() {
			return c, err
		}
		l.close() // before the next stream: there may be one at a time
	}
	l, err := m.connect(ctx)
	if err != nil {
		return nil, err
	}
	return l.open()
}

// current returns the session that carries the connections, nil before the first one, and
// reports whether Close was called.
func (m *Mux) current() (l *muxSession, closed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.session, m.closed
}

func errMuxClosed() error {
	return choir.E("guest.mux", choir.CodeUnavailable, "the way to the sandbox is closed")
}

// connect opens the stream, asks init to multiplex it, and makes the new session current.
func (m *Mux) connect(ctx context.Context) (*muxSession, error) {
	s, err := NewClient(m.dial).open(ctx, &request{Op: opMux})
	if err != nil {
		return nil, err
	}
	if err := s.reply(opMux, &done{}); err != nil {
		s.close()
		return nil, err
	}
	if !s.stop() {
		s.close()
		return nil, s.fail(opMux, ctx.Err())
	}
	l := newMuxSession(s.bare(), nil)
	m.mu.Lock()
	closed := m.closed
	if !closed {
		m.session = l
		l.setPaused(m.paused)
	}
	m.mu.Unlock()
	if closed {
		l.close()
		return nil, errMuxClosed()
	}
	return l, nil
}

// SetPaused says whether the sandbox stands still, so that it is no failure that it leaves the
// stream unread. Say so before it does, and once it goes on.
func (m *Mux) SetPaused(paused bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paused = paused
	if m.session != nil {
		m.session.setPaused(paused)
	}
}

// Close closes the stream and with it every connection, and waits for their end. It is
// idempotent.
func (m *Mux) Close() error {
	m.mu.Lock()
	m.closed = true
	l := m.session
	m.mu.Unlock()
	if l != nil {
		l.close()
	}
	return nil
}

// maxMuxStreams bounds the connections over one stream.
const maxMuxStreams = 1024

// serveMux handles the operation mux: it serves the connections that the control plane
// opens over this one, until this one ends.
func (s *Server) serveMux(ctx context.Context, w *wire, _ *request) (any, error) {
	if _, nested := w.conn.(*muxStream); nested {
		return nil, choir.Invalid("request.op", "a connection that shares a stream carries no others")
	}
	if err := w.writeJSON(frameReply, &done{}); err != nil {
		return nil, err
	}
	coming := make(chan *muxStream, maxMuxStreams)
	l := newMuxSession(w.bare(), coming)
	stop := context.AfterFunc(ctx, l.fail)
	defer stop()
	var serving sync.WaitGroup
	for c := range coming {
		serving.Go(func() { s.serveConn(ctx, c) })
	}
	l.close()
	serving.Wait()
	return nil, nil
}
