package computer

import (
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox/sandboxtest"
)

// openAsleep opens a computer that does not run.
func openAsleep(t *testing.T) *Computer {
	t.Helper()
	cfg := labConfig{Data: sandboxtest.DataDir(t), Guest: t.TempDir(), User: newTestID(t), Computer: newTestID(t)}
	c, bus, err := cfg.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		bus.Close()
	})
	return c
}

func TestCallsThatAKilledSessionLeftOpenAreListed(t *testing.T) {
	c := openAsleep(t)
	session := func(p choir.Payload) { must(c.events.Append(t.Context(), choir.RoleControl, p))(t) }
	call := func(answered bool) choir.ID {
		d := must(c.events.Draft(choir.ModelCalled{Call: newTestID(t), Caller: "director", Provider: "p", Model: "m", Request: choir.DigestOf(nil)}))(t)
		must(c.Append(t.Context(), choir.RoleControl, d))(t)
		if answered {
			r := must(c.events.Draft(choir.ModelReturned{Call: newTestID(t), Caller: "director", Provider: "p", Model: "m"}))(t)
			must(c.Append(t.Context(), choir.RoleControl, r.CausedBy(d.ID)))(t)
		}
		return d.ID
	}
	holds := func(want ...choir.ID) {
		t.Helper()
		open := must(c.UnreturnedCalls(t.Context()))(t)
		if len(open) != len(want) {
			t.Fatalf("%d calls are open, want %d", len(open), len(want))
		}
		for i, e := range open {
			if e.ID != want[i] {
				t.Errorf("call %d is %s, want %s", i, e.ID, want[i])
			}
		}
	}
	started := choir.SessionStarted{Version: "test", Isolation: "none"}
	session(started)
	call(true)
	first := call(false)
	call(true)
	second := call(false)
	holds(first, second)
	session(choir.SessionEnded{Reason: "test"})
	holds()
}
