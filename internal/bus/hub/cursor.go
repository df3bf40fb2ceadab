package hub

import "context"

// Cursor stores how far a relay has published, for the case that the stream is lost;
// eventstore.Cursor implements it. It may lag behind.
type Cursor interface {
	// Load returns the number of the newest published event, 0 for none. Code conflict: the
	// cursor belongs to another log.
	Load(ctx context.Context) (uint64, error)
	// Save stores the number of the newest published event.
	Save(ctx context.Context, seq uint64) error
}
