package computer

import (
	"strings"
	"testing"
	"time"

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

// spend records a model call of a run.
func (c *Computer) spend(t *testing.T, run choir.ID, cost float64) {
	t.Helper()
	d := must(c.events.Draft(choir.ModelReturned{Call: newTestID(t), Caller: "director", Provider: "p", Model: "m", InputTokens: 5, CostUSD: cost}))(t)
	must(c.Append(t.Context(), choir.RoleControl, d.ForRun(run, "")))(t)
}

func TestPromptsOfTheDesktopEndAtItsBudgetAndTheOwnersDoNot(t *testing.T) {
	c := openAsleep(t)
	now := time.Now()
	c.cfg.Now = func() time.Time { return now }
	c.cfg.DesktopCostUSD, c.cfg.DesktopSpan = 2, 24*time.Hour
	prompt := func(role choir.Role, key choir.ID) (choir.ID, error) {
		run, _, err := c.Prompt(t.Context(), role, choir.PromptSubmitted{Text: "hello"}, key)
		return run, err
	}
	mine := must(prompt(choir.RoleShell, ""))(t)
	c.spend(t, mine, 50)
	key := newTestID(t)
	c.spend(t, must(prompt(choir.RoleDesktop, key))(t), 1.5)
	c.spend(t, must(prompt(choir.RoleDesktop, ""))(t), 0.5)
	_, err := prompt(choir.RoleDesktop, "")
	if choir.CodeOf(err) != choir.CodeBudget || !strings.Contains(err.Error(), "limits.desktop_cost_usd") || !strings.Contains(err.Error(), "choir prompt") {
		t.Fatalf("a third prompt of the desktop: %v", err)
	}
	if _, err := prompt(choir.RoleDesktop, key); err != nil {
		t.Errorf("a prompt that was accepted before is refused when it is repeated: %v", err)
	}
	for _, role := range []choir.Role{choir.RoleShell, choir.RoleCLI} {
		if _, err := prompt(role, ""); err != nil {
			t.Errorf("a prompt of the %s is refused: %v", role, err)
		}
	}
	now = now.Add(25 * time.Hour)
	if _, err := prompt(choir.RoleDesktop, ""); err != nil {
		t.Errorf("a day later: %v", err)
	}
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
