package conductor

import (
	"context"
	"encoding/json"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// A run is continued from its record, also by a Director of another build, whose
// prompts, words and checks are others: an answer of the model that the log has is
// taken from there together with the conversation that it answers, and a tool call
// that was refused or carried out before is so again.

// pastCall is a model call as the log has it, in its last attempt.
type pastCall struct {
	request  choir.Digest
	response choir.Digest // empty when there is no answer
	failed   error        // how it failed, when asking again would not help
}

func (p *pastCall) ended() bool { return p.response != "" || p.failed != nil }

// addCall and endCall take up an attempt of a model call; the caller holds the lock.
func (r *record) addCall(p *choir.ModelCalled) { r.called[p.Call] = &pastCall{request: p.Request} }

func (r *record) endCall(p *choir.ModelReturned) {
	call := r.called[p.Call]
	switch {
	case call == nil || p.Code == choir.CodeCancelled: // its caller had gone
	case p.Code != "":
		call.failed = choir.E("model.call", p.Code, "%s", p.Error)
	default:
		call.response = p.Response
	}
}

// callByID is the model call of an id; nil when the log has none.
func (r *record) callByID(id choir.ID) *pastCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	if call := r.called[id]; call != nil {
		c := *call
		return &c
	}
	return nil
}

// maxRewordings bounds how often one call is begun with another request, each time
// by a Director that says it in other words than the one before.
const maxRewordings = 16

// tryID finds the id of a try of the next call, and the call when it has ended. A
// call that ended nowhere because the Director was replaced meanwhile is made under
// another id by one that asks in other words: an id stands for one request.
func (c caller) tryID(try int) (id choir.ID, past *pastCall) {
	for rewording := 0; ; rewording++ {
		id, past = c.rewordedID(try, rewording), nil
		if past = c.rec.callByID(id); past != nil && past.ended() {
			return id, past
		}
		if rewording == maxRewordings || c.rec.callByID(c.rewordedID(try, rewording+1)) == nil {
			return id, nil
		}
	}
}

// rewordedID is the id of a try that was begun before with other requests, so many
// times.
func (c caller) rewordedID(try, times int) choir.ID {
	if times == 0 {
		return c.callID(c.calls.taken, try)
	}
	return c.id("model", c.calls.step, c.calls.taken, try, "reworded", times)
}

// answerFromLog gives the answer of a call that has ended, and keeps the conversation that
// it answers when that is not the one of the request. Code not_found when the answer
// is no longer stored.
func (c caller) answerFromLog(ctx context.Context, past *pastCall, req model.Request) (resp model.Response, err error) {
	if err := c.readBlob(ctx, past.response, &resp); err != nil {
		return resp, err
	}
	resp.Usage.ServedCache = true
	canonical, err := choir.Canonical(req)
	if err != nil || choir.DigestOf(canonical) == past.request {
		return resp, err
	}
	var asked model.Request
	err = c.readBlob(ctx, past.request, &asked)
	c.calls.asked = asked.Messages
	return resp, err
}

// readBlob decodes a blob of JSON.
func (r *run) readBlob(ctx context.Context, digest choir.Digest, into any) error {
	raw, err := r.cfg.Log.GetBlob(ctx, digest)
	if err != nil {
		return choir.Wrap("director.past", "", err, "read what was said before")
	}
	return choir.Wrap("director.past", choir.CodeCorrupt, json.Unmarshal(raw, into), "read %s", digest)
}

// recordedConversation is the conversation that the last answer answers, when it
// came from the log; nil for that of the loop.
func (r *run) recordedConversation() []model.Message { return r.calls.asked }

// handler carries out the calls of one tool.
type handler func(context.Context, model.Block) (agentloop.Result, error)

// refusedAgain is a handler under which a call that was refused before is refused
// again, also where this build would carry it out.
func (r *run) refusedAgain(handle handler) handler {
	return func(ctx context.Context, call model.Block) (agentloop.Result, error) {
		before, err := r.recordedResult(ctx, call.CallID)
		if err != nil || before == nil || !before.IsError {
			if err != nil {
				return agentloop.Result{}, err
			}
			return handle(ctx, call)
		}
		if problems := r.rec.refusedPlan(r.refusals); problems != nil && call.Tool == submitPlan {
			return r.refusePlan(problems)
		}
		return agentloop.Result{Text: before.Text, IsError: true}, nil
	}
}

// recordedResult is the result of a tool call that the log has, in the model call
// that came next. It is nil when there is none in the log.
func (r *run) recordedResult(ctx context.Context, call string) (*model.Block, error) {
	next := r.rec.nextRequest(func(taken int) choir.ID { return r.callID(taken, 0) }, r.calls.taken)
	if next == "" {
		return nil, nil
	}
	if r.calls.next != next {
		var req model.Request
		if err := r.readBlob(ctx, next, &req); err != nil {
			if choir.CodeOf(err) == choir.CodeNotFound {
				return nil, nil
			}
			return nil, err
		}
		r.calls.next, r.calls.outcomes = next, outcomesOf(req.Messages)
	}
	return r.calls.outcomes[call], nil
}

// nextRequest is the request of the call that comes next, by its ids; empty when the log
// has none.
func (r *record) nextRequest(id func(taken int) choir.ID, from int) choir.Digest {
	r.mu.Lock()
	defer r.mu.Unlock()
	for taken := len(r.steering); taken >= from; taken-- {
		if call := r.called[id(taken)]; call != nil {
			return call.request
		}
	}
	return ""
}

// outcomesOf are the results of the last answer's tool calls, by the calls' ids.
func outcomesOf(messages []model.Message) map[string]*model.Block {
	out := map[string]*model.Block{}
	if len(messages) == 0 {
		return out
	}
	for _, b := range messages[len(messages)-1].Content {
		if b.Kind == model.ToolResult {
			out[b.CallID] = &b
		}
	}
	return out
}

// refusedPlan is why the plan after so many refused ones was refused before; nil
// when it was not.
func (r *record) refusedPlan(after int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if after < len(r.refused) {
		return r.refused[after]
	}
	return nil
}

// madePlan is the plan that was accepted before, if one was.
func (r *record) madePlan() *choir.PlanMade {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.made
}

// wasJudged reports whether the verdict on a task stands.
func (r *record) wasJudged(task choir.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.judged[task]
}

// wasAsked reports whether the user was asked a question before.
func (r *record) wasAsked(question string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked[question]
}
