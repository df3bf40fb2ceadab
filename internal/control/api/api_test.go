package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/controltest"
)

type req = controltest.Request

// TestTheAPI shares one control plane: starting it is what takes time.
func TestTheAPI(t *testing.T) {
	p := controltest.Start(t)
	for _, c := range []struct {
		name string
		test func(*testing.T, *controltest.Plane)
	}{
		{"refusals", refusals}, {"lists", lists}, {"files", files}, {"folders", folders}, {"documents", documents}, {"keys", keys}, {"prompts", prompts}, {"waiting", waiting}, {"tasks", tasks},
		{"desktop", desktop}, {"moments", moments}, {"connecting", connecting}, {"drafts", typed},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, p) })
	}
}

func TestEveryCodeIsAProblemWithItsStatus(t *testing.T) {
	for _, code := range choir.Codes() {
		w := httptest.NewRecorder()
		api.WriteProblem(w, choir.Under("field", choir.E("x", code, "what happened").WithRemedy("do this")))
		var p api.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Fatalf("%s: %s", code, w.Body)
		}
		if w.Code != code.HTTPStatus() || p.Status != w.Code || p.Code != code || code != choir.CodeInternal && p.Field != "field" || code != choir.CodeInternal && p.Remedy != "do this" || p.Type != "about:blank" || p.Title == "" {
			t.Errorf("%s: %d %+v", code, w.Code, p)
		}
	}
	w := httptest.NewRecorder()
	api.WriteProblem(w, errors.New("secret words of a driver"))
	if w.Code != 500 || !strings.Contains(w.Body.String(), `"internal"`) || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("a foreign error: %d %s", w.Code, w.Body)
	}
}

func refusals(t *testing.T, p *controltest.Plane) {
	base, id := p.Base(), string(p.Computers()[0].User())
	for _, c := range []struct {
		method, path string
		body         any
		status       int
		code         choir.Code
		field        string
	}{
		{"GET", "/api/computers/" + id, nil, 404, choir.CodeNotFound, ""},
		{"GET", "/api/computers/..%2f..", nil, 404, choir.CodeNotFound, ""},
		{"GET", base + "/runs/" + id, nil, 404, choir.CodeNotFound, "run"},
		{"GET", base + "/tasks/x", nil, 404, choir.CodeNotFound, "task"},
		{"GET", base + "/documents/x", nil, 404, choir.CodeNotFound, "document"},
		{"GET", base + "/documents/x?version=-2", nil, 422, choir.CodeInvalid, "query.version"},
		{"GET", base + "/blobs/x", nil, 422, choir.CodeInvalid, "digest"},
		{"GET", base + "/blobs/..%2f..%2fowner.json", nil, 422, choir.CodeInvalid, "digest"},
		{"GET", base + "/blobs/" + string(choir.DigestOf([]byte("none"))), nil, 404, choir.CodeNotFound, ""},
		{"GET", base + "/runs?limit=0", nil, 422, choir.CodeInvalid, "query.limit"},
		{"GET", base + "/runs?limit=-1", nil, 422, choir.CodeInvalid, "query.limit"},
		{"GET", base + "/runs?limit=1001", nil, 422, choir.CodeInvalid, "query.limit"},
		{"GET", base + "/runs?limit=x", nil, 422, choir.CodeInvalid, "query.limit"},
		{"GET", base + "/runs?before=-1", nil, 422, choir.CodeInvalid, "query.before"},
		{"GET", base + "/events?after=-1", nil, 422, choir.CodeInvalid, "query.after"},
		{"GET", base + "/events?after=99999999999999999999999", nil, 422, choir.CodeInvalid, "query.after"},
		{"GET", base + "/events?wait=61", nil, 422, choir.CodeInvalid, "query.wait"},
		{"GET", base + "/diff", nil, 422, choir.CodeInvalid, "query.from"},
		{"GET", base + "/diff?from=999999", nil, 404, choir.CodeNotFound, ""},
		{"GET", base + "/timeline?limit=0", nil, 422, choir.CodeInvalid, "query.limit"},
		{"GET", base + "/at/0", nil, 422, choir.CodeInvalid, "seq"},
		{"GET", base + "/at/x", nil, 422, choir.CodeInvalid, "path.seq"},
		{"GET", base + "/at/999999", nil, 404, choir.CodeNotFound, ""},
		{"GET", base + "/at/999999/folder", nil, 404, choir.CodeNotFound, ""},
		{"GET", base + "/at/3/file?path=none", nil, 404, choir.CodeNotFound, ""},
		{"GET", base + "/repos/none/export", nil, 404, choir.CodeNotFound, ""},
		{"GET", base + "/repos/none/export?format=zip", nil, 422, choir.CodeInvalid, "format"},
		{"GET", base + "/repos/..%2fx/export", nil, 422, choir.CodeInvalid, "name"},
		{"PUT", base + "/repos/.git", strings.NewReader(""), 422, choir.CodeInvalid, "name"},
		{"PUT", base + "/repos/x", strings.NewReader("no archive"), 422, choir.CodeInvalid, ""},
		{"POST", base + "/prompts", nil, 400, choir.CodeInvalid, ""},
		{"POST", base + "/prompts", strings.NewReader("{"), 400, choir.CodeInvalid, ""},
		{"POST", base + "/prompts", map[string]any{"text": 1}, 422, choir.CodeInvalid, "text"},
		{"POST", base + "/prompts", map[string]any{"text": ""}, 422, choir.CodeInvalid, "text"},
		{"POST", base + "/prompts", map[string]any{"text": "x", "more": 1}, 422, choir.CodeInvalid, "more"},
		{"POST", base + "/prompts", map[string]any{"text": strings.Repeat("ü", 20_001)}, 413, choir.CodeTooLarge, "text"},
		{"POST", base + "/prompts", map[string]any{"text": "x", "repo": "none"}, 404, choir.CodeNotFound, "repo"},
		{"POST", base + "/prompts", map[string]any{"text": "x", "repo": "../x"}, 422, choir.CodeInvalid, "repo"},
		{"DELETE", base + "/rewind", nil, 409, choir.CodeConflict, ""},
		{"POST", base + "/rewind", map[string]any{}, 422, choir.CodeInvalid, "to_seq"},
		{"POST", base + "/rewind", map[string]any{"to_seq": 1, "checkpoint": id}, 422, choir.CodeInvalid, "to_seq"},
		{"POST", base + "/rewind", map[string]any{"to_seq": 999999}, 404, choir.CodeNotFound, ""},
		{"POST", base + "/rewind", map[string]any{"to_seq": -1}, 422, choir.CodeInvalid, "to_seq"},
		{"POST", base + "/rewind", map[string]any{"checkpoint": "x"}, 404, choir.CodeNotFound, "checkpoint"},
		{"POST", base + "/undo", map[string]any{"of": id}, 404, choir.CodeNotFound, ""},
		{"POST", base + "/undo", map[string]any{}, 422, choir.CodeInvalid, ""},
		{"POST", base + "/checkpoints", map[string]any{"subject": strings.Repeat("x", 201)}, 422, choir.CodeInvalid, "subject"},
		{"POST", base + "/runs/" + id + "/cancel", nil, 404, choir.CodeNotFound, "run"},
		{"POST", base + "/runs/" + id + "/pause", nil, 404, choir.CodeNotFound, "run"},
		{"POST", base + "/runs/" + id + "/resume", nil, 404, choir.CodeNotFound, "run"},
		{"POST", base + "/runs/" + id + "/steer", map[string]any{"text": "x"}, 404, choir.CodeNotFound, "run"},
		{"POST", base + "/runs/" + id + "/answers", map[string]any{"text": "x"}, 404, choir.CodeNotFound, "run"},
		{"POST", base + "/tasks", strings.NewReader("null"), 422, choir.CodeInvalid, "$"},
		{"POST", base + "/tasks", strings.NewReader("[]"), 422, choir.CodeInvalid, "$"},
		{"POST", base + "/tasks", map[string]any{"kind": "run"}, 422, choir.CodeInvalid, "instruction"},
		{"POST", base + "/tasks", map[string]any{"kind": "fly", "instruction": "x"}, 422, choir.CodeInvalid, "kind"},
		{"POST", base + "/tasks", map[string]any{"kind": "run", "instruction": "x", "trigger": "count"}, 422, choir.CodeInvalid, "trigger"},
		{"POST", base + "/tasks", map[string]any{"kind": "git", "instruction": "x", "git_action": "push"}, 422, choir.CodeInvalid, "git_action"},
		{"POST", base + "/demo", map[string]any{"live": true}, 403, choir.CodeForbidden, ""},
		{"POST", "/api/link", nil, 403, choir.CodeForbidden, ""},
		{"PUT", base + "/files/x", strings.NewReader("x"), 422, choir.CodeInvalid, "If-Match"},
		{"DELETE", base + "/files/x", nil, 422, choir.CodeInvalid, "If-Match"},
	} {
		res, body := p.Do(req{Method: c.method, Path: c.path, Body: c.body})
		if res.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s %v: %s %s", c.method, c.path, c.body, res.Status, body)
			continue
		}
		got := p.Problem(res, body)
		if got.Status != c.status || got.Code != c.code || c.field != "" && got.Field != c.field {
			t.Errorf("%s %s %v: got %d %s at %q (%s), want %d %s at %q", c.method, c.path, c.body, got.Status, got.Code, got.Field, got.Detail, c.status, c.code, c.field)
		}
	}
}

// lists are never null, and pages follow on each other.
func lists(t *testing.T, p *controltest.Plane) {
	base := p.Base()
	for _, path := range []string{"/runs", "/checkpoints", "/documents", "/timeline", "/at/1", "/repos", "/files?prefix=none", "/events?after=999999", "/events?run=x"} {
		res, body := p.Do(req{Method: "GET", Path: base + path})
		if res.StatusCode != 200 || strings.Contains(string(body), "null") {
			t.Errorf("%s: %s %s", path, res.Status, body)
		}
	}
	p.Healthy()
	var seen uint64
	for {
		res, body := p.Do(req{Method: "GET", Path: base + "/events?limit=2&after=" + num(seen)})
		var page api.EventPage
		if err := json.Unmarshal(body, &page); err != nil || res.StatusCode != 200 || len(page.Events) > 2 {
			t.Fatalf("%s %s", res.Status, body)
		}
		if len(page.Events) == 0 {
			if seen < 4 || page.Head < seen {
				t.Errorf("%d events, head %d", seen, page.Head)
			}
			return
		}
		for _, e := range page.Events {
			if seen++; e.Seq != seen {
				t.Fatalf("event %d where %d was to come", e.Seq, seen)
			}
		}
	}
}

func num(n uint64) string {
	raw, _ := json.Marshal(n)
	return string(raw)
}

func files(t *testing.T, p *controltest.Plane) {
	p.Healthy()
	path := p.Base() + "/files/notes/a%20b.txt"
	put := func(content string, h http.Header) (*http.Response, []byte) {
		return p.Do(req{Method: "PUT", Path: path, Body: strings.NewReader(content), Header: h})
	}
	res, body := put("one", http.Header{"If-None-Match": {"*"}})
	var state choir.FileState
	if err := json.Unmarshal(body, &state); err != nil || res.StatusCode != 200 || state.Path != "notes/a b.txt" || state.Digest != choir.DigestOf([]byte("one")) {
		t.Fatalf("%s %s", res.Status, body)
	}
	tag := res.Header.Get("ETag")
	if res, body := put("two", http.Header{"If-None-Match": {"*"}}); res.StatusCode != 409 || p.Problem(res, body).Digest != state.Digest {
		t.Errorf("again: %s %s", res.Status, body)
	}
	if res, _ := put("two", http.Header{"If-Match": {tag}}); res.StatusCode != 200 {
		t.Errorf("with its tag: %s", res.Status)
	}
	if res, body := put("three", http.Header{"If-Match": {tag}}); res.StatusCode != 409 || p.Problem(res, body).Digest != choir.DigestOf([]byte("two")) {
		t.Errorf("with an old tag: %s %s", res.Status, body)
	}
	for _, bad := range []http.Header{{"If-Match": {"W/" + tag}}, {"If-Match": {`"x"`}}, {"If-None-Match": {tag}}, {"If-Match": {"*"}, "If-None-Match": {"*"}}} {
		if res, _ := put("x", bad); res.StatusCode != 422 {
			t.Errorf("%v: %s", bad, res.Status)
		}
	}
	if res, body := p.Do(req{Method: "PUT", Path: p.Base() + "/files/..%2f..%2fx", Body: strings.NewReader("x"), Header: http.Header{"If-Match": {"*"}}}); res.StatusCode != 422 {
		t.Errorf("out of the workspace: %s %s", res.Status, body)
	}
	if res, _ := p.Do(req{Method: "DELETE", Path: path, Header: http.Header{"If-Match": {"*"}}}); res.StatusCode != 204 {
		t.Errorf("DELETE: %s", res.Status)
	}
	if res, _ := p.Do(req{Method: "DELETE", Path: path, Header: http.Header{"If-Match": {"*"}}}); res.StatusCode != 404 {
		t.Errorf("DELETE again: %s", res.Status)
	}
}

func keys(t *testing.T, p *controltest.Plane) {
	send := func(path, key string, body any) (*http.Response, []byte) {
		return p.Do(req{Method: "POST", Path: p.Base() + path, Body: body, Header: http.Header{"Idempotency-Key": {key}}})
	}
	res, first := send("/prompts", "k1", map[string]string{"text": "hello"})
	again, second := send("/prompts", "k1", map[string]string{"text": "hello"})
	if res.StatusCode != 202 || again.StatusCode != 202 || !bytes.Equal(first, second) || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Fatalf("%s %s, then %s %s", res.Status, first, again.Status, second)
	}
	if res, body := send("/prompts", "k1", map[string]string{"text": "other"}); res.StatusCode != 422 || p.Problem(res, body).Field != "Idempotency-Key" {
		t.Errorf("another request: %s %s", res.Status, body)
	}
	if res, _ := send("/prompts", strings.Repeat("k", 201), map[string]string{"text": "hello"}); res.StatusCode != 422 {
		t.Errorf("a long key: %s", res.Status)
	}
	task := map[string]any{"kind": "run", "instruction": "x", "commands": []any{map[string]any{"shell": "true"}}}
	_, one := send("/tasks", "k2", task)
	_, two := send("/tasks", "k2", task)
	_, three := send("/tasks", "k3", task)
	if !bytes.Equal(one, two) || bytes.Equal(one, three) {
		t.Errorf("tasks: %s %s %s", one, two, three)
	}
	// A task sent again by its id alone, its receipt lost, is the same task of the
	// same run.
	task["task_id"] = "019a5f3c-0000-7000-8000-00000000a9a1"
	res, one = send("/tasks", "", task)
	if again, two := send("/tasks", "", task); res.StatusCode != 202 || again.StatusCode != 202 || !bytes.Equal(one, two) {
		t.Errorf("a task again: %s %s, then %s %s", res.Status, one, again.Status, two)
	}
	// A refusal that may pass is not kept.
	res, _ = send("/runs/none/cancel", "k4", nil)
	if again, _ := send("/runs/none/cancel", "k4", nil); res.StatusCode != 404 || again.StatusCode != 404 {
		t.Errorf("%s, then %s", res.Status, again.Status)
	}
}

func prompts(t *testing.T, p *controltest.Plane) {
	var last *http.Response
	var body []byte
	n := 0
	for range 6 {
		if last, body = p.Do(req{Method: "POST", Path: p.Base() + "/prompts", Body: map[string]string{"text": strings.Repeat("ü", 20_000)}}); last.StatusCode == 202 {
			n++
		}
	}
	// The test of the keys used one or two.
	if n == 0 || n > 5 || last.StatusCode != 429 {
		t.Fatalf("%d prompts, then %s %s", n, last.Status, body)
	}
	after := last.Header.Get("Retry-After")
	if p.Problem(last, body).Code != choir.CodeRateLimited || after == "" || len(after) > 2 || after == "0" {
		t.Errorf("Retry-After %q: %s", after, body)
	}
}

func waiting(t *testing.T, p *controltest.Plane) {
	head, _ := p.Computers()[0].Store().Head()
	began := time.Now()
	res, body := p.Do(req{Method: "GET", Path: p.Base() + "/events?wait=1&after=999999"})
	if took := time.Since(began); res.StatusCode != 200 || took < 900*time.Millisecond || took > 10*time.Second {
		t.Errorf("%s after %s: %s", res.Status, took, body)
	}
	got := make(chan []byte, 1)
	go func() {
		_, body := p.AsCLI("GET", p.Base()+"/events?wait=30&after="+num(head), nil)
		got <- body
	}()
	res, body = p.Do(req{Method: "PUT", Path: p.Base() + "/files/waited.txt", Body: strings.NewReader("x"), Header: http.Header{"If-Match": {"*"}}})
	if res.StatusCode != 200 {
		t.Fatalf("%s %s", res.Status, body)
	}
	began = time.Now()
	if body := <-got; !strings.Contains(string(body), `"seq":`+num(head+1)) || time.Since(began) > 10*time.Second {
		t.Errorf("after %s: %s", time.Since(began), body)
	}
}

func tasks(t *testing.T, p *controltest.Plane) {
	task := map[string]any{"kind": "run", "instruction": "x", "commands": []any{map[string]any{"shell": "sleep 300"}}}
	res, body := p.Do(req{Method: "POST", Path: p.Base() + "/tasks", Body: task})
	var accepted api.TaskAccepted
	if err := json.Unmarshal(body, &accepted); err != nil || res.StatusCode != 202 {
		t.Fatalf("%s %s", res.Status, body)
	}
	for _, c := range []req{
		{Method: "POST", Path: p.Base() + "/undo", Body: map[string]any{"of": accepted.Task}},
		{Method: "PUT", Path: p.Base() + "/repos/x", Body: strings.NewReader("")},
	} {
		if res, body := p.Do(c); res.StatusCode != 409 || p.Problem(res, body).Remedy == "" {
			t.Errorf("%s while a task runs: %s %s", c.Path, res.Status, body)
		}
	}
	// A rewind stops it, which a preview only says.
	res, body = p.Do(req{Method: "POST", Path: p.Base() + "/rewind", Body: map[string]any{"to_seq": accepted.Seq, "dry_run": true}})
	if res.StatusCode != 200 || !strings.Contains(string(body), `"stopped":["`+string(accepted.Run)) {
		t.Errorf("a preview: %s %s", res.Status, body)
	}
	if res, body := p.Do(req{Method: "POST", Path: p.Base() + "/runs/" + string(accepted.Run) + "/cancel"}); res.StatusCode != 202 && res.StatusCode != 204 {
		t.Fatalf("cancel: %s %s", res.Status, body)
	}
	ctx, cancel := contextWithin(t)
	defer cancel()
	r, err := p.Computers()[0].Tasks().Wait(ctx, accepted.Task)
	if err != nil || r.Code != choir.ResultCancelled {
		t.Fatalf("%v %s %s", err, r.Code, r.Summary)
	}
	if res, _ := p.Do(req{Method: "POST", Path: p.Base() + "/runs/" + string(accepted.Run) + "/cancel"}); res.StatusCode != 409 {
		t.Errorf("cancel again: %s", res.Status)
	}
}

func contextWithin(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), controltest.Patience)
}
