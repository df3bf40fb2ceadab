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

// A call is asked again when the control plane or the caller died in the middle
// of it. Each attempt has a model.called of its own, whose cause is the one
// before it. maxAttempts bounds how often that goes on.
const maxAttempts = 20

func calledID(call choir.ID, attempt int) choir.ID {
	return choir.DeriveID(call, string(choir.TypeModelCalled), strconv.Itoa(attempt))
}

func returnedID(call choir.ID, attempt int) choir.ID {
	return choir.DeriveID(call, string(choir.TypeModelReturned), strconv.Itoa(attempt))
}

// record writes one attempt of a call to the log.
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

// called writes model.called, whose request is durable before it.
func (r *record) called(ctx context.Context, canonical []byte, digest choir.Digest) error {
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

// heard notes a piece of the answer and reports whether it is the first.
func (r *record) heard(d model.Delta) (first bool) {
	r.bytes += sizeOf(d)
	if first = r.first == 0; first {
		r.first = r.g.cfg.Now()
	}
	return first
}

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

// returned writes model.returned for an answer.
func (r *record) returned(ctx context.Context, resp model.Response, estimated bool) error {
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
	end.Response, end.Stop, end.Recorded = digest, string(resp.Stop), resp.Usage.FromRecord
	enterUsage(&end, resp.Usage, estimated)
	return r.finish(ctx, end)
}

// maxReason bounds the reason of a failure in the log, in bytes.
const maxReason = 1900

// failed writes model.returned for a failure, with what it cost, and returns the
// failure.
func (r *record) failed(ctx context.Context, cause error, u model.Usage, estimated bool) error {
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

func (r *record) finish(ctx context.Context, end choir.ModelReturned) error {
	draft, err := choir.NewDraft(returnedID(r.info.Call, r.attempt), end)
	if err != nil {
		return err
	}
	_, err = r.append(ctx, draft.CausedBy(r.event))
	return err
}

// append gives the id under which the event is in the log: another than the
// draft's where another event has that. It is never one of this attempt, which
// recall has not found and which one flight makes.
func (r *record) append(ctx context.Context, draft choir.Draft) (choir.ID, error) {
	receipts, err := r.g.appendAs(ctx, "", draft.ForRun(r.info.Run, r.info.Task))
	if err != nil {
		return "", choir.Wrap("modelgw.record", "", err, "record a model call")
	}
	return receipts[0].ID, nil
}

// maxTaken is how many ids in a row that follow from each other may be taken.
const maxTaken = 16

// appendAs appends an event whose id follows from what guests know, under another
// where an event has that one which is not of the source and the type: an id that
// follows from that event, so that the next append finds it, and a random one
// after a few.
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

// past is what the log says of a call.
type past struct {
	attempts int
	last     choir.ID // model.called of the last attempt
	answered bool
	resp     model.Response
	failed   error // the provider's failure, answered as it was
}

// recall looks a call up in the log. An attempt that never returned, or whose
// caller had gone, has no answer: the call is made again.
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
		p.last = id
		var end choir.ModelReturned
		found, err := g.event(ctx, info, returnedID(info.Call, p.attempts), p.attempts, &end)
		if err != nil {
			return p, err
		}
		switch {
		case found == "" || end.Code == choir.CodeCancelled:
		case end.Code != "":
			p.failed = choir.E("modelgw.recall", end.Code, "%s", end.Error)
			return p, nil
		default:
			p.answered = true
			p.resp, err = g.answer(ctx, end.Response)
			return p, err
		}
	}
	return p, choir.E("modelgw.recall", choir.CodeProvider, "call %s was begun %d times and never returned", info.Call, p.attempts)
}

// event reads an event of an attempt of a call, by the id that follows from both,
// or, where an event of somebody else has that, from the run. It gives the
// event's id; empty when there is no such event.
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

// isOf decodes an event of a call; false when it is something else, also the call
// of another caller under the same id.
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

// eventOfRun finds the event of an attempt among those of the run: each attempt
// but the last one has both.
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

// maxResponse bounds a stored answer, in bytes.
const maxResponse = 64 << 20

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
