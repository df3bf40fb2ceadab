package modelgw

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// makeCall makes one call from end to end: from the log when it is answered there,
// else from the provider, with its beginning in the log before the caller hears
// the first piece of the answer, and its end before the caller hears of that.
func (g *Gateway) makeCall(ctx context.Context, a *asked, on func(model.Delta)) (model.Response, error) {
	past, err := g.recall(ctx, a.info, a.digest)
	if err != nil || past.answered {
		return past.resp, err
	}
	if past.failed != nil {
		return model.Response{}, past.failed
	}
	route, prices, err := g.leads(ctx, a)
	if err != nil {
		return model.Response{}, err
	}
	price, known := PriceOf(prices, route)
	if !known {
		return model.Response{}, NoPrice(route.Model)
	}
	t := terms{input: tokensIn(len(a.canonical)), output: int64(a.req.MaxTokens), price: price}
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
	return g.ask(ctx, r, a, t, held, on)
}

// leads finds where a call leads, and the prices that hold there.
func (g *Gateway) leads(ctx context.Context, a *asked) (Route, map[string]Price, error) {
	if a.along != nil {
		return a.along.route, a.along.prices, nil
	}
	routing := g.cfg.Routing()
	route, err := g.cfg.route(ctx, a.req.Model, a.info, routing)
	return route, routing.Prices, err
}

// ask calls the provider while the beginning of the call is being recorded, so
// that the caller does not wait for the disk. Until model.called is durable
// nothing of the answer goes further: a crash before that loses the price of a
// call and no effect, because nobody has heard of it. When the record fails the
// call is broken off, and later ones wait for theirs until one has been written,
// so that a broken disk does not let calls leave unrecorded.
func (g *Gateway) ask(ctx context.Context, r *record, a *asked, t terms, held *reservation, on func(model.Delta)) (model.Response, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	first := g.careful.Load()
	recorded := g.recordStart(ctx, r, a.canonical, a.digest, stop)
	if first && recorded() != nil {
		return model.Response{}, recorded()
	}
	defer g.answers(r.info)
	asking := model.WithAgain(g.noting(model.WithInfo(ctx, r.info), r.info), func(ctx context.Context, used model.Usage, why error) error {
		return g.reserveAgain(ctx, a, t, held, used, why)
	})
	resp, err := r.route.Provider.Stream(asking, r.route.routed(a.req), func(d model.Delta) {
		if r.heard(d) {
			g.answers(r.info)
		}
		if recorded() == nil {
			on(d)
		}
	})
	usage, estimated := t.bill(resp, err != nil, r.bytes)
	// The reservation is held until the log has the cost: whoever sums the log
	// beside the open calls misses nothing.
	defer held.commitUsage(usedBy(usage))
	if err := recorded(); err != nil {
		return model.Response{}, err
	}
	// What was spent is recorded even when the caller has gone.
	ctx = context.WithoutCancel(ctx)
	if err != nil {
		return model.Response{}, r.failed(ctx, err, usage, estimated)
	}
	resp.Usage = usage
	return resp, r.returned(ctx, resp, estimated)
}

// recordStart records model.called, also when the caller goes meanwhile, and stops the
// call when that fails. The function it gives waits for the outcome.
func (g *Gateway) recordStart(ctx context.Context, r *record, canonical []byte, digest choir.Digest, stop func()) func() error {
	done := make(chan struct{})
	var err error
	go func() {
		defer close(done)
		err = r.called(context.WithoutCancel(ctx), canonical, digest)
		g.careful.Store(err != nil)
		if err != nil {
			stop()
		}
	}()
	return func() error {
		<-done
		return err
	}
}
