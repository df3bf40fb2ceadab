package pool

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// place is the place of one sandbox that is ready or being started. Its goroutine, hold, alone
// has the sandbox until it is claimed.
type place struct {
	pool   *Pool
	spec   sandbox.Spec
	claims chan chan<- sandbox.Sandbox
	ready  atomic.Bool   // the sandbox can be claimed
	ended  chan struct{} // closed when nothing of the sandbox is the pool's any more
	late   chan struct{} // closed when a start or an end has taken too long
	isLate sync.Once
	leave  context.CancelFunc
	left   context.Context // ends when the sandbox is to be destroyed
}

func newPlace(p *Pool, spec sandbox.Spec) *place {
	at := &place{
		pool: p, spec: spec, claims: make(chan chan<- sandbox.Sandbox),
		ended: make(chan struct{}), late: make(chan struct{}),
	}
	at.left, at.leave = context.WithCancel(context.Background())
	return at
}

// retire makes the place destroy its sandbox.
func (at *place) retire() { at.leave() }

// claim returns the sandbox once it is ready; nil if it has ended or does not suit, in which case
// nothing is left of it. Code unavailable: it neither starts nor ends; cancelled: ctx ended.
func (at *place) claim(ctx context.Context, suits bool) (sandbox.Sandbox, error) {
	claims := at.claims
	if !suits {
		claims = nil
		at.retire()
	}
	reply := make(chan sandbox.Sandbox, 1)
	for {
		select {
		case claims <- reply:
			if b := <-reply; b != nil {
				return b, nil
			}
			claims = nil // it has ended, and what is left of it is being removed
		case <-at.ended:
			return nil, nil
		case <-at.late:
			return nil, choir.E("pool.claim", choir.CodeUnavailable, "a sandbox of the %s that was started beforehand neither starts nor ends", at.spec.Role)
		case <-ctx.Done():
			return nil, choir.Wrap("pool.claim", choir.CodeCancelled, ctx.Err(), "wait for a sandbox that was started beforehand")
		}
	}
}

// end is how a place ended.
type end string

const (
	endClaimed end = "claimed"
	endRetired end = "retired"
	endFailed  end = "failed" // it did not start, or ended by itself
)

// setLate tells claims to wait no longer.
func (at *place) setLate() { at.isLate.Do(func() { close(at.late) }) }

const (
	// endPatience is the time that a sandbox has to end, endPause the time between two attempts to
	// end it.
	endPatience = 10 * time.Second
	endPause    = time.Second
)

// hold starts the sandbox and has it until it is claimed, is to be destroyed, or ends.
func (at *place) hold(ctx context.Context) end {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(at.left, cancel)()
	defer at.leave()
	late := time.AfterFunc(2*at.pool.cfg.StartPatience, at.setLate)
	defer late.Stop()
	starting, cancelStart := context.WithTimeout(ctx, at.pool.cfg.StartPatience)
	defer cancelStart()
	r, err := at.start(starting)
	if err != nil {
		if ctx.Err() != nil {
			return endRetired
		}
		at.pool.cfg.Log.Warn("a sandbox could not be started beforehand", "computer", at.spec.Computer, "role", at.spec.Role, "error", err)
		return endFailed
	}
	late.Stop()
	at.ready.Store(true)
	defer at.ready.Store(false)
	select {
	case reply := <-at.claims:
		at.ready.Store(false)
		if r.release() {
			reply <- r.sandbox
			r.disconnect() // the claimer need not wait for that, nor the sandbox know of it
			return endClaimed
		}
		reply <- nil // the claimer's context may end before the destruction does
		at.destroy(r)
		return endFailed
	case <-ctx.Done():
		at.destroy(r)
		return endRetired
	case <-r.sandbox.Done():
	case <-r.attach.Done():
	}
	at.destroy(r)
	return endFailed
}

// destroy destroys the sandbox, again and again until nothing is left of it, unless the pool's
// end is near: then its note is left to the next control plane.
func (at *place) destroy(r *ready) {
	r.disconnect()
	for {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(at.left), endPatience)
		err := r.sandbox.Destroy(ctx)
		cancel()
		if err == nil {
			at.pool.removeNote(at.spec)
			return
		}
		at.pool.cfg.Log.Warn("a sandbox that was started beforehand did not end", "computer", at.spec.Computer, "role", at.spec.Role, "error", err)
		at.setLate()
		if at.pool.stopping(endPause) {
			return
		}
	}
}

// stopping waits for the given time, or until Serve ends, and reports whether it does.
func (p *Pool) stopping(within time.Duration) bool {
	p.mu.Lock()
	ctx := p.ctx
	p.mu.Unlock()
	select {
	case <-ctx.Done():
		return true
	case <-time.After(within):
		return false
	}
}

// ready is a running sandbox that nobody has claimed. An attachment keeps it from ending as an
// orphan.
type ready struct {
	sandbox sandbox.Sandbox
	attach  *guest.Attachment
	mux     *guest.Mux // nil where the driver opens several streams
	note    func() error
}

// start makes the sandbox, notes it and attaches to it. After an error nothing is left of it.
func (at *place) start(ctx context.Context) (*ready, error) {
	driver := at.pool.Driver
	b, err := driver.Create(ctx, at.spec)
	if err != nil {
		return nil, err
	}
	r := &ready{sandbox: b, note: func() error { return at.pool.removeNote(at.spec) }}
	dial := b.Dial
	if !driver.Capabilities().Streams {
		r.mux = guest.NewMux(b.Dial)
		dial = r.mux.Dial
	}
	if err = at.pool.writeNote(at.spec, b.Handle()); err == nil {
		r.attach, err = guest.NewClient(dial).Attach(ctx)
	}
	if err != nil {
		at.destroy(r)
		return nil, err
	}
	return r, nil
}

// disconnect ends the connections to the sandbox.
func (r *ready) disconnect() {
	if r.attach != nil {
		r.attach.Close()
	}
	if r.mux != nil {
		r.mux.Close()
	}
}

// release prepares the sandbox for its claimer, and reports whether it lives. Its note is removed:
// the next control plane would destroy it. A stream that the claimer needs is closed.
func (r *ready) release() bool {
	select {
	case <-r.sandbox.Done():
		return false
	case <-r.attach.Done():
		return false
	default:
	}
	if r.mux != nil {
		r.disconnect()
	}
	return r.note() == nil
}
