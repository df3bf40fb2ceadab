// Package origin is where the log of a computer begins: with its first event, or with the
// past of another that it was forked from or imported with. Content of such a past can
// lack, and its events were published by another.
//
// It reads the log and the content that the log leads to, and works while nothing runs.
package origin

import (
	"context"
	"iter"
	"sync/atomic"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// Log is the part of a computer's log that an Origin reads. eventstore.Store implements
// it.
type Log interface {
	Head() (uint64, choir.Digest)
	ReadOnly() string
	// Begins returns the number of the computer's first own event, see eventstore.Store.
	Begins(ctx context.Context, computer choir.ID) (uint64, error)
	At(ctx context.Context, seq uint64) (choir.Event, error)
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
	WaitPast(ctx context.Context, seq uint64) error
}

// Origin finds where a computer's own events begin in its log, after the past of another
// computer that a fork or an import starts with. It is safe for concurrent use.
type Origin struct {
	computer choir.ID
	log      Log
	events   *appender.Appender // appends to log
	keeper   *snapshot.Keeper   // of the workspace's trees
	// begins is the first event that the computer has alone; 0 until somebody asked.
	begins atomic.Uint64
}

// New returns the origin of a computer. It reads log, and appends with events, which must
// append to the same log. keeper has the workspace's trees.
func New(computer choir.ID, log Log, events *appender.Appender, keeper *snapshot.Keeper) *Origin {
	return &Origin{computer: computer, log: log, events: events, keeper: keeper}
}

// OwnEvents reads the log without the past of another computer that a fork or an import
// starts with; the other computer has already published that.
type OwnEvents struct {
	log    Log
	begins uint64
}

// At returns one of the computer's own events. An earlier event is code not_found.
func (o OwnEvents) At(ctx context.Context, seq uint64) (choir.Event, error) {
	if seq < o.begins {
		return choir.Event{}, choir.Refuse("computer.events", choir.ReasonEventOfOther, choir.TextOf("event", seq))
	}
	return o.log.At(ctx, seq)
}

// Events iterates over the computer's own events in a range, see eventstore.Store.
func (o OwnEvents) Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error] {
	return o.log.Events(ctx, max(from, o.begins), to)
}

// WaitPast returns when the log has an event after number seq, see eventstore.Store.
func (o OwnEvents) WaitPast(ctx context.Context, seq uint64) error { return o.log.WaitPast(ctx, seq) }

// Own returns the reader of the computer's own events.
func (o *Origin) Own(ctx context.Context) (OwnEvents, error) {
	begins, err := o.Begins(ctx)
	return OwnEvents{o.log, begins}, err
}

// Begins returns the number of the computer's first own event; 1 for a computer without
// another's past.
func (o *Origin) Begins(ctx context.Context) (uint64, error) {
	if known := o.begins.Load(); known != 0 {
		return known, nil
	}
	begins, err := o.log.Begins(ctx, o.computer)
	if err == nil {
		o.begins.Store(begins)
	}
	return begins, err
}

// MustBeOwn returns code conflict if the log in the folder dir belongs to another
// computer, because the folder was moved by hand. A read-only log is not checked.
func (o *Origin) MustBeOwn(ctx context.Context, dir string) error {
	head, _ := o.log.Head()
	begins, err := o.Begins(ctx)
	if err != nil || head == 0 || begins <= head || o.log.ReadOnly() != "" {
		return err
	}
	return choir.Refuse("computer.open", choir.ReasonLogOfOther, choir.TextOf("path", dir), choir.TextOf("id", o.computer))
}

// Available returns the tree of a snapshot without the files whose content is not in the
// store, and their paths: a fork or an import lacks files that looked like keys. For a
// computer without another's past it returns root. If the root itself was collected the
// error is code not_found.
func (o *Origin) Available(ctx context.Context, root choir.Digest) (choir.Digest, []string, error) {
	if _, err := o.keeper.Size(ctx, root); choir.CodeOf(err) == choir.CodeNotFound {
		return "", nil, choir.Refuse("computer.moment", choir.ReasonMomentCollected)
	}
	if begins, err := o.Begins(ctx); err != nil || begins == 1 {
		return root, nil, err
	}
	if _, _, err := o.keeper.Verify(ctx, root); choir.CodeOf(err) != choir.CodeNotFound {
		return root, nil, err
	}
	return timeline.Prune(ctx, o.keeper, root, func(_ string, e *snapshot.Entry) (bool, error) {
		_, err := o.keeper.Size(ctx, e.Digest())
		if choir.CodeOf(err) == choir.CodeNotFound {
			return true, nil
		}
		return false, err
	})
}

// RecordFork appends timeline.forked: another computer was forked from this one at event
// seq. A second call for the same fork has no effect.
func (o *Origin) RecordFork(ctx context.Context, role choir.Role, fork choir.ID, seq uint64) error {
	d, err := choir.NewDraft(choir.DeriveID(fork, "forked"), choir.TimelineForked{Computer: fork, Seq: seq})
	if err == nil {
		_, err = o.events.AppendAs(ctx, role, d)
	}
	return appender.UnlessSaid(err, role, choir.TypeTimelineForked)
}

// ForkedFrom returns the computer that this one was forked from and the number of their
// last common event; empty and 0 if it is no fork.
func (o *Origin) ForkedFrom(ctx context.Context) (choir.ID, uint64, error) {
	begins, err := o.Begins(ctx)
	if err != nil || begins == 1 {
		return "", 0, err
	}
	e, err := o.log.At(ctx, begins)
	if err != nil || e.Type != choir.TypeComputerForked {
		return "", 0, err
	}
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return "", 0, err
	}
	f := p.(*choir.ComputerForked)
	return f.From, f.Seq, nil
}
