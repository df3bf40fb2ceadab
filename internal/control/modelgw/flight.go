package modelgw

import (
	"context"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// asked is one call as it was asked for.
type asked struct {
	info      model.CallInfo
	allowed   *choir.ModelBudget // of the task, for its programs
	req       model.Request
	canonical []byte
	digest    choir.Digest
	along     *along // where it leads; nil for where the routing in force says
}

// flight is one call that is being made, and everyone who waits for it. When
// nobody does any more it ends: the call of a role at once, because a person may
// have stopped it; the call of a program after its time to linger, because a
// program that hangs up just before the end must not get its tokens for less than
// the provider counts.
type flight struct {
	digest choir.Digest // of the canonical request
	cancel context.CancelFunc
	linger time.Duration
	done   chan struct{} // closed at the end

	mu      sync.Mutex // guards what follows
	readers int
	deltas  []model.Delta
	more    chan struct{} // closed and made anew when something was added
	resp    model.Response
	err     error
	over    bool
	leaving *time.Timer // ends the flight; nil while it has readers
}

// flightKey tells calls apart: callers choose their ids, and one may choose
// another's.
type flightKey struct {
	caller string
	call   choir.ID
}

func keyOf(info model.CallInfo) flightKey { return flightKey{info.Caller, info.Call} }

// piece hands a piece to the readers; it is called by the provider.
func (f *flight) piece(d model.Delta) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deltas = append(f.deltas, d)
	f.wake()
}

func (f *flight) wake() {
	close(f.more)
	f.more = make(chan struct{})
}

func (f *flight) finish(resp model.Response, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resp, f.err, f.over = resp, err, true
	if f.leaving != nil {
		f.leaving.Stop()
	}
	f.wake()
	close(f.done)
}

// follow gives every piece to on and returns the answer.
func (f *flight) follow(ctx context.Context, on func(model.Delta)) (model.Response, error) {
	for n := 0; ; {
		f.mu.Lock()
		fresh, more, over := f.deltas[n:], f.more, f.over
		f.mu.Unlock()
		for _, d := range fresh {
			on(d)
		}
		n += len(fresh)
		if over && len(fresh) == 0 {
			return f.resp, f.err
		}
		if len(fresh) > 0 {
			continue
		}
		select {
		case <-more:
		case <-ctx.Done():
			return model.Response{}, choir.Wrap("modelgw.call", choir.CodeCancelled, ctx.Err(), "the caller has gone")
		}
	}
}

// leave is called by each reader at its end; the last one ends the call, at once
// or later.
func (f *flight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers--
	switch {
	case f.readers > 0 || f.over:
	case f.linger == 0:
		f.cancel()
	default:
		f.leaving = time.AfterFunc(f.linger, f.cancel)
	}
}

// join takes part; false when everyone has left and the call is ending.
func (f *flight) join() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readers == 0 && !f.over {
		return false
	}
	f.readers++
	return true
}

// call makes a call, or joins the open call with the same
// id. The programs of a task may spend what allowed says.
func (g *Gateway) call(ctx context.Context, info model.CallInfo, allowed *choir.ModelBudget, req model.Request, on func(model.Delta)) (model.Response, error) {
	canonical, err := choir.Canonical(req)
	if err != nil {
		return model.Response{}, err
	}
	a := &asked{info: info, allowed: allowed, req: req, canonical: canonical, digest: choir.DigestOf(canonical)}
	for {
		f, started, err := g.board(a)
		if err != nil {
			return model.Response{}, err
		}
		if f.digest != a.digest {
			return model.Response{}, otherRequest(info.Call)
		}
		if started || f.join() {
			defer f.leave()
			return f.follow(ctx, on)
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return model.Response{}, choir.Wrap("modelgw.call", choir.CodeCancelled, ctx.Err(), "the caller has gone")
		}
	}
}

// board finds the flight of a call, or starts it with the caller as its reader.
func (g *Gateway) board(a *asked) (f *flight, started bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f, ok := g.flights[keyOf(a.info)]; ok {
		return f, false, nil
	}
	if g.closed {
		return nil, false, choir.E("modelgw.call", choir.CodeUnavailable, "the model gateway is closing")
	}
	if len(g.flights) >= g.cfg.Concurrent*(1+waitingPerSlot) {
		return nil, false, choir.E("modelgw.call", choir.CodeBusy, "%d model calls are under way or waiting", len(g.flights)).
			WithRemedy("ask again in a moment")
	}
	ctx, cancel := context.WithCancel(g.ctx)
	f = &flight{digest: a.digest, cancel: cancel, done: make(chan struct{}), more: make(chan struct{}), readers: 1}
	if a.info.Caller == AliasTool {
		f.linger = g.cfg.Linger
	}
	g.flights[keyOf(a.info)] = f
	g.work.Go(func() {
		defer cancel()
		resp, err := g.makeCall(ctx, a, f.piece)
		g.mu.Lock()
		delete(g.flights, keyOf(a.info))
		g.mu.Unlock()
		f.finish(resp, err)
	})
	return f, true, nil
}

func otherRequest(call choir.ID) error {
	return choir.E("modelgw.call", choir.CodeConflict, "call %s was made with another request", call).
		WithRemedy("give every new request an id of its own")
}
