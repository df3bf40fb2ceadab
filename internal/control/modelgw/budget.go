package modelgw

import (
	"context"
	"strconv"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Used is what was spent.
type Used struct {
	Tokens  int64 // input and output
	CostUSD float64
}

func (u *Used) add(x model.Usage) {
	u.Tokens += x.Input + x.Output
	u.CostUSD += x.CostUSD
}

// Budget bounds spending; zero means no bound. A call that began below the
// bound is let finish. A model whose price is not known costs nothing here, so
// for it only the bounds on tokens hold.
type Budget struct {
	RunTokens       int64
	RunCostUSD      float64
	ComputerTokens  int64
	ComputerCostUSD float64
}

// exceeded is the first bound that is reached.
func (b Budget) exceeded(run choir.ID, ofRun, ofComputer Used) *choir.BudgetReached {
	bounds := []choir.BudgetReached{
		{Scope: "run", Limit: "tokens", Max: float64(b.RunTokens), Used: float64(ofRun.Tokens)},
		{Scope: "run", Limit: "cost", Max: b.RunCostUSD, Used: ofRun.CostUSD},
		{Scope: "computer", Limit: "tokens", Max: float64(b.ComputerTokens), Used: float64(ofComputer.Tokens)},
		{Scope: "computer", Limit: "cost", Max: b.ComputerCostUSD, Used: ofComputer.CostUSD},
	}
	for i, r := range bounds {
		if r.Max > 0 && r.Used >= r.Max && (r.Scope != "run" || run != "") {
			return &bounds[i]
		}
	}
	return nil
}

// afford refuses a call when a budget is used up, and says so in the log, once
// for each bound.
func (g *Gateway) afford(ctx context.Context, info model.CallInfo) error {
	ofRun, ofComputer, err := g.ledger.used(ctx, info.Run)
	if err != nil {
		return err
	}
	over := g.cfg.Budget.exceeded(info.Run, ofRun, ofComputer)
	if over == nil {
		return nil
	}
	base := info.Run
	if over.Scope == "computer" {
		base = g.cfg.Computer
	}
	bound := strconv.FormatFloat(over.Max, 'f', -1, 64)
	draft, err := choir.NewDraft(choir.DeriveID(base, "budget", over.Scope, over.Limit, bound), over)
	if err != nil {
		return err
	}
	if _, err := g.cfg.Log.Append(ctx, choir.RoleControl, draft.ForRun(info.Run, info.Task)); err != nil {
		return choir.Wrap("modelgw.budget", "", err, "record that a budget was reached")
	}
	return choir.E("modelgw.budget", choir.CodeBudget, "the %s's budget of %s %s for models is used up", over.Scope, bound, unit(over.Limit)).
		WithRemedy("raise it under [limits] in choir.toml")
}

func unit(limit string) string {
	if limit == "cost" {
		return "US dollars"
	}
	return limit
}
