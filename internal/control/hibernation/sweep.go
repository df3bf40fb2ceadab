package hibernation

import (
	"context"
	"errors"
	"time"

	"choiros/internal/choir"
)

// Counts are the numbers of a pool's computers, by state, and of openings and closings
// since New.
type Counts struct {
	Open, Hibernated, Failed int
	Frozen                   int // of Open
	Opened, Closed, Thawed   uint64
}

// Counts counts the computers. During an opening or closing a computer counts as before it.
func (p *Pool[C]) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := Counts{Opened: p.opened, Closed: p.closed, Thawed: p.thawed}
	for _, s := range p.slots {
		switch {
		case s.open:
			n.Open++
			if s.frozen {
				n.Frozen++
			}
		case s.failed != nil:
			n.Failed++
		default:
			n.Hibernated++
		}
	}
	return n
}

// The bounds of the time between two sweeps, which is a quarter of Config.After or FreezeAfter
// within them.
const (
	minSweep = 100 * time.Millisecond
	maxSweep = time.Minute
)

// Serve sweeps regularly until ctx ends.
func (p *Pool[C]) Serve(ctx context.Context) error {
	if p.never() {
		<-ctx.Done()
		return ctx.Err()
	}
	every := maxSweep
	for _, after := range []time.Duration{p.cfg.After, p.cfg.FreezeAfter} {
		if after > 0 {
			every = min(every, max(after/4, minSweep))
		}
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	var reclaimed uint64
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			reclaimed = p.reclaim(reclaimed)
			p.Sweep(ctx)
		}
	}
}

// reclaim calls Config.Reclaim if more computers were closed than before, and none is being
// closed. It returns the number of computers whose memory was given back.
func (p *Pool[C]) reclaim(before uint64) uint64 {
	p.mu.Lock()
	closed, closing := p.closed, false
	for _, s := range p.slots {
		closing = closing || s.open && s.change != nil
	}
	p.mu.Unlock()
	if p.cfg.Reclaim == nil || closed == before || closing {
		return before
	}
	p.cfg.Reclaim()
	return closed
}

// String returns the name of the service.
func (p *Pool[C]) String() string { return "hibernation" }

// never reports whether computers are neither closed nor frozen.
func (p *Pool[C]) never() bool { return p.cfg.After == 0 && p.cfg.FreezeAfter == 0 }

// Sweep begins to close every computer that was neither used nor busy for Config.After, and to
// freeze the others that were not for Config.FreezeAfter. A busy computer counts as used now.
func (p *Pool[C]) Sweep(ctx context.Context) {
	if p.never() {
		return
	}
	unused := p.unused()
	if len(unused) == 0 {
		return
	}
	busy := p.cfg.Check()
	for _, u := range unused {
		if ctx.Err() != nil {
			return
		}
		p.consider(u, busy(ctx, u.id, u.computer))
	}
}

// unusedSlot is a slot whose computer was open and without uses.
type unusedSlot[C any] struct {
	id       choir.ID
	slot     *slot[C]
	computer C
	used     time.Time // its last use
}

// unused returns the open computers without uses.
func (p *Pool[C]) unused() (out []unusedSlot[C]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range p.order {
		if s := p.slots[id]; s.open && s.change == nil && s.uses == 0 {
			out = append(out, unusedSlot[C]{id, s, s.computer, s.used})
		}
	}
	return out
}

// consider begins to close a computer that is idle, unless it was used since it was
// looked at. busy is why it must stay open.
func (p *Pool[C]) consider(u unusedSlot[C], busy string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, now := u.slot, p.cfg.Now()
	switch {
	case p.stopped || !s.open || s.change != nil || s.uses > 0 || s.used != u.used:
	case busy != "":
		s.used = now
		if s.frozen {
			p.beginThaw(u.id, s)
		}
	case p.cfg.After > 0 && now.Sub(s.used) >= p.cfg.After:
		s.change = &change{done: make(chan struct{})}
		p.work.Go(func() { p.close(u.id, s) })
	case p.cfg.FreezeAfter > 0 && !s.warm && now.Sub(s.used) >= p.cfg.FreezeAfter:
		s.change = &change{done: make(chan struct{})}
		p.work.Go(func() { p.freeze(u.id, s) })
	}
}

// freeze freezes the computer of a slot and ends the slot's change.
func (p *Pool[C]) freeze(id choir.ID, s *slot[C]) {
	err := p.cfg.Freeze(p.ctx, id, s.computer)
	never := err != nil && choir.CodeOf(err) != choir.CodeConflict
	if never {
		p.cfg.Log.Info("a computer is not frozen", "computer", id, "error", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.frozen, s.warm = err == nil, never
	close(s.change.done)
	s.change = nil
}

// beginThaw begins to let a frozen computer go on. The caller holds mu, and no change is in
// progress.
func (p *Pool[C]) beginThaw(id choir.ID, s *slot[C]) {
	s.change = &change{done: make(chan struct{})}
	p.work.Go(func() { p.thaw(id, s) })
}

// thaw lets the computer of a slot go on and ends the slot's change.
func (p *Pool[C]) thaw(id choir.ID, s *slot[C]) {
	if err := p.cfg.Thaw(context.WithoutCancel(p.ctx), id, s.computer); err != nil {
		p.cfg.Log.Error("a frozen computer did not go on", "computer", id, "error", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.frozen = false
	p.thawed++
	close(s.change.done)
	s.change = nil
}

// close closes the computer of a slot and ends the slot's change.
func (p *Pool[C]) close(id choir.ID, s *slot[C]) {
	err := p.cfg.Close(p.ctx, id, s.computer)
	if err != nil {
		p.cfg.Log.Error("a computer did not hibernate in order", "computer", id, "error", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if errors.Is(err, ErrKept) {
		s.used = p.cfg.Now()
	} else {
		var none C
		s.open, s.frozen, s.warm, s.computer = false, false, false, none
		p.closed++
	}
	close(s.change.done)
	s.change = nil
}
