package modelgw

import (
	"context"
	"strconv"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Used is an amount of calls, tokens and US dollars: the actual usage of calls, or the
// upper bound for one call.
type Used struct {
	Calls   int64
	Tokens  int64 // input and output
	CostUSD float64
}

func (u Used) plus(x Used) Used {
	return Used{u.Calls + x.Calls, u.Tokens + x.Tokens, u.CostUSD + x.CostUSD}
}

func (u Used) minus(x Used) Used {
	return Used{u.Calls - x.Calls, u.Tokens - x.Tokens, u.CostUSD - x.CostUSD}
}

// Budget limits the spending of a computer. Before a call is sent, the most it may spend
// is reserved. A call that does not fit waits for the calls in flight, which may use
// less than they reserved, and is refused if it does not fit even without them.
type Budget struct {
	Run choir.RunLimits // zero fields have their defaults
	// ComputerCostUSD limits the computer's total cost, DesktopCostUSD that of runs
	// begun by a desktop within DesktopSpan; zero means no limit.
	ComputerCostUSD float64
	DesktopCostUSD  float64
}

// bound is an account together with its limits.
type bound struct {
	account *account
	scope   string   // of budget.reached
	of      choir.ID // the run, task or computer
	max     Used     // zero fields have no bound
}

// bounds returns the accounts and limits that apply to a call: computer, run, task and
// desktop. The caller releases the accounts, also on error.
func (g *Gateway) bounds(ctx context.Context, a *asked) ([]bound, error) {
	computer, err := g.ledger.account(ctx, "", func(ctx context.Context) (Used, error) { return g.books.Spent(ctx, "") })
	if err != nil {
		return nil, err
	}
	all := []bound{{computer, "computer", g.cfg.Computer, Used{CostUSD: g.cfg.Budget.ComputerCostUSD}}}
	if a.info.Run != "" {
		run, err := g.ledger.account(ctx, "run "+string(a.info.Run), func(ctx context.Context) (Used, error) { return g.loadRun(ctx, a.info.Run) })
		if err != nil {
			return all, err
		}
		l := g.cfg.Budget.Run
		all = append(all, bound{run, "run", a.info.Run, Used{int64(l.Calls), l.Tokens, l.CostUSD}})
	}
	if b := a.allowed; b != nil {
		task, err := g.ledger.account(ctx, "task "+string(a.info.Task), func(ctx context.Context) (Used, error) { return g.loadTask(ctx, a.info) })
		if err != nil {
			return all, err
		}
		all = append(all, bound{task, "task", a.info.Task, Used{int64(b.Calls), b.Tokens, b.CostUSD}})
	}
	return g.boundByDesktop(ctx, a, all)
}

// boundByDesktop appends the limit that all runs begun by a desktop share, if one is set and
// a desktop began this run.
func (g *Gateway) boundByDesktop(ctx context.Context, a *asked, all []bound) ([]bound, error) {
	most := g.cfg.Budget.DesktopCostUSD
	if a.info.Run == "" || most <= 0 {
		return all, nil
	}
	began, err := g.books.BegunByDesktop(ctx, a.info.Run)
	if err != nil || !began {
		return all, choir.Wrap("modelgw.budget", "", err, "see who began run %s", a.info.Run)
	}
	desktop, err := g.ledger.account(ctx, "desktop", g.books.SpentByDesktop)
	if err != nil {
		return all, err
	}
	all = append(all, bound{desktop, "desktop", g.cfg.Computer, Used{CostUSD: most}})
	return all, g.ledger.refresh(ctx, desktop, g.books.SpentByDesktop)
}

// costError is the tolerance in US dollars when a sum of costs is compared with a limit,
// for floating-point rounding.
const costError = 1e-9

// lacking returns the limit that base plus amount exceeds, or nil if the sum is within
// all limits.
func (b *bound) lacking(base, amount Used) *choir.BudgetReached {
	over := func(limit string, most, used float64) *choir.BudgetReached {
		return &choir.BudgetReached{Scope: b.scope, Limit: limit, Max: most, Used: used}
	}
	sum := base.plus(amount)
	switch {
	case b.max.Calls > 0 && sum.Calls > b.max.Calls:
		return over("calls", float64(b.max.Calls), float64(base.Calls))
	case b.max.Tokens > 0 && sum.Tokens > b.max.Tokens:
		return over("tokens", float64(b.max.Tokens), float64(base.Tokens))
	case b.max.CostUSD > 0 && amount.CostUSD > 0 && sum.CostUSD > b.max.CostUSD+costError:
		return over("cost", b.max.CostUSD, base.CostUSD)
	}
	return nil
}

// reserve reserves the most a call may spend in every account that limits it. Code
// budget: it exceeds a limit, which is recorded in the log once for each limit.
func (g *Gateway) reserve(ctx context.Context, a *asked, most Used) (*reservation, error) {
	all, err := g.bounds(ctx, a)
	defer g.ledger.release(all)
	if err != nil {
		return nil, err
	}
	held, over, err := g.ledger.reserve(ctx, all, most)
	if err != nil || over == nil {
		return held, err
	}
	if err := g.recordReached(ctx, a, over); err != nil {
		return nil, err
	}
	return nil, overBudget(a, over, most)
}

// reserveAgain raises the reservation of a call for one more attempt, on top of the
// usage of its failed attempts. Code budget: that exceeds a limit; conflict: the task or
// run is over. If it fits only without the calls in flight it returns why, the last
// attempt's error, because waiting for them while holding a reservation could deadlock;
// also if the call has no reader any more.
func (g *Gateway) reserveAgain(ctx context.Context, a *asked, t terms, held *reservation, used model.Usage, why error) error {
	if err := g.checkOpen(ctx, a); err != nil {
		return err
	}
	if !a.flight.markSent() {
		return why
	}
	u, _ := t.bill(model.Response{Usage: used}, true, 0)
	most := t.most().plus(usedBy(u))
	most.Calls = 1
	over, crowded := held.raise(most)
	switch {
	case over != nil:
		if err := g.recordReached(ctx, a, over); err != nil {
			return err
		}
		return overBudget(a, over, most)
	case crowded:
		return why
	}
	return nil
}

// lacked is a limit that a call exceeds, with the run, task or computer it belongs to.
type lacked struct {
	choir.BudgetReached
	of choir.ID
}

// recordReached appends budget.reached to the log, once for each limit; for the
// desktop's limit once in each DesktopSpan.
func (g *Gateway) recordReached(ctx context.Context, a *asked, over *lacked) error {
	names := []string{"budget", over.Scope, over.Limit, number(over.Max)}
	if over.Scope == "desktop" {
		names = append(names, number(float64(g.cfg.Now().Std().Unix()/int64(DesktopSpan.Seconds()))))
	}
	id := choir.DeriveID(over.of, names...)
	e, err := g.cfg.Log.Event(ctx, id)
	if err == nil && e.Type == choir.TypeBudgetReached && e.Source == choir.SourceSystem {
		return nil
	}
	if err != nil && choir.CodeOf(err) != choir.CodeNotFound {
		return choir.Wrap("modelgw.budget", "", err, "look whether a reached budget is recorded")
	}
	draft, err := choir.NewDraft(id, over.BudgetReached)
	if err != nil {
		return err
	}
	_, err = g.appendAs(ctx, choir.SourceSystem, draft.ForRun(a.info.Run, a.info.Task))
	if first := choir.FirstOf(err); first != nil && first.Says(choir.SourceSystem, draft.Type) {
		return nil // another call said it at the same time
	}
	return choir.Wrap("modelgw.budget", "", err, "record that a budget was reached")
}

// overBudget returns the error of code budget for a call that exceeds a limit, with the
// remaining amount and a remedy.
func overBudget(a *asked, over *lacked, most Used) error {
	need := map[string]float64{"calls": float64(most.Calls), "tokens": float64(most.Tokens), "cost": most.CostUSD}[over.Limit]
	e := choir.E("modelgw.budget", choir.CodeBudget, "the %s's budget of %s %s for models has %s left, and this call may need %s",
		over.Scope, number(over.Max), unit(over.Limit), number(max(0, over.Max-over.Used)), number(need))
	fewer := ""
	if a.info.Caller == AliasTool && over.Limit != "calls" {
		fewer = ", or ask for fewer max_tokens"
	}
	return e.WithRemedy("%s%s", remedyFor(over), fewer)
}

// remedyFor returns the remedy for a reached limit: the setting to raise.
func remedyFor(over *lacked) string {
	key := map[string]string{"calls": "calls", "tokens": "tokens", "cost": "cost_usd"}[over.Limit]
	switch over.Scope {
	case "task":
		return "give the task a higher model_budget." + key
	case "run":
		return "raise limits.run_" + key + " in choir.toml"
	case "desktop":
		return "prompt under Runs in the top bar or with choir prompt, or raise limits.desktop_cost_usd in choir.toml"
	}
	return "raise limits.cost_usd in choir.toml"
}

// number formats a number for people.
func number(n float64) string {
	if n < 1 {
		return strconv.FormatFloat(n, 'g', 4, 64)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// unit returns the unit of a limit for people.
func unit(limit string) string {
	if limit == "cost" {
		return "US dollars"
	}
	return limit
}
