package guest

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"time"
)

// writePatience is how long the far end may leave the stream unread: its reader never
// waits for anything but the processor.
const writePatience = 10 * time.Second

// write sends data of a connection, unless stop is closed before its turn comes; sent is
// false then. A far end that does not read ends the stream.
func (l *muxSession) write(id uint32, data []byte, stop <-chan struct{}) (sent bool, err error) {
	select {
	case l.sending <- struct{}{}:
	case <-stop:
		return false, nil
	}
	frame := appendMuxHead(make([]byte, 0, muxHead), muxData, id, uint32(len(data)))
	return true, l.finish(l.flush(frame, data))
}

// post sends a frame without data. It waits for no other writer, who sends it then, so
// that a close does not wait for the far end's reader once for each connection.
func (l *muxSession) post(kind byte, id, n uint32) error {
	if !l.queue(kind, id, n) {
		return net.ErrClosed
	}
	select {
	case l.sending <- struct{}{}:
		return l.finish(l.flush())
	default:
		return nil
	}
}

// queue adds a frame to the frames that the next writer sends. It returns false when the
// stream has ended.
func (l *muxSession) queue(kind byte, id, n uint32) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.posted = appendMuxHead(l.posted, kind, id, n)
	}
	return l.err == nil
}

func appendMuxHead(to []byte, kind byte, id, n uint32) []byte {
	to = append(to, kind)
	to = binary.BigEndian.AppendUint32(to, id)
	return binary.BigEndian.AppendUint32(to, n)
}

// flush writes the frames that were queued and then the parts of another one. The caller
// is the writer.
func (l *muxSession) flush(parts ...[]byte) error {
	l.mu.Lock()
	l.out, l.posted = append(l.out[:0], l.posted...), l.posted[:0]
	l.mu.Unlock()
	for _, p := range parts {
		l.out = append(l.out, p...)
	}
	if len(l.out) == 0 {
		return nil
	}
	err := l.writeOut()
	if err != nil {
		l.breakOff(err)
	}
	return err
}

// writeOut writes out. Where this process itself stood still meanwhile, as in a sandbox that was
// paused, the far end gets its time anew.
func (l *muxSession) writeOut() error {
	for out := l.out; ; {
		began := time.Now()
		l.setPatience(began)
		n, err := l.conn.Write(out)
		out = out[n:]
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) < writePatience+stoodStill {
			return err
		}
	}
}

// stoodStill is how much later than after writePatience a write ends in a process that stood still.
const stoodStill = time.Second

// setPatience gives the far end writePatience from now on; a paused one all the time that it needs.
func (l *muxSession) setPatience(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var until time.Time
	if !l.paused {
		until = now.Add(writePatience)
	}
	_ = l.conn.SetWriteDeadline(until) // a stream that has none is its driver's to end
}

// setPaused says whether the far end stands still. What is being written waits for it.
func (l *muxSession) setPaused(paused bool) {
	l.mu.Lock()
	l.paused = paused
	l.mu.Unlock()
	l.setPatience(time.Now())
}

// finish lets the next writer write, or writes what was queued meanwhile if there is
// none. It returns the error of the caller's own frames.
func (l *muxSession) finish(err error) error {
	for {
		<-l.sending
		l.mu.Lock()
		waiting := len(l.posted) > 0 && l.err == nil
		l.mu.Unlock()
		if !waiting {
			return err
		}
		select {
		case l.sending <- struct{}{}:
			_ = l.flush() // of others: the reader notices, and ends every connection
		default:
			return err
		}
	}
}

// breakOff ends the stream; the reader notices, and ends every connection.
func (l *muxSession) breakOff(err error) {
	l.mu.Lock()
	if l.err == nil {
		l.err = err
	}
	l.mu.Unlock()
	l.conn.Close()
}
