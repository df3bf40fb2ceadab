package wiretest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"choiros/internal/model"
)

// Scripted is a running server that implements the Anthropic Messages API and answers by
// a script. URL is its base URL.
type Scripted struct {
	*httptest.Server
	script Script

	mu        sync.Mutex // guards the fields below
	used      []int
	seen      []Seen
	unmatched []string
}

// NewScripted starts a server. Close stops it.
func NewScripted(script Script) *Scripted {
	for i := range script.Rules {
		if script.Rules[i].captures == nil {
			// A rule made in Go rather than parsed; a bad expression matches nothing.
			_ = script.Rules[i].compile()
		}
	}
	s := &Scripted{script: script, used: make([]int, len(script.Rules))}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Requests returns the requests so far, in order.
func (s *Scripted) Requests() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Seen(nil), s.seen...)
}

// Unmatched describes the requests that no rule matched. A test should see none.
func (s *Scripted) Unmatched() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.unmatched...)
}

func (s *Scripted) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		refuse(w, 404, "not_found_error", r.Method+" "+r.URL.Path+" is not served")
		return
	}
	seen, err := parseSeen(body)
	if err != nil {
		refuse(w, 400, "invalid_request_error", err.Error())
		return
	}
	rule, values, n := s.pick(seen)
	switch {
	case rule == nil:
		refuse(w, 400, "invalid_request_error", "no rule of the script matches: "+describe(seen))
	case rule.Fail != nil && rule.Fail.Status != 0:
		rule.Fail.refuse(w)
	default:
		rule.answer(w, r, seen, values, n)
	}
}

// pick returns the first matching rule and its captured values, and counts its use. n is
// the number of the request, from 1. A nil rule: none matches.
func (s *Scripted) pick(seen *Seen) (rule *Rule, values map[string]string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, *seen)
	for i := range s.script.Rules {
		r := &s.script.Rules[i]
		if r.Times > 0 && s.used[i] >= r.Times || !r.Match.holds(seen) {
			continue
		}
		if values, ok := r.capture(seen); ok {
			s.used[i]++
			return r, values, len(s.seen)
		}
	}
	s.unmatched = append(s.unmatched, describe(seen))
	return nil, nil, len(s.seen)
}

// describe describes a request in one line, for errors.
func describe(s *Seen) string {
	last := s.Last()
	return fmt.Sprintf("model %q, turn %d, system %.80q, last message (%s) %.400q, tools %v", s.Model, s.Turn(), s.System, last.Role, last.Text, s.Tools)
}

// refuse answers with an error of the Messages API.
func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(anthropicError(kind, message))
}

func (f *Fail) refuse(w http.ResponseWriter) {
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	kind := f.Type
	if kind == "" {
		kind = map[int]string{401: "authentication_error", 403: "permission_error", 429: "rate_limit_error", 529: "overloaded_error"}[f.Status]
	}
	refuse(w, f.Status, kind, f.Message)
}

// answer streams the rule's response, or breaks the stream where the rule's fault does.
func (r *Rule) answer(w http.ResponseWriter, req *http.Request, seen *Seen, values map[string]string, n int) {
	respond := r.Respond
	if respond == nil {
		respond = &Respond{Text: "this answer is cut"}
	}
	resp := respond.response(seen, values, n)
	if !seen.Stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(anthropicMessage(resp))
		return
	}
	events := anthropicEvents(resp)
	if r.Fail != nil && r.Fail.Malformed {
		events = append(events[:2], event{"content_block_start", []byte(`{"type":`)})
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i, frame := range sse(events) {
		if r.Fail != nil && !r.Fail.Malformed && i == r.Fail.CutAfter {
			panic(http.ErrAbortHandler)
		}
		if respond.DelayMS > 0 && !sleep(req, time.Duration(respond.DelayMS)*time.Millisecond) {
			return
		}
		if _, err := w.Write(frame); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
	}
}

// response returns the answer with captured values and defaults filled in. Text precedes
// the tool calls.
func (r *Respond) response(seen *Seen, values map[string]string, n int) model.Response {
	out := model.Response{Model: seen.Model, Stop: r.Stop, Usage: r.Usage}
	if r.Text != "" {
		out.Content = append(out.Content, model.Block{Kind: model.Text, Text: fill(r.Text, values)})
	}
	for i, c := range r.ToolCalls {
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("toolu_test_%d_%d", n, i)
		}
		out.Content = append(out.Content, model.Block{Kind: model.ToolCall, CallID: fill(id, values), Tool: fill(c.Name, values), Input: fillJSON(c.Input, values)})
	}
	if out.Stop == "" {
		out.Stop = model.StopEnd
		if len(r.ToolCalls) > 0 {
			out.Stop = model.StopTool
		}
	}
	if out.Usage == (model.Usage{}) {
		out.Usage = model.Usage{Input: int64(len(seen.All())/4 + 1), Output: 20}
	}
	return out
}

// sleep waits for d; false if the client disconnected first.
func sleep(r *http.Request, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}
