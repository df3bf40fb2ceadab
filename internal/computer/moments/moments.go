// Package moments is the past of a computer, to be read: what the computer was after an
// event, how two moments differ, and the marks of its timeline in words. A moment is the
// number of an event.
//
// It reads the log and the content that the log leads to, and works while nothing runs.
// Package internal/timeline has the sentences, and what is done with trees alone.
package moments

import (
	"context"
	"iter"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/snapshot"
)

// EventLog is the log of a computer as a list of events. The methods are those of
// eventstore.Store.
type EventLog interface {
	MarkLog
	Head() (uint64, choir.Digest)
	MustHave(seq uint64) error
	At(ctx context.Context, seq uint64) (choir.Event, error)
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
}

// StateLog is what the log says of a moment. The methods are those of eventstore.Store.
type StateLog interface {
	SnapshotAt(ctx context.Context, seq uint64) (choir.SnapshotTaken, uint64, error)
	LeftOut(ctx context.Context, asOf uint64) (choir.CachesLeftOut, error)
	Documents(ctx context.Context, asOf uint64) ([]eventstore.Document, error)
	Windows(ctx context.Context, asOf uint64) ([]eventstore.Window, error)
	Settings(ctx context.Context, asOf uint64) ([]eventstore.Setting, error)
}

// Log is what Moments read of their computer's log.
type Log interface {
	EventLog
	StateLog
}

// Documents reads documents with their content; desk.Desk is one.
type Documents interface {
	Document(ctx context.Context, id choir.ID, version int) (eventstore.Document, error)
}

// Available returns the tree that is left of a snapshot without the content that the
// computer does not have, and the paths of that. Code not_found when the snapshot was
// collected.
type Available func(ctx context.Context, root choir.Digest) (left choir.Digest, lacking []string, err error)

// Moments are the moments of one computer. The methods may be called at once.
type Moments struct {
	log       Log
	documents Documents        // of the log
	keeper    *snapshot.Keeper // of the workspace's trees
	available Available
}

// New makes the moments of a computer, of which it reads log and documents.
func New(log Log, documents Documents, keeper *snapshot.Keeper, available Available) *Moments {
	return &Moments{log: log, documents: documents, keeper: keeper, available: available}
}

// Tree finds the snapshot of the workspace as it was after event seq; the present, as
// the log knows it, for zero. Code not_found when none was taken by then, or when it was
// collected.
func (ms *Moments) Tree(ctx context.Context, seq uint64) (choir.Digest, error) {
	root, _, err := ms.TreeLacking(ctx, seq)
	return root, err
}

// TreeLacking is Tree, with the paths that did not come along when the computer was
// forked or imported.
func (ms *Moments) TreeLacking(ctx context.Context, seq uint64) (root choir.Digest, lacking []string, err error) {
	if seq == 0 {
		seq, _ = ms.log.Head()
	}
	if err := ms.log.MustHave(seq); err != nil {
		return "", nil, err
	}
	s, _, err := ms.log.SnapshotAt(ctx, seq)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", nil, choir.E("computer.moment", choir.CodeNotFound, "no snapshot was taken at or before event %d", seq)
	}
	if err != nil {
		return "", nil, err
	}
	return ms.available(ctx, s.Snapshot)
}

// DiffFiles compares the workspace at two moments. It reads the log and the content
// only.
func (ms *Moments) DiffFiles(ctx context.Context, from, to uint64) (workspace.Difference, error) {
	a, err := ms.Tree(ctx, from)
	if err != nil {
		return workspace.Difference{}, err
	}
	b, err := ms.Tree(ctx, to)
	if err != nil {
		return workspace.Difference{}, err
	}
	changes, err := snapshot.Diff(ctx, ms.keeper, a, b)
	return workspace.Difference{From: a, To: b, Changes: changes}, err
}
