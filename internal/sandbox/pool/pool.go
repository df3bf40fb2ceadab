// Package pool keeps sandboxes ready that were started before somebody needs them. Each waits for
// one computer and one role, with that computer's user, folders and limits, and nothing has run
// in it but choir-init. It is handed out once, and never returned: its claimer destroys it.
package pool

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// Config configures a Pool. Dir and Log are required.
type Config struct {
	// Dir is the folder of the notes by which the next control plane finds sandboxes that a
	// killed one left ready.
	Dir string
	// Most is the maximum of computers that have sandboxes ready; 0 keeps none.
	Most int
	// Memory measures the machine's memory; nil measures this one's.
	Memory func() (Memory, error)
	// StartPatience is the time that a start may take before it is given up; default 30 s.
	StartPatience time.Duration
	// Look is the time between two looks at the memory while sandboxes are ready; default 2 s.
	Look time.Duration
	Now  func() time.Time // default time.Now
	Log  *slog.Logger
}

// Counts are the figures of a pool.
type Counts struct {
	Ready   int    // sandboxes that are ready now
	Claimed uint64 // sandboxes that were ready when they were needed
	Missed  uint64 // sandboxes that were not
	Dropped uint64 // sandboxes that were started for nothing
}

// Pool is a Driver that hands out ready sandboxes, and lets another driver make the others. It is
// safe for concurrent use.
type Pool struct {
	sandbox.Driver
	cfg  Config
	wake chan struct{} // capacity 1; the wishes have changed
	work sync.WaitGroup

	mu     sync.Mutex      // guards the fields below
	ctx    context.Context // of starts; ends with Serve
	wishes map[choir.ID]*wish
	places map[key]*place
	counts Counts
}

// key identifies the sandbox of a computer's role.
type key struct {
	computer choir.ID
	role     choir.Role
}

func keyOf(s sandbox.Spec) key { return key{s.Computer, s.Role} }

var (
	_ sandbox.Driver  = (*Pool)(nil)
	_ sandbox.Toolbox = (*Pool)(nil)
)

// New returns a pool over a driver. Nothing is started before Serve.
func New(driver sandbox.Driver, cfg Config) *Pool {
	cfg.StartPatience = cmp.Or(cfg.StartPatience, 30*time.Second)
	cfg.Look = cmp.Or(cfg.Look, 2*time.Second)
	if cfg.Memory == nil {
		cfg.Memory = ReadMemory
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if !driver.Capabilities().Prestart {
		cfg.Most = 0
	}
	return &Pool{Driver: driver, cfg: cfg, wake: make(chan struct{}, 1), wishes: map[choir.ID]*wish{}, places: map[key]*place{}}
}

// Tools implements sandbox.Toolbox by the driver.
func (p *Pool) Tools(ctx context.Context) []sandbox.Check {
	if t, ok := p.Driver.(sandbox.Toolbox); ok {
		return t.Tools(ctx)
	}
	return nil
}

// Close closes the driver, if it can be closed. Serve must have returned.
func (p *Pool) Close() error {
	if c, ok := p.Driver.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Counts returns the figures.
func (p *Pool) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.counts
	for _, at := range p.places {
		if at.ready.Load() {
			n.Ready++
		}
	}
	return n
}

// Create implements sandbox.Driver: it claims the sandbox that is ready for the spec, else the
// driver makes one.
func (p *Pool) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if p.cfg.Most == 0 {
		return p.Driver.Create(ctx, spec)
	}
	b, err := p.Claim(ctx, spec)
	if b != nil || err != nil {
		return b, err
	}
	return p.Driver.Create(ctx, spec)
}

// Claim returns the ready sandbox of a spec, which is the caller's from then on; nil if there is
// none. It waits for a start under way, and for the end of a sandbox that no longer suits: two
// sandboxes of one role would share a door. Code unavailable: neither comes; cancelled: ctx ended.
func (p *Pool) Claim(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	at := p.leaveTo(keyOf(spec))
	var b sandbox.Sandbox
	var err error
	if at != nil {
		b, err = at.claim(ctx, reflect.DeepEqual(at.spec, spec))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if b != nil {
		p.counts.Claimed++
	} else {
		p.counts.Missed++
	}
	return b, err
}

// leaveTo records that a computer is in use, so that nothing more is started for it, and returns
// the place of a role's sandbox, nil for none.
func (p *Pool) leaveTo(k key) *place {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.wishes[k.computer]
	if w == nil {
		w = &wish{}
		p.wishes[k.computer] = w
	}
	w.use(p.cfg.Now())
	return p.places[k]
}

// Prepare asks for a sandbox of each spec, all of one computer, which nobody uses: no sandbox of
// these roles may be there until it is claimed. Serve starts them when there is room.
func (p *Pool) Prepare(specs []sandbox.Spec) {
	if p.cfg.Most == 0 || len(specs) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.wishes[specs[0].Computer]
	if w == nil {
		w = &wish{}
		p.wishes[specs[0].Computer] = w
	}
	w.recordUnused(p.cfg.Now(), specs)
	p.poke()
}

func (p *Pool) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// String returns the name of the service.
func (p *Pool) String() string { return "sandboxes kept ready" }

// Serve keeps sandboxes ready until ctx ends, and then destroys them.
func (p *Pool) Serve(ctx context.Context) error {
	if p.cfg.Most == 0 {
		<-ctx.Done()
		return ctx.Err()
	}
	p.mu.Lock()
	p.ctx = ctx
	p.mu.Unlock()
	defer p.work.Wait() // each ends with ctx
	look := time.NewTicker(p.cfg.Look)
	look.Stop()
	defer look.Stop()
	for {
		if p.adjust() {
			look.Reset(p.cfg.Look)
		} else {
			look.Stop()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		case <-p.wake:
		}
	}
}

// adjust starts and ends sandboxes as the plan says. It reports whether time or memory can change
// the plan.
func (p *Pool) adjust() (again bool) {
	room := p.room()
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Now()
	forget(p.wishes, now)
	keep := plan(p.wishes, room, p.cfg.Most, now)
	for k, at := range p.places {
		if w := p.wishes[k.computer]; !keep[k.computer] && (w == nil || !w.justWoken(now)) {
			at.retire()
		}
	}
	for computer := range keep {
		if room == RoomFree && p.wishes[computer].mayStart(now) {
			for _, spec := range p.wishes[computer].specs {
				p.start(spec)
			}
		}
	}
	return len(p.places) > 0 || p.wanted(now)
}

// room returns what the memory allows; if that cannot be measured, RoomTight.
func (p *Pool) room() Room {
	memory, err := p.cfg.Memory()
	if err != nil {
		return RoomTight
	}
	return memory.Room()
}

// wanted reports whether some computer is to have sandboxes ready. The caller holds mu.
func (p *Pool) wanted(now time.Time) bool {
	for _, w := range p.wishes {
		if w.wanted(now) {
			return true
		}
	}
	return false
}

// start starts the sandbox of a spec unless its place is taken. The caller holds mu.
func (p *Pool) start(spec sandbox.Spec) {
	k := keyOf(spec)
	if p.places[k] != nil {
		return
	}
	at := newPlace(p, spec)
	p.places[k] = at
	p.work.Go(func() {
		end := at.hold(p.ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.places, k)
		close(at.ended)
		if end == endFailed {
			p.wishes[k.computer].fail(p.cfg.Now())
		}
		if end != endClaimed {
			p.counts.Dropped++
		}
		p.poke()
	})
}
