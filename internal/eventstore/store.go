// Package eventstore is a computer's log: the journal, which is the truth, and
// its SQLite copy with the projections that answer questions.
package eventstore

import (
	"context"
	"io"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

// Config says whose log it is and injects the clock.
type Config struct {
	Computer choir.ID
	User     choir.ID
	Now      func() choir.Time
	// Blobs, when given, must hold what an appended event points at.
	Blobs blob.Store
}

// Store is the log of one computer. All methods may be called at once from many
// goroutines.
type Store struct{}

var errSkeleton = choir.E("eventstore", choir.CodeUnavailable, "not built yet")

// Open opens the log in dir, creating it when there is none.
func Open(ctx context.Context, dir string, cfg Config) (*Store, error) { return nil, errSkeleton }

// OpenReadOnly opens a log that no computer runs, for reading only; it changes
// nothing on disk.
func OpenReadOnly(ctx context.Context, dir string) (*Store, error) { return nil, errSkeleton }

func (s *Store) Append(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error) {
	return nil, errSkeleton
}
func (s *Store) Head() (uint64, choir.Digest) { return 0, choir.ZeroHash }
func (s *Store) EventsAfter(ctx context.Context, seq uint64, limit int) ([]choir.Event, error) {
	return nil, errSkeleton
}
func (s *Store) Event(ctx context.Context, id choir.ID) (choir.Event, error) {
	return choir.Event{}, errSkeleton
}
func (s *Store) WaitPast(ctx context.Context, seq uint64) error { return errSkeleton }
func (s *Store) EventsOfRun(ctx context.Context, run choir.ID, after uint64, limit int) ([]choir.Event, error) {
	return nil, errSkeleton
}
func (s *Store) Runs(ctx context.Context, limit int, before uint64) ([]Run, error) {
	return nil, errSkeleton
}
func (s *Store) Run(ctx context.Context, id choir.ID) (Run, error)       { return Run{}, errSkeleton }
func (s *Store) OpenRuns(ctx context.Context) ([]Run, error)             { return nil, errSkeleton }
func (s *Store) Tasks(ctx context.Context, run choir.ID) ([]Task, error) { return nil, errSkeleton }
func (s *Store) Task(ctx context.Context, id choir.ID) (Task, error)     { return Task{}, errSkeleton }
func (s *Store) OpenTasks(ctx context.Context) ([]Task, error)           { return nil, errSkeleton }
func (s *Store) Checkpoints(ctx context.Context, limit int, before uint64) ([]Checkpoint, error) {
	return nil, errSkeleton
}
func (s *Store) Checkpoint(ctx context.Context, id choir.ID) (Checkpoint, error) {
	return Checkpoint{}, errSkeleton
}

// SnapshotAt is the newest snapshot at or before an event and the event that
// brought it; code not_found when there is none.
func (s *Store) SnapshotAt(ctx context.Context, seq uint64) (choir.SnapshotTaken, uint64, error) {
	return choir.SnapshotTaken{}, 0, errSkeleton
}

// Documents lists documents as of an event; asOf 0 means now.
func (s *Store) Documents(ctx context.Context, asOf uint64) ([]Document, error) {
	return nil, errSkeleton
}

// Document is one version of a document; version -1 means the current one.
func (s *Store) Document(ctx context.Context, id choir.ID, version int) (Document, error) {
	return Document{}, errSkeleton
}
func (s *Store) DocumentVersions(ctx context.Context, id choir.ID) ([]Document, error) {
	return nil, errSkeleton
}

// Files lists files as of an event (asOf 0 means now) in the order of their
// paths, those that begin with prefix and come after the given path.
func (s *Store) Files(ctx context.Context, asOf uint64, prefix string, limit int, after string) ([]choir.FileState, error) {
	return nil, errSkeleton
}
func (s *Store) Conversations(ctx context.Context, limit int, before uint64) ([]Conversation, error) {
	return nil, errSkeleton
}
func (s *Store) Messages(ctx context.Context, conversation choir.ID) ([]Message, error) {
	return nil, errSkeleton
}

// Usage sums what model calls of a run cost; an empty run means the computer.
func (s *Store) Usage(ctx context.Context, run choir.ID) (Usage, error) { return Usage{}, errSkeleton }
func (s *Store) Dump(ctx context.Context, w io.Writer) (choir.Digest, error) {
	return "", errSkeleton
}
func (s *Store) Rebuild(ctx context.Context) error { return errSkeleton }
func (s *Store) Verify(ctx context.Context, progress func(done, total uint64)) (Report, error) {
	return Report{}, errSkeleton
}

// Repairs are what Open restored; the caller appends them as log.repaired.
func (s *Store) Repairs() []choir.LogRepaired { return nil }

// ReadOnly says why appends are refused, or is empty.
func (s *Store) ReadOnly() string { return "" }
func (s *Store) Close() error     { return nil }
