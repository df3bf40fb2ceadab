package runs

import (
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// spend records a model call of a run.
func spend(t *testing.T, log *eventstore.Store, events *appender.Appender, run choir.ID, cost float64) {
	t.Helper()
	d := must(events.Draft(choir.ModelReturned{Call: newID(t), Caller: "director", Provider: "p", Model: "m", InputTokens: 5, CostUSD: cost}))(t)
	must(log.Append(t.Context(), choir.RoleControl, d.ForRun(run, "")))(t)
}

func TestPromptsOfTheDesktopEndAtItsBudgetAndTheOwnersDoNot(t *testing.T) {
	now := time.Now()
	log, events := newLog(t)
	rs := New(log, events, Config{Now: func() time.Time { return now }, DesktopCostUSD: 2, DesktopSpan: 24 * time.Hour})
	prompt := func(role choir.Role, key choir.ID) (choir.ID, error) {
		run, _, err := rs.Prompt(t.Context(), role, choir.PromptSubmitted{Text: "hello"}, key)
		return run, err
	}
	mine := must(prompt(choir.RoleShell, ""))(t)
	spend(t, log, events, mine, 50)
	key := newID(t)
	spend(t, log, events, must(prompt(choir.RoleDesktop, key))(t), 1.5)
	spend(t, log, events, must(prompt(choir.RoleDesktop, ""))(t), 0.5)
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
