package hibernation

import (
	"slices"
	"time"

	"choiros/internal/choir"
)

// restless is the time after its last use in which a computer makes no room for another one, so
// that two of them do not close each other in turns.
const restless = time.Minute

// retryRoom is the time after which a refused use may have room.
const retryRoom = 10 * time.Second

// KeepRoom keeps room for a computer that is being made, which counts as open from now on. The caller
// calls release once the computer was used, or was not made. Code busy: Config.Most are open.
func (p *Pool[C]) KeepRoom(id choir.ID) (release func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.full() && !p.stopped {
		return nil, p.refuse()
	}
	p.kept[id] = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.kept, id)
	}, nil
}

// full reports whether as many computers are open, being opened or being made as may be. The caller
// holds mu.
func (p *Pool[C]) full() bool {
	n := len(p.kept)
	for id, s := range p.slots {
		if (s.open || s.change != nil) && !p.kept[id] {
			n++
		}
	}
	return p.cfg.Most > 0 && n >= p.cfg.Most
}

// refuse returns the error of a use for which there is no room, and begins to make room. The caller
// holds mu.
func (p *Pool[C]) refuse() error {
	if !p.making {
		p.making = true
		p.work.Go(p.makeRoom)
	}
	return choir.Refuse("computer.use", choir.ReasonTooManyAwake, choir.CountOf("n", p.cfg.Most), choir.CountOf("wait", int(retryRoom/time.Second)))
}

// makeRoom closes the computer whose last use is the longest ago, of the computers that
// are not busy and were not used for a minute. A busy computer counts as used now, as in Sweep.
func (p *Pool[C]) makeRoom() {
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.making = false
	}()
	unused := p.unused()
	slices.SortStableFunc(unused, func(a, b unusedSlot[C]) int { return a.used.Compare(b.used) })
	busy := p.cfg.Check()
	for _, u := range unused {
		if p.ctx.Err() != nil || p.cfg.Now().Sub(u.used) < restless {
			return // the others were used later
		}
		if why := busy(p.ctx, u.id, u.computer); why != "" {
			p.consider(u, why)
			continue
		}
		if closing := p.closeUnused(u); closing != nil {
			<-closing.done // until then a refused use would have another one closed
			return
		}
	}
}

// closeUnused begins to close a computer and returns the closing; nil if it was used since it was
// looked at.
func (p *Pool[C]) closeUnused(u unusedSlot[C]) *change {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := u.slot
	if p.stopped || !s.open || s.change != nil || s.uses > 0 || s.used != u.used {
		return nil
	}
	s.change = &change{done: make(chan struct{})}
	p.work.Go(func() { p.close(u.id, s) })
	return s.change
}
