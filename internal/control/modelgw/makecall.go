package modelgw

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// makeCall makes one model call from end to end. It returns the recorded answer if the
// log has one, and otherwise asks the provider, and where that fails those of the
// route's fallbacks. model.called is in the log before on gets the first piece of the
// answer, and model.returned before makeCall returns.
func (g *Gateway) makeCall(ctx context.Context, a *asked, on func(model.Delta)) (model.Response, error) {
	past, err := g.recall(ctx, a.info, a.digest)
	if err != nil || past.answered {
		return past.resp, err
	}
	if past.failed != nil {
		return model.Response{}, past.failed
	}
	if g.cfg.Hold != nil && a.info.Run != "" {
		if err := g.cfg.Hold(ctx, a.info.Run); err != nil {
			return model.Response{}, err
		}
	}
	route, prices, err := g.routeOf(ctx, a)
	if err != nil {
		return model.Response{}, err
	}
	heard := false
	resp, err := g.attempt(ctx, a, route, prices, &past, func(d model.Delta) {
		heard = true
		on(d)
	})
	for _, next := range route.Fallbacks {
		if err == nil || !mayFallBack(ctx, err) || heard && a.info.Caller == AliasTool || past.attempts >= maxAttempts {
			break
		}
		if _, known := PriceOf(prices, next); !known {
			continue
		}
		if heard {
			on(model.Delta{Restart: true})
		}
		resp, err = g.attempt(ctx, a, next, prices, &past, func(d model.Delta) {
			heard = true
			on(d)
		})
	}
	return resp, err
}

// mayFallBack reports whether another service may answer a call that failed: this one
// could not be reached, was overloaded, refused the key or failed.
func mayFallBack(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	switch choir.CodeOf(err) {
	case choir.CodeOverloaded, choir.CodeUnavailable, choir.CodeProvider, choir.CodeTimeout, choir.CodeRefused:
		return true
	}
	return false
}

// attempt calls one provider within the budgets, and counts the attempt in past.
func (g *Gateway) attempt(ctx context.Context, a *asked, route Route, prices map[string]Price, past *past, on func(model.Delta)) (model.Response, error) {
	price, known := PriceOf(prices, route)
	if !known {
		return model.Response{}, NoPrice(route.Model)
	}
	t := terms{input: tokensOf(&a.req, len(a.canonical)), output: int64(a.req.MaxTokens), price: price}
	held, err := g.reserve(ctx, a, t.most())
	if err != nil {
		return model.Response{}, err
	}
	defer held.commitUsage(Used{}) // for a call that does not leave
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	case <-ctx.Done():
		return model.Response{}, choir.Wrap("modelgw.call", choir.CodeCancelled, ctx.Err(), "wait for a free slot")
	}
	r := &record{g: g, info: a.info, route: route, price: price, attempt: past.attempts + 1, before: past.last, began: g.cfg.Now()}
	resp, err := g.ask(ctx, r, a, t, held, on)
	if r.event != "" {
		past.attempts, past.last = r.attempt, r.event
	}
	return resp, err
}

// routeOf returns the route of a call and the prices in force for it. Code unavailable:
// no model is connected under the requested name.
func (g *Gateway) routeOf(ctx context.Context, a *asked) (Route, map[string]Price, error) {
	if a.trial != nil {
		return a.trial.route, a.trial.prices, nil
	}
	routing := g.cfg.Routing()
	route, err := g.cfg.route(ctx, a.req.Model, a.info, routing)
	return route, routing.Prices, err
}

// checkOpen returns nil if the run and task of a call are open still. Code conflict: one
// of them ended while the call waited. The owner's own trial has neither.
func (g *Gateway) checkOpen(ctx context.Context, a *asked) error {
	if a.trial != nil {
		return nil
	}
	role := choir.Role(a.info.Caller)
	if a.info.Caller == AliasTool {
		role = choir.RoleAssociate
	}
	return g.cfg.MayCall(ctx, role, a.info.Run, a.info.Task)
}

// ask records model.called and then calls the provider, so that a call which left is in
// the log with what it may cost, however choir ends. A call whose task is over or whose
// readers have gone is not sent. Code conflict: the task or run is over; cancelled: nobody
// reads the answer.
func (g *Gateway) ask(ctx context.Context, r *record, a *asked, t terms, held *reservation, on func(model.Delta)) (model.Response, error) {
	if err := g.checkOpen(ctx, a); err != nil {
		return model.Response{}, err
	}
	if !a.flight.markSent() || ctx.Err() != nil {
		return model.Response{}, choir.E("modelgw.call", choir.CodeCancelled, "the caller has gone before the call was sent")
	}
	defer a.flight.markAnswered()
	// What has begun to be recorded is recorded, also when the caller has gone.
	recording := context.WithoutCancel(ctx)
	if err := r.appendCalled(recording, a.canonical, a.digest); err != nil {
		return model.Response{}, err
	}
	defer g.endWait(r.info)
	asking := model.WithAgain(g.withWaits(model.WithInfo(ctx, r.info), r.info), func(ctx context.Context, used model.Usage, why error) error {
		return g.reserveAgain(ctx, a, t, held, used, why)
	})
	if r.info.Caller != AliasTool {
		asking = model.WithRestart(asking) // programs cannot be told that what they heard is void
	}
	resp, err := r.route.Provider.Stream(asking, r.route.routed(a.req), func(d model.Delta) {
		if r.noteDelta(d) {
			g.endWait(r.info)
		}
		on(d)
	})
	usage, estimated := t.bill(resp, err != nil, r.bytes)
	// The reservation is held until the log has the cost: whoever sums the log
	// beside the open calls misses nothing.
	defer held.commitUsage(usedBy(usage))
	if err != nil {
		return model.Response{}, r.appendFailed(recording, err, usage, estimated)
	}
	resp.Usage = usage
	return resp, r.appendReturned(recording, resp, estimated)
}
