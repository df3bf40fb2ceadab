package hub

import (
	"io"
	"sync"
)

const (
	sluiceSize = 64 << 10 // about how many bytes a sluice holds at most
	sluiceIdle = 16 << 10 // what a buffer that waits may have, in bytes
)

// sluice carries what the NATS server sends to a connection. It takes all there
// is while the connection is busy, so that the server goes on to the next client,
// and gives on whole messages where they are small: the server writes its buffers
// one by one, and over a WebSocket each write is a frame that wakes a browser.
type sluice struct {
	mu    sync.Mutex // guards what follows
	moved sync.Cond
	units units
	held  []byte // what was read and not given on
	whole int    // how much of it ends with a message
	err   error  // why nothing more is read, or given on
}

// carry returns once either side has ended.
func carry(to io.Writer, from io.ReadCloser) {
	s := &sluice{}
	s.moved.L = &s.mu
	var reading sync.WaitGroup
	reading.Go(func() { s.read(from) })
	s.write(to)
	from.Close()
	reading.Wait()
}

// read takes in what comes until it ends, or writing did.
func (s *sluice) read(from io.Reader) {
	buf := make([]byte, 4<<10)
	for {
		n, err := from.Read(buf)
		if !s.take(buf[:n], err) {
			return
		}
		if n == len(buf) && n < sluiceSize/2 {
			buf = make([]byte, 2*n)
		}
	}
}

// take waits for room and holds what was read; false when that was the last.
func (s *sluice) take(b []byte, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.held) >= sluiceSize && s.err == nil {
		s.moved.Wait()
	}
	if s.err != nil {
		return false
	}
	if end := s.units.whole(b); end > 0 {
		s.whole = len(s.held) + end
	}
	s.held = append(s.held, b...)
	if len(s.held) >= sluiceSize || err != nil {
		s.whole = len(s.held) // a part of a large one, or all that there will be
	}
	s.err = err
	s.moved.Signal()
	return err == nil
}

// write gives on what there is until that fails, or reading has ended.
func (s *sluice) write(to io.Writer) {
	var spare []byte
	for {
		out, last := s.next(spare)
		var err error
		if len(out) > 0 {
			_, err = to.Write(out)
		}
		if err != nil || last {
			s.end()
			return
		}
		if spare = out[:0]; cap(out) > sluiceIdle {
			spare = nil
		}
	}
}

// end lets nothing more be taken in.
func (s *sluice) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = io.ErrClosedPipe
	s.moved.Signal()
}

// next waits for a message, and gives all that is held of whole ones; what is
// not goes into spare. last says that nothing comes after it.
func (s *sluice) next(spare []byte) (out []byte, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.whole == 0 && s.err == nil {
		s.moved.Wait()
	}
	out = s.held[:s.whole]
	s.held, s.whole = append(spare, s.held[s.whole:]...), 0
	s.moved.Signal()
	return out, s.err != nil
}
