package terminals

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"choiros/internal/choir"
)

// Config of a Set.
type Config struct {
	Limit    int           // terminals at once; default 16
	Keep     int           // bytes of output kept of each; default 2 MiB
	Window   int           // bytes that a view may be behind before it holds the output up; default 512 KiB
	Patience time.Duration // how long a view may hold the output up without catching up; default 10 s
	// Opened is told of each terminal before anybody sees it; its error ends it.
	Opened func(context.Context, Info, choir.Role) error
	// Ended is told of each end.
	Ended func(Info, End)
	// Active is told whenever something is typed or printed. It must not block.
	Active func()
}

// Set is the terminals of one computer. Its methods may be called at once.
type Set struct {
	cfg     Config
	running sync.WaitGroup

	mu       sync.Mutex // guards what follows
	started  *sync.Cond // starting went down
	all      []*Terminal
	starting int    // terminals on their way into all
	holds    int    // who wants none to be opened
	why      string // said to whoever is refused meanwhile
}

// New makes a set without terminals.
func New(cfg Config) *Set {
	cfg.Limit = cmp.Or(cfg.Limit, 16)
	cfg.Keep = cmp.Or(cfg.Keep, 2<<20)
	cfg.Window = cmp.Or(cfg.Window, 512<<10)
	cfg.Patience = cmp.Or(cfg.Patience, 10*time.Second)
	s := &Set{cfg: cfg}
	s.started = sync.NewCond(&s.mu)
	return s
}

// Open starts a program behind a new terminal. Code rate_limited when there are
// as many as there may be, conflict while none may be opened.
func (s *Set) Open(ctx context.Context, role choir.Role, info Info, start func() (Process, error)) (Info, error) {
	if err := s.enter(); err != nil {
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

// enter counts a terminal that is about to start.
func (s *Set) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds > 0 {
		return choir.E("terminal.open", choir.CodeConflict, "no terminal can be opened now: %s", s.why).WithRemedy("try again in a moment")
	}
	if n := len(s.all) + s.starting; n >= s.cfg.Limit {
		return choir.E("terminal.open", choir.CodeRateLimited, "this computer has %d terminals already", n).
			WithRemedy("close one, or raise limits.terminals")
	}
	s.starting++
	return nil
}

// ended takes a terminal out and tells of it.
func (s *Set) ended(t *Terminal) {
	s.mu.Lock()
	s.all = slices.DeleteFunc(s.all, func(o *Terminal) bool { return o == t })
	s.mu.Unlock()
	s.cfg.Ended(t.info, *t.end)
}

// List tells about the terminals, in the order in which they were opened.
func (s *Set) List() []Info {
	out := []Info{}
	for _, t := range s.now() {
		out = append(out, t.Info())
	}
	return out
}

// Count returns how many terminals are open.
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

// Find finds a terminal; code not_found.
func (s *Set) Find(id choir.ID) (*Terminal, error) {
	for _, t := range s.now() {
		if t.info.ID == id {
			return t, nil
		}
	}
	return nil, &choir.Error{Op: "terminal.find", Code: choir.CodeNotFound, Path: "terminal", Msg: "there is no such terminal, or it has ended", Remedy: "open a new one"}
}

// Attach lets a browser look at a terminal from an offset on.
func (s *Set) Attach(id choir.ID, after uint64) (*View, error) {
	t, err := s.Find(id)
	if err != nil {
		return nil, err
	}
	return t.attach(after), nil
}

// Close ends a terminal and everything that was started in it, and returns when
// that is done.
func (s *Set) Close(id choir.ID) error {
	t, err := s.Find(id)
	if err == nil {
		t.stop(choir.TerminalShut, "")
	}
	return err
}

// Stop ends every terminal for a reason that each shows as its last line, says
// how many these were, and lets none be opened until release is called.
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

// Shut ends every terminal and returns when all that ran for them has ended.
// Terminals can be opened again afterwards.
func (s *Set) Shut(words string) {
	_, release := s.Stop(choir.TerminalLost, words)
	defer release()
	s.running.Wait()
}
