package guest

import (
	"encoding/binary"
	"io"
	"net"
	"sync"

	"choiros/internal/choir"
)

// The frames of a multiplexed stream have a kind, the number of the connection, and a
// length or an amount, all big-endian; muxData is followed by so many bytes. The kinds
// are part of the protocol and never reused.
const (
	muxOpen   = 1 // a new connection; its number is larger than those before
	muxData   = 2
	muxCredit = 3 // so many further bytes may be sent
	muxEnd    = 4 // of the sender's direction
	muxReset  = 5 // of both directions

	muxHead = 9
	// muxWindow is how many bytes of a connection may be on their way to a reader.
	muxWindow = 256 << 10
	// muxChunk is how many bytes of one connection go before those of another.
	muxChunk = 32 << 10
)

// muxSession is one end of a multiplexed stream. Only the side without coming opens
// connections. The goroutine that reads the stream never writes to it, so it never waits
// for the other end's reader.
type muxSession struct {
	conn   net.Conn
	coming chan *muxStream // closed with the stream; nil on the side that opens
	read   sync.WaitGroup

	// sending has a place for the writer of the stream, which keeps frames apart. It is
	// held while one is written, no longer than writePatience.
	sending chan struct{}
	out     []byte // of the writer

	mu     sync.Mutex // guards what follows
	all    map[uint32]*muxStream
	last   uint32 // the newest number
	err    error  // why there are no more
	posted []byte // frames that the next writer sends first
	paused bool   // the far end stands still and reads nothing
}

// newMuxSession starts to read a stream and returns its session, which closes the stream
// at its end. coming receives the connections that the other end opens; nil means that
// this end opens them.
func newMuxSession(conn net.Conn, coming chan *muxStream) *muxSession {
	l := &muxSession{conn: conn, coming: coming, sending: make(chan struct{}, 1), all: map[uint32]*muxStream{}}
	l.read.Go(l.serve)
	return l
}

// open makes a connection. Code unavailable once the stream has ended, rate_limited
// while it carries as many as it may.
func (l *muxSession) open() (net.Conn, error) {
	c, err := l.add()
	if err != nil {
		return nil, err
	}
	// Numbers may overtake each other here; the far end takes them in any order.
	if err := l.post(muxOpen, c.id, 0); err != nil {
		c.Close()
		return nil, choir.Wrap("guest.mux", choir.CodeUnavailable, err, "open a connection over the shared stream")
	}
	return c, nil
}

// add makes a connection that the far end does not know yet.
func (l *muxSession) add() (*muxStream, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, choir.E("guest.mux", choir.CodeUnavailable, "the stream to the sandbox has ended")
	}
	if len(l.all) >= maxMuxStreams {
		return nil, choir.E("guest.mux", choir.CodeRateLimited, "%d connections share the stream to the sandbox", maxMuxStreams).WithRemedy("try again once some of them are closed")
	}
	l.last++
	c := newMuxStream(l, l.last)
	l.all[c.id] = c
	return c, nil
}

// ended reports whether the stream carries no connections any more.
func (l *muxSession) ended() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err != nil
}

// close ends the stream and every connection, and waits for the reader.
func (l *muxSession) close() {
	l.fail()
	l.read.Wait()
}

// fail ends the stream and every connection with net.ErrClosed.
func (l *muxSession) fail() { l.failWith(net.ErrClosed) }

func (l *muxSession) failWith(err error) {
	l.breakOff(err)
	l.mu.Lock()
	all := l.all
	l.all = map[uint32]*muxStream{}
	l.mu.Unlock()
	for _, c := range all {
		c.reset()
	}
}

// serve reads frames until the stream fails, and then ends every connection.
func (l *muxSession) serve() {
	if l.coming != nil {
		defer close(l.coming)
	}
	buf := make([]byte, muxChunk)
	for {
		if err := l.next(buf); err != nil {
			l.failWith(err)
			return
		}
	}
}

// next reads and handles one frame. An error (the other end sent an invalid frame, or is
// gone) must end the stream.
func (l *muxSession) next(buf []byte) error {
	var head [muxHead]byte
	if _, err := io.ReadFull(l.conn, head[:]); err != nil {
		return err
	}
	kind, id, n := head[0], binary.BigEndian.Uint32(head[1:]), binary.BigEndian.Uint32(head[5:])
	var data []byte
	if kind == muxData {
		if n > muxChunk {
			return choir.E("guest.mux", choir.CodeTooLarge, "a frame has %d bytes", n)
		}
		data = buf[:n]
		if _, err := io.ReadFull(l.conn, data); err != nil {
			return err
		}
	}
	if kind == muxOpen {
		return l.admit(id)
	}
	c := l.find(id)
	if c == nil {
		return nil // it was closed here; the far end does not know yet
	}
	switch kind {
	case muxData:
		return c.receive(data)
	case muxCredit:
		return c.grant(n)
	case muxEnd:
		c.endInput()
	case muxReset:
		l.drop(c)
		c.reset()
	default:
		return choir.Invalid("mux.kind", "%d is no kind of frame", kind)
	}
	return nil
}

func (l *muxSession) find(id uint32) *muxStream {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[id]
}

// admit makes the connection that the far end opened. It refuses the connection when
// there are as many as there may be: the far end forgets one before it is closed here.
// Code invalid when the far end may not open it.
func (l *muxSession) admit(id uint32) error {
	c := newMuxStream(l, id)
	l.mu.Lock()
	bad, full := l.coming == nil || l.all[id] != nil || l.err != nil, len(l.all) >= maxMuxStreams
	if !bad && !full {
		l.all[id] = c
	}
	l.mu.Unlock()
	if bad {
		return choir.Invalid("mux.open", "connection %d may not be opened", id)
	}
	if !full {
		select {
		case l.coming <- c:
			return nil
		default: // those that wait were ended meanwhile
			l.drop(c)
		}
	}
	l.refuse(id)
	return nil
}

// refuse ends a connection that was not admitted. The reader calls it, so another
// goroutine writes.
func (l *muxSession) refuse(id uint32) {
	l.queue(muxReset, id, 0)
	select {
	case l.sending <- struct{}{}:
		l.read.Go(func() { _ = l.finish(l.flush()) }) // a stream that cannot be written to ends
	default: // the writer sends it
	}
}

// drop removes a connection that neither end needs any more.
func (l *muxSession) drop(c *muxStream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all[c.id] == c {
		delete(l.all, c.id)
	}
}
