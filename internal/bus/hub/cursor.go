package hub

import "context"

// Cursor remembers how far a relay came, for the case that the stream is gone and
// cannot say; eventstore.Cursor is one. It may lag behind.
type Cursor interface {
	// Load reads the number of the newest event that was published, 0 for none. Code
	// conflict: the cursor is of another log.
	Load(ctx context.Context) (uint64, error)
	// Save moves the cursor to a committed event.
	Save(ctx context.Context, seq uint64) error
}
