package modelgw

import (
	"encoding/json"
	"net/http"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// serveCall answers a model call of a role in the contract of package model, as a stream
// of frames. Programs that are not a role get code forbidden.
func (g *Gateway) serveCall(w http.ResponseWriter, r *http.Request) {
	role, ok := g.cfg.Caller(r)
	if !ok {
		writeFailure(w, choir.E("modelgw.serve", choir.CodeForbidden, "only the computer's roles may call here").
			WithRemedy("programs use /anthropic or /openai/v1 as base URL"))
		return
	}
	var c model.Call
	a := &asked{}
	err := g.decodeBody(w, r, string(role), deepestList+1, func(body []byte) (err error) {
		if c, err = DecodeCall(body); err != nil {
			return err
		}
		a.info, a.req = c.Info(), c.Request
		return a.encode()
	})
	if err != nil {
		writeFailure(w, err)
		return
	}
	if c.Caller != string(role) {
		writeFailure(w, choir.E("modelgw.serve", choir.CodeForbidden, "the %s cannot call as %s", role, c.Caller))
		return
	}
	if err := g.cfg.MayCall(r.Context(), role, c.Run, c.Task); err != nil {
		writeFailure(w, err)
		return
	}
	s := frameStream{eventStream{w: w}}
	resp, err := g.call(r.Context(), a, s.delta)
	g.abortIfClosing()
	s.finish(resp, err)
}

// DecodeCall decodes the JSON of a model call. Unknown fields are errors. Code invalid,
// with the path of the refused field.
func DecodeCall(body []byte) (model.Call, error) {
	var c model.Call
	err := choir.DecodeStrict(body, &c)
	return c, err
}

// abortIfClosing drops the connection without an answer if the gateway is closing. The
// guest then repeats the call with the next gateway.
func (g *Gateway) abortIfClosing() {
	if g.ctx.Err() != nil {
		panic(http.ErrAbortHandler)
	}
}

// writeFailure answers a request with an error as JSON, before any frame was sent.
func writeFailure(w http.ResponseWriter, err error) {
	f := model.FailureOf(err)
	writeJSON(w, f.Code.HTTPStatus(), model.Frame{Error: &f})
}

// writeJSON answers with JSON, and tells the client not to retry.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Should-Retry", "false") // the gateway has tried again itself
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that has gone hears nothing more
}

// frameStream writes the frames of package model as server-sent events.
type frameStream struct{ eventStream }

func (s *frameStream) delta(d model.Delta) { s.event("", model.Frame{Delta: &d}) }

// finish writes the response or the error as the last frame; an error before any frame
// as a status code.
func (s *frameStream) finish(resp model.Response, err error) {
	switch {
	case err == nil:
		s.event("", model.Frame{Response: &resp})
	case s.begun:
		f := model.FailureOf(err)
		s.event("", model.Frame{Error: &f})
	default:
		writeFailure(s.w, err)
	}
}
