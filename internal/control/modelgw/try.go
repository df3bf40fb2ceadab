package modelgw

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// maxTryTokens bounds the answer to Try, in tokens. A model that reasons spends
// all of them on that, and has shown that it can be called.
const maxTryTokens = 32

// along is a route that is not in force, and the prices that would be with it.
type along struct {
	route  Route
	prices map[string]Price
}

// Try calls the model at the end of a route that is not in force, with a request
// of a few tokens, to see whether that can be. What it costs counts for the
// computer and is in its log, under the caller owner. The errors are those of a
// model call.
func (g *Gateway) Try(ctx context.Context, route Route, prices map[string]Price) (model.Response, error) {
	id, err := g.cfg.NewID()
	if err != nil {
		return model.Response{}, err
	}
	req := model.Request{Model: route.Model, MaxTokens: maxTryTokens, Messages: []model.Message{
		{Role: model.User, Content: []model.Block{{Kind: model.Text, Text: "Say OK."}}},
	}}
	canonical, err := choir.Canonical(req)
	if err != nil {
		return model.Response{}, err
	}
	f, _, err := g.board(&asked{
		info: model.CallInfo{Call: id, Caller: CallerOwner}, req: req, canonical: canonical, digest: choir.DigestOf(canonical),
		along: &along{route, prices},
	})
	if err != nil {
		return model.Response{}, err
	}
	defer f.leave()
	return f.follow(ctx, func(model.Delta) {})
}
