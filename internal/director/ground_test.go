package director_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/director/conductor"
	"choiros/internal/model"
	"choiros/internal/model/anthropic"
)

// ground is what a played script stands on.
type ground struct {
	*memlog
	models conductor.Models
}

func newGround(t *testing.T, url string) *ground {
	t.Helper()
	log := newMemlog()
	provider := anthropic.New(anthropic.Config{BaseURL: url, Key: func(context.Context) (string, error) { return "test", nil }})
	return &ground{memlog: log, models: &models{log: log, provider: provider, done: map[choir.ID]model.Response{}}}
}

func (g *ground) close() {}

// Append implements conductor.Log as the Director.
func (g *ground) Append(_ context.Context, drafts ...choir.Draft) ([]choir.Receipt, error) {
	return g.append(context.Background(), choir.RoleDirector, drafts...)
}

func (g *ground) append(_ context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error) {
	return g.memlog.append(role, drafts)
}

func (g *ground) follow(ctx context.Context, seq uint64, fn func(choir.Event) error) error {
	return g.Follow(ctx, seq, fn)
}

func (g *ground) waitPast(ctx context.Context, seq uint64) error {
	for {
		g.mu.Lock()
		n, changed := uint64(len(g.memlog.events)), g.changed
		g.mu.Unlock()
		if n > seq {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// models is a gateway in process.
type models struct {
	log      *memlog
	provider model.Provider
	mu       sync.Mutex
	done     map[choir.ID]model.Response
	requests map[choir.ID]choir.Digest
}

func (m *models) Call(ctx context.Context, info model.CallInfo, req model.Request, on func(model.Delta)) (model.Response, error) {
	req.Model = "scripted-" + req.Model
	raw, _ := json.Marshal(req)
	d := choir.DigestOf(raw)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.requests == nil {
		m.requests = map[choir.ID]choir.Digest{}
	}
	if before, ok := m.requests[info.Call]; ok && before != d {
		return model.Response{}, choir.E("test", choir.CodeConflict, "call %s is asked again with another request", info.Call)
	}
	m.requests[info.Call] = d
	if resp, ok := m.done[info.Call]; ok {
		return resp, nil
	}
	called, _ := choir.NewDraft(choir.DeriveID(info.Call, "called"), &choir.ModelCalled{Call: info.Call, Caller: info.Caller, Provider: "anthropic", Model: req.Model, Request: d})
	if _, err := m.log.append(choir.RoleControl, []choir.Draft{called.ForRun(info.Run, "")}); err != nil {
		return model.Response{}, err
	}
	resp, err := m.provider.Stream(ctx, req, on)
	if err != nil && ctx.Err() != nil {
		return resp, err
	}
	back := &choir.ModelReturned{Call: info.Call, Caller: info.Caller, Provider: "anthropic", Model: req.Model, InputTokens: resp.Usage.Input, OutputTokens: resp.Usage.Output}
	if err != nil {
		back.Code, back.Error = choir.CodeOf(err), err.Error()
	} else {
		m.done[info.Call] = resp
	}
	returned, _ := choir.NewDraft(choir.DeriveID(info.Call, "returned"), back)
	if _, err := m.log.append(choir.RoleControl, []choir.Draft{returned.ForRun(info.Run, "")}); err != nil {
		return model.Response{}, err
	}
	return resp, err
}
