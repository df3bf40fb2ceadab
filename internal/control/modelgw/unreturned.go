package modelgw

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// CloseUnreturned appends model.returned for each call that the previous control plane
// left without an end. The answer is unknown, so the full reserved amount is recorded as
// an estimate of the cost. The event's id is derived from the call's, so repeating this
// adds nothing; a role that still waits for the call makes it again.
func (g *Gateway) CloseUnreturned(ctx context.Context) error {
	open, err := g.books.Unreturned(ctx)
	if err != nil {
		return choir.Wrap("modelgw.close", "", err, "look for model calls that never returned")
	}
	defer g.ledger.forget()
	for _, e := range open {
		var p choir.ModelCalled
		if err := decode(e, &p); err != nil {
			return err
		}
		if g.isOpen(model.CallInfo{Call: p.Call, Caller: p.Caller}) {
			continue
		}
		if err := g.closeCall(ctx, e, &p); err != nil {
			return err
		}
	}
	return nil
}

// isOpen reports whether this gateway has the call in progress.
func (g *Gateway) isOpen(info model.CallInfo) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.flights[keyOf(info)]
	return ok
}

// closeCall appends model.returned for one model.called without an end.
func (g *Gateway) closeCall(ctx context.Context, e choir.Event, p *choir.ModelCalled) error {
	end := choir.ModelReturned{
		Call: p.Call, Caller: p.Caller, Provider: p.Provider, Model: p.Model,
		Code: choir.CodeCancelled, Error: "choir ended before the model call did",
	}
	req, size, err := g.request(ctx, p.Request)
	switch choir.CodeOf(err) {
	case "":
		t := terms{input: tokensOf(&req, size), output: int64(req.MaxTokens), price: g.priceOf(p)}
		most := t.most()
		enterUsage(&end, model.Usage{Input: t.input, Output: t.output, CostUSD: most.CostUSD}, true)
	case choir.CodeNotFound, choir.CodeCorrupt:
		end.Estimated = true
		end.Error += ", and its request is no longer in the store: its cost is not known"
	default:
		return err
	}
	draft, err := choir.NewDraft(closedID(e, p.Call), end)
	if err != nil {
		return err
	}
	_, err = g.appendAs(ctx, "", draft.CausedBy(e.ID).ForRun(e.Run, e.Task))
	if first := choir.FirstOf(err); first != nil && first.Type == draft.Type {
		return nil // it has returned meanwhile
	}
	return choir.Wrap("modelgw.close", "", err, "record the end of model call %s", p.Call)
}

// priceOf returns the price recorded with a call, or today's price if an older choir
// recorded none.
func (g *Gateway) priceOf(p *choir.ModelCalled) Price {
	if p.Price == nil {
		return g.cfg.Routing().priceOnce(p.Provider, p.Model)
	}
	return Price{Input: p.Price.Input, Output: p.Price.Output}
}

// closedID returns the id that model.returned of the attempt e would have had.
func closedID(e choir.Event, call choir.ID) choir.ID {
	for n := 1; n <= maxAttempts; n++ {
		if calledID(call, n) == e.ID {
			return returnedID(call, n)
		}
	}
	return choir.DeriveID(e.ID, "settled")
}
