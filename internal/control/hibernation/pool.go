// Package hibernation opens computers on their first use and closes them when nothing has
// used them for a while. It knows no computer: opening, closing and the question whether
// one is busy are functions that it is given.
package hibernation

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"choiros/internal/choir"
)

// ErrKept is wrapped by an error of Config.Close after which the computer is still open.
var ErrKept = errors.New("the computer stays open")

// Config configures a Pool. All functions but Reclaim, Freeze and
// Thaw, and Log, are required.
type Config[C any] struct {
	// Open opens a computer. Its context ends with Pool.Stop, not with the request that
	// wanted the computer.
	Open func(ctx context.Context, id choir.ID) (C, error)
	// Close closes an idle computer. After an error the computer is closed too, unless the
	// error wraps ErrKept.
	Close func(ctx context.Context, id choir.ID, c C) error
	// Check returns, for one sweep, the function that returns why an unused computer must stay
	// open; "" if it need not. Both may be slow.
	Check func() (busy func(ctx context.Context, id choir.ID, c C) string)
	// After is the time without use after which a computer is closed; 0 is never.
	// A computer makes room for another one all the same; see Most.
	After time.Duration
	// Freeze stops an idle computer where it is, and may be called again while it is stopped; nil
	// for nothing. After code conflict it is tried again, after another error not before the next
	// use.
	Freeze func(ctx context.Context, id choir.ID, c C) error
	// Thaw lets a frozen computer go on; after an error too it counts as not frozen.
	Thaw func(ctx context.Context, id choir.ID, c C) error
	// Most is the largest number of computers that uses open at once; 0 is any number. A use that
	// would open one more is refused with code busy, and room is made, whatever After is: see makeRoom.
	Most int
	// FreezeAfter is the time without use after which a computer is frozen; 0 is never.
	FreezeAfter time.Duration
	// Retry is the time after a failed opening in which uses get its error without another
	// attempt.
	Retry time.Duration
	Now   func() time.Time
	Log   *slog.Logger
	// Reclaim gives memory that closed computers have left back to the system. Serve calls
	// it once after the closings of a sweep; nil for nothing.
	Reclaim func()
}

// Pool holds the computers of a data folder, open and closed. Its methods are safe for
// concurrent use. The functions of Config are called without any lock, and for one computer
// never two of Open and Close at once.
type Pool[C any] struct {
	cfg  Config[C]
	ctx  context.Context // of Open and Close
	stop context.CancelFunc
	work sync.WaitGroup // openings and closings

	mu      sync.Mutex // guards the fields below
	order   []choir.ID // as registered
	slots   map[choir.ID]*slot[C]
	kept    map[choir.ID]bool // computers that are being made, registered or not; see KeepRoom
	stopped bool
	making  bool   // makeRoom is at work
	opened  uint64 // computers opened since New
	thawed  uint64 // computers thawed since New
	closed  uint64 // computers closed by Sweep since New
}

// slot is the state of one computer.
type slot[C any] struct {
	open     bool
	frozen   bool      // if open
	warm     bool      // freezing failed since the last use
	computer C         // if open
	uses     int       // uses and holds that are not released; 0 unless open
	used     time.Time // when the last use or business ended, if open
	change   *change   // the opening or closing in progress; nil for none
	failed   error     // of the last opening, unless one has succeeded since
	failedAt time.Time
}

// change is one opening or closing.
type change struct {
	done chan struct{} // closed at the end
	err  error         // of an opening, set before
}

// New returns a pool without computers. The caller calls Stop.
func New[C any](cfg Config[C]) *Pool[C] {
	p := &Pool[C]{cfg: cfg, slots: map[choir.ID]*slot[C]{}, kept: map[choir.ID]bool{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// Register adds a computer that is not open. A known computer is left as it is.
func (p *Pool[C]) Register(id choir.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.slots[id] == nil {
		p.slots[id] = &slot[C]{}
		p.order = append(p.order, id)
	}
}

// Use returns a computer, which stays open until release is called. It opens a computer
// that is not open; simultaneous uses share one opening, and wait for a closing. The error
// is that of Config.Open, or code not_found if no computer has the id, busy if Config.Most are
// open, cancelled if ctx ended first, unavailable after Stop.
func (p *Pool[C]) Use(ctx context.Context, id choir.ID) (c C, release func(), err error) {
	return p.use(ctx, id, false)
}

// UseAnyway is Use, whatever number of computers is open.
func (p *Pool[C]) UseAnyway(ctx context.Context, id choir.ID) (c C, release func(), err error) {
	return p.use(ctx, id, true)
}

func (p *Pool[C]) use(ctx context.Context, id choir.ID, anyway bool) (c C, release func(), err error) {
	for {
		c, change, opens, err := p.tryUse(id, anyway)
		if err != nil {
			return c, nil, err
		}
		if change == nil {
			return c, sync.OnceFunc(func() { p.release(id, true) }), nil
		}
		select {
		case <-change.done:
		case <-ctx.Done():
			return c, nil, choir.Wrap("computer.use", choir.CodeCancelled, ctx.Err(), "wait for the computer")
		}
		if opens && change.err != nil {
			return c, nil, change.err
		}
	}
}

// tryUse counts a use of an open computer and returns it. Otherwise it returns the change
// to wait for, which it starts if none is in progress; opens reports that it is an opening.
func (p *Pool[C]) tryUse(id choir.ID, anyway bool) (c C, wait *change, opens bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.slots[id]
	switch {
	case s == nil:
		return c, nil, false, choir.Refuse("computer.find", choir.ReasonNoComputer, choir.TextOf("name", id))
	case p.stopped:
		return c, nil, false, choir.Refuse("computer.use", choir.ReasonChoirStopping)
	case s.change != nil:
		return c, s.change, !s.open, nil
	case s.open && s.frozen:
		p.beginThaw(id, s)
		return c, s.change, false, nil
	case s.open:
		s.uses++
		s.warm = false
		return s.computer, nil, false, nil
	case s.failed != nil && p.cfg.Now().Sub(s.failedAt) < p.cfg.Retry:
		return c, nil, false, s.failed
	case !anyway && !p.kept[id] && p.full():
		return c, nil, false, p.refuse()
	}
	s.change = &change{done: make(chan struct{})}
	p.work.Go(func() { p.open(id, s) })
	return c, s.change, true, nil
}

// open opens the computer of a slot and ends the slot's change.
func (p *Pool[C]) open(id choir.ID, s *slot[C]) {
	c, err := p.cfg.Open(p.ctx, id)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Now()
	if s.failed, s.failedAt = err, now; err == nil {
		s.open, s.computer, s.used = true, c, now
		p.opened++
	}
	s.change.err = err
	close(s.change.done)
	s.change = nil
}

// release ends a use or a hold. The idle time begins anew after a use.
func (p *Pool[C]) release(id choir.ID, used bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.slots[id]
	s.uses--
	if used {
		s.used = p.cfg.Now()
	}
}

// Find returns an open computer, without using it. Its error is that of the last failed
// opening. open is false without an error for a computer that is not open, and for an
// unknown one.
func (p *Pool[C]) Find(id choir.ID) (c C, open bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.slots[id]
	if s == nil {
		return c, false, nil
	}
	if !s.open {
		return c, false, s.failed
	}
	return s.computer, true, nil
}

// Frozen reports whether a computer is open and its programs stand still.
func (p *Pool[C]) Frozen(id choir.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.slots[id]
	return s != nil && s.open && s.frozen
}

// List returns the open computers, as registered, also while they are being closed.
func (p *Pool[C]) List() []C {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []C
	for _, id := range p.order {
		if s := p.slots[id]; s.open {
			out = append(out, s.computer)
		}
	}
	return out
}

// Hold returns the open computers that are not being closed; they stay open until release
// is called. Unlike a use it leaves the idle times as they are.
func (p *Pool[C]) Hold() (all []C, release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var held []choir.ID
	for _, id := range p.order {
		if s := p.slots[id]; s.open && s.change == nil {
			s.uses++
			held = append(held, id)
			all = append(all, s.computer)
		}
	}
	return all, sync.OnceFunc(func() {
		for _, id := range held {
			p.release(id, false)
		}
	})
}

// Stop ends openings, refuses further uses and waits for openings and closings in
// progress. Open computers stay open; List returns them.
func (p *Pool[C]) Stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.stop()
	p.work.Wait()
}
