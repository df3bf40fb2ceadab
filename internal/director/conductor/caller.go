package conductor

import (
	"context"
	"time"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// caller makes the model calls of a run for package agentloop.
type caller struct{ *run }

// calls is the position of a run in its conversation with the model.
type calls struct {
	step    int  // model calls answered
	handled int  // tool calls of the last answer that were begun
	taken   int  // steering texts that are in the conversation
	talked  bool // the last answer called no tool
	// asked is the conversation that the last answer belongs to, if the log has another
	// one than this execution.
	asked []model.Message
	// next is the recorded request of the call after the last answer, and outcomes are
	// the results in it of that answer's tool calls.
	next     choir.Digest
	outcomes map[string]*model.Block
}

const (
	maxTries   = 3
	firstPause = 2 * time.Second
)

// Call makes the next model call of the run, within its limits. The call's id is derived
// from the step, the number of steering texts in the conversation and the try, so that a
// call answered by an earlier execution is answered from the log.
func (c caller) Call(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
	if err := c.waitWhilePaused(ctx); err != nil {
		return model.Response{}, err
	}
	if err := checkLimits(c.cfg.Limits, c.spent, c.rec.worked(c.cfg.Now())); err != nil {
		return model.Response{}, err
	}
	if err := c.ledger.commit(); err != nil {
		return model.Response{}, err
	}
	req.Messages = fitConversation(req.Messages, maxConversation)
	resp, err := c.callWithRetries(ctx, req, on)
	if err != nil {
		return resp, err
	}
	c.calls.step++
	c.calls.handled = 0
	c.calls.talked = len(resp.ToolCalls()) == 0
	c.spent.addCall(resp.Usage)
	return resp, nil
}

// callWithRetries makes a model call and repeats it after a temporary failure, each time
// under a new id, because the gateway answers a failed call's id with the recorded
// failure.
func (c caller) callWithRetries(ctx context.Context, req model.Request, on func(model.Delta)) (resp model.Response, err error) {
	c.calls.asked = nil
	for n := 0; n < maxTries; n++ {
		var inLog bool
		if err = c.waitWhilePaused(ctx); err != nil {
			return resp, err
		}
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

// tryOnce makes one try of a call, or returns its recorded answer. inLog reports that
// the answer or the error comes from reading the log.
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

// callID returns the id of a try of the next call. taken is the number of steering texts
// in its conversation.
func (r *run) callID(taken, try int) choir.ID {
	return r.ledger.id("model", r.calls.step, taken, try)
}

// steer returns the user's texts since the last step. The id of a step's call contains
// how many it got, so that another execution gives it the same. After an answer without
// a tool it returns none: the reminder goes first.
func (r *run) steer(context.Context) ([]string, error) {
	if r.calls.talked {
		return nil, nil
	}
	all, until := r.rec.steeringFor(func(taken int) choir.ID { return r.callID(taken, 0) }, r.calls.taken)
	var texts []string
	for _, s := range all[r.calls.taken:until] {
		r.ledger.updateStory(&s)
		texts = append(texts, steeringText(s.Text))
	}
	r.calls.taken = until
	return texts, nil
}

// steeringFor returns all steering texts, and how many of them the next call gets: as
// many as in an earlier execution, else all. id returns the call's id for a number of
// texts.
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

// modelError is a permanent failure of the model, which ends the run.
type modelError struct{ err error }

func (e *modelError) Error() string { return e.err.Error() }

func (e *modelError) Unwrap() error { return e.err }

// ending returns the end of a run whose model failed, with a text for the user.
func (e *modelError) ending(r *run) ending {
	code := choir.CodeOf(e.err)
	text := "The model could not be used: "
	if code == choir.CodeBudget {
		text = "Stopped: "
	}
	return ending{choir.OutcomeFailed, code, text + sentence(plain(e.err)) + " " + r.ledger.soFar()}
}
