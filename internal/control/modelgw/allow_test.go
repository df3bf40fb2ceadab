package modelgw_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/model/gateway"
	"choiros/internal/model/wiretest"
)

func TestAModelWithoutAPriceIsRefusedAndTheRefusalSaysWhatToWrite(t *testing.T) {
	p := &stub{stream: saysHello}
	r := newRig(t, func(c *modelgw.Config) {
		c.Routing = modelgw.Fixed(map[string]modelgw.Route{"director": {Provider: p, Model: "house-1"}, "associate": {Provider: p, Model: "house-1"}}, nil)
	})
	_, err := r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: id(t), Run: id(t), Caller: "director"}, ask("hi"), nil)
	e := wantCode(t, err, choir.CodeUnavailable)
	for _, want := range []string{`[[models.price]] model = "house-1"`, "free = true"} {
		if !strings.Contains(e.Remedy, want) {
			t.Errorf("the remedy lacks %q: %s", want, e.Remedy)
		}
	}
	if status, body := r.program(t, false); status == http.StatusOK || !strings.Contains(body, "models.price") {
		t.Errorf("a program gets %d %s", status, body)
	}
	if p.calls() != 0 || len(r.log.events) != 0 {
		t.Errorf("%d calls left and %d events were written", p.calls(), len(r.log.events))
	}
}

func TestProgramsCallOnlyWhatTheirTaskAllows(t *testing.T) {
	for name, c := range map[string]struct {
		work    modelgw.Work
		role    choir.Role
		answers int // of 4 calls
		says    string
	}{
		"no task":              {modelgw.Work{}, "", 0, "model_budget"},
		"a task without":       {modelgw.Work{Run: "r", Task: "t"}, "", 0, "model_budget"},
		"calls":                {modelgw.Work{Run: "r", Task: "t", Allowed: &choir.ModelBudget{Calls: 2}}, "", 2, "model_budget.calls"},
		"tokens":               {modelgw.Work{Run: "r", Task: "t", Allowed: &choir.ModelBudget{Tokens: 700}}, "", 2, "model_budget.tokens"},
		"cost":                 {modelgw.Work{Run: "r", Task: "t", Allowed: &choir.ModelBudget{CostUSD: 9_500}}, "", 3, "model_budget.cost_usd"},
		"the Director's place": {modelgw.Work{Run: "r", Task: "t", Allowed: &choir.ModelBudget{Calls: 9}}, choir.RoleDirector, 0, "Director"},
	} {
		t.Run(name, func(t *testing.T) {
			b := wiretest.NewBiller(100)
			t.Cleanup(b.Close)
			if c.work.Run != "" {
				c.work.Run, c.work.Task = id(t), id(t)
			}
			r := newRig(t, func(cfg *modelgw.Config) {
				billed(b, wiretest.OpenAI)(cfg)
				cfg.Running = func(*http.Request) (modelgw.Work, error) { return c.work, nil }
				cfg.Caller = func(*http.Request) (choir.Role, bool) { return c.role, false }
			})
			answers, said := 0, ""
			for n := range 4 {
				status, body := r.program(t, false)
				if status == http.StatusOK {
					answers++
				} else {
					said = body
				}
				if n == 0 { // what the task's programs spent is in the log
					r.close()
					r.open(t)
				}
			}
			if answers != c.answers || b.Asked() != c.answers || !strings.Contains(said, c.says) {
				t.Errorf("%d of 4 calls were answered, want %d; the refusal is %s", answers, c.answers, said)
			}
		})
	}
}

func TestRunsOfADesktopHaveABudgetOfTheirOwn(t *testing.T) {
	b := wiretest.NewBiller(100)
	t.Cleanup(b.Close)
	now := time.Now()
	r := newRig(t, func(c *modelgw.Config) {
		billed(b, wiretest.Anthropic)(c)
		c.Budget.DesktopCostUSD = 3500
		c.Now = func() choir.Time { return choir.TimeOf(now) }
	})
	mine, first, second := id(t), id(t), id(t)
	r.books.desktop[first], r.books.desktop[second] = true, true
	if err := r.director(t, first, 300, -1); err != nil {
		t.Fatal(err)
	}
	e := wantCode(t, r.director(t, second, 300, -1), choir.CodeBudget)
	if !strings.Contains(e.Remedy, "limits.desktop_cost_usd") || !strings.Contains(e.Remedy, "choir prompt") {
		t.Errorf("the remedy is %q", e.Remedy)
	}
	if err := r.director(t, mine, 300, -1); err != nil {
		t.Errorf("the owner's own run is refused: %v", err)
	}
	delete(r.books.desktop, first) // it began too long ago
	now = now.Add(time.Hour)
	if err := r.director(t, second, 300, -1); err != nil {
		t.Errorf("a run is refused for one that no longer counts: %v", err)
	}
}

func TestTheCallsOfARunAreCounted(t *testing.T) {
	r := newRig(t, func(c *modelgw.Config) {
		routes(&stub{stream: saysHello})(c)
		c.Budget.Run.Calls = 3
	})
	run := id(t)
	for range 3 {
		if err := r.director(t, run, 10, -1); err != nil {
			t.Fatal(err)
		}
	}
	if e := wantCode(t, r.director(t, run, 10, -1), choir.CodeBudget); !strings.Contains(e.Remedy, "limits.run_calls") {
		t.Errorf("the remedy is %q", e.Remedy)
	}
}
