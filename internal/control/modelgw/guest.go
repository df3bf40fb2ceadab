package modelgw

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// serveCall answers the contract of package model, for the roles only.
func (g *Gateway) serveCall(w http.ResponseWriter, r *http.Request) {
	role, ok := g.cfg.Caller(r)
	if !ok {
		writeFailure(w, choir.E("modelgw.serve", choir.CodeForbidden, "only the computer's roles may call here").
			WithRemedy("programs use /anthropic or /openai/v1 as base URL"))
		return
	}
	body, err := readBody(w, r)
	if err != nil {
		writeFailure(w, err)
		return
	}
	c, err := DecodeCall(body)
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
	resp, err := g.call(r.Context(), c.Info(), nil, c.Request, s.delta)
	g.abortIfClosing()
	s.finish(resp, err)
}

// DecodeCall reads the body of a call strictly; code invalid with the path of
// the field that was refused.
func DecodeCall(body []byte) (model.Call, error) {
	var c model.Call
	err := choir.DecodeStrict(body, &c)
	return c, err
}

// readBody reads a request of bounded size.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, model.MaxCallBytes))
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return nil, choir.E("modelgw.serve", choir.CodeTooLarge, "the request has more than %d bytes", big.Limit).
			WithRemedy("shorten the conversation")
	}
	return body, choir.Wrap("modelgw.serve", choir.CodeInvalid, err, "read the request")
}

// abortIfClosing breaks the connection when the gateway closes: the guest asks
// again, and the next gateway answers.
func (g *Gateway) abortIfClosing() {
	if g.ctx.Err() != nil {
		panic(http.ErrAbortHandler)
	}
}

// writeFailure answers with an error before any frame.
func writeFailure(w http.ResponseWriter, err error) {
	f := model.FailureOf(err)
	writeJSON(w, f.Code.HTTPStatus(), model.Frame{Error: &f})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Should-Retry", "false") // the gateway has tried again itself
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that has gone hears nothing more
}

// frameStream writes frames.
type frameStream struct{ eventStream }

func (s *frameStream) delta(d model.Delta) { s.event("", model.Frame{Delta: &d}) }

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
