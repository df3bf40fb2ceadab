package guest

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/guest/roledoor"
)

// streamKind is a door and a caller: an accept request of the control plane gets streams
// of one kind.
type streamKind struct {
	door   roledoor.Door
	caller Caller
}

// offers holds the waiting accept requests of the control plane, by kind of stream. Other
// kinds of stream do not exist.
type offers map[streamKind]chan *offer

func newOffers() offers {
	return offers{
		{roledoor.Bus, CallerRole}:    make(chan *offer),
		{roledoor.Egress, CallerRole}: make(chan *offer),
		{roledoor.Egress, CallerTool}: make(chan *offer),
	}
}

// offer is one waiting accept request.
type offer struct {
	w    *wire
	idle *idle
	over chan struct{} // closed when init needs the connection no longer
}

// acceptStream handles the operation accept: it keeps the request waiting until a program
// inside opens a stream of its kind. The connection then carries that stream.
func (s *Server) acceptStream(ctx context.Context, w *wire, r *request) (any, error) {
	waiting := s.offers[streamKind{r.Door, r.Caller}]
	if waiting == nil {
		return nil, choir.Invalid("request.door", "the %s door takes no streams of a %s", clip(string(r.Door), 40), clip(string(r.Caller), 40))
	}
	o := &offer{w: w, idle: w.watchIdle(), over: make(chan struct{})}
	select {
	case waiting <- o:
		<-o.over
	case <-o.idle.ended: // the control plane waits no longer
	case <-ctx.Done():
		w.conn.Close()
		<-o.idle.ended
	}
	return nil, nil
}

// connect waits for an offer of a kind and replies to it that a stream begins. The caller
// must close the offer's over. If ctx ends or gone is closed first, the error is code
// cancelled_by_you.
func (s *Server) connect(ctx context.Context, kind streamKind, begins streamBegins, gone <-chan struct{}) (*offer, error) {
	for {
		select {
		case o := <-s.offers[kind]:
			if o.answerRequest(begins) == nil {
				return o, nil
			}
			close(o.over) // that control plane is gone; the next one may be here
		case <-gone:
			return nil, choir.E("guest.stream", choir.CodeCancelled, "the program that wanted a stream has gone")
		case <-ctx.Done():
			return nil, choir.Wrap("guest.stream", choir.CodeCancelled, ctx.Err(), "wait for the control plane")
		}
	}
}

// answerRequest replies to the request, after which the connection carries the stream. An
// error means that the control plane is gone.
func (o *offer) answerRequest(begins streamBegins) error {
	if err := o.idle.stop(); err != nil {
		return err
	}
	return o.w.writeJSON(frameReply, &begins)
}

// idle watches a connection on which the other end must not send.
type idle struct {
	w     *wire
	ended chan struct{}
	err   error // readable when ended is closed
}

// watchIdle starts to watch the connection. The watch ends with the connection or with
// stop.
func (w *wire) watchIdle() *idle {
	w.shrink()
	i := &idle{w: w, ended: make(chan struct{})}
	go func() {
		defer close(i.ended)
		_, i.err = w.in.Peek(1)
	}()
	return i
}

// stop ends the watch and leaves the connection usable. It returns an error if the
// connection has ended or the other end has sent data.
func (i *idle) stop() error {
	i.w.conn.SetReadDeadline(time.Unix(1, 0))
	<-i.ended
	switch {
	case errors.Is(i.err, os.ErrDeadlineExceeded):
		return i.w.conn.SetReadDeadline(time.Time{})
	case i.err == nil:
		return choir.Invalid("frame", "data came before the stream began")
	default:
		return i.err
	}
}

// smallBuffer is the size of the read buffer of a connection that carries a stream, whose
// readers have buffers of their own.
const smallBuffer = 512

// shrink replaces the read buffer by a small one if it is empty.
func (w *wire) shrink() {
	if w.in.Buffered() == 0 {
		w.in = bufio.NewReaderSize(w.conn, smallBuffer)
	}
}

// maxAsked bounds the waiting stream requests of a role; further ones are refused.
const maxAsked = 64

// serveRoleDoor answers the stream requests of one role process until ctx ends, which it
// does with that process, or the door is closed. launch is the number of the process's
// start.
func (s *Server) serveRoleDoor(ctx context.Context, door *roledoor.Listener, launch int) {
	stop := context.AfterFunc(ctx, func() { door.Close() })
	defer stop()
	var asked sync.WaitGroup
	defer asked.Wait()
	places := make(chan struct{}, maxAsked)
	for {
		r, err := door.Accept()
		if err != nil {
			return
		}
		select {
		case places <- struct{}{}:
		default:
			r.Close()
			continue
		}
		asked.Go(func() {
			defer func() { <-places }()
			s.passStream(ctx, r, launch)
		})
	}
}

// passStream answers one stream request of a role: it passes the descriptor of the
// connection to the role and closes its own, so that the stream ends with that process.
func (s *Server) passStream(ctx context.Context, r *roledoor.Request, launch int) {
	gone := r.Gone()
	defer func() {
		r.Close()
		<-gone
	}()
	kind := streamKind{r.Door, CallerRole}
	if s.offers[kind] == nil {
		return
	}
	o, err := s.connect(ctx, kind, streamBegins{Launch: launch}, gone)
	if err != nil {
		return // the role has gone, or the server ends: there is no one else to tell
	}
	if conn, ok := o.w.conn.(syscall.Conn); ok {
		defer close(o.over)
		r.Pass(conn) // a role that is gone gets none; the control plane sees the end of the stream
		return
	}
	s.passMuxStream(r, o)
}

// passMuxStream answers a request over a multiplexed connection, which has no descriptor
// to pass: the role gets one end of a socket pair, and the other end is joined with the
// connection. The pair ends with the role.
func (s *Server) passMuxStream(r *roledoor.Request, o *offer) {
	mine, theirs, err := socketPair()
	if err != nil {
		close(o.over)
		return // the role is refused, and the control plane sees the end of the stream
	}
	defer theirs.Close()
	s.handlers.Go(func() { // ends with the role's end, or with the control plane's
		defer close(o.over)
		defer mine.Close()
		join(mine, o.w.bare())
	})
	_ = r.Pass(theirs) // as above
}

// socketPair returns two connected stream sockets.
func socketPair() (a, b *net.UnixConn, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	if a, err = unixConn(fds[0]); err != nil {
		unix.Close(fds[1])
		return nil, nil, err
	}
	if b, err = unixConn(fds[1]); err != nil {
		a.Close()
	}
	return a, b, err
}

// unixConn returns a connection for a socket's descriptor, which it closes.
func unixConn(fd int) (*net.UnixConn, error) {
	f := os.NewFile(uintptr(fd), "role's stream")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return c.(*net.UnixConn), nil // the kind that Socketpair makes
}

// calledAt returns the loopback address that a program connected to, which carries a
// choir.CallMark; empty for none.
func calledAt(conn net.Conn) string {
	at, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil || !at.Addr().IsLoopback() {
		return ""
	}
	return at.Addr().String()
}

// forwardOne joins the connection of a tool with a stream to the egress door and returns
// when both have ended.
func (s *Server) forwardOne(ctx context.Context, in net.Conn) {
	defer in.Close()
	o, err := s.connect(ctx, streamKind{roledoor.Egress, CallerTool}, streamBegins{At: calledAt(in)}, nil)
	if err != nil {
		return // the server ends
	}
	defer close(o.over)
	stop := context.AfterFunc(ctx, func() { in.Close(); o.w.conn.Close() })
	defer stop()
	join(in, o.w.bare())
}
