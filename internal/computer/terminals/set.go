package terminals

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"choiros/internal/choir"
)

// Config configures a Set.
type Config struct {
	Limit    int           // terminals at once; default 16
	Keep     int           // bytes of output kept of each; default 2 MiB
	Window   int           // bytes that a view may be behind before it holds the output up; default 128 KiB
	Patience time.Duration // how long a view may hold the output up without catching up; default 10 s
	// Opened is told of each terminal before anybody sees it; its error ends it.
	Opened func(context.Context, Info, choir.Role) error
	// Ended is told of each end.
	Ended func(Info, End)
	// Active is told whenever something is typed or printed. It must not block.
	Active func()
}

// Set is the terminals of one computer. It is safe for concurrent use.
type Set struct {
	cfg     Config
	running sync.WaitGroup

	mu       sync.Mutex // guards what follows
	started  *sync.Cond // starting went down
	all      []*Terminal
	starting int    // terminals on their way into all
	holds    int    // who wants none to be opened
	why      string // the reason in the refusals meanwhile
}

// New returns a set without terminals.
func New(cfg Config) *Set {
	cfg.Limit = cmp.Or(cfg.Limit, 16)
	cfg.Keep = cmp.Or(cfg.Keep, 2<<20)
	cfg.Window = cmp.Or(cfg.Window, 128<<10)
	cfg.Patience = cmp.Or(cfg.Patience, 10*time.Second)
	s := &Set{cfg: cfg}
	s.started = sync.NewCond(&s.mu)
	return s
}

// Open starts a program with start and adds its terminal to the set. It returns the
// terminal's Info. At the limit the error is code rate_limited, while Stop holds
// terminals back conflict.
func (s *Set) Open(ctx context.Context, role choir.Role, info Info, start func() (Process, error)) (Info, error) {
	if err := s.reserveSlot(); err != nil {
		return Info{}, err
	}
	p, err := start()
	if err == nil {
		if err = s.cfg.Opened(ctx, info, role); err != nil {
			p.Close()
			p.Wait(nil, nil) // the error is that of what was just closed
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting--
	s.started.Broadcast()
	if err != nil {
		return Info{}, err
	}
	t := newTerminal(s, info, p)
	s.all = append(s.all, t)
	s.running.Go(t.run)
	return info, nil
}

// reserveSlot counts a terminal that is about to start. While Stop holds terminals back
// the error is code conflict, at the limit rate_limited.
func (s *Set) reserveSlot() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds > 0 {
		return choir.Refuse("terminal.open", choir.ReasonNoTerminalNow, choir.TextOf("why", s.why))
	}
	if n := len(s.all) + s.starting; n >= s.cfg.Limit {
		return choir.Refuse("terminal.open", choir.ReasonTooManyTerminals, choir.CountOf("n", n))
	}
	s.starting++
	return nil
}

// ended removes a terminal that has ended from the set and reports its end.
func (s *Set) ended(t *Terminal) {
	s.mu.Lock()
	s.all = slices.DeleteFunc(s.all, func(o *Terminal) bool { return o == t })
	s.mu.Unlock()
	s.cfg.Ended(t.info, *t.end)
}

// List returns the Info of each terminal, in the order of their opening.
func (s *Set) List() []Info {
	out := []Info{}
	for _, t := range s.now() {
		out = append(out, t.Info())
	}
	return out
}

// Count returns the number of open terminals.
func (s *Set) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

func (s *Set) now() []*Terminal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

// Find returns the terminal with an id. If there is none the error is code not_found.
func (s *Set) Find(id choir.ID) (*Terminal, error) {
	for _, t := range s.now() {
		if t.info.ID == id {
			return t, nil
		}
	}
	return nil, choir.Refuse("terminal.find", choir.ReasonNoTerminal).At("terminal")
}

// Attach adds a view to a terminal, for a browser that has its output up to offset after.
// An unknown terminal is code not_found.
func (s *Set) Attach(id choir.ID, after uint64) (*View, error) {
	t, err := s.Find(id)
	if err != nil {
		return nil, err
	}
	return t.attach(after), nil
}

// Close ends a terminal with all its processes and waits until it has ended. An unknown
// terminal is code not_found.
func (s *Set) Close(id choir.ID) error {
	t, err := s.Find(id)
	if err == nil {
		t.stop(choir.TerminalShut, "")
	}
	return err
}

// Stop ends every terminal and returns their number; words, if not empty, are the last
// line that each shows. No terminal can be opened until release is called.
func (s *Set) Stop(reason choir.TerminalReason, words string) (ended int, release func()) {
	s.mu.Lock()
	s.holds++
	s.why = words
	for s.starting > 0 {
		s.started.Wait()
	}
	s.mu.Unlock()
	var ends sync.WaitGroup
	all := s.now()
	for _, t := range all {
		ends.Go(func() { t.stop(reason, words) })
	}
	ends.Wait()
	return len(all), func() {
		s.mu.Lock()
		s.holds--
		s.mu.Unlock()
	}
}

// Shut ends every terminal, as Stop does, and waits for their goroutines. Afterwards
// terminals can be opened again.
func (s *Set) Shut(words string) {
	_, release := s.Stop(choir.TerminalLost, words)
	defer release()
	s.running.Wait()
}
