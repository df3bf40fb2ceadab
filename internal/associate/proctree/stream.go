package proctree

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

const (
	// idleAfter is how long after output the sink is told that no more came.
	idleAfter = 40 * time.Millisecond
	// lastWords is how long output may still arrive after the command's end when
	// something it left behind holds the pipe open.
	lastWords = 100 * time.Millisecond
)

// stream reads one pipe. What comes after leave is read and dropped, so that a
// process left behind does not die of a closed pipe.
type stream struct {
	child *os.File // the end the command gets
	ended chan struct{}

	mu   sync.Mutex // guards sink
	sink Sink       // nil once nobody listens
}

func (t *Tree) newStream(sink Sink) (*stream, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s := &stream{child: w, sink: sink, ended: make(chan struct{})}
	t.drains.Add(1)
	// What a lost tree leaves behind may hold the pipe open for ever.
	keep := context.AfterFunc(t.gone, func() { r.Close() })
	go func() {
		defer t.drains.Done()
		defer close(s.ended)
		defer r.Close()
		defer keep()
		s.drain(r)
	}()
	return s, nil
}

func (s *stream) drain(r *os.File) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			s.forward(buf[:n])
			_ = r.SetReadDeadline(time.Now().Add(idleAfter)) // a pipe has deadlines
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.forward(nil)
			_ = r.SetReadDeadline(time.Time{})
		case err != nil:
			return
		}
	}
}

// forward hands output to the sink; nil means that nothing came for a moment. A
// sink that fails loses output, it does not stop the command.
func (s *stream) forward(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.sink == nil:
	case p == nil:
		s.sink.Idle()
	default:
		_, _ = s.sink.Write(p)
	}
}

// handedOver closes our copy of the command's end.
func (s *stream) handedOver() { s.child.Close() }

// leave waits for the end of the pipe, but not for ever, and lets go.
func (s *stream) leave() {
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case <-s.ended:
	case <-timer.C:
	}
	s.mu.Lock()
	s.sink = nil
	s.mu.Unlock()
}

// abandon ends a stream that no command ever got.
func (s *stream) abandon() {
	s.handedOver()
	s.leave()
}
