package modelgw

import (
	"context"

	"choiros/internal/model"
)

// maxTryTokens is the maximum length of the answer to Try, in tokens. A model that
// reasons may spend all of them on reasoning, which still shows that it can be called.
const maxTryTokens = 32

// trial is a route that is not in force, with the prices that would apply to it.
type trial struct {
	route  Route
	prices map[string]Price
}

// Try sends a request of a few tokens to a model whose route is not in force, to test
// it. The cost counts for the computer and is recorded in its log under the caller
// owner. The errors are those of a model call.
func (g *Gateway) Try(ctx context.Context, route Route, prices map[string]Price) (model.Response, error) {
	return g.try(ctx, trial{route, prices}, model.Request{Model: route.Model, MaxTokens: maxTryTokens, Messages: []model.Message{
		{Role: model.User, Content: []model.Block{{Kind: model.Text, Text: "Say OK."}}},
	}}, func(model.Delta) {})
}

// try makes one call over the route of a trial and passes the pieces of its answer to
// on.
func (g *Gateway) try(ctx context.Context, t trial, req model.Request, on func(model.Delta)) (model.Response, error) {
	id, err := g.cfg.NewID()
	if err != nil {
		return model.Response{}, err
	}
	a := &asked{info: model.CallInfo{Call: id, Caller: CallerOwner}, req: req, trial: &t}
	if err := a.encode(); err != nil {
		return model.Response{}, err
	}
	f, _, err := g.flightOf(a)
	if err != nil {
		return model.Response{}, err
	}
	defer f.leave()
	return f.follow(ctx, on)
}
