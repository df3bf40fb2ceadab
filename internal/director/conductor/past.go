package conductor

import (
	"context"
	"encoding/json"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// A run is continued from the log, also by a Director of another build with other
// prompts, words and checks. A recorded answer of the model is used together with the
// conversation that it belongs to, and a tool call that was refused or executed before
// is refused or executed again.

// pastCall is the recorded state of a model call in its last attempt.
type pastCall struct {
	request  choir.Digest
	response choir.Digest // empty when there is no answer
	failed   error        // how it failed, when asking again would not help
}

func (p *pastCall) ended() bool { return p.response != "" || p.failed != nil }

// addCall and endCall record the begin and the end of a model call's attempt. The caller
// holds the lock.
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

// callByID returns a copy of the recorded model call with an id; nil if there is none.
func (r *record) callByID(id choir.ID) *pastCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	if call := r.called[id]; call != nil {
		c := *call
		return &c
	}
	return nil
}

// maxRewordings is the maximum of different requests for one call, each by a Director
// with other words.
const maxRewordings = 16

// tryID returns the id for a try of the next call, and the recorded call if it has
// ended. An unended call whose Director was replaced gets another id if the new Director
// words the request differently, because an id stands for one request.
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

// rewordedID returns the id of a try that was begun before with so many other requests.
func (c caller) rewordedID(try, times int) choir.ID {
	if times == 0 {
		return c.callID(c.calls.taken, try)
	}
	return c.ledger.id("model", c.calls.step, c.calls.taken, try, "reworded", times)
}

// answerFromLog returns the recorded answer of a call. If its recorded request differs
// from req, it remembers that conversation for Asked. Code not_found: the answer is no
// longer stored.
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

// readBlob decodes a blob of JSON into into.
func (r *run) readBlob(ctx context.Context, digest choir.Digest, into any) error {
	raw, err := r.cfg.Log.GetBlob(ctx, digest)
	if err != nil {
		return choir.Wrap("director.past", "", err, "read what was said before")
	}
	return choir.Wrap("director.past", choir.CodeCorrupt, json.Unmarshal(raw, into), "read %s", digest)
}

// recordedConversation returns the conversation that a recorded last answer belongs to;
// nil for the loop's own.
func (r *run) recordedConversation() []model.Message { return r.calls.asked }

// handler executes the calls of one tool.
type handler func(context.Context, model.Block) (agentloop.Result, error)

// refusedAgain wraps a handler so that a call that an earlier execution refused is
// refused with the same text, even if this build would accept it. Each refusal is an
// event.
func (r *run) refusedAgain(handle handler) handler {
	return func(ctx context.Context, call model.Block) (agentloop.Result, error) {
		r.calls.handled++
		before, err := r.recordedResult(ctx, call.CallID)
		if err != nil {
			return agentloop.Result{}, err
		}
		firstPlan := call.Tool == submitPlan && r.plan == nil
		if before != nil && before.IsError {
			if problems := r.rec.refusedPlan(r.refusals); firstPlan && problems != nil {
				return r.refusePlan(problems)
			}
			return r.turnDown(call, before.Text)
		}
		if reason := r.rec.turnedDown(r.turnedDownID()); reason != "" {
			return r.turnDown(call, reason)
		}
		res, err := handle(ctx, call)
		if err != nil || !res.IsError || firstPlan { // which is plan.refused
			return res, err
		}
		return r.turnDown(call, res.Text)
	}
}

// turnDown records that a call is refused and returns the reason for the model.
func (r *run) turnDown(call model.Block, reason string) (agentloop.Result, error) {
	refused := &choir.DecisionRefused{Tool: call.Tool, Reason: clipHead(reason, maxReason)}
	err := r.ledger.commit(effect{id: r.turnedDownID(), cause: r.rec.cause, payload: refused})
	return agentloop.Result{Text: reason, IsError: true}, err
}

// turnedDownID is the id of the event that says that the tool call at hand was refused:
// of its place in the run, the same in every execution.
func (r *run) turnedDownID() choir.ID {
	return r.ledger.eventID(choir.TypeDecisionRefused, r.calls.step, r.calls.handled)
}

// maxReason is the maximum length of the reason in decision.refused, in bytes.
const maxReason = 16_000

// turnedDown returns the reason of a recorded refusal by its event's id; "" if there is
// none.
func (r *record) turnedDown(event choir.ID) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.turned[event]
}

// recordedResult returns the recorded result of a tool call, which is in the request of
// the next model call; nil if the log has none.
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

// nextRequest returns the recorded request of the next model call; "" if the log has
// none. id returns the call's id for a number of steering texts.
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

// outcomesOf returns the tool results in the last message, by call id.
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

// refusedPlan returns the recorded problems of the plan after the given number of
// refused ones; nil if that plan was not refused.
func (r *record) refusedPlan(after int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if after < len(r.refused) {
		return r.refused[after]
	}
	return nil
}

// madePlan returns the plan that an earlier execution accepted; nil if there is none.
func (r *record) madePlan() *choir.PlanMade {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.made
}

// changedPlan returns the change of the plan after the given number of changes, as an
// earlier execution accepted it; nil if there is none.
func (r *record) changedPlan(after int) *choir.PlanChanged {
	r.mu.Lock()
	defer r.mu.Unlock()
	if after < len(r.changes) {
		return r.changes[after]
	}
	return nil
}

// verdictOn returns the verdict on a task that an earlier execution recorded; nil if there
// is none.
func (r *record) verdictOn(task choir.ID) *choir.TaskJudged {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.judged[task]
}

// wasAsked reports whether an earlier execution asked the user a question.
func (r *record) wasAsked(question string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked[question]
}
