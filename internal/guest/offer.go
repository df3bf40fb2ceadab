package guest

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest/roledoor"
)

// streamKind is what a request of the control plane accepts.
type streamKind struct {
	door   roledoor.Door
	caller Caller
}

// offers holds, for each kind of stream, the requests of the control plane that
// wait for one. A kind that is not in it cannot be had.
type offers map[streamKind]chan *offer

func newOffers() offers {
	return offers{
		{roledoor.Bus, CallerRole}:    make(chan *offer),
		{roledoor.Egress, CallerRole}: make(chan *offer),
		{roledoor.Egress, CallerTool}: make(chan *offer),
	}
}

// offer is one request that waits.
type offer struct {
	w    *wire
	idle *idle
	over chan struct{} // closed when init needs the connection no longer
}

// acceptStream keeps a request of the control plane until a program inside wants
// a stream of its kind; the connection then is that stream.
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

// connect waits for an offer and tells the control plane that its stream begins.
// The caller closes the offer's over. Code cancelled when ctx ended or the
// program has gone before.
func (s *Server) connect(ctx context.Context, kind streamKind, launch int, gone <-chan struct{}) (*offer, error) {
	for {
		select {
		case o := <-s.offers[kind]:
			if o.begin(launch) == nil {
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

// begin answers the request.
func (o *offer) begin(launch int) error {
	if err := o.idle.stop(); err != nil {
		return err
	}
	return o.w.writeJSON(frameReply, &streamBegins{Launch: launch})
}

// idle watches a connection on which the far end has nothing to say.
type idle struct {
	w     *wire
	ended chan struct{}
	err   error // readable when ended is closed
}

// watchIdle begins to watch; the goroutine ends with the connection or by stop.
func (w *wire) watchIdle() *idle {
	w.shrink()
	i := &idle{w: w, ended: make(chan struct{})}
	go func() {
		defer close(i.ended)
		_, i.err = w.in.Peek(1)
	}()
	return i
}

// stop ends the watching and leaves the connection as it is; an error when it
// has ended, or when the far end spoke before it was its turn.
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

// smallBuffer is what a connection keeps for reading once it is a stream, whose
// readers bring buffers of their own.
const smallBuffer = 512

// shrink gives the large buffer back when nothing is in it.
func (w *wire) shrink() {
	if w.in.Buffered() == 0 {
		w.in = bufio.NewReaderSize(w.conn, smallBuffer)
	}
}

// maxAsked bounds the streams that a role waits for; it is hung up on beyond.
const maxAsked = 64

// serveRoleDoor passes streams to one role process until ctx, which ends with
// that process, or the door.
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

// passStream answers one request of the role. The stream's descriptor becomes
// the role's alone, so that the kernel ends the stream with that process.
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
	o, err := s.connect(ctx, kind, launch, gone)
	if err != nil {
		return // the role has gone, or the server ends: there is no one else to tell
	}
	defer close(o.over)
	if conn, ok := o.w.conn.(syscall.Conn); ok {
		r.Pass(conn) // a role that is gone gets none; the control plane sees the end of the stream
	}
}

// forwardOne joins a connection of any program with a stream to the egress door.
func (s *Server) forwardOne(ctx context.Context, in net.Conn) {
	defer in.Close()
	o, err := s.connect(ctx, streamKind{roledoor.Egress, CallerTool}, 0, nil)
	if err != nil {
		return // the server ends
	}
	defer close(o.over)
	stop := context.AfterFunc(ctx, func() { in.Close(); o.w.conn.Close() })
	defer stop()
	join(in, o.w.bare())
}
