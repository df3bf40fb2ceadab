package replay

import (
	"context"
	"sync"
	"time"
	"unicode/utf8"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Player serves a recording in a model's place. It implements model.Provider
// and model.Resumer.
type Player struct {
	rec  *Recording
	wait func(context.Context, time.Duration) error // nil plays at once

	mu     sync.Mutex // guards served
	served map[stream]int
}

// stream is who asks: exchanges are served in order within it.
type stream struct {
	run    choir.ID
	caller string
}

// New makes a provider of a recording.
func New(rec *Recording) *Player { return &Player{rec: rec, served: map[stream]int{}} }

// How long a reader is given: before each answer, for each of its characters, and
// for one answer at most.
const (
	thinking = 1500 * time.Millisecond
	reading  = 8 * time.Millisecond
	longest  = 4 * time.Second
)

// Paced makes a provider of a recording that takes the time of a reader. It calls
// wait before each piece of an answer; an error of it ends the call, which may be
// made again. Whoever wants it faster lets wait return at once.
func Paced(rec *Recording, wait func(context.Context, time.Duration) error) *Player {
	p := New(rec)
	p.wait = wait
	return p
}

// Name implements model.Provider.
func (p *Player) Name() string { return "replay" }

// Stream implements model.Provider. A request that is neither the next one of
// its caller nor one that was served has code unmatched.
func (p *Player) Stream(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
	if err := ctx.Err(); err != nil {
		return model.Response{}, choir.E("replay.stream", choir.CodeCancelled, "the model call was stopped")
	}
	e, names, err := p.match(model.InfoOf(ctx), req)
	if err != nil {
		return model.Response{}, err
	}
	if err := p.streamDeltas(ctx, e.Response.Deltas, names, on); err != nil {
		return model.Response{}, choir.E("replay.stream", choir.CodeCancelled, "the model call was stopped")
	}
	resp := names.decode(e.Response.Final)
	resp.Usage.FromRecord = true
	return resp, nil
}

// streamDeltas gives the pieces of an answer, each in its time. The error is that of wait.
func (p *Player) streamDeltas(ctx context.Context, pieces []model.Delta, names *names, on func(model.Delta)) error {
	if err := p.pause(ctx, thinking); err != nil {
		return err
	}
	length := 0
	for _, d := range pieces {
		length += sizeOf(d)
	}
	each := min(reading, longest/time.Duration(max(1, length)))
	back := names.back()
	for _, d := range pieces {
		if err := p.pause(ctx, each*time.Duration(sizeOf(d))); err != nil {
			return err
		}
		if on != nil {
			d.Text, d.Input = back.Replace(d.Text), back.Replace(d.Input)
			on(d)
		}
	}
	return nil
}

// sizeOf is how much there is to read in a piece, in characters.
func sizeOf(d model.Delta) int {
	return utf8.RuneCountInString(d.Text) + utf8.RuneCountInString(d.Input)
}

func (p *Player) pause(ctx context.Context, d time.Duration) error {
	if p.wait == nil {
		return nil
	}
	return p.wait(ctx, d)
}

// Resume implements model.Resumer: the exchange was served before a restart.
func (p *Player) Resume(info model.CallInfo, req model.Request) {
	// What does not match was not of this recording and moves nothing.
	_, _, _ = p.match(info, req)
}

// match finds the exchange of a request and moves the stream on when it is the
// next one.
func (p *Player) match(info model.CallInfo, req model.Request) (*Exchange, *names, error) {
	form, names, err := canonical(req)
	if err != nil {
		return nil, nil, err
	}
	digest, _, err := digestOf(form)
	if err != nil {
		return nil, nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at := stream{info.Run, info.Caller}
	list, n := p.rec.byCaller[info.Caller], p.served[at]
	if n < len(list) && list[n].RequestSHA256 == digest {
		p.served[at]++
		return list[n], names, nil
	}
	for i := n - 1; i >= 0; i-- {
		if list[i].RequestSHA256 == digest {
			return list[i], names, nil
		}
	}
	return nil, nil, unmatched(info.Caller, list, n, form)
}

// unmatched says how the request differs from the one that was expected.
func unmatched(caller string, list []*Exchange, n int, asked model.Request) error {
	const remedy = "the recording fits only the project and the version it was made with; record it again, or connect a model"
	switch {
	case len(list) == 0:
		return choir.E("replay.stream", choir.CodeUnmatched, "the recording has no exchanges of the caller %q", caller).WithRemedy(remedy)
	case n == len(list):
		return choir.E("replay.stream", choir.CodeUnmatched,
			"the %s asked something after the last of its %d recorded exchanges, and not one of them again:\n%s", caller, n, diff(list[n-1].Request, asked)).WithRemedy(remedy)
	}
	return choir.E("replay.stream", choir.CodeUnmatched,
		"the request of the %s is not the recorded one (exchange %d); it differs here:\n%s", caller, list[n].N, diff(list[n].Request, asked)).WithRemedy(remedy)
}
