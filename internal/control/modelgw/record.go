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
	return choir.DeriveID(call, "model.called", strconv.Itoa(attempt))
}

func returnedID(call choir.ID, attempt int) choir.ID {
	return choir.DeriveID(call, "model.returned", strconv.Itoa(attempt))
}

// record writes one attempt of a call to the log.
type record struct {
	g       *Gateway
	info    model.CallInfo
	route   Route
	attempt int
	began   choir.Time
	first   choir.Time // of the first piece; zero before it
	bytes   int        // of the answer, as far as it came
}

// called writes model.called, whose request is durable before it.
func (r *record) called(ctx context.Context, canonical []byte, digest choir.Digest) error {
	if _, _, err := r.g.cfg.Blobs.Put(ctx, bytes.NewReader(canonical)); err != nil {
		return choir.Wrap("modelgw.record", "", err, "keep the request")
	}
	draft, err := choir.NewDraft(calledID(r.info.Call, r.attempt), choir.ModelCalled{
		Call: r.info.Call, Caller: r.info.Caller, Provider: r.route.Provider.Name(), Model: r.route.Model, Request: digest,
	})
	if err != nil {
		return err
	}
	if r.attempt > 1 {
		draft = draft.CausedBy(calledID(r.info.Call, r.attempt-1))
	}
	return r.append(ctx, draft)
}

// heard notes a piece of the answer.
func (r *record) heard(d model.Delta) {
	r.bytes += sizeOf(d)
	if r.first == 0 {
		r.first = r.g.cfg.Now()
	}
}

func (r *record) end() choir.ModelReturned {
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
	end := r.end()
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
	end := r.end()
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
	return r.append(ctx, draft.CausedBy(calledID(r.info.Call, r.attempt)))
}

func (r *record) append(ctx context.Context, draft choir.Draft) error {
	_, err := r.g.cfg.Log.Append(ctx, choir.RoleControl, draft.ForRun(r.info.Run, r.info.Task))
	return choir.Wrap("modelgw.record", "", err, "record a model call")
}

// past is what the log says of a call.
type past struct {
	attempts int
	answered bool
	resp     model.Response
	failed   error // the provider's failure, answered as it was
}

// recall looks a call up in the log. An attempt that never returned, or whose
// caller had gone, has no answer: the call is made again.
func (g *Gateway) recall(ctx context.Context, call choir.ID, digest choir.Digest) (past, error) {
	var p past
	for p.attempts < maxAttempts {
		var called choir.ModelCalled
		if found, err := g.event(ctx, calledID(call, p.attempts+1), &called); err != nil || !found {
			return p, err
		}
		if called.Request != digest {
			return p, otherRequest(call)
		}
		p.attempts++
		var end choir.ModelReturned
		found, err := g.event(ctx, returnedID(call, p.attempts), &end)
		if err != nil {
			return p, err
		}
		switch {
		case !found || end.Code == choir.CodeCancelled:
		case end.Code != "":
			p.failed = choir.E("modelgw.recall", end.Code, "%s", end.Error)
			return p, nil
		default:
			p.answered = true
			p.resp, err = g.answer(ctx, end.Response)
			return p, err
		}
	}
	return p, choir.E("modelgw.recall", choir.CodeProvider, "call %s was begun %d times and never returned", call, p.attempts)
}

// event reads the payload of an event; false when there is no such event.
func (g *Gateway) event(ctx context.Context, id choir.ID, payload choir.Payload) (bool, error) {
	e, err := g.cfg.Log.Event(ctx, id)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return false, nil
	}
	if err != nil {
		return false, choir.Wrap("modelgw.recall", "", err, "look a model call up")
	}
	if err := json.Unmarshal(e.Payload, payload); err != nil {
		return false, choir.Wrap("modelgw.recall", choir.CodeCorrupt, err, "event %d", e.Seq)
	}
	return true, nil
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
