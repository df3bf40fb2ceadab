package modelgw_test

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/model"
	"choiros/internal/model/gateway"
)

func TestWithoutAModelTheRemedyIsNamed(t *testing.T) {
	r := newRig(t, func(*modelgw.Config) {})
	_, err := r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: id(t), Caller: "director"}, ask("hi"), nil)
	if e := wantCode(t, err, choir.CodeUnavailable); !strings.Contains(e.Remedy, "choir.toml") {
		t.Errorf("the remedy is %q", e.Remedy)
	}
}

func TestOnlyTheRolesMayCallAndOnlyAsThemselves(t *testing.T) {
	r := newRig(t, routes(&stub{stream: saysHello}))
	_, err := r.client(t, "").Call(t.Context(), gateway.CallInfo{Call: id(t), Caller: "director"}, ask("hi"), nil)
	wantCode(t, err, choir.CodeForbidden)
	_, err = r.client(t, choir.RoleAssociate).Call(t.Context(), gateway.CallInfo{Call: id(t), Caller: "director"}, ask("hi"), nil)
	wantCode(t, err, choir.CodeForbidden)
}

// What a body says it is for counts only when it is open for the caller.
func TestACallForWhatIsNotOpenIsRefused(t *testing.T) {
	p := &stub{stream: saysHello}
	open, task := id(t), id(t)
	r := newRig(t, func(c *modelgw.Config) {
		routes(p)(c)
		c.MayCall = func(_ context.Context, role choir.Role, run, of choir.ID) error {
			if role != choir.RoleAssociate || run != open || of != task {
				return choir.E("test", choir.CodeConflict, "run %s is over", run)
			}
			return nil
		}
	})
	c := r.client(t, choir.RoleAssociate)
	_, err := c.Call(t.Context(), gateway.CallInfo{Call: id(t), Run: id(t), Task: task, Caller: "associate"}, ask("hi"), nil)
	wantCode(t, err, choir.CodeConflict)
	if n := len(r.log.of("model.called")); n != 0 || p.calls() != 0 {
		t.Errorf("it is %d times in the log, and the provider was asked %d times", n, p.calls())
	}
	if _, err := c.Call(t.Context(), gateway.CallInfo{Call: id(t), Run: open, Task: task, Caller: "associate"}, ask("hi"), nil); err != nil {
		t.Error(err)
	}
}

func TestBadRequestsNameTheField(t *testing.T) {
	p := &stub{stream: saysHello}
	r := newRig(t, routes(p))
	bad := ask("hi")
	bad.Messages = append(bad.Messages, model.Message{Role: model.Assistant, Content: []model.Block{{Kind: model.ToolCall, CallID: "a", Tool: "x", Input: []byte("{}")}}})
	_, err := r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: id(t), Caller: "director"}, bad, nil)
	if e := wantCode(t, err, choir.CodeInvalid); e.Path != "request.messages" {
		t.Errorf("the path is %q", e.Path)
	}
	big := ask(strings.Repeat("x", model.MaxCallBytes))
	_, err = r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: id(t), Caller: "director"}, big, nil)
	wantCode(t, err, choir.CodeTooLarge)
	resp, err := http.Post(r.http.URL+"/anthropic/v1/messages", "application/json", strings.NewReader(`{"x":"`+strings.Repeat("x", model.MaxCallBytes)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 413 {
		t.Errorf("a request over the limit gets %s: %.200s", resp.Status, body)
	}
	http.DefaultClient.CloseIdleConnections()
	if p.calls() != 0 || len(r.log.events) != 0 {
		t.Errorf("refused requests left %d calls and %d events", p.calls(), len(r.log.events))
	}
}

func TestTooManyCallsAreRefusedAsBusy(t *testing.T) {
	release := make(chan struct{})
	p := &stub{stream: func(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
		<-release
		return saysHello(ctx, req, on)
	}}
	r := newRig(t, func(c *modelgw.Config) { routes(p)(c); c.Concurrent = 1 })
	const room = 9 // one in flight, eight waiting
	errs := make(chan error, room)
	for range room {
		go func() {
			_, err := r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: id(t), Caller: "director"}, ask("hi"), nil)
			errs <- err
		}()
	}
	for r.gw.InFlight() < room {
		runtime.Gosched()
	}
	resp, err := http.Post(r.http.URL+"/openai/v1/chat/completions", "application/json", strings.NewReader(`{"model":"director","messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 503 {
		t.Errorf("one call too many gets %s", resp.Status)
	}
	http.DefaultClient.CloseIdleConnections()
	close(release)
	for range room {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func FuzzDecodeCall(f *testing.F) {
	f.Add([]byte(`{"call":"01939b3e-7c00-7000-8000-000000000001","caller":"director","request":{"model":"director","messages":[{"role":"user","content":[{"kind":"text","text":"hi"}]}],"max_tokens":5}}`))
	f.Add([]byte(`{"call":"x","request":{"messages":[{"role":"assistant"}]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := modelgw.DecodeCall(raw)
		if err != nil {
			if code := choir.CodeOf(err); code != choir.CodeInvalid && code != choir.CodeTooLarge {
				t.Fatalf("code %s: %v", code, err)
			}
			return
		}
		if err := c.Request.Check(); err != nil {
			t.Fatalf("an accepted request does not hold: %v", err)
		}
		again, err := choir.Canonical(c)
		if err != nil {
			t.Fatal(err)
		}
		c2, err := modelgw.DecodeCall(again)
		if err != nil {
			t.Fatalf("what was accepted is refused when written again: %v\n%s", err, again)
		}
		if twice, _ := choir.Canonical(c2); string(twice) != string(again) {
			t.Fatalf("encoding is not the inverse of decoding:\n%s\n%s", again, twice)
		}
	})
}
