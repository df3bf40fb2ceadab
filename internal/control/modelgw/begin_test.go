package modelgw_test

import (
	"context"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/model"
	"choiros/internal/model/gateway"
)

// gatedLog holds model.called back until it is let through or refused.
type gatedLog struct {
	*memLog
	gate chan error
}

func (l gatedLog) Append(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error) {
	if drafts[0].Type == "model.called" {
		if err := <-l.gate; err != nil {
			return nil, err
		}
	}
	return l.memLog.Append(ctx, role, drafts...)
}

func gated(t *testing.T, p model.Provider) (*rig, chan error) {
	t.Helper()
	gate := make(chan error)
	r := newRig(t, func(c *modelgw.Config) {
		routes(p)(c)
		c.Log = gatedLog{c.Log.(*memLog), gate}
	})
	return r, gate
}

// TestACallLeavesOnceItIsRecorded: a crash of choir can lose the price of no call, and a
// call that cannot be recorded does not reach the provider.
func TestACallLeavesOnceItIsRecorded(t *testing.T) {
	p := &stub{}
	r, gate := gated(t, p)
	p.stream = func(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
		if called := len(r.log.of("model.called")); called != p.calls() {
			t.Errorf("the provider is asked for the %dth time, and %d calls are recorded", p.calls(), called)
		}
		return saysHello(ctx, req, on)
	}
	c := r.client(t, choir.RoleDirector)
	call := func() chan error {
		done := make(chan error, 1)
		go func() {
			_, err := c.Call(t.Context(), gateway.CallInfo{Call: id(t), Caller: "director"}, ask("hi"), func(model.Delta) {})
			done <- err
		}()
		return done
	}
	for range 2 {
		done := call()
		gate <- choir.E("log", choir.CodeNoSpace, "the disk is full")
		wantCode(t, <-done, choir.CodeNoSpace)
	}
	if p.calls() != 0 {
		t.Fatalf("the provider was asked %d times while nothing could be recorded", p.calls())
	}
	for range 2 {
		done := call()
		gate <- nil
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if p.calls() != 2 {
		t.Errorf("the provider was asked %d times, want 2", p.calls())
	}
}
