package guest

import (
	"encoding/binary"
	"sync"

	"choiros/internal/choir"
)

// stdinWindow is the number of bytes of standard input that may be on their way to a
// command. The client sends no more until the server reports consumption, so that the
// server can always read the connection, and signals always get through.
const stdinWindow = 256 << 10

// inbox is the queue of input that a command has not consumed yet.
type inbox struct {
	mu     sync.Mutex // guards what follows
	filled *sync.Cond
	data   []byte
	held   int // bytes in data and on their way out of it
	closed bool
}

func newInbox() *inbox {
	b := &inbox{}
	b.filled = sync.NewCond(&b.mu)
	return b
}

// put appends input to the queue. Beyond stdinWindow it returns code too_large; after
// close it discards the input.
func (b *inbox) put(p []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held+len(p) > stdinWindow {
		return choir.E("guest.exec", choir.CodeTooLarge, "more than %d bytes of input were sent ahead", stdinWindow)
	}
	if b.closed || len(p) == 0 {
		return nil
	}
	b.data = append(b.data, p...)
	b.held += len(p)
	b.filled.Signal()
	return nil
}

// awaitInput waits for input and returns all of it; ok is false once the input has ended.
// The bytes count against the window until free.
func (b *inbox) awaitInput() ([]byte, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.data) == 0 && !b.closed {
		b.filled.Wait()
	}
	chunk := b.data
	b.data = nil
	return chunk, len(chunk) > 0
}

// free subtracts n consumed bytes from the window.
func (b *inbox) free(n int) {
	b.mu.Lock()
	b.held -= n
	b.mu.Unlock()
}

func (b *inbox) close() {
	b.mu.Lock()
	b.closed = true
	b.filled.Signal()
	b.mu.Unlock()
}

// writeCredit tells the client that n bytes of input were consumed.
func (w *wire) writeCredit(n int) error {
	return w.write(frameCredit, binary.BigEndian.AppendUint32(nil, uint32(n)))
}
