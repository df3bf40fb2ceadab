package replay

import (
	"context"
	"sync"
	"time"
	"unicode/utf8"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Player answers model calls from a recording. It implements model.Provider and
// model.Resumer.
type Player struct {
	rec  *Recording
	wait func(context.Context, time.Duration) error // nil plays at once

	mu     sync.Mutex // guards served
	served map[stream]int
}

// stream identifies a run and a caller, within which exchanges are played in order.
type stream struct {
	run    choir.ID
	caller string
}

// New returns a player of a recording, which answers at once.
func New(rec *Recording) *Player { return &Player{rec: rec, served: map[stream]int{}} }

// The pauses for a reader: before each answer, for each of its characters, and at most
// for one answer.
const (
	thinking = 1500 * time.Millisecond
	reading  = 8 * time.Millisecond
	longest  = 4 * time.Second
)

// Paced returns a player of a recording at a reader's pace. It calls wait before each
// piece of an answer; an error of wait ends the call, which may be repeated. A wait that
// returns at once plays at full speed.
func Paced(rec *Recording, wait func(context.Context, time.Duration) error) *Player {
	p := New(rec)
	p.wait = wait
	return p
}

// Name implements model.Provider.
func (p *Player) Name() string { return "replay" }

// Stream plays the exchange whose recorded request equals req in canonical form. Code
// unmatched: it is neither the next exchange of its caller nor an earlier one.
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

// streamDeltas passes the pieces of an answer to on, with pauses, and puts back the
// texts that the request's placeholders stand for. The error is that of wait.
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
			if d.Thinking != nil {
				thought := *d.Thinking
				thought.Text = back.Replace(thought.Text)
				d.Thinking = &thought
			}
			on(d)
		}
	}
	return nil
}

// sizeOf returns the characters of a piece.
func sizeOf(d model.Delta) int {
	return utf8.RuneCountInString(d.Text) + utf8.RuneCountInString(d.Input)
}

// pause waits for d with the player's wait; not at all without one.
func (p *Player) pause(ctx context.Context, d time.Duration) error {
	if p.wait == nil {
		return nil
	}
	return p.wait(ctx, d)
}

// Resume advances the position in the recording past a request that was answered before
// a restart.
func (p *Player) Resume(info model.CallInfo, req model.Request) {
	// What does not match was not of this recording and moves nothing.
	_, _, _ = p.match(info, req)
}

// match returns the recorded exchange of a request and the request's replaced texts, and
// advances the position if it is the next exchange. An earlier exchange is found too.
// Code unmatched: there is none.
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

// unmatched returns the error for a request without an exchange, with its difference to
// the expected one.
func unmatched(caller string, list []*Exchange, n int, asked model.Request) error {
	who := choir.TextOf("caller", caller)
	switch {
	case len(list) == 0:
		return choir.Refuse("replay.stream", choir.ReasonRecordingNoCaller, who)
	case n == len(list):
		e := choir.Refuse("replay.stream", choir.ReasonRecordingOver, who, choir.CountOf("n", n))
		e.Msg += ":\n" + diff(list[n-1].Request, asked)
		return e
	}
	e := choir.Refuse("replay.stream", choir.ReasonRecordingDiffers, who, choir.CountOf("n", list[n].N))
	e.Msg += "; it differs here:\n" + diff(list[n].Request, asked)
	return e
}
