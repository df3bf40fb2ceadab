package modelgw_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/model"
	"choiros/internal/model/gateway"
)

func TestACallIsStreamedAndInTheLogWithItsExactWords(t *testing.T) {
	p := &stub{stream: saysHello}
	r := newRig(t, routes(p))
	info := gateway.CallInfo{Call: id(t), Run: id(t), Task: id(t), Caller: "director"}
	var heard []string
	resp, err := r.client(t, choir.RoleDirector).Call(t.Context(), info, ask("hi"), func(d model.Delta) { heard = append(heard, d.Text) })
	if err != nil {
		t.Fatal(err)
	}
	answered := hello()
	answered.Usage.PriceKnown = true // it costs nothing, and that is known
	if diff := cmp.Diff(answered, resp); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Hello, ", "world."}, heard); diff != "" {
		t.Error(diff)
	}
	called := r.log.of("model.called")
	returned := r.log.of("model.returned")
	if len(called) != 1 || len(returned) != 1 || called[0].Run != info.Run || returned[0].Task != info.Task || returned[0].Cause != called[0].ID {
		t.Fatalf("the log holds %d model.called and %d model.returned: %+v %+v", len(called), len(returned), called, returned)
	}
	c := payload[choir.ModelCalled](t, called[0])
	want, _ := choir.Canonical(ask("hi"))
	if got, err := blob.ReadAll(t.Context(), r.blobs, c.Request, 1<<20); err != nil || string(got) != string(want) {
		t.Errorf("the request in the store is %s (%v), want %s", got, err, want)
	}
	e := payload[choir.ModelReturned](t, returned[0])
	if e.InputTokens != 100 || e.OutputTokens != 20 || e.CachedTokens != 60 || e.Stop != "end" || e.Model != "stub-1" || e.Code != "" {
		t.Errorf("model.returned is %+v", e)
	}
	stored, _ := choir.Canonical(answered)
	if got, err := blob.ReadAll(t.Context(), r.blobs, e.Response, 1<<20); err != nil || string(got) != string(stored) {
		t.Errorf("the answer in the store is %s (%v), want %s", got, err, stored)
	}
	if p.asked[0].Model != "stub-1" {
		t.Errorf("the provider was asked for the model %q, not the route's", p.asked[0].Model)
	}
}

func TestTheSameCallIsAnsweredFromTheLog(t *testing.T) {
	p := &stub{stream: saysHello}
	r := newRig(t, routes(p))
	c := r.client(t, choir.RoleDirector)
	info := gateway.CallInfo{Call: id(t), Run: id(t), Caller: "director"}
	if _, err := c.Call(t.Context(), info, ask("hi"), nil); err != nil {
		t.Fatal(err)
	}
	r.close()
	r.open(t) // a restart forgets nothing
	c = r.client(t, choir.RoleDirector)
	resp, err := c.Call(t.Context(), info, ask("hi"), nil)
	if err != nil || !resp.Usage.ServedCache || resp.Content[0].Text != "Hello, world." {
		t.Fatalf("the second answer is %+v, %v", resp, err)
	}
	_, err = c.Call(t.Context(), info, ask("something else"), nil)
	wantCode(t, err, choir.CodeConflict)
	if p.calls() != 1 {
		t.Errorf("the provider was asked %d times, want once", p.calls())
	}
}

func TestAFailureIsAnsweredFromTheLogToo(t *testing.T) {
	p := &stub{stream: func(context.Context, model.Request, func(model.Delta)) (model.Response, error) {
		return model.Response{}, choir.E("stub", choir.CodeOverloaded, "too much to do")
	}}
	r := newRig(t, routes(p))
	c := r.client(t, choir.RoleDirector)
	info := gateway.CallInfo{Call: id(t), Caller: "director"}
	for range 2 {
		_, err := c.Call(t.Context(), info, ask("hi"), nil)
		if e := wantCode(t, err, choir.CodeOverloaded); !strings.Contains(e.Error(), "too much to do") {
			t.Errorf("the reason is lost: %v", e)
		}
	}
	if p.calls() != 1 {
		t.Errorf("the provider was asked %d times, want once", p.calls())
	}
	if e := payload[choir.ModelReturned](t, r.log.of("model.returned")[0]); e.Code != choir.CodeOverloaded || e.Error != "too much to do" {
		t.Errorf("model.returned is %+v", e)
	}
}

func TestDuplicatesAtTheSameTimeAreOneCall(t *testing.T) {
	release := make(chan struct{})
	p := &stub{stream: func(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
		on(model.Delta{Text: "Hello, "})
		<-release
		on(model.Delta{Text: "world."})
		return hello(), nil
	}}
	r := newRig(t, routes(p))
	info := gateway.CallInfo{Call: id(t), Caller: "director"}
	var first, all sync.WaitGroup
	first.Add(8)
	for range 8 {
		all.Go(func() {
			text := ""
			resp, err := r.client(t, choir.RoleDirector).Call(t.Context(), info, ask("hi"), func(d model.Delta) {
				if text == "" {
					first.Done()
				}
				text += d.Text
			})
			if err != nil || text != "Hello, world." || resp.Content[0].Text != text {
				t.Errorf("heard %q, answer %+v, %v", text, resp, err)
			}
		})
	}
	first.Wait() // every one heard the first piece before the second was sent
	close(release)
	all.Wait()
	if p.calls() != 1 || len(r.log.of("model.called")) != 1 {
		t.Errorf("the provider was asked %d times, want once", p.calls())
	}
}

func TestACallThatNeverReturnedIsMadeAgainAndSaysSo(t *testing.T) {
	p := &stub{stream: saysHello}
	r := newRig(t, routes(p))
	info := gateway.CallInfo{Call: id(t), Caller: "director"}
	c := r.client(t, choir.RoleDirector)
	if _, err := c.Call(t.Context(), info, ask("hi"), nil); err != nil {
		t.Fatal(err)
	}
	r.log.events = r.log.events[:1] // as if the power had failed before the answer
	resp, err := c.Call(t.Context(), info, ask("hi"), nil)
	if err != nil || resp.Usage.ServedCache {
		t.Fatalf("the answer is %+v, %v", resp, err)
	}
	called := r.log.of("model.called")
	if len(called) != 2 || called[1].Cause != called[0].ID {
		t.Errorf("the second model.called does not name the first as its cause: %+v", called)
	}
	if resp, err = c.Call(t.Context(), info, ask("hi"), nil); err != nil || !resp.Usage.ServedCache || p.calls() != 2 {
		t.Errorf("the third answer is %+v, %v after %d calls", resp, err, p.calls())
	}
}

func TestACallerWhoLeavesEndsTheCall(t *testing.T) {
	begun, left := make(chan struct{}, 1), make(chan struct{})
	leave := true
	p := &stub{}
	p.stream = func(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
		if !leave {
			return saysHello(ctx, req, on)
		}
		begun <- struct{}{}
		<-ctx.Done()
		close(left)
		return model.Response{}, choir.E("stub", choir.CodeCancelled, "the model call was stopped")
	}
	r := newRig(t, routes(p))
	info := gateway.CallInfo{Call: id(t), Caller: "director"}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := r.client(t, choir.RoleDirector).Call(ctx, info, ask("hi"), nil)
		done <- err
	}()
	<-begun
	cancel()
	wantCode(t, <-done, choir.CodeCancelled)
	<-left // who asks before that takes part in the call
	leave = false
	// A cancelled call has no answer: the same id is called again.
	resp, err := r.client(t, choir.RoleDirector).Call(t.Context(), info, ask("hi"), nil)
	if err != nil || resp.Usage.ServedCache {
		t.Fatalf("the answer is %+v, %v", resp, err)
	}
	if e := payload[choir.ModelReturned](t, r.log.of("model.returned")[0]); e.Code != choir.CodeCancelled {
		t.Errorf("the first model.returned is %+v, want code cancelled", e)
	}
}

func TestACallSurvivesARestartOfTheGateway(t *testing.T) {
	begun := make(chan struct{}, 1)
	p := &stub{}
	p.stream = func(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
		if p.calls() > 1 {
			return saysHello(ctx, req, on)
		}
		on(model.Delta{Text: "Hel"})
		begun <- struct{}{}
		<-ctx.Done()
		return model.Response{}, choir.E("stub", choir.CodeCancelled, "the model call was stopped")
	}
	r := newRig(t, routes(p))
	c := r.client(t, choir.RoleDirector)
	done := make(chan error, 1)
	text := ""
	go func() {
		resp, err := c.Call(t.Context(), gateway.CallInfo{Call: id(t), Caller: "director"}, ask("hi"), func(d model.Delta) { text += d.Text })
		if err == nil && resp.Content[0].Text != "Hello, world." {
			t.Errorf("the answer is %+v", resp)
		}
		done <- err
	}()
	<-begun
	old := r.http
	r.gw.Close()
	old.Close()
	r.open(t)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if text != "Hel" {
		t.Errorf("pieces were delivered twice: %q", text)
	}
}

func TestBudgets(t *testing.T) {
	p := &stub{stream: saysHello} // 120 tokens a call, of which 136 are reserved
	r := newRig(t, func(c *modelgw.Config) {
		routes(p)(c)
		c.Budget = modelgw.Budget{Run: choir.RunLimits{Tokens: 300}}
	})
	run := id(t)
	call := func() error {
		_, err := r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: id(t), Run: run, Caller: "director"}, ask("hi"), nil)
		return err
	}
	if err := call(); err != nil {
		t.Fatal(err)
	}
	r.close()
	r.open(t) // what was spent is in the log
	if err := call(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if e := wantCode(t, call(), choir.CodeBudget); e.Remedy == "" {
			t.Error("the refusal names no remedy")
		}
	}
	reached := r.log.of("budget.reached")
	if len(reached) != 1 || reached[0].Run != run {
		t.Fatalf("%d budget.reached events, want 1 for the run", len(reached))
	}
	if b := payload[choir.BudgetReached](t, reached[0]); b != (choir.BudgetReached{Scope: "run", Limit: "tokens", Max: 300, Used: 240}) {
		t.Errorf("budget.reached is %+v", b)
	}
	if _, err := r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: id(t), Run: id(t), Caller: "director"}, ask("hi"), nil); err != nil {
		t.Errorf("another run is refused too: %v", err)
	}
}
