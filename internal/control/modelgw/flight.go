package modelgw

import (
	"context"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// asked is a requested model call with its encoded request.
type asked struct {
	info      model.CallInfo
	allowed   *choir.ModelBudget // of the task, for its programs
	req       model.Request
	canonical []byte
	digest    choir.Digest
	trial     *trial  // the route of Try; nil for the routing in force
	flight    *flight // the flight that makes this call; nil if the call joined another
}

// encode sets the canonical form of the request and its digest.
func (a *asked) encode() error {
	canonical, err := choir.Canonical(a.req)
	if err != nil {
		return err
	}
	a.canonical, a.digest = canonical, choir.DigestOf(canonical)
	return nil
}

// flight is one model call in progress, shared by all its readers. It is cancelled when
// its last reader leaves: a role's call at once, because a person may have stopped it; a
// program's call after its linger time, because a program that hangs up shortly before
// the end must not get tokens that the provider counts for less. Without a reader no
// request is sent to a provider.
type flight struct {
	digest choir.Digest // of the canonical request
	cancel context.CancelFunc
	linger time.Duration
	done   chan struct{} // closed at the end

	mu      sync.Mutex // guards the fields below
	readers int
	sent    bool // a request is at a provider
	deltas  []model.Delta
	more    chan struct{} // closed and made anew when something was added
	resp    model.Response
	err     error
	over    bool
	leaving *time.Timer // ends the flight; nil while it has readers
}

// flightKey identifies a flight. It has the caller besides the call's id, because
// callers choose their ids and one may use another's.
type flightKey struct {
	caller string
	call   choir.ID
}

func keyOf(info model.CallInfo) flightKey { return flightKey{info.Caller, info.Call} }

// piece appends a streamed piece of the answer and wakes the readers. The provider's
// stream calls it.
func (f *flight) piece(d model.Delta) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deltas = append(f.deltas, d)
	f.wake()
}

// wake wakes all readers. The caller holds mu.
func (f *flight) wake() {
	close(f.more)
	f.more = make(chan struct{})
}

// finish ends the call with its answer or error and wakes all readers.
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

// follow passes every piece of the answer to on, from the first, and returns the answer
// at the end. Code cancelled: ctx ended first.
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

// leave removes a reader; each reader calls it once. The last one cancels the call: after
// its linger time if a request is at a provider, else at once.
func (f *flight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers--
	switch {
	case f.readers > 0 || f.over:
	case f.linger == 0 || !f.sent:
		f.cancel()
	default:
		f.leaving = time.AfterFunc(f.linger, f.cancel)
	}
}

// markSent notes that a request is about to be sent to a provider. It returns false if
// no reader is left, so that it must not be sent.
func (f *flight) markSent() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = f.readers > 0
	return f.sent
}

// markAnswered notes that the request at the provider has ended. A call without readers
// is cancelled, so that no fallback is asked.
func (f *flight) markAnswered() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = false
	if f.readers == 0 {
		f.cancel()
	}
}

// join adds a reader. It returns false if all readers have left and the call is being
// cancelled.
func (f *flight) join() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readers == 0 && !f.over {
		return false
	}
	f.readers++
	return true
}

// call makes a model call, or joins the call in progress with the same caller and id,
// and passes the pieces of the answer to on. Code conflict: the call in progress has
// another request.
func (g *Gateway) call(ctx context.Context, a *asked, on func(model.Delta)) (model.Response, error) {
	for {
		f, started, err := g.flightOf(a)
		if err != nil {
			return model.Response{}, err
		}
		if f.digest != a.digest {
			return model.Response{}, otherRequest(a.info.Call)
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

// flightOf returns the call in progress with the same caller and id, or starts one with
// the caller as its first reader. Code unavailable: the gateway is closing; busy: too
// many calls are in progress.
func (g *Gateway) flightOf(a *asked) (f *flight, started bool, err error) {
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
	a.flight = f
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

// otherRequest returns the error of code conflict for a call id that was used with
// another request.
func otherRequest(call choir.ID) error {
	return choir.E("modelgw.call", choir.CodeConflict, "call %s was made with another request", call).
		WithRemedy("give every new request an id of its own")
}
