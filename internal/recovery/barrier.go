// Package recovery coordinates the maintenance of a log with its appends. A repair replaces files
// that appends rely on, so it runs alone: new appends wait, pending ones become durable, the
// SQLite copy gets their events, and only then the repair checks the damage again and mends it.
// Maintenance that only reads runs beside appends and keeps repairs away. docs/ARCHITECTURE.md
// lists every action and how it runs.
package recovery

import (
	"context"

	"golang.org/x/sync/semaphore"

	"choiros/internal/choir"
	"choiros/internal/lockorder"
)

// Action is a maintenance action's name in errors.
type Action string

// The maintenance actions.
const (
	Verify  Action = "verify"
	Repair  Action = "repair"
	Remake  Action = "remake"
	Rebuild Action = "rebuild"
	Export  Action = "export"
	Fork    Action = "fork"
)

// everyone is the weight of a repair in the semaphore, more than there are ever readers.
const everyone = 1 << 40

// Barrier keeps appends, readers of files and repairs of one log apart. While a repair waits for
// pending appends, later ones wait, so it is not starved. Its methods are safe for concurrent use.
type Barrier struct {
	files   *semaphore.Weighted // weight 1 for a reader of files, everyone for a repair
	drain   func(context.Context) error
	closing context.Context
	close   context.CancelFunc

	appends gate
}

// NewBarrier returns a Barrier. It calls drain while appends wait and none is pending; drain
// returns once the SQLite copy has every durable event.
func NewBarrier(drain func(context.Context) error) *Barrier {
	closing, cancel := context.WithCancel(context.Background())
	return &Barrier{
		files: semaphore.NewWeighted(everyone), drain: drain, closing: closing, close: cancel,
		appends: gate{emptied: make(chan struct{}, 1)},
	}
}

// AdmitAppend admits an append, waiting while a repair runs. The caller calls ReleaseAppend when
// the append is durable or failed. Code cancelled: ctx ended first.
func (b *Barrier) AdmitAppend(ctx context.Context) error {
	lockorder.Acquire[lockorder.Appends]()
	if err := b.appends.enterGate(ctx); err != nil {
		lockorder.Release[lockorder.Appends]()
		return choir.Wrap("recovery.append", choir.CodeCancelled, err, "stopped while the log is repaired; nothing was appended")
	}
	return nil
}

// ReleaseAppend ends an append admitted by AdmitAppend.
func (b *Barrier) ReleaseAppend() {
	b.appends.leaveGate()
	lockorder.Release[lockorder.Appends]()
}

// Beside runs fn, which reads files of the log, beside appends; no repair runs meanwhile. fn's
// context ends with Close. Code cancelled: ctx ended before fn; unavailable: the log is closed.
func (b *Barrier) Beside(ctx context.Context, action Action, fn func(context.Context) error) error {
	return b.hold(ctx, action, 1, fn)
}

// Alone runs fn, which replaces files of the log: it makes appends and other maintenance wait,
// waits for those in progress, and drains the SQLite copy first. fn must not append. Codes as of
// Beside.
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

// hold runs fn while it holds a part of the weight of b.files. Codes as of Beside.
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

// stopped returns the error for an action that was not run: the log is closed, or err ended its context.
func (b *Barrier) stopped(action Action, err error) error {
	if b.closing.Err() != nil {
		return choir.Refuse("recovery."+string(action), choir.ReasonLogClosed)
	}
	return choir.Wrap("recovery."+string(action), choir.CodeCancelled, err, "stopped before it could %s the log", action)
}

// Close cancels maintenance in progress, waits for it, and refuses later maintenance. It does not
// affect appends, which the journal refuses.
func (b *Barrier) Close() {
	b.close()
	// The background's context never ends, so this cannot fail.
	if err := b.files.Acquire(context.Background(), everyone); err == nil {
		b.files.Release(everyone)
	}
}
