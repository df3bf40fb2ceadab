package guest

import (
	"context"
	"net"
	"sync"
	"time"

	"choiros/internal/guest/roledoor"
)

// Stream is a connection that a program inside a sandbox opened to a door of the
// control plane. Who opened it was decided by init before the first byte, and
// holds for all of it.
type Stream struct {
	bare
	Door   roledoor.Door
	Caller Caller
	launch int    // of the role that opened it, 0 for a tool
	leave  func() // nil outside of a listener
}

// Close implements net.Conn.
func (s *Stream) Close() error {
	if s.leave != nil {
		s.leave()
	}
	return s.bare.Close()
}

// Accept waits until a caller inside wants a stream to a door. ctx bounds the
// waiting only; the caller closes the stream. Code unavailable when the sandbox
// is gone.
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
	return &Stream{bare: s.bare(), Door: door, Caller: caller, launch: begins.Launch}, nil
}

// Listener accepts the streams of one kind of one sandbox, only so many at a
// time; further ones wait inside. It is a net.Listener.
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

// asksAhead is how many requests wait in the sandbox, so that of connections that
// come one after the other none waits for the next request.
const asksAhead = 4

// Listen makes a listener of at most so many streams. Close ends it.
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

// ask keeps a request waiting, and hands on what it gets, until Close.
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

// acceptPause is between two attempts to ask a sandbox that does not answer.
const acceptPause = 50 * time.Millisecond

// next waits for a stream; nil after Close.
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

// Accept implements net.Listener; it gives *Stream. The only error is
// net.ErrClosed: a sandbox that does not answer is asked again until Close.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case s := <-l.ready:
		return s, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// admit notes a stream; false when the role that opened it has ended.
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

// EndRole closes every stream that the role opened up to its launch, and admits
// none of them any more: whoever else got hold of one speaks for nobody.
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

// Close ends Accept. Streams that were accepted stay open.
func (l *Listener) Close() error {
	l.cancel()
	l.asking.Wait()
	return nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return doorAddr(l.door) }

type doorAddr roledoor.Door

// Network implements net.Addr.
func (doorAddr) Network() string { return "choir" }

// String implements net.Addr.
func (d doorAddr) String() string { return string(d) }

var _ net.Listener = (*Listener)(nil)
