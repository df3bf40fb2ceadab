package proctree

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

const (
	// idleAfter is how long without output before Sink.Idle is called.
	idleAfter = 40 * time.Millisecond
	// lastWords is how long output is still awaited after the command's end if a process
	// that it left holds the pipe open.
	lastWords = 100 * time.Millisecond
)

// stream reads one output pipe and passes the output to a Sink. After leave it discards
// the output, so that processes left behind do not die of a closed pipe.
type stream struct {
	child *os.File // the pipe's write end, for the command
	ended chan struct{}

	mu   sync.Mutex // guards sink
	sink Sink       // nil after leave
}

// newStream returns a stream whose output goes to sink. The caller ends it by leave or abandon.
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

// drain reads the pipe to its end and forwards the output.
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

// forward passes output to the sink, or calls its Idle for nil. Errors of the sink are
// ignored and do not stop the command.
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

// handedOver closes this process's copy of the pipe's write end.
func (s *stream) handedOver() { s.child.Close() }

// leave waits up to lastWords for the end of the pipe and then detaches the sink.
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

// abandon closes a stream whose command was not started.
func (s *stream) abandon() {
	s.handedOver()
	s.leave()
}
