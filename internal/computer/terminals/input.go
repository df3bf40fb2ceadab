package terminals

import (
	"sync"

	"choiros/internal/choir"
)

// How much may be typed ahead of the program by all views together, and how
// often a view is told what was taken.
const (
	// MaxAhead is in bytes. A view should send no more than a quarter of it before
	// it is told that some was taken.
	MaxAhead  = 1 << 20
	takenStep = 32 << 10
)

// input is what was typed and the program has not taken yet.
type input struct {
	mu     sync.Mutex // guards what follows
	filled *sync.Cond
	queue  []keys
	held   int // bytes in the queue and on their way out of it
	closed bool
}

// keys are what one view typed.
type keys struct {
	bytes []byte
	by    *View
}

func newInput() *input {
	in := &input{}
	in.filled = sync.NewCond(&in.mu)
	return in
}

// put takes input in and keeps the slice; code too_large beyond MaxAhead.
func (in *input) put(p []byte, by *View) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.held+len(p) > MaxAhead {
		return choir.E("terminal.type", choir.CodeTooLarge, "more than %d bytes were typed ahead of the program", MaxAhead)
	}
	if in.closed || len(p) == 0 {
		return nil
	}
	in.queue = append(in.queue, keys{p, by})
	in.held += len(p)
	in.filled.Signal()
	return nil
}

// take waits for input; false when there will be none any more.
func (in *input) take() ([]byte, *View, bool) {
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

// typed makes room for n bytes that were taken.
func (in *input) typed(n int) {
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
