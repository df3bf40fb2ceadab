package rolehost

import (
	"testing"
	"time"

	"choiros/internal/choir"
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
