package modelgw

import (
	"context"
	"net/http"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// callAsTool makes a call for a program in the sandbox that speaks a provider's
// own wire format.
func (g *Gateway) callAsTool(ctx context.Context, r *http.Request, req model.Request, on func(model.Delta)) (model.Response, error) {
	if err := req.Check(); err != nil {
		return model.Response{}, err
	}
	id, err := g.cfg.NewID()
	if err != nil {
		return model.Response{}, choir.Wrap("modelgw.serve", choir.CodeInternal, err, "make an id for the call")
	}
	info := model.CallInfo{Call: id, Caller: AliasTool}
	if g.cfg.Running != nil {
		info.Run, info.Task = g.cfg.Running(r)
	}
	return g.call(ctx, info, req, on)
}

// said is what a program sees of an error.
func said(err error) string {
	f := model.FailureOf(err)
	text := f.Message
	if f.Path != "" {
		text = f.Path + " " + text
	}
	if f.Remedy != "" {
		text += " (" + f.Remedy + ")"
	}
	return text
}
