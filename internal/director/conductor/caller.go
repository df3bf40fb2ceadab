package conductor

import (
	"context"
	"time"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// caller makes the model calls of a run for the loop.
type caller struct{ *run }

// calls is where a run stands in its conversation.
type calls struct {
	step   int  // model calls answered
	taken  int  // steering texts that are in the conversation
	talked bool // the last answer called no tool
	// asked is the conversation that the last answer answers, when the log has
	// another than this execution.
	asked []model.Message
	// next is the request of the call after the last answer, as the log has it, and
	// outcomes what it tells of that answer's tool calls.
	next     choir.Digest
	outcomes map[string]*model.Block
}

const (
	maxTries   = 3
	firstPause = 2 * time.Second
)

// Call makes the next call of the conversation. Its id follows from the step,
// from how much steering is in the conversation, and from the try, so that a
// call that was answered before is answered from the log.
func (c caller) Call(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
	if err := check(c.cfg.Limits, c.spent, c.rec.worked(c.cfg.Now())); err != nil {
		return model.Response{}, err
	}
	if err := c.commit(); err != nil {
		return model.Response{}, err
	}
	req.Messages = fit(req.Messages, maxConversation)
	resp, err := c.try(ctx, req, on)
	if err != nil {
		return resp, err
	}
	c.calls.step++
	c.calls.talked = len(resp.ToolCalls()) == 0
	c.spent.call(resp.Usage)
	return resp, nil
}

// try repeats a call whose failure may pass, under a new id: the gateway answers
// the old one with its failure from the log.
func (c caller) try(ctx context.Context, req model.Request, on func(model.Delta)) (resp model.Response, err error) {
	c.calls.asked = nil
	for n := 0; n < maxTries; n++ {
		var inLog bool
		if resp, inLog, err = c.tryOnce(ctx, n, req, on); inLog && err != nil {
			return resp, err
		}
		switch {
		case err == nil:
			return resp, nil
		case ctx.Err() != nil:
			return resp, context.Cause(ctx)
		case !choir.CodeOf(err).Retry():
			return resp, &modelError{err}
		case n < maxTries-1:
			if c.cfg.Pause(ctx, firstPause<<n) != nil {
				return resp, context.Cause(ctx)
			}
		}
	}
	return resp, &modelError{err}
}

// tryOnce makes a try of a call, or takes its answer from the log. An error with inLog
// is one of reading the log.
func (c caller) tryOnce(ctx context.Context, n int, req model.Request, on func(model.Delta)) (resp model.Response, inLog bool, err error) {
	id, past := c.tryID(n)
	switch {
	case past != nil && past.failed != nil:
		return resp, false, past.failed
	case past != nil:
		if resp, err = c.answerFromLog(ctx, past, req); choir.CodeOf(err) != choir.CodeNotFound {
			return resp, true, err
		}
	}
	for times := 1; ; times++ {
		info := model.CallInfo{Call: id, Run: c.rec.run, Caller: modelAlias}
		resp, err = c.cfg.Models.Call(ctx, info, req, on)
		if choir.CodeOf(err) != choir.CodeConflict || times > maxRewordings {
			return resp, false, err
		}
		id = c.rewordedID(n, times)
	}
}

func (r *run) callID(taken, try int) choir.ID {
	return r.id("model", r.calls.step, taken, try)
}

// steer gives what the user added since the last step. How much of it a step
// got is written in the id of its call, so that an execution after a crash gives
// it the same. A talking model is reminded first: steering goes with the next
// step.
func (r *run) steer() []string {
	if r.calls.talked {
		return nil
	}
	all, until := r.rec.steeringFor(func(taken int) choir.ID { return r.callID(taken, 0) }, r.calls.taken)
	var texts []string
	for _, s := range all[r.calls.taken:until] {
		r.tell(&s)
		texts = append(texts, steeringText(s.Text))
	}
	r.calls.taken = until
	return texts
}

// steeringFor is all steering so far, and how much of it the next call gets: as
// much as the last time it was made, else everything.
func (r *record) steeringFor(id func(taken int) choir.ID, from int) ([]choir.SteeringSubmitted, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for taken := len(r.steering); taken >= from; taken-- {
		if r.called[id(taken)] != nil {
			return r.steering, taken
		}
	}
	return r.steering, len(r.steering)
}

// modelError is a failure of the model that ends the run.
type modelError struct{ err error }

func (e *modelError) Error() string { return e.err.Error() }

func (e *modelError) Unwrap() error { return e.err }

// ending is the end of a run whose model failed, in words for the user.
func (e *modelError) ending(r *run) ending {
	code := choir.CodeOf(e.err)
	text := "The model could not be used: "
	if code == choir.CodeBudget {
		text = "Stopped: "
	}
	return ending{choir.OutcomeFailed, code, text + sentence(plain(e.err)) + " " + r.soFar()}
}
