package modelgw

import (
	"context"
	"encoding/json"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// loadRun returns the recorded spending of a run. If one of its providers is a
// model.Resumer, it first tells it the answered calls of the run.
func (g *Gateway) loadRun(ctx context.Context, run choir.ID) (Used, error) {
	resumes, err := g.resumes(ctx, run)
	if err != nil {
		return Used{}, err
	}
	if resumes {
		called := map[choir.ID]calledOnce{}
		err := g.eachOfRun(ctx, run, func(e choir.Event) error { return g.resumeBy(ctx, called, e) })
		if err != nil {
			return Used{}, err
		}
	}
	return g.books.Spent(ctx, run)
}

// loadTask returns the recorded spending of a task's programs. Calls of roles do not
// count.
func (g *Gateway) loadTask(ctx context.Context, info model.CallInfo) (Used, error) {
	var used Used
	err := g.eachOfRun(ctx, info.Run, func(e choir.Event) error {
		if e.Task != info.Task || e.Type != choir.TypeModelReturned {
			return nil
		}
		var p choir.ModelReturned
		if err := decode(e, &p); err != nil || p.Caller != AliasTool {
			return err
		}
		used = used.plus(Used{1, p.InputTokens + p.OutputTokens, p.CostUSD})
		return nil
	})
	return used, err
}

// eachOfRun calls visit for each event of a run in order, until visit fails.
func (g *Gateway) eachOfRun(ctx context.Context, run choir.ID, visit func(choir.Event) error) error {
	for e, err := range g.cfg.Log.EventsOfRun(ctx, run, 0) {
		if err != nil {
			return choir.Wrap("modelgw.ledger", "", err, "read the calls of run %s", run)
		}
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

// decode decodes an event's payload. Code corrupt: it is malformed.
func decode(e choir.Event, payload choir.Payload) error {
	return choir.Wrap("modelgw.ledger", choir.CodeCorrupt, json.Unmarshal(e.Payload, payload), "event %d", e.Seq)
}

// calledOnce is a recorded model.called with its request.
type calledOnce struct {
	info    model.CallInfo
	request choir.Digest
}

// resumeBy processes one event of a run: it remembers a model.called in called, and
// tells the provider of the call when its model.returned has no error.
func (g *Gateway) resumeBy(ctx context.Context, called map[choir.ID]calledOnce, e choir.Event) error {
	switch e.Type {
	case choir.TypeModelCalled:
		var p choir.ModelCalled
		if err := decode(e, &p); err != nil {
			return err
		}
		called[p.Call] = calledOnce{model.CallInfo{Call: p.Call, Run: e.Run, Task: e.Task, Caller: p.Caller}, p.Request}
	case choir.TypeModelReturned:
		var p choir.ModelReturned
		if err := decode(e, &p); err != nil {
			return err
		}
		if c, ok := called[p.Call]; ok && p.Code == "" {
			return g.resume(ctx, c)
		}
	}
	return nil
}

// resume tells the provider of a recorded call, if it is a model.Resumer, that the call
// is in the log. It does nothing if the call has no route any more.
func (g *Gateway) resume(ctx context.Context, c calledOnce) error {
	req, _, err := g.request(ctx, c.request)
	if err != nil {
		return err
	}
	route, err := g.cfg.route(ctx, req.Model, c.info, g.cfg.Routing())
	if r, ok := route.Provider.(model.Resumer); ok && err == nil {
		r.Resume(c.info, route.routed(req))
	}
	return nil
}

// request reads a stored request, and returns its size in bytes too. Code corrupt: the
// blob is no request.
func (g *Gateway) request(ctx context.Context, digest choir.Digest) (req model.Request, size int, err error) {
	raw, err := blob.ReadAll(ctx, g.cfg.Blobs, digest, model.MaxCallBytes)
	if err != nil {
		return req, 0, choir.Wrap("modelgw.ledger", "", err, "read the request %s", digest)
	}
	if err := json.Unmarshal(raw, &req); err != nil {
		return req, 0, choir.Wrap("modelgw.ledger", choir.CodeCorrupt, err, "the request %s", digest)
	}
	return req, len(raw), nil
}

// resumes reports whether any provider of the run is a model.Resumer. If none is, the
// requests of the run need not be read.
func (g *Gateway) resumes(ctx context.Context, run choir.ID) (bool, error) {
	routes, err := g.cfg.routesOf(ctx, run, g.cfg.Routing())
	for _, r := range routes {
		if _, ok := r.Provider.(model.Resumer); ok {
			return true, nil
		}
	}
	return false, err
}
