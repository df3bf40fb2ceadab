package modelgw_test

import (
	"context"
	"sync/atomic"
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

func TestNothingIsHeardBeforeTheCallIsRecorded(t *testing.T) {
	asked := make(chan struct{})
	p := &stub{stream: func(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
		close(asked)
		return saysHello(ctx, req, on)
	}}
	r, gate := gated(t, p)
	var passed atomic.Bool
	done := make(chan error, 1)
	go func() {
		_, err := r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: id(t), Caller: "director"}, ask("hi"), func(model.Delta) {
			if !passed.Load() || len(r.log.of("model.called")) != 1 {
				t.Error("a piece was heard before model.called was in the log")
			}
		})
		done <- err
	}()
	<-asked // the record does not hold the call up
	passed.Store(true)
	gate <- nil
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestACallThatCannotBeRecordedIsBrokenOffAndTheNextWaits(t *testing.T) {
	asked := make(chan struct{}, 3)
	p := &stub{stream: func(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
		asked <- struct{}{}
		return saysHello(ctx, req, on)
	}}
	r, gate := gated(t, p)
	c := r.client(t, choir.RoleDirector)
	call := func() chan error {
		done := make(chan error, 1)
		go func() {
			_, err := c.Call(t.Context(), gateway.CallInfo{Call: id(t), Caller: "director"}, ask("hi"), func(model.Delta) {
				if len(r.log.of("model.called")) == 0 {
					t.Error("a piece of an unrecorded call was heard")
				}
			})
			done <- err
		}()
		return done
	}
	full := choir.E("log", choir.CodeNoSpace, "the disk is full")
	for range 2 { // the second does not reach the provider
		done := call()
		if len(asked) == 0 {
			<-asked
			asked <- struct{}{}
		}
		gate <- full
		wantCode(t, <-done, choir.CodeNoSpace)
	}
	if p.calls() != 1 {
		t.Fatalf("the provider was asked %d times while nothing could be recorded, want once", p.calls())
	}
	for range 2 { // the first of these is recorded first
		done := call()
		gate <- nil
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if p.calls() != 3 {
		t.Errorf("the provider was asked %d times, want 3", p.calls())
	}
}
