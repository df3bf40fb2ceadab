package hibernation

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"choiros/internal/choir"
)

// machine is a computer of a test: how often it was opened.
type machine struct{ opening int }

// lab is a pool of computers of a test, whose clock is that of a synctest bubble.
type lab struct {
	t *testing.T
	*Pool[*machine]
	opens, closes atomic.Int64
	atOnce        atomic.Int64 // openings and closings in progress
	busy          func(id choir.ID) string
	open          func(ctx context.Context) error // how an opening goes on; nil ends it
	close         func() error
}

const idle = time.Minute

// inLab runs f with a pool of one computer, in a bubble.
func inLab(t *testing.T, f func(l *lab)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &lab{t: t}
		l.Pool = New(Config[*machine]{
			Open: l.opened, Close: l.closed, After: idle, Retry: time.Second, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Check: func() func(context.Context, choir.ID, *machine) string {
				return func(_ context.Context, id choir.ID, _ *machine) string {
					if l.busy == nil {
						return ""
					}
					return l.busy(id)
				}
			},
		})
		l.Register(one)
		f(l)
		l.Stop()
	})
}

const one, other = choir.ID("one"), choir.ID("other")

// alone fails the test if two openings or closings overlap.
func (l *lab) alone() (done func()) {
	if l.atOnce.Add(1) > 1 {
		l.t.Error("two openings or closings of one computer overlap")
	}
	return func() { l.atOnce.Add(-1) }
}

func (l *lab) opened(ctx context.Context, _ choir.ID) (*machine, error) {
	defer l.alone()()
	n := int(l.opens.Add(1))
	if l.open != nil {
		if err := l.open(ctx); err != nil {
			return nil, err
		}
	}
	return &machine{n}, nil
}

func (l *lab) closed(context.Context, choir.ID, *machine) error {
	defer l.alone()()
	l.closes.Add(1)
	if l.close != nil {
		return l.close()
	}
	return nil
}

// use uses the computer and returns what ends the use.
func (l *lab) use() (*machine, func()) {
	l.t.Helper()
	m, release, err := l.Use(l.t.Context(), one)
	if err != nil {
		l.t.Fatal(err)
	}
	return m, release
}

// pass lets time pass, sweeps, and waits for what that began.
func (l *lab) pass(d time.Duration) {
	time.Sleep(d) // of the bubble: no time passes
	l.Sweep(l.t.Context())
	synctest.Wait()
}

// want fails the test if the computer is not as it should be.
func (l *lab) want(what string, open bool, opens, closes int64) {
	l.t.Helper()
	if _, is, _ := l.Find(one); is != open || l.opens.Load() != opens || l.closes.Load() != closes {
		l.t.Errorf("%s: open %t, opened %d times, closed %d times; want %t, %d, %d", what, is, l.opens.Load(), l.closes.Load(), open, opens, closes)
	}
}

func TestAHundredUsesOpenOnce(t *testing.T) {
	inLab(t, func(l *lab) {
		goOn := make(chan struct{})
		l.open = func(context.Context) error { <-goOn; return nil }
		var uses sync.WaitGroup
		for range 100 {
			uses.Go(func() {
				m, release := l.use()
				defer release()
				if m.opening != 1 {
					t.Errorf("it is that of opening %d", m.opening)
				}
			})
		}
		synctest.Wait()
		l.want("while it opens", false, 1, 0)
		close(goOn)
		uses.Wait()
		l.want("at last", true, 1, 0)
	})
}

func TestAnIdleComputerIsClosedAndOpenedByTheNextUse(t *testing.T) {
	inLab(t, func(l *lab) {
		_, release := l.use()
		l.pass(10 * idle)
		l.want("in use", true, 1, 0)
		release()
		release() // counts once
		l.pass(idle - time.Second)
		l.want("not yet idle", true, 1, 0)
		l.pass(time.Second)
		l.want("idle", false, 1, 1)
		m, release := l.use()
		defer release()
		if m.opening != 2 {
			t.Errorf("it is that of opening %d", m.opening)
		}
		if n := l.Counts(); n != (Counts{Open: 1, Opened: 2, Closed: 1}) {
			t.Errorf("counted are %+v", n)
		}
	})
}

func TestABusyComputerIsNotClosedAndIsIdleFromThenOn(t *testing.T) {
	inLab(t, func(l *lab) {
		_, release := l.use()
		release()
		l.busy = func(choir.ID) string { return "a run is open" }
		l.pass(10 * idle)
		l.want("busy", true, 1, 0)
		l.busy = nil
		l.pass(idle - time.Second)
		l.want("just done", true, 1, 0)
		l.pass(time.Second)
		l.want("idle", false, 1, 1)
	})
}

// TestAUseDuringTheLookKeepsItOpen uses the computer between the question whether it is
// busy and the closing.
func TestAUseDuringTheLookKeepsItOpen(t *testing.T) {
	inLab(t, func(l *lab) {
		_, release := l.use()
		release()
		l.busy = func(choir.ID) string {
			time.Sleep(time.Nanosecond)
			_, release := l.use()
			release()
			return ""
		}
		l.pass(idle)
		l.want("used meanwhile", true, 1, 0)
	})
}

func TestAUseDuringTheClosingWaitsAndOpensAgain(t *testing.T) {
	inLab(t, func(l *lab) {
		_, release := l.use()
		release()
		goOn := make(chan struct{})
		l.close = func() error { <-goOn; return nil }
		l.pass(idle)
		var uses sync.WaitGroup
		for range 100 {
			uses.Go(func() {
				m, release := l.use()
				defer release()
				if m.opening != 2 {
					t.Errorf("it is that of opening %d", m.opening)
				}
			})
		}
		synctest.Wait()
		l.want("while it closes", true, 1, 1)
		if _, open, _ := l.Find(one); !open || len(l.List()) != 1 {
			t.Error("it is not listed while it closes")
		}
		if held, release := l.Hold(); len(held) != 0 {
			t.Error("it can be held while it closes")
		} else {
			release()
		}
		close(goOn)
		uses.Wait()
		l.want("at last", true, 2, 1)
	})
}

func TestAComputerThatCannotBeClosedStaysOpen(t *testing.T) {
	inLab(t, func(l *lab) {
		_, release := l.use()
		release()
		l.close = func() error { return errors.Join(ErrKept, errors.New("choir stops")) }
		l.pass(idle)
		l.want("kept", true, 1, 1)
		m, release := l.use()
		if release(); m.opening != 1 {
			t.Errorf("it is that of opening %d", m.opening)
		}
		l.close = func() error { return errors.New("the disk is full") }
		l.pass(idle)
		l.want("closed with an error", false, 1, 2)
	})
}

func TestAFailedOpeningIsTriedAgainLater(t *testing.T) {
	inLab(t, func(l *lab) {
		broken := errors.New("a disk is missing")
		goOn := make(chan struct{})
		l.open = func(context.Context) error { <-goOn; return broken }
		var uses sync.WaitGroup
		for range 100 {
			uses.Go(func() {
				if _, _, err := l.Use(l.t.Context(), one); !errors.Is(err, broken) {
					t.Errorf("it says %v", err)
				}
			})
		}
		synctest.Wait()
		close(goOn)
		uses.Wait()
		l.want("failed", false, 1, 0)
		if _, _, err := l.Use(l.t.Context(), one); !errors.Is(err, broken) || l.opens.Load() != 1 {
			t.Errorf("at once: %v, opened %d times", err, l.opens.Load())
		}
		if n := l.Counts(); n.Failed != 1 || n.Hibernated != 0 {
			t.Errorf("counted are %+v", n)
		}
		time.Sleep(time.Second)
		l.open = nil
		_, release := l.use()
		release()
		l.want("mended", true, 2, 0)
	})
}

func TestAUseMayGiveUpWhileOthersWait(t *testing.T) {
	inLab(t, func(l *lab) {
		goOn := make(chan struct{})
		l.open = func(ctx context.Context) error {
			<-goOn
			return ctx.Err() // the opening is nobody's request
		}
		ctx, cancel := context.WithCancel(l.t.Context())
		gone := make(chan error)
		go func() {
			_, _, err := l.Use(ctx, one)
			gone <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-gone; choir.CodeOf(err) != choir.CodeCancelled {
			t.Errorf("who gave up gets %v", err)
		}
		close(goOn)
		_, release := l.use()
		release()
		l.want("for the other", true, 1, 0)
	})
}

func TestAHoldKeepsOpenAndIsNoUse(t *testing.T) {
	inLab(t, func(l *lab) {
		l.Register(other)
		if held, release := l.Hold(); len(held) != 0 {
			t.Error("a closed one is held")
		} else {
			release()
		}
		_, release := l.use()
		release()
		held, release := l.Hold()
		l.pass(idle)
		l.want("held", true, 1, 0)
		release()
		release()
		l.pass(0)
		if l.want("released", false, 1, 1); len(held) != 1 {
			t.Errorf("held are %d", len(held))
		}
	})
}

func TestAStoppedPoolOpensAndClosesNothing(t *testing.T) {
	inLab(t, func(l *lab) {
		_, release := l.use()
		l.Stop()
		release()
		l.pass(idle)
		l.want("stopped", true, 1, 0)
		if _, _, err := l.Use(l.t.Context(), one); choir.CodeOf(err) != choir.CodeUnavailable {
			t.Errorf("it says %v", err)
		}
		if _, _, err := l.Use(l.t.Context(), "nobody"); choir.CodeOf(err) != choir.CodeNotFound {
			t.Errorf("of an unknown one it says %v", err)
		}
	})
}

func TestServeSweepsAndNeverDoesWithoutATime(t *testing.T) {
	for after, closes := range map[time.Duration]int64{idle: 1, 0: 0} {
		inLab(t, func(l *lab) {
			l.cfg.After = after
			ctx, cancel := context.WithCancel(l.t.Context())
			var served sync.WaitGroup
			served.Go(func() { _ = l.Serve(ctx) })
			_, release := l.use()
			release()
			time.Sleep(2 * idle)
			synctest.Wait()
			l.want("after "+after.String(), closes == 0, 1, closes)
			l.Sweep(ctx)
			cancel()
			served.Wait()
		})
	}
}

// TestUsesAndSweepsRace uses computers from many sides while they are swept, with the race
// detector's eyes.
func TestUsesAndSweepsRace(t *testing.T) {
	inLab(t, func(l *lab) {
		l.cfg.After = time.Nanosecond
		var work sync.WaitGroup
		for i := range 20 {
			work.Go(func() {
				for range 50 {
					m, release := l.use()
					if slices.Contains(l.List(), nil) || m == nil {
						t.Error("a closed one is used")
					}
					time.Sleep(time.Duration(i))
					release()
					time.Sleep(time.Duration(3 * i))
				}
			})
		}
		work.Go(func() {
			for range 500 {
				time.Sleep(2 * time.Nanosecond)
				l.Sweep(l.t.Context())
			}
		})
		work.Wait()
		if n := l.Counts(); n.Closed == 0 || n.Opened < n.Closed {
			t.Errorf("counted are %+v", n)
		}
	})
}

// TestMemoryIsReclaimedOnceAfterClosings lets two computers go idle, of which one is closed
// slowly.
func TestMemoryIsReclaimedOnceAfterClosings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reclaimed := 0
		slow := make(chan struct{})
		p := New(Config[*machine]{
			Open: func(context.Context, choir.ID) (*machine, error) { return &machine{}, nil },
			Close: func(_ context.Context, id choir.ID, _ *machine) error {
				if id == other {
					<-slow
				}
				return nil
			},
			Check: func() func(context.Context, choir.ID, *machine) string {
				return func(context.Context, choir.ID, *machine) string { return "" }
			},
			After: idle, Now: time.Now, Log: slog.New(slog.DiscardHandler), Reclaim: func() { reclaimed++ },
		})
		for _, id := range []choir.ID{one, other} {
			p.Register(id)
			_, release, err := p.Use(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			release()
		}
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- p.Serve(ctx) }()
		time.Sleep(2 * idle) // of the bubble: no time passes
		synctest.Wait()
		if n := p.Counts(); n.Closed != 1 || reclaimed != 0 {
			t.Errorf("%+v, reclaimed %d times while a computer is being closed", n, reclaimed)
		}
		close(slow)
		time.Sleep(3 * idle) // of the bubble: no time passes
		synctest.Wait()
		if n := p.Counts(); n.Closed != 2 || reclaimed != 1 {
			t.Errorf("%+v, reclaimed %d times, want once", n, reclaimed)
		}
		cancel()
		<-served
		p.Stop()
	})
}
