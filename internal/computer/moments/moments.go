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

// StateLog is the part of the log that gives the state of a moment. The methods are
// those of eventstore.Store.
type StateLog interface {
	SnapshotAt(ctx context.Context, seq uint64) (choir.SnapshotTaken, uint64, error)
	LeftOut(ctx context.Context, asOf uint64) (choir.CachesLeftOut, error)
	Documents(ctx context.Context, asOf uint64) ([]eventstore.Document, error)
	Windows(ctx context.Context, asOf uint64) ([]eventstore.Window, error)
	Settings(ctx context.Context, asOf uint64) ([]eventstore.Setting, error)
}

// Log is the part of their computer's log that Moments read.
type Log interface {
	EventLog
	StateLog
}

// Documents reads documents with their content; desk.Desk is one.
type Documents interface {
	Document(ctx context.Context, id choir.ID, version int) (eventstore.Document, error)
}

// Available returns the snapshot root without the content that the computer lacks, and
// the paths of that content. Code not_found: the snapshot was collected.
type Available func(ctx context.Context, root choir.Digest) (left choir.Digest, lacking []string, err error)

// Moments reads the moments of one computer. Its methods are safe for concurrent use.
type Moments struct {
	log       Log
	documents Documents        // of the log
	keeper    *snapshot.Keeper // of the workspace's trees
	available Available
}

// New returns the Moments of the computer to which log and documents belong.
func New(log Log, documents Documents, keeper *snapshot.Keeper, available Available) *Moments {
	return &Moments{log: log, documents: documents, keeper: keeper, available: available}
}

// Tree returns the snapshot of the workspace as of event seq; 0 means now. Code
// not_found: no snapshot was taken by then, or it was collected.
func (ms *Moments) Tree(ctx context.Context, seq uint64) (choir.Digest, error) {
	root, _, err := ms.TreeLacking(ctx, seq)
	return root, err
}

// TreeLacking is Tree with the paths that the snapshot lacks, because they did not come
// along when the computer was forked or imported.
func (ms *Moments) TreeLacking(ctx context.Context, seq uint64) (root choir.Digest, lacking []string, err error) {
	if seq == 0 {
		seq, _ = ms.log.Head()
	}
	if err := ms.log.MustHave(seq); err != nil {
		return "", nil, err
	}
	s, _, err := ms.log.SnapshotAt(ctx, seq)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", nil, choir.Refuse("computer.moment", choir.ReasonNoSnapshotThen, choir.CountOf("event", seq))
	}
	if err != nil {
		return "", nil, err
	}
	return ms.available(ctx, s.Snapshot)
}

// DiffFiles compares the workspace at two moments. It reads only the log and stored
// content.
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
