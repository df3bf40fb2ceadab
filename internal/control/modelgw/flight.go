package modelgw

import (
	"context"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// flight is one call that is being made, and everyone who waits for it. It ends
// early when nobody does any more.
type flight struct {
	digest choir.Digest // of the canonical request
	cancel context.CancelFunc
	done   chan struct{} // closed at the end

	mu      sync.Mutex // guards what follows
	readers int
	deltas  []model.Delta
	more    chan struct{} // closed and made anew when something was added
	resp    model.Response
	err     error
	over    bool
}

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

// leave is called by each reader at its end; the last one ends the call.
func (f *flight) leave() {
	f.mu.Lock()
	f.readers--
	last := f.readers == 0
	f.mu.Unlock()
	if last {
		f.cancel()
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

// call makes a call, or takes part in the one that is being made with the same
// id.
func (g *Gateway) call(ctx context.Context, info model.CallInfo, req model.Request, on func(model.Delta)) (model.Response, error) {
	canonical, err := choir.Canonical(req)
	if err != nil {
		return model.Response{}, err
	}
	digest := choir.DigestOf(canonical)
	for {
		f, started, err := g.board(info, req, canonical, digest)
		if err != nil {
			return model.Response{}, err
		}
		if f.digest != digest {
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
func (g *Gateway) board(info model.CallInfo, req model.Request, canonical []byte, digest choir.Digest) (f *flight, started bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f, ok := g.flights[info.Call]; ok {
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
	f = &flight{digest: digest, cancel: cancel, done: make(chan struct{}), more: make(chan struct{}), readers: 1}
	g.flights[info.Call] = f
	g.work.Go(func() {
		defer cancel()
		resp, err := g.fly(ctx, info, req, canonical, digest, f.piece)
		g.mu.Lock()
		delete(g.flights, info.Call)
		g.mu.Unlock()
		f.finish(resp, err)
	})
	return f, true, nil
}

func otherRequest(call choir.ID) error {
	return choir.E("modelgw.call", choir.CodeConflict, "call %s was made with another request", call).
		WithRemedy("give every new request an id of its own")
}
