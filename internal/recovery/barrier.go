// Package recovery owns the barrier between the maintenance of a log and its
// appends. A repair replaces files and the numbers that appends rely on, so it
// runs alone: no append joins, those under way become durable, the SQLite copy
// gets their events, and only then the repair checks the damage again and mends
// it. Maintenance that only reads runs beside appends and keeps repairs away.
// docs/ARCHITECTURE.md lists every action and how it runs.
package recovery

import (
	"context"

	"golang.org/x/sync/semaphore"

	"choiros/internal/choir"
	"choiros/internal/lockorder"
)

// Action names a maintenance action in errors.
type Action string

// The actions.
const (
	Verify  Action = "verify"
	Repair  Action = "repair"
	Remake  Action = "remake"
	Rebuild Action = "rebuild"
	Export  Action = "export"
	Fork    Action = "fork"
)

// everyone is more than ever hold a semaphore at once.
const everyone = 1 << 40

// Barrier keeps appends, readers of files and repairs of one log apart. A repair
// that waits for appends under way holds later ones back, so it is not starved.
// All methods may be called at once.
type Barrier struct {
	files   *semaphore.Weighted // one for each reader of files, all for a repair
	drain   func(context.Context) error
	closing context.Context
	close   context.CancelFunc

	appends gate
}

// NewBarrier makes a barrier. drain is called when appends are held and none is
// under way: it returns once the SQLite copy has every durable event.
func NewBarrier(drain func(context.Context) error) *Barrier {
	closing, cancel := context.WithCancel(context.Background())
	return &Barrier{
		files: semaphore.NewWeighted(everyone), drain: drain, closing: closing, close: cancel,
		appends: gate{emptied: make(chan struct{}, 1)},
	}
}

// AdmitAppend admits an append, which calls ReleaseAppend when it is durable or failed. It
// waits while a repair runs; code cancelled when the context ends first.
func (b *Barrier) AdmitAppend(ctx context.Context) error {
	lockorder.Acquire[lockorder.Appends]()
	if err := b.appends.enterGate(ctx); err != nil {
		lockorder.Release[lockorder.Appends]()
		return choir.Wrap("recovery.append", choir.CodeCancelled, err, "stopped while the log is repaired; nothing was appended")
	}
	return nil
}

// ReleaseAppend ends an append that AdmitAppend admitted.
func (b *Barrier) ReleaseAppend() {
	b.appends.leaveGate()
	lockorder.Release[lockorder.Appends]()
}

// Beside runs an action that reads files of the log while appends go on; no
// repair runs meanwhile. Its context ends with Close. Code cancelled: the
// context ended; unavailable: the log is closed.
func (b *Barrier) Beside(ctx context.Context, action Action, fn func(context.Context) error) error {
	return b.hold(ctx, action, 1, fn)
}

// Alone runs an action that replaces files of the log: it holds appends and
// other maintenance back, waits for those under way, and drains the SQLite copy.
// fn must not append. Codes as of Beside.
func (b *Barrier) Alone(ctx context.Context, action Action, fn func(context.Context) error) error {
	return b.hold(ctx, action, everyone, func(ctx context.Context) error {
		lockorder.Acquire[lockorder.Appends]()
		defer lockorder.Release[lockorder.Appends]()
		defer b.appends.reopen()
		if err := b.appends.shut(ctx); err != nil {
			return b.stopped(action, err)
		}
		if err := b.drain(ctx); err != nil {
			return err
		}
		return fn(ctx)
	})
}

// hold runs fn with a part of the files' semaphore.
func (b *Barrier) hold(ctx context.Context, action Action, part int64, fn func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(b.closing, cancel)()
	lockorder.Acquire[lockorder.Files]()
	defer lockorder.Release[lockorder.Files]()
	if err := b.files.Acquire(ctx, part); err != nil {
		return b.stopped(action, err)
	}
	defer b.files.Release(part)
	if b.closing.Err() != nil {
		return b.stopped(action, b.closing.Err())
	}
	return fn(ctx)
}

func (b *Barrier) stopped(action Action, err error) error {
	if b.closing.Err() != nil {
		return choir.E("recovery."+string(action), choir.CodeUnavailable, "the log is closed")
	}
	return choir.Wrap("recovery."+string(action), choir.CodeCancelled, err, "stopped before it could %s the log", action)
}

// Close ends the contexts of maintenance under way, waits for it, and refuses
// any that comes later. Appends are not its concern: the journal refuses them.
func (b *Barrier) Close() {
	b.close()
	// The background's context never ends, so this cannot fail.
	if err := b.files.Acquire(context.Background(), everyone); err == nil {
		b.files.Release(everyone)
	}
}
