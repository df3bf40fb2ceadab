package taskrunner

import (
	"context"
	"slices"
	"sync"

	"choiros/internal/choir"
)

// pauses are the runs that are paused, with the clocks of their tasks at work.
type pauses struct {
	mu   sync.Mutex // guards runs
	runs map[choir.ID]*pausable
}

// pausable is the state of one run with respect to pauses.
type pausable struct {
	seq     uint64 // of the last event that paused or resumed it
	paused  bool
	changed chan struct{} // closed when paused changes
	tasks   int           // at work, or about to begin
	clocks  []*clock      // of its tasks at work
}

// of returns the entry of a run. The caller holds the lock.
func (p *pauses) of(run choir.ID) *pausable {
	r := p.runs[run]
	if r == nil {
		if p.runs == nil {
			p.runs = map[choir.ID]*pausable{}
		}
		r = &pausable{changed: make(chan struct{})}
		p.runs[run] = r
	}
	return r
}

// forget drops the entry of a run that is not paused and has no task at work. The caller
// holds the lock.
func (p *pauses) forget(run choir.ID, r *pausable) {
	if !r.paused && r.tasks == 0 {
		delete(p.runs, run)
	}
}

// set records that a run is paused, or goes on, since the event seq. An earlier event than
// the last changes nothing. The clocks of its tasks stand still meanwhile.
func (p *pauses) set(run choir.ID, paused bool, seq uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.of(run)
	if seq < r.seq {
		return
	}
	r.seq = seq
	if r.paused == paused {
		p.forget(run, r)
		return
	}
	r.paused = paused
	for _, c := range r.clocks {
		c.freeze(paused)
	}
	close(r.changed)
	r.changed = make(chan struct{})
	p.forget(run, r)
}

// watch keeps what comes of a run's pauses in mind for a task of it. The returned function
// ends that.
func (p *pauses) watch(run choir.ID) (forget func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.of(run)
	r.tasks++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		r.tasks--
		p.forget(run, r)
	}
}

// add adds the clock of a task whose run is watched. It stands still while the run is paused.
// The returned function removes it.
func (p *pauses) add(run choir.ID, c *clock) (remove func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.of(run)
	r.clocks = append(r.clocks, c)
	c.freeze(r.paused)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		r.clocks = slices.DeleteFunc(r.clocks, func(other *clock) bool { return other == c })
	}
}

// waitUntilResumed waits until a run is not paused. Its error is the cause of the end of ctx.
func (p *pauses) waitUntilResumed(ctx context.Context, run choir.ID) error {
	for {
		p.mu.Lock()
		r := p.runs[run]
		if r == nil || !r.paused {
			p.mu.Unlock()
			return nil
		}
		changed := r.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// SetPaused records that the event seq paused a run, or let it go on. Its tasks begin no
// model call, tool call, command or check while it is paused; what they have in hand comes
// to its end. It implements associate.Doer.
func (r *Runner) SetPaused(run choir.ID, paused bool, seq uint64) { r.paused.set(run, paused, seq) }

// gate holds up what a task is about to begin while its run is paused.
type gate struct {
	pauses *pauses
	run    choir.ID
}

// waitUntilResumed waits until the run is not paused. Its error is the cause of the end of ctx.
func (g gate) waitUntilResumed(ctx context.Context) error {
	return g.pauses.waitUntilResumed(ctx, g.run)
}
