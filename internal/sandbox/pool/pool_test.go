package pool_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/pool"
)

// TestASandboxIsHandedOutOnce prepares the sandboxes of a computer and creates them twice.
func TestASandboxIsHandedOutOnce(t *testing.T) {
	l := newLab(t, nil)
	specs := l.specs()
	l.ready(2, specs)
	if n := len(l.handles()); n != 2 {
		t.Errorf("%d notes of two sandboxes", n)
	}
	for _, spec := range specs {
		l.answers(l.made(spec))
	}
	if n := l.machine.Made(); n != 2 {
		t.Errorf("%d sandboxes were made for two", n)
	}
	if left := l.handles(); len(left) != 0 {
		t.Errorf("notes of sandboxes that are somebody's now: %v", left)
	}
	l.made(specs[1])
	want := pool.Counts{Claimed: 2, Missed: 1}
	if got := l.Counts(); got != want || l.machine.Made() != 3 {
		t.Errorf("the counts are %+v, not %+v, of %d sandboxes", got, want, l.machine.Made())
	}
}

// TestNobodyGetsASandboxOfAnother asks for sandboxes that differ in one thing from one that is
// ready: the ready one ends, and another is made.
func TestNobodyGetsASandboxOfAnother(t *testing.T) {
	l := newLab(t, nil)
	for name, change := range map[string]func(*sandbox.Spec){
		"another's user":   func(s *sandbox.Spec) { s.UID++ },
		"another's folder": func(s *sandbox.Spec) { s.Mounts[0].Folder = l.dir },
		"other limits":     func(s *sandbox.Spec) { s.Limits.Processes = 7 },
	} {
		before := l.Counts()
		specs := l.specs()[1:]
		l.ready(1, specs)
		waits := l.handles()[0]
		wanted := specs[0]
		wanted.Mounts = append([]sandbox.Mount(nil), wanted.Mounts...)
		change(&wanted)
		if got := l.made(wanted).Handle(); string(got.State) == string(waits.State) {
			t.Errorf("%s: it got %s", name, got.State)
		}
		if _, err := l.Recover(within(t), waits); sandbox.VerdictOf(err) != sandbox.Gone {
			t.Errorf("%s: the one that waited is not gone: %v", name, err)
		}
		if after := l.Counts(); after.Claimed != before.Claimed || after.Dropped != before.Dropped+1 {
			t.Errorf("%s: the counts are %+v after %+v", name, after, before)
		}
	}
	specs := l.specs()
	l.ready(2, specs)
	other := l.specs()
	l.made(other[0])
	l.made(other[1])
	if n := l.Counts(); n.Claimed != 0 || n.Ready != 2 {
		t.Errorf("another computer's sandboxes were claimed: %+v", n)
	}
}

// TestManyClaimsGetOneSandbox claims one sandbox 64 times at once, while it is being started and
// when it is ready.
func TestManyClaimsGetOneSandbox(t *testing.T) {
	for _, name := range []string{"being started", "ready"} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, nil)
			specs := l.specs()[1:]
			l.Prepare(specs)
			l.eventually("it is being started", func() bool { return l.machine.Made() == 1 })
			if name == "ready" {
				l.waitReady(1)
			}
			var mu sync.Mutex // guards got
			var got []sandbox.Sandbox
			var all sync.WaitGroup
			for range 64 {
				all.Go(func() {
					b, err := l.Claim(within(t), specs[0])
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					if b != nil {
						got = append(got, b)
					}
				})
			}
			all.Wait()
			if n := l.Counts(); len(got) != 1 || n.Claimed != 1 || n.Missed != 63 {
				t.Fatalf("%d claims got a sandbox: %+v", len(got), n)
			}
			l.answers(got[0])
			if err := got[0].Destroy(within(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestADeadSandboxIsNotHandedOut ends a sandbox that is ready, and claims it.
func TestADeadSandboxIsNotHandedOut(t *testing.T) {
	l := newLab(t, nil)
	specs := l.specs()[1:]
	l.ready(1, specs)
	b, err := l.Recover(within(t), l.handles()[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Destroy(within(t)); err != nil {
		t.Fatal(err)
	}
	l.answers(l.made(specs[0]))
	if n := l.Counts(); n.Claimed != 0 || n.Missed != 1 || len(l.handles()) != 0 {
		t.Errorf("the counts are %+v, the notes %v", n, l.handles())
	}
}

// TestASandboxThatDiesIsStartedAgainThreeTimes ends ready sandboxes. A rest lies between two
// starts.
func TestASandboxThatDiesIsStartedAgainThreeTimes(t *testing.T) {
	l := newLab(t, nil)
	specs := l.specs()[1:]
	l.Prepare(specs)
	for i := range 3 {
		l.waitReady(1)
		b, err := l.Recover(within(t), l.handles()[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Destroy(within(t)); err != nil {
			t.Fatal(err)
		}
		l.eventually("its end is seen", func() bool { return l.Counts().Dropped == uint64(i+1) })
		if n := l.machine.Made(); n != i+1 {
			t.Fatalf("%d sandboxes were made without a rest", n)
		}
		l.pass(2 * time.Minute)
	}
	other := l.specs()[1:]
	l.ready(1, other) // the pool has looked again
	if n := l.machine.Made(); n != 4 {
		t.Errorf("%d sandboxes were made, though three of one computer died", n)
	}
}

// TestMemoryPressureEndsThem has memory get short, and come back.
func TestMemoryPressureEndsThem(t *testing.T) {
	l := newLab(t, nil)
	specs := l.specs()
	l.ready(2, specs)
	l.set(tight)
	l.waitReady(0)
	l.eventually("they are gone", func() bool { return l.machine.Living(specs[1].WorkspaceFolder()) == 0 && len(l.handles()) == 0 })
	l.set(pool.Memory{Total: 100, Available: 15}) // not tight, and not free either
	l.answers(l.made(specs[1]))
	l.set(free)
	l.ready(2, l.specs())
	if n := l.Counts(); n.Dropped != 2 || n.Missed != 1 {
		t.Errorf("the counts are %+v", n)
	}
}

// TestDemandDecidesWhoIsReady hibernates three computers where two may be ready.
func TestDemandDecidesWhoIsReady(t *testing.T) {
	l := newLab(t, nil)
	often, once, newest := l.specs()[1:], l.specs()[1:], l.specs()[1:]
	for range 2 {
		l.made(often[0])
		l.Prepare(often)
	}
	l.waitReady(1)
	l.pass(time.Second)
	l.ready(2, once)
	l.pass(time.Second)
	l.Prepare(newest)
	l.eventually("the one used once gives way", func() bool { return l.Counts().Dropped == 1 && l.Counts().Ready == 2 })
	for _, c := range []struct {
		specs []sandbox.Spec
		want  uint64
	}{{once, 0}, {newest, 1}} {
		before := l.Counts().Claimed
		l.made(c.specs[0])
		if got := l.Counts().Claimed - before; got != c.want {
			t.Errorf("%d claims, not %d", got, c.want)
		}
	}
	l.pass(3 * time.Hour)
	l.waitReady(0)
}

// hanging is a driver whose creations of one computer wait for a channel, whatever their context
// says.
type hanging struct {
	sandbox.Driver
	computer choir.ID
	begun    chan struct{}
	until    chan struct{}
	obeys    bool // the context, though
}

func (h *hanging) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if spec.Computer != h.computer {
		return h.Driver.Create(ctx, spec)
	}
	h.begun <- struct{}{}
	var ends <-chan struct{}
	if h.obeys {
		ends = ctx.Done()
	}
	select {
	case <-h.until:
	case <-ends:
	}
	return nil, choir.E("hang", choir.CodeUnavailable, "it hung")
}

// TestADriverThatHangsHoldsUpItsComputerOnly starts a sandbox that neither starts nor fails.
func TestADriverThatHangsHoldsUpItsComputerOnly(t *testing.T) {
	h := &hanging{begun: make(chan struct{}, 9), until: make(chan struct{})}
	l := newLab(t, func(d sandbox.Driver) sandbox.Driver { h.Driver = d; return h }, func(c *pool.Config) { c.StartPatience = time.Second })
	t.Cleanup(sync.OnceFunc(func() { close(h.until) })) // before Serve is waited for
	specs := l.specs()[1:]
	h.computer = specs[0].Computer
	l.Prepare(specs)
	<-h.begun
	other := l.specs()[1:]
	l.ready(1, other)
	l.answers(l.made(other[0]))
	if b, err := l.Create(within(t), specs[0]); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("%v, %v: a second sandbox beside one that may come up", b, err)
	}
	if len(h.begun) != 0 {
		t.Error("another was begun")
	}
}

// TestStoppingEndsWhatIsBeingStarted stops the pool while one sandbox is being started and another
// is ready.
func TestStoppingEndsWhatIsBeingStarted(t *testing.T) {
	h := &hanging{begun: make(chan struct{}, 9), until: make(chan struct{}), obeys: true}
	l := newLab(t, func(d sandbox.Driver) sandbox.Driver { h.Driver = d; return h })
	ready, starting := l.specs(), l.specs()[1:]
	h.computer = starting[0].Computer
	l.ready(2, ready)
	l.Prepare(starting)
	<-h.begun
	l.stop()
	if left := l.handles(); len(left) != 0 || l.machine.Living(ready[1].WorkspaceFolder()) != 0 {
		t.Errorf("after the stop there are the notes %v", left)
	}
	l.Prepare(l.specs()) // nobody serves it any more
	if n := l.machine.Made(); n != 2 {
		t.Errorf("%d sandboxes were made", n)
	}
}

// TestTheNextControlPlaneRemovesWhatAKilledOneLeft kills a control plane with ready sandboxes.
func TestTheNextControlPlaneRemovesWhatAKilledOneLeft(t *testing.T) {
	l := newLab(t, nil)
	specs := l.specs()
	l.ready(2, specs)
	left := l.handles()
	next := pool.New(l.machine.Driver(), pool.Config{Dir: filepath.Join(l.dir, "ready"), Log: slog.New(slog.DiscardHandler)})
	next.Clean(within(t)) // though it keeps none itself
	for _, h := range left {
		if _, err := next.Recover(within(t), h); sandbox.VerdictOf(err) != sandbox.Gone {
			t.Errorf("%s is not gone: %v", h.State, err)
		}
	}
	if n := len(l.handles()); n != 0 {
		t.Errorf("%d notes are left", n)
	}
}

// TestWithoutAnyTheDriverMakesEach serves a pool that may keep nothing.
func TestWithoutAnyTheDriverMakesEach(t *testing.T) {
	l := newLab(t, nil, func(c *pool.Config) { c.Most = 0 })
	specs := l.specs()
	l.Prepare(specs)
	l.answers(l.made(specs[0]))
	if n := l.Counts(); n != (pool.Counts{}) || l.machine.Made() != 1 {
		t.Errorf("the counts are %+v, of %d sandboxes", n, l.machine.Made())
	}
}
