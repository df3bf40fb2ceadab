package guest

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"choiros/internal/guest/roledoor"
)

// Stream is a connection that a program inside a sandbox opened to a door of the control
// plane. Its Caller was determined by init before the first byte and never changes.
type Stream struct {
	bare
	Door   roledoor.Door
	Caller Caller
	// At is the loopback address inside that a tool connected to; not valid for a role.
	At     netip.Addr
	launch int    // of the role that opened it, 0 for a tool
	leave  func() // nil outside of a listener
}

// Close closes the connection and frees its place in the listener. It implements
// net.Conn.
func (s *Stream) Close() error {
	if s.leave != nil {
		s.leave()
	}
	return s.bare.Close()
}

// Accept waits until a caller inside opens a stream to a door, and returns the stream,
// which the caller must close. ctx bounds only the wait. If the sandbox is gone the error
// is code unavailable.
func (c *Client) Accept(ctx context.Context, door roledoor.Door, caller Caller) (*Stream, error) {
	s, err := c.open(ctx, &request{Op: opAccept, Door: door, Caller: caller})
	if err != nil {
		return nil, err
	}
	var begins streamBegins
	if err := s.reply(opAccept, &begins); err != nil {
		s.close()
		return nil, err
	}
	if !s.stop() {
		s.close()
		return nil, s.fail(opAccept, ctx.Err())
	}
	at, _ := netip.ParseAddr(begins.At) // init's word for the program's; it attributes only
	return &Stream{bare: s.bare(), Door: door, Caller: caller, At: at, launch: begins.Launch}, nil
}

// Listener accepts the streams of one door and caller from one sandbox, at most a fixed
// number at a time; further ones wait inside. It is a net.Listener.
type Listener struct {
	client *Client
	door   roledoor.Door
	caller Caller
	places chan struct{}
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	asking sync.WaitGroup // the requests ahead
	ready  chan *Stream

	mu    sync.Mutex // guards what follows
	open  map[*Stream]struct{}
	ended int // the last launch of the role that has ended
}

// asksAhead is the number of accept requests that wait in the sandbox, so that
// connections in quick succession need not wait for the next request.
const asksAhead = 4

// Listen returns a listener for a door and a caller with at most most open streams. The
// caller must Close it.
func (c *Client) Listen(door roledoor.Door, caller Caller, most int) *Listener {
	l := &Listener{
		client: c, door: door, caller: caller, places: make(chan struct{}, most),
		ready: make(chan *Stream), open: map[*Stream]struct{}{},
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	for range min(asksAhead, most) {
		l.asking.Go(l.ask)
	}
	return l
}

// ask keeps one accept request waiting in the sandbox and passes its streams to Accept,
// until Close.
func (l *Listener) ask() {
	for {
		select {
		case l.places <- struct{}{}:
		case <-l.ctx.Done():
			return
		}
		s := l.next()
		if s == nil {
			return
		}
		select {
		case l.ready <- s:
		case <-l.ctx.Done():
			s.Close()
			return
		}
	}
}

// acceptPause is the pause between two accept requests to a sandbox that does not answer.
const acceptPause = 50 * time.Millisecond

// next waits for an admitted stream and returns it; nil after Close. Errors of the
// sandbox are retried.
func (l *Listener) next() *Stream {
	for l.ctx.Err() == nil {
		s, err := l.client.Accept(l.ctx, l.door, l.caller)
		switch {
		case err == nil && l.admit(s):
			return s
		case err == nil:
			s.Close()
		default:
			select {
			case <-time.After(acceptPause):
			case <-l.ctx.Done():
			}
		}
	}
	return nil
}

// Accept returns the next *Stream; it implements net.Listener. A sandbox that does not
// answer is retried until Close, so the only error is net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case s := <-l.ready:
		return s, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// admit records a stream as open. It reports false for a stream of a role process that
// EndRole has ended.
func (l *Listener) admit(s *Stream) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.Caller == CallerRole && s.launch <= l.ended {
		return false
	}
	s.leave = sync.OnceFunc(func() {
		l.mu.Lock()
		delete(l.open, s)
		l.mu.Unlock()
		<-l.places
	})
	l.open[s] = struct{}{}
	return true
}

// EndRole closes every stream of the role processes up to a launch number, and refuses
// later ones from them: another process may still hold such a stream.
func (l *Listener) EndRole(launch int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = max(l.ended, launch)
	for s := range l.open {
		if s.Caller == CallerRole && s.launch <= l.ended {
			s.bare.Close() // its reader notices, and closes the stream
		}
	}
}

// Close makes Accept return net.ErrClosed and waits for the pending requests to end.
// Accepted streams stay open.
func (l *Listener) Close() error {
	l.cancel()
	l.asking.Wait()
	return nil
}

// Addr returns the name of the door; it implements net.Listener.
func (l *Listener) Addr() net.Addr { return doorAddr(l.door) }

type doorAddr roledoor.Door

// Network returns "choir"; it implements net.Addr.
func (doorAddr) Network() string { return "choir" }

// String returns the name of the door; it implements net.Addr.
func (d doorAddr) String() string { return string(d) }

var _ net.Listener = (*Listener)(nil)
