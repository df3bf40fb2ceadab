package guest

import (
	"encoding/binary"
	"sync"

	"choiros/internal/choir"
)

// stdinWindow is how much standard input may be on its way to a command. The
// client sends no more before it is told that some was taken, so that reading
// the connection never waits for a command and signals always get through.
const stdinWindow = 256 << 10

// inbox holds input that the command has not taken yet.
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

// put takes input in; code too_large beyond the window.
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

// take waits for input; false when there will be none any more.
func (b *inbox) take() ([]byte, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.data) == 0 && !b.closed {
		b.filled.Wait()
	}
	chunk := b.data
	b.data = nil
	return chunk, len(chunk) > 0
}

// free makes room for n bytes that were taken.
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

// writeCredit tells the client that n bytes of input were taken.
func (w *wire) writeCredit(n int) error {
	return w.write(frameCredit, binary.BigEndian.AppendUint32(nil, uint32(n)))
}
