package modelgw_test

import (
	"context"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/model"
	"choiros/internal/model/gateway"
)

// failing is a provider that says something and fails.
func failing(code choir.Code, says string) *stub {
	return &stub{stream: func(_ context.Context, _ model.Request, on func(model.Delta)) (model.Response, error) {
		if says != "" {
			on(model.Delta{Text: says})
		}
		return model.Response{}, choir.E("stub", code, "no")
	}}
}

// withFallback routes the Director and programs to first, and then to second.
func withFallback(first, second model.Provider) func(*modelgw.Config) {
	warm := 0.5
	return func(c *modelgw.Config) {
		r := modelgw.Route{Provider: first, Model: "one", Free: true, Effort: "low", Fallbacks: []modelgw.Route{
			{Provider: second, Model: "unpriced"}, {Provider: second, Model: "two", Free: true, Temperature: &warm},
		}}
		c.Routing = modelgw.Fixed(map[string]modelgw.Route{"director": r, "tool": r}, nil)
	}
}

func TestAFallbackAnswersAndTheLogHasBothAttempts(t *testing.T) {
	first, second := failing(choir.CodeOverloaded, "half an"), &stub{stream: saysHello}
	r := newRig(t, withFallback(first, second))
	heard, restarts := "", 0
	info := gateway.CallInfo{Call: id(t), Run: id(t), Caller: "director"}
	call := func() model.Response {
		t.Helper()
		resp, err := r.client(t, choir.RoleDirector).Call(t.Context(), info, ask("hi"), func(d model.Delta) {
			if d.Restart {
				heard, restarts = "", restarts+1
			}
			heard += d.Text
		})
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	if resp := call(); resp.Model != "stub-1" || heard != "Hello, world." || restarts != 1 {
		t.Errorf("answered %+v, heard %q after %d restarts", resp, heard, restarts)
	}
	called, returned := r.log.of("model.called"), r.log.of("model.returned")
	if len(called) != 2 || len(returned) != 2 || called[1].Cause != called[0].ID || payload[choir.ModelReturned](t, returned[0]).Code != choir.CodeOverloaded {
		t.Fatalf("the log has %+v and %+v", called, returned)
	}
	if a, b := first.asked[0], second.asked[0]; a.Effort != "low" || b.Model != "two" || *b.Temperature != 0.5 || b.Effort != "" {
		t.Errorf("asked %+v, then %+v", a, b)
	}
	if resp := call(); !resp.Usage.ServedCache || second.calls() != 1 {
		t.Errorf("asked again it answered %+v after %d calls", resp, second.calls())
	}
}

func TestNoFallbackForARequestThatIsWrong(t *testing.T) {
	for _, code := range []choir.Code{choir.CodeInvalid, choir.CodeTooLarge, choir.CodeBudget} {
		second := &stub{stream: saysHello}
		r := newRig(t, withFallback(failing(code, ""), second))
		_, err := r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: id(t), Caller: "director"}, ask("hi"), nil)
		wantCode(t, err, code)
		if second.calls() > 0 {
			t.Errorf("%s: the fallback was asked", code)
		}
	}
}

func TestAProgramThatHeardSomethingGetsNoOtherAnswer(t *testing.T) {
	for says, want := range map[string]int{"": 1, "half an": 0} {
		second := &stub{stream: saysHello}
		r := newRig(t, withFallback(failing(choir.CodeProvider, says), second))
		client := openaiClient(t, r)
		if _, err := client.New(t.Context(), completionParams()); (err == nil) != (want == 1) || second.calls() != want {
			t.Errorf("after %q the fallback was asked %d times: %v", says, second.calls(), err)
		}
	}
}

func TestTheLogSaysWhatWasLeftOut(t *testing.T) {
	left := hello()
	left.LeftOut = []string{"temperature"}
	r := newRig(t, routes(answers(left)))
	if _, err := r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: id(t), Caller: "director"}, ask("hi"), nil); err != nil {
		t.Fatal(err)
	}
	if end := payload[choir.ModelReturned](t, r.log.of("model.returned")[0]); len(end.LeftOut) != 1 || end.LeftOut[0] != "temperature" {
		t.Errorf("model.returned is %+v", end)
	}
}
