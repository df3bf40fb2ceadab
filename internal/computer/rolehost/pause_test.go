package rolehost

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/fake"
)

// pausedNow returns the number of sandboxes that are paused.
func pausedNow(m *fake.Machine) int {
	now, _ := m.Paused()
	return now
}

// TestAPausedHostGoesOnForWhoeverNeedsIt pauses both sandboxes, and uses them.
func TestAPausedHostGoesOnForWhoeverNeedsIt(t *testing.T) {
	g := newGround(t, nil)
	l := g.serve()
	if _, err := l.LookedAt(g.within()); err != nil {
		t.Fatal(err)
	}
	l.pauses(t)
	if err := l.Pause(g.within()); err != nil || pausedNow(g.machine) != 2 {
		t.Errorf("a second time: %v", err)
	}
	client, err := l.Guest(g.within())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Hello(g.within()); err != nil {
		t.Error(err)
	}
	if l.Paused() || pausedNow(g.machine) != 1 {
		t.Error("the Associate's is still paused, or the Director's is not")
	}
	if err := l.Resume(g.within()); err != nil || pausedNow(g.machine) != 0 {
		t.Errorf("%d are paused, %v", pausedNow(g.machine), err)
	}
}

// pauses waits until the host can be paused, and pauses it.
func (l *lab) pauses(t *testing.T) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for ctx := l.within(); ; {
		err := l.Pause(ctx)
		if err == nil {
			break
		}
		if choir.CodeOf(err) != choir.CodeConflict || pausedNow(l.machine) != 0 {
			t.Fatalf("%d are paused: %v", pausedNow(l.machine), err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal(err)
		}
	}
	if !l.Paused() || pausedNow(l.machine) != 2 {
		t.Fatalf("%d are paused", pausedNow(l.machine))
	}
}

// TestAPausedRoleKeepsItsIdentity lets a role's credentials run half out while it is paused: it
// goes on to take new ones.
func TestAPausedRoleKeepsItsIdentity(t *testing.T) {
	g := newGround(t, nil)
	l := g.serve(func(c *Config) { c.IdentityLife = time.Second })
	if _, err := l.LookedAt(g.within()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		l.pauses(t)
		tick := time.NewTicker(time.Millisecond)
		for ctx := g.within(); pausedNow(g.machine) != 0; {
			select {
			case <-tick.C:
			case <-ctx.Done():
				t.Fatal("a role got no new identity")
			}
		}
		tick.Stop()
	}
	if n := g.machine.Made(); n != 2 {
		t.Errorf("%d sandboxes were made", n)
	}
}

// TestAPausedHostStops stops a host whose sandboxes are paused: both end.
func TestAPausedHostStops(t *testing.T) {
	g := newGround(t, nil)
	l := g.serve()
	if _, err := l.LookedAt(g.within()); err != nil {
		t.Fatal(err)
	}
	l.pauses(t)
	l.stop()
	if n := g.machine.Living(l.seats[choir.RoleAssociate].workspace()); n != 0 {
		t.Errorf("%d sandboxes live", n)
	}
	if specs := l.NextSpecs(); len(specs) != 2 || specs[0].Role != choir.RoleDirector || specs[1].Role != choir.RoleAssociate {
		t.Errorf("the next ones are %+v", specs)
	}
}

// TestAKilledHostsPausedSandboxesGoOn kills the control plane while both are paused.
func TestAKilledHostsPausedSandboxesGoOn(t *testing.T) {
	g := newGround(t, nil)
	l := g.serve()
	if _, err := l.LookedAt(g.within()); err != nil {
		t.Fatal(err)
	}
	l.pauses(t)
	if err := l.driver.Close(); err != nil {
		t.Fatal(err)
	}
	l.stop()
	if specs := l.NextSpecs(); specs != nil {
		t.Errorf("the next ones are %+v, though these live", specs)
	}
	next := g.serve()
	if _, err := next.LookedAt(g.within()); err != nil {
		t.Fatal(err)
	}
	if n := g.machine.Made(); n != 2 || pausedNow(g.machine) != 0 {
		t.Errorf("%d sandboxes were made, %d are paused", n, pausedNow(g.machine))
	}
}

// slow is a sandbox whose pauses wait for the test, and that can neither go on nor end if the test
// says so.
type slow struct {
	sandbox.Sandbox
	sandbox.Pauser
	*slowly
}

type slowly struct {
	pausing, goOn chan struct{}
	stuck         atomic.Bool
}

// slowDriver makes slow sandboxes for the Associate.
type slowDriver struct {
	sandbox.Driver
	*slowly
}

func (d slowDriver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	b, err := d.Driver.Create(ctx, spec)
	if err == nil && spec.Role == choir.RoleAssociate {
		b = slow{b, b.(sandbox.Pauser), d.slowly}
	}
	return b, err
}

func (b slow) Pause(ctx context.Context) error {
	close(b.pausing)
	<-b.goOn
	return b.Pauser.Pause(ctx)
}

func (b slow) Resume(ctx context.Context) error {
	if b.stuck.Load() {
		return errors.New("the freezer does not answer")
	}
	return b.Pauser.Resume(ctx)
}

func (b slow) Destroy(ctx context.Context) error {
	if b.stuck.Load() {
		return errors.New("it does not end")
	}
	return b.Sandbox.Destroy(ctx)
}

// serveSlowly runs a host whose Associate has a slow sandbox.
func (g *ground) serveSlowly() (*lab, *slowly) {
	g.t.Helper()
	how := &slowly{pausing: make(chan struct{}), goOn: make(chan struct{})}
	l := g.serve(func(c *Config) { c.Driver = slowDriver{c.Driver, how} })
	if _, err := l.LookedAt(g.within()); err != nil {
		g.t.Fatal(err)
	}
	g.eventually(func() bool { return l.seats[choir.RoleAssociate].rolePID.Load() != 0 })
	return l, how
}

// isWaitingIn reports whether a goroutine waits for a mutex in a function of this package.
func isWaitingIn(function string) bool {
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	return slices.ContainsFunc(strings.Split(string(all), "\n\n"), func(one string) bool {
		return strings.Contains(one, "sync.(*Mutex).Lock") && strings.Contains(one, "rolehost."+function+"(")
	})
}

// TestAUseDuringAPauseEndsIt uses a sandbox while it is being paused: nobody else would resume it,
// and what is asked of it would wait for ever.
func TestAUseDuringAPauseEndsIt(t *testing.T) {
	g := newGround(t, nil)
	l, b := g.serveSlowly()
	s := l.seats[choir.RoleAssociate]
	paused, used := make(chan error, 1), make(chan error, 1)
	go func() { paused <- s.pause(g.within()) }()
	<-b.pausing
	go func() {
		client, err := l.Guest(g.within())
		if err == nil {
			_, err = client.Hello(g.within())
		}
		used <- err
	}()
	g.eventually(func() bool { return isWaitingIn("(*seat).resume") })
	close(b.goOn)
	if err := <-paused; err != nil {
		t.Error(err)
	}
	if err := <-used; err != nil || l.Paused() || pausedNow(g.machine) != 0 {
		t.Errorf("%v, paused %t, %d are paused", err, l.Paused(), pausedNow(g.machine))
	}
}

// TestASandboxThatCannotGoOnIsTriedAgain lets neither the resumption nor the end of a sandbox
// succeed, and then both.
func TestASandboxThatCannotGoOnIsTriedAgain(t *testing.T) {
	g := newGround(t, nil)
	l, b := g.serveSlowly()
	close(b.goOn)
	if err := l.seats[choir.RoleAssociate].pause(g.within()); err != nil {
		t.Fatal(err)
	}
	b.stuck.Store(true)
	if _, err := l.Guest(g.within()); err == nil {
		t.Error("a sandbox that stands still is handed out")
	}
	b.stuck.Store(false)
	client, err := l.Guest(g.within())
	if err == nil {
		_, err = client.Hello(g.within())
	}
	if err != nil || l.Paused() || pausedNow(g.machine) != 0 {
		t.Errorf("%v, paused %t, %d are paused", err, l.Paused(), pausedNow(g.machine))
	}
}

// halfPaused is a sandbox whose pause stops it and fails.
type halfPaused struct {
	sandbox.Sandbox
	sandbox.Pauser
	resumes bool // a resumption lets it go on; without that it says so, and does nothing
}

func (b halfPaused) Pause(ctx context.Context) error {
	return errors.Join(b.Pauser.Pause(ctx), errors.New("the pause was interrupted"))
}

func (b halfPaused) Resume(ctx context.Context) error {
	if !b.resumes {
		return nil
	}
	return b.Pauser.Resume(ctx)
}

// halfPausedDriver makes such sandboxes for the Associate.
type halfPausedDriver struct {
	sandbox.Driver
	resumes bool
}

func (d halfPausedDriver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	b, err := d.Driver.Create(ctx, spec)
	if err == nil && spec.Role == choir.RoleAssociate {
		b = halfPaused{b, b.(sandbox.Pauser), d.resumes}
	}
	return b, err
}

// TestASandboxWhosePauseFailedAnswers has the pause of a sandbox stop it and fail: it is resumed, or
// replaced where that lets nothing go on.
func TestASandboxWhosePauseFailedAnswers(t *testing.T) {
	for made, resumes := range map[int]bool{2: true, 3: false} {
		t.Run(strconv.FormatBool(resumes), func(t *testing.T) {
			g := newGround(t, nil)
			l := g.serve(func(c *Config) { c.Driver = halfPausedDriver{c.Driver, resumes} })
			if _, err := l.LookedAt(g.within()); err != nil {
				t.Fatal(err)
			}
			g.eventually(func() bool { return l.seats[choir.RoleAssociate].rolePID.Load() != 0 })
			if err := l.seats[choir.RoleAssociate].pause(g.within()); err == nil || !strings.Contains(err.Error(), "interrupted") {
				t.Errorf("the pause: %v", err)
			}
			g.eventually(func() bool {
				client, err := l.Guest(g.within())
				if err == nil {
					_, err = client.Hello(g.within())
				}
				return err == nil
			})
			if n := g.machine.Made(); n != made || l.Paused() {
				t.Errorf("%d sandboxes were made, want %d; paused %t", n, made, l.Paused())
			}
		})
	}
}
