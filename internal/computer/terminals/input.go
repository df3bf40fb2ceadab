package terminals

import (
	"sync"

	"choiros/internal/choir"
)

// MaxAhead bounds the input that all views together may send ahead of the program, and
// takenStep is the number of consumed bytes after which a view is told.
const (
	// MaxAhead is in bytes. A view should send no more than a quarter of it before
	// it is told that some was taken.
	MaxAhead  = 1 << 20
	takenStep = 32 << 10
)

// input is the queue of input that the program has not consumed yet.
type input struct {
	mu     sync.Mutex // guards what follows
	filled *sync.Cond
	queue  []keys
	held   int // bytes in the queue and on their way out of it
	closed bool
}

// keys is a piece of input from one view.
type keys struct {
	bytes []byte
	by    *View
}

func newInput() *input {
	in := &input{}
	in.filled = sync.NewCond(&in.mu)
	return in
}

// put appends input of a view to the queue and keeps the slice. Beyond MaxAhead the error
// is code too_large; after close it discards the input.
func (in *input) put(p []byte, by *View) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.held+len(p) > MaxAhead {
		return choir.Refuse("terminal.type", choir.ReasonTypedTooFar, choir.BytesOf("limit", MaxAhead))
	}
	if in.closed || len(p) == 0 {
		return nil
	}
	in.queue = append(in.queue, keys{p, by})
	in.held += len(p)
	in.filled.Signal()
	return nil
}

// awaitInput waits for input and returns the next piece with its view; ok is false once
// the queue is closed. The bytes count against MaxAhead until free.
func (in *input) awaitInput() ([]byte, *View, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.queue) == 0 && !in.closed {
		in.filled.Wait()
	}
	if in.closed {
		return nil, nil, false
	}
	first := in.queue[0]
	in.queue = in.queue[1:]
	return first.bytes, first.by, true
}

// free subtracts n consumed bytes from the count that MaxAhead limits.
func (in *input) free(n int) {
	in.mu.Lock()
	in.held -= n
	in.mu.Unlock()
}

func (in *input) close() {
	in.mu.Lock()
	in.closed = true
	in.filled.Signal()
	in.mu.Unlock()
}
