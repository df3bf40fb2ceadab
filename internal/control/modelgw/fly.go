package modelgw

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// fly makes one call from end to end: from the log when it is answered there,
// else from the provider, with its beginning in the log before it leaves and
// its end before the caller hears of it.
func (g *Gateway) fly(ctx context.Context, info model.CallInfo, req model.Request, canonical []byte, digest choir.Digest, on func(model.Delta)) (model.Response, error) {
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	case <-ctx.Done():
		return model.Response{}, choir.Wrap("modelgw.call", choir.CodeCancelled, ctx.Err(), "wait for a free slot")
	}
	past, err := g.recall(ctx, info.Call, digest)
	if err != nil || past.answered {
		return past.resp, err
	}
	if past.failed != nil {
		return model.Response{}, past.failed
	}
	route, err := g.cfg.route(ctx, req.Model, info)
	if err != nil {
		return model.Response{}, err
	}
	if err := g.afford(ctx, info); err != nil {
		return model.Response{}, err
	}
	r := record{g: g, info: info, route: route, attempt: past.attempts + 1, began: g.cfg.Now()}
	if err := r.called(ctx, canonical, digest); err != nil {
		return model.Response{}, err
	}
	resp, err := route.Provider.Stream(model.WithInfo(ctx, info), route.routed(req), func(d model.Delta) {
		r.heard()
		on(d)
	})
	// What was spent is recorded even when the caller has gone.
	ctx = context.WithoutCancel(ctx)
	if err != nil {
		return model.Response{}, r.failed(ctx, err)
	}
	g.price(&resp, route.Model)
	g.ledger.add(info.Run, resp.Usage)
	return resp, r.returned(ctx, resp)
}
