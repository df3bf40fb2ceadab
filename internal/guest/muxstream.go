package guest

import (
	"io"
	"net"
	"os"
	"sync"
	"time"

	"choiros/internal/choir"
)

// muxStream is one connection over a multiplexed stream. A writer blocks while the other
// end's reader is behind by muxWindow bytes.
type muxStream struct {
	of *muxSession
	id uint32

	mu      sync.Mutex // guards what follows
	changed *sync.Cond
	in      []byte // what came, of which from bytes were read
	from    int
	read    int  // bytes that were read since the far end was told
	credit  int  // bytes that may be sent
	inOver  bool // nothing further comes
	outOver bool // nothing further may be sent
	closed  bool
	reading deadline
	writing deadline
	// stop is closed while a writer may not go on; see update.
	stop chan struct{}
}

var _ net.Conn = (*muxStream)(nil)

func newMuxStream(of *muxSession, id uint32) *muxStream {
	c := &muxStream{of: of, id: id, credit: muxWindow, stop: make(chan struct{})}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// deadline is the deadline of one direction; a zero at is none.
type deadline struct {
	at    time.Time
	timer *time.Timer // wakes the waiting
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (c *muxStream) unread() int { return len(c.in) - c.from }

// Read implements net.Conn.
func (c *muxStream) Read(p []byte) (int, error) {
	c.mu.Lock()
	for c.unread() == 0 && !c.inOver && !c.closed && !c.reading.passed() && len(p) > 0 {
		c.changed.Wait()
	}
	if err := c.cannotRead(); err != nil || len(p) == 0 {
		c.mu.Unlock()
		return 0, err
	}
	n := copy(p, c.in[c.from:])
	if c.from += n; c.unread() == 0 {
		c.in, c.from = c.in[:0], 0
	}
	c.read += n
	credit := 0
	if c.read >= muxWindow/2 && !c.inOver {
		credit, c.read = c.read, 0
	}
	c.mu.Unlock()
	if credit > 0 {
		// A stream that cannot be written to ends, and its reader says so.
		_ = c.of.post(muxCredit, c.id, uint32(credit))
	}
	return n, nil
}

// cannotRead returns the error for Read if there is nothing to read; nil if there is.
func (c *muxStream) cannotRead() error {
	switch {
	case c.closed:
		return net.ErrClosed
	case c.reading.passed():
		return os.ErrDeadlineExceeded
	case c.unread() == 0 && c.inOver:
		return io.EOF
	}
	return nil
}

// Write implements net.Conn. A frame of which the sending has begun is sent to its end,
// at most writePatience beyond the deadline.
func (c *muxStream) Write(p []byte) (sent int, err error) {
	for len(p) > 0 {
		n, stop, err := c.claim(len(p))
		if err != nil {
			return sent, err
		}
		went, err := c.of.write(c.id, p[:n], stop)
		if err != nil {
			return sent, err
		}
		if !went {
			c.unclaim(n) // and why is in the next claim
			continue
		}
		sent, p = sent+n, p[n:]
	}
	return sent, nil
}

// claim waits until some of n bytes may be sent, and returns how many, and what is closed
// when they may not be sent any more.
func (c *muxStream) claim(n int) (int, <-chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.credit == 0 && c.cannotWrite() == nil {
		c.changed.Wait()
	}
	if err := c.cannotWrite(); err != nil {
		return 0, nil, err
	}
	n = min(n, c.credit, muxChunk)
	c.credit -= n
	return n, c.stop, nil
}

// unclaim gives back what was not sent.
func (c *muxStream) unclaim(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.credit += n
	c.changed.Broadcast()
}

// cannotWrite returns why nothing may be sent; nil when credit is all that can lack.
func (c *muxStream) cannotWrite() error {
	switch {
	case c.closed:
		return net.ErrClosed
	case c.outOver:
		return io.ErrClosedPipe
	case c.writing.passed():
		return os.ErrDeadlineExceeded
	}
	return nil
}

// update wakes readers and writers after a change. The caller holds mu.
func (c *muxStream) update() {
	stopped := false
	select {
	case <-c.stop:
		stopped = true
	default:
	}
	if over := c.cannotWrite() != nil; over && !stopped {
		close(c.stop)
	} else if !over && stopped {
		c.stop = make(chan struct{})
	}
	c.changed.Broadcast()
}

// CloseWrite ends the outgoing direction. Reads go on.
func (c *muxStream) CloseWrite() error {
	c.mu.Lock()
	over := c.outOver || c.closed
	c.outOver = true
	c.update()
	c.mu.Unlock()
	if over {
		return nil
	}
	return c.of.post(muxEnd, c.id, 0)
}

// Close ends both directions; it implements net.Conn. Bytes written before still reach
// the other end.
func (c *muxStream) Close() error {
	c.mu.Lock()
	was, over := c.closed, c.inOver && c.outOver
	c.closed, c.in, c.from = true, nil, 0
	for _, d := range []*deadline{&c.reading, &c.writing} {
		if d.timer != nil {
			d.timer.Stop()
		}
	}
	c.update()
	c.mu.Unlock()
	c.of.drop(c)
	if was || over {
		return nil
	}
	return c.of.post(muxReset, c.id, 0)
}

// receive queues received data for Read. Data beyond muxWindow is code invalid.
func (c *muxStream) receive(data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.inOver {
		return nil
	}
	if c.unread()+len(data) > muxWindow {
		return choir.Invalid("mux.data", "connection %d has more than %d bytes on their way", c.id, muxWindow)
	}
	if c.from > 0 && len(c.in)+len(data) > cap(c.in) {
		c.in, c.from = c.in[:copy(c.in, c.in[c.from:])], 0
	}
	c.in = append(c.in, data...)
	c.changed.Broadcast()
	return nil
}

// grant adds n bytes to the credit for writes. A credit beyond muxWindow is code invalid.
func (c *muxStream) grant(n uint32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if int64(c.credit)+int64(n) > muxWindow {
		return choir.Invalid("mux.credit", "connection %d may send more than %d bytes", c.id, muxWindow)
	}
	c.credit += int(n)
	c.changed.Broadcast()
	return nil
}

// endInput ends the incoming direction.
func (c *muxStream) endInput() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inOver = true
	c.changed.Broadcast()
}

// reset ends both directions. Data received before can still be read.
func (c *muxStream) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inOver, c.outOver = true, true
	c.update()
}

// SetDeadline implements net.Conn.
func (c *muxStream) SetDeadline(t time.Time) error {
	c.setDeadline(&c.reading, t)
	c.setDeadline(&c.writing, t)
	return nil
}

// SetReadDeadline implements net.Conn.
func (c *muxStream) SetReadDeadline(t time.Time) error {
	c.setDeadline(&c.reading, t)
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *muxStream) SetWriteDeadline(t time.Time) error {
	c.setDeadline(&c.writing, t)
	return nil
}

func (c *muxStream) setDeadline(d *deadline, t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.at = t; d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if left := time.Until(t); !t.IsZero() && left > 0 && !c.closed {
		d.timer = time.AfterFunc(left, c.wake)
	}
	c.update()
}

func (c *muxStream) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.update()
}

// LocalAddr implements net.Conn.
func (c *muxStream) LocalAddr() net.Addr { return c.of.conn.LocalAddr() }

// RemoteAddr implements net.Conn.
func (c *muxStream) RemoteAddr() net.Addr { return c.of.conn.RemoteAddr() }
