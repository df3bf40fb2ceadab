package modelgw

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// maxAttempts is the maximum of attempts of one call. A call is attempted again if the
// control plane or the caller died during it; each attempt has its own model.called,
// whose cause is that of the previous attempt.
const maxAttempts = 20

// calledID returns the id of an attempt's model.called.
func calledID(call choir.ID, attempt int) choir.ID {
	return choir.DeriveID(call, string(choir.TypeModelCalled), strconv.Itoa(attempt))
}

// returnedID returns the id of an attempt's model.returned.
func returnedID(call choir.ID, attempt int) choir.ID {
	return choir.DeriveID(call, string(choir.TypeModelReturned), strconv.Itoa(attempt))
}

// record writes the events of one attempt of a call to the log.
type record struct {
	g       *Gateway
	info    model.CallInfo
	route   Route
	price   Price
	attempt int
	began   choir.Time
	first   choir.Time // of the first piece; zero before it
	bytes   int        // of the answer, as far as it came
	before  choir.ID   // model.called of the attempt before; empty for the first
	event   choir.ID   // model.called of this attempt, once it is in the log
}

// appendCalled stores the request durably and then appends model.called.
func (r *record) appendCalled(ctx context.Context, canonical []byte, digest choir.Digest) error {
	if _, _, err := r.g.cfg.Blobs.Put(ctx, bytes.NewReader(canonical)); err != nil {
		return choir.Wrap("modelgw.record", "", err, "keep the request")
	}
	draft, err := choir.NewDraft(calledID(r.info.Call, r.attempt), choir.ModelCalled{
		Call: r.info.Call, Caller: r.info.Caller, Provider: r.route.Provider.Name(), Model: r.route.Model, Request: digest,
		Price: &choir.CallPrice{Input: r.price.dearest(), Output: r.price.Output},
	})
	if err != nil {
		return err
	}
	if r.attempt > 1 {
		draft = draft.CausedBy(r.before)
	}
	r.event, err = r.append(ctx, draft)
	return err
}

// noteDelta counts the bytes of a piece of the answer and notes the time of the first.
// It reports whether this is the first.
func (r *record) noteDelta(d model.Delta) (first bool) {
	r.bytes += sizeOf(d)
	if first = r.first == 0; first {
		r.first = r.g.cfg.Now()
	}
	return first
}

// newReturned returns the payload of model.returned with the times of the attempt.
func (r *record) newReturned() choir.ModelReturned {
	end := choir.ModelReturned{
		Call: r.info.Call, Caller: r.info.Caller, Provider: r.route.Provider.Name(), Model: r.route.Model,
		DurationMS: int64(max(0, r.g.cfg.Now()-r.began)),
	}
	if r.first != 0 {
		end.FirstTokenMS = int64(max(0, r.first-r.began))
	}
	return end
}

// appendReturned stores an answer and appends model.returned with it.
func (r *record) appendReturned(ctx context.Context, resp model.Response, estimated bool) error {
	raw, err := choir.Canonical(resp)
	if err != nil {
		return err
	}
	digest, _, err := r.g.cfg.Blobs.Put(ctx, bytes.NewReader(raw))
	if err != nil {
		return choir.Wrap("modelgw.record", "", err, "keep the answer")
	}
	end := r.newReturned()
	if resp.Model != "" {
		end.Model = resp.Model
	}
	end.LeftOut = resp.LeftOut
	end.Response, end.Stop, end.Recorded = digest, string(resp.Stop), resp.Usage.FromRecord
	enterUsage(&end, resp.Usage, estimated)
	return r.finish(ctx, end)
}

// maxReason is the maximum length of a recorded error message, in bytes.
const maxReason = 1900

// appendFailed appends model.returned with an error and the cost, and returns cause, or the
// error of the append.
func (r *record) appendFailed(ctx context.Context, cause error, u model.Usage, estimated bool) error {
	end := r.newReturned()
	enterUsage(&end, u, estimated)
	f := model.FailureOf(cause)
	end.Code, end.Error = f.Code, f.Message
	if len(end.Error) > maxReason {
		end.Error = strings.ToValidUTF8(end.Error[:maxReason], "") + "..."
	}
	if err := r.finish(ctx, end); err != nil {
		return err
	}
	return cause
}

// finish appends model.returned, caused by the attempt's model.called.
func (r *record) finish(ctx context.Context, end choir.ModelReturned) error {
	draft, err := choir.NewDraft(returnedID(r.info.Call, r.attempt), end)
	if err != nil {
		return err
	}
	_, err = r.append(ctx, draft.CausedBy(r.event))
	return err
}

// append appends an event of this attempt and returns its id in the log, which differs
// from the draft's if another event already has that id.
func (r *record) append(ctx context.Context, draft choir.Draft) (choir.ID, error) {
	receipts, err := r.g.appendAs(ctx, "", draft.ForRun(r.info.Run, r.info.Task))
	if err != nil {
		return "", choir.Wrap("modelgw.record", "", err, "record a model call")
	}
	return receipts[0].ID, nil
}

// maxTaken is the maximum number of derived ids that appendAs tries before it uses a
// random one.
const maxTaken = 16

// appendAs appends an event whose id guests can predict. If an event of another source
// or type already has the id, it tries an id derived from that event, so that later
// reads find it in the same way, and after maxTaken of those a random one.
func (g *Gateway) appendAs(ctx context.Context, source choir.Source, draft choir.Draft) ([]choir.Receipt, error) {
	n := 0
	fresh := func(taken *choir.First) (choir.ID, error) {
		if n++; n > maxTaken {
			return g.cfg.NewID()
		}
		return choir.DeriveID(taken.ID, string(taken.Hash)), nil
	}
	receipts, _, err := choir.AppendAs(ctx, source, []choir.Draft{draft}, fresh, func(ctx context.Context, drafts ...choir.Draft) ([]choir.Receipt, error) {
		return g.cfg.Log.Append(ctx, choir.RoleControl, drafts...)
	})
	return receipts, err
}

// past is the recorded state of a call: its attempts and its answer or failure, if there
// is one.
type past struct {
	attempts int
	last     choir.ID // model.called of the last attempt
	answered bool
	resp     model.Response
	failed   error // the provider's failure, answered as it was
}

// recall reads the attempts of a call from the log. An attempt without model.returned,
// or whose caller disconnected, counts as unanswered. Code conflict: the recorded
// request differs; provider: maxAttempts attempts never returned.
func (g *Gateway) recall(ctx context.Context, info model.CallInfo, digest choir.Digest) (past, error) {
	var p past
	for p.attempts < maxAttempts {
		var called choir.ModelCalled
		id, err := g.event(ctx, info, calledID(info.Call, p.attempts+1), p.attempts+1, &called)
		if err != nil || id == "" {
			return p, err
		}
		if called.Request != digest {
			return p, otherRequest(info.Call)
		}
		p.attempts++
		p.last, p.failed = id, nil
		var end choir.ModelReturned
		found, err := g.event(ctx, info, returnedID(info.Call, p.attempts), p.attempts, &end)
		if err != nil {
			return p, err
		}
		switch {
		case found == "" || end.Code == choir.CodeCancelled:
		case end.Code != "":
			p.failed = choir.E("modelgw.recall", end.Code, "%s", end.Error) // unless a fallback was asked next
		default:
			p.answered = true
			p.resp, err = g.answer(ctx, end.Response)
			return p, err
		}
	}
	if p.failed != nil {
		return p, nil
	}
	return p, choir.E("modelgw.recall", choir.CodeProvider, "call %s was begun %d times and never returned", info.Call, p.attempts)
}

// event decodes an event of an attempt of a call into payload and returns its id; "" if
// there is none. It looks under id, and if another event has that, among the events of
// the run.
func (g *Gateway) event(ctx context.Context, info model.CallInfo, id choir.ID, attempt int, payload choir.Payload) (choir.ID, error) {
	e, err := g.cfg.Log.Event(ctx, id)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", nil
	}
	if err != nil {
		return "", choir.Wrap("modelgw.recall", "", err, "look a model call up")
	}
	ours, err := isOf(e, info, payload)
	if err != nil || ours {
		return e.ID, err
	}
	return g.eventOfRun(ctx, info, attempt, payload)
}

// isOf decodes e into payload and returns true if e is the control plane's event of this
// call and caller, of the payload's type; else it returns false.
func isOf(e choir.Event, info model.CallInfo, payload choir.Payload) (bool, error) {
	if e.Type != payload.EventType() || e.Source != choir.SourceSystem {
		return false, nil
	}
	var of struct {
		Call   choir.ID `json:"call"`
		Caller string   `json:"caller"`
	}
	err := json.Unmarshal(e.Payload, &of)
	if err == nil && (of.Call != info.Call || of.Caller != info.Caller) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(e.Payload, payload)
	}
	return err == nil, choir.Wrap("modelgw.recall", choir.CodeCorrupt, err, "event %d", e.Seq)
}

// eventOfRun searches the events of the run for that of an attempt, decodes it into
// payload and returns its id; "" if there is none. It counts the attempts in order.
func (g *Gateway) eventOfRun(ctx context.Context, info model.CallInfo, attempt int, payload choir.Payload) (choir.ID, error) {
	begun, last := 0, choir.ID("")
	for e, err := range g.cfg.Log.EventsOfRun(ctx, info.Run, 0) {
		if err != nil {
			return "", choir.Wrap("modelgw.recall", "", err, "look a model call up in run %s", info.Run)
		}
		var called choir.ModelCalled
		if ours, err := isOf(e, info, &called); err != nil {
			return "", err
		} else if ours {
			begun, last = begun+1, e.ID
		}
		if begun != attempt {
			continue
		}
		if ours, err := isOf(e, info, payload); err != nil {
			return "", err
		} else if ours && (e.ID == last || e.Cause == last) {
			return e.ID, nil
		}
	}
	return "", nil
}

// maxResponse is the maximum size of a stored answer, in bytes.
const maxResponse = 64 << 20

// answer reads a stored answer and marks it as served from the log.
func (g *Gateway) answer(ctx context.Context, digest choir.Digest) (model.Response, error) {
	var resp model.Response
	raw, err := blob.ReadAll(ctx, g.cfg.Blobs, digest, maxResponse)
	if err != nil {
		return resp, choir.Wrap("modelgw.recall", "", err, "read an answer")
	}
	if err := json.Unmarshal(raw, &resp); err != nil {
		return resp, choir.Wrap("modelgw.recall", choir.CodeCorrupt, err, "the answer %s", digest)
	}
	resp.Usage.ServedCache = true
	return resp, nil
}
