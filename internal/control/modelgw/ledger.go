package modelgw

import (
	"context"
	"encoding/json"
	"sync"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// ledger knows what each run and the computer spent. It reads a run's calls
// from the log when the run first calls, so that a restart forgets nothing.
type ledger struct {
	cfg Config

	mu       sync.Mutex // guards what follows and the accounts' used
	accounts map[choir.ID]*account
}

// account is what one run spent; the computer's has an empty id.
type account struct {
	ready chan struct{} // closed when it is loaded
	err   error         // set before ready is closed
	used  Used
}

func newLedger(cfg Config) *ledger {
	return &ledger{cfg: cfg, accounts: map[choir.ID]*account{}}
}

// used is what the run and the computer spent.
func (l *ledger) used(ctx context.Context, run choir.ID) (ofRun, ofComputer Used, err error) {
	computer, err := l.account(ctx, "", l.loadComputer)
	if err != nil {
		return ofRun, ofComputer, err
	}
	of := computer
	if run != "" {
		if of, err = l.account(ctx, run, l.loadRun); err != nil {
			return ofRun, ofComputer, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return of.used, computer.used, nil
}

// add counts a call.
func (l *ledger) add(run choir.ID, u model.Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a := l.accounts[""]; a != nil {
		a.used.add(u)
	}
	if a := l.accounts[run]; a != nil && run != "" {
		a.used.add(u)
	}
}

// account gives an account, loaded by the first who asks for it. One that could
// not be loaded is forgotten, so that the next call tries again.
func (l *ledger) account(ctx context.Context, id choir.ID, load func(context.Context, choir.ID) (Used, error)) (*account, error) {
	l.mu.Lock()
	a, found := l.accounts[id]
	if !found {
		a = &account{ready: make(chan struct{})}
		l.accounts[id] = a
	}
	l.mu.Unlock()
	if !found {
		used, err := load(ctx, id)
		l.mu.Lock()
		a.used, a.err = used, err
		if err != nil {
			delete(l.accounts, id)
		}
		l.mu.Unlock()
		close(a.ready)
	}
	select {
	case <-a.ready:
		return a, a.err
	case <-ctx.Done():
		return nil, choir.Wrap("modelgw.ledger", choir.CodeCancelled, ctx.Err(), "wait for what was spent")
	}
}

func (l *ledger) loadComputer(ctx context.Context, _ choir.ID) (Used, error) {
	if l.cfg.Spent == nil {
		return Used{}, nil
	}
	used, err := l.cfg.Spent(ctx)
	return used, choir.Wrap("modelgw.ledger", "", err, "read what the computer spent")
}

const pageOfRun = 500

// loadRun reads the calls of a run from the log: it sums what they cost and
// tells a provider that depends on them.
func (l *ledger) loadRun(ctx context.Context, run choir.ID) (Used, error) {
	resumes, err := l.resumes(ctx, run)
	if err != nil {
		return Used{}, err
	}
	h := history{ledger: l, resumes: resumes, called: map[choir.ID]calledOnce{}}
	for after := uint64(0); ; {
		events, err := l.cfg.Log.EventsOfRun(ctx, run, after, pageOfRun)
		if err != nil {
			return h.used, choir.Wrap("modelgw.ledger", "", err, "read the calls of run %s", run)
		}
		for _, e := range events {
			after = e.Seq
			if err := h.take(ctx, e); err != nil {
				return h.used, err
			}
		}
		if len(events) < pageOfRun {
			return h.used, nil
		}
	}
}

// history is what the log tells of a run's calls.
type history struct {
	ledger  *ledger
	resumes bool
	used    Used
	called  map[choir.ID]calledOnce
}

type calledOnce struct {
	info    model.CallInfo
	request choir.Digest
}

func (h *history) take(ctx context.Context, e choir.Event) error {
	corrupt := func(err error) error {
		return choir.Wrap("modelgw.ledger", choir.CodeCorrupt, err, "event %d", e.Seq)
	}
	switch e.Type {
	case choir.ModelCalled{}.EventType():
		var p choir.ModelCalled
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			return corrupt(err)
		}
		h.called[p.Call] = calledOnce{model.CallInfo{Call: p.Call, Run: e.Run, Task: e.Task, Caller: p.Caller}, p.Request}
	case choir.ModelReturned{}.EventType():
		var p choir.ModelReturned
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			return corrupt(err)
		}
		h.used.add(model.Usage{Input: p.InputTokens, Output: p.OutputTokens, CostUSD: p.CostUSD})
		if c, ok := h.called[p.Call]; ok && p.Code == "" && h.resumes {
			return h.ledger.resume(ctx, c)
		}
	}
	return nil
}

// resume tells the provider of a call, when it wants to know, that the call is
// in the log. A call that leads nowhere any more concerns no provider.
func (l *ledger) resume(ctx context.Context, c calledOnce) error {
	raw, err := blob.ReadAll(ctx, l.cfg.Blobs, c.request, model.MaxCallBytes)
	if err != nil {
		return choir.Wrap("modelgw.ledger", "", err, "read the request of call %s", c.info.Call)
	}
	var req model.Request
	if err := json.Unmarshal(raw, &req); err != nil {
		return choir.Wrap("modelgw.ledger", choir.CodeCorrupt, err, "the request of call %s", c.info.Call)
	}
	route, err := l.cfg.route(ctx, req.Model, c.info)
	if r, ok := route.Provider.(model.Resumer); ok && err == nil {
		r.Resume(c.info, route.routed(req))
	}
	return nil
}

// resumes reports whether a provider of the run may want to know of its calls;
// it spares the reading of their requests.
func (l *ledger) resumes(ctx context.Context, run choir.ID) (bool, error) {
	routes, err := l.cfg.routesOf(ctx, run)
	for _, r := range routes {
		if _, ok := r.Provider.(model.Resumer); ok {
			return true, nil
		}
	}
	return false, err
}
