package modelgw_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/model"
	"choiros/internal/model/gateway"
)

func TestATriedModelCostsTheComputerAndIsInItsLog(t *testing.T) {
	r := newRig(t, func(c *modelgw.Config) { c.Budget.ComputerCostUSD = 0.01 })
	route := modelgw.Route{Provider: &stub{stream: saysHello}, Model: "house-1"}
	_, err := r.gw.Try(t.Context(), route, nil)
	wantCode(t, err, choir.CodeUnavailable) // no price
	prices := map[string]modelgw.Price{"house-1": {Input: 3, Output: 15}}
	resp, err := r.gw.Try(t.Context(), route, prices)
	if err != nil || resp.Usage.CostUSD <= 0 {
		t.Fatalf("%+v, %v", resp, err)
	}
	called, returned := r.log.of("model.called"), r.log.of("model.returned")
	if len(called) != 1 || len(returned) != 1 {
		t.Fatalf("the log has %d beginnings and %d ends", len(called), len(returned))
	}
	end := payload[choir.ModelReturned](t, returned[0])
	if end.Caller != modelgw.CallerOwner || end.CostUSD != resp.Usage.CostUSD || returned[0].Run != "" {
		t.Errorf("the end is %+v", end)
	}
	dear := map[string]modelgw.Price{"house-1": {Input: 3, Output: 1e6}}
	_, err = r.gw.Try(t.Context(), route, dear)
	wantCode(t, err, choir.CodeBudget)
}

// The routing in force knows neither the model nor its price.
func TestATryThatAKillLeftOpenCostsWhatItWasMadeWith(t *testing.T) {
	for _, c := range []struct {
		name string
		free bool
		cost bool
	}{{"house-1", false, true}, {"gpt-4o", true, false}} {
		r := newRig(t, routes(&stub{stream: saysHello}))
		route := modelgw.Route{Provider: &stub{stream: saysHello}, Model: c.name, Free: c.free}
		if _, err := r.gw.Try(t.Context(), route, map[string]modelgw.Price{"house-1": {Input: 3, Output: 15}}); err != nil {
			t.Fatal(err)
		}
		r.log.events = r.log.events[:len(r.log.events)-1] // as if it had been killed before the end
		r.close()
		r.open(t)
		if err := r.gw.CloseUnreturned(t.Context()); err != nil {
			t.Fatal(err)
		}
		ends := r.log.of("model.returned")
		if len(ends) != 1 {
			t.Fatalf("%s has %d ends", c.name, len(ends))
		}
		end := payload[choir.ModelReturned](t, ends[0])
		if most := (float64(end.InputTokens)*3 + float64(end.OutputTokens)*15) / 1e6; !end.Estimated || c.cost != (end.CostUSD > 0) || c.cost && end.CostUSD != most {
			t.Errorf("%s cost %v of %v: %+v", c.name, end.CostUSD, most, end)
		}
	}
}

func TestWhyACallWaitsIsKnownUntilItIsAnswered(t *testing.T) {
	told, goOn := make(chan struct{}), make(chan struct{})
	p := &stub{stream: func(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
		model.TellWaiting(ctx, choir.E("x", choir.CodeOverloaded, "the provider answered 529"), 1500*time.Millisecond)
		close(told)
		<-goOn
		return saysHello(ctx, req, on)
	}}
	r := newRig(t, routes(p))
	run, done := id(t), make(chan error, 1)
	go func() {
		_, err := r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: id(t), Run: run, Caller: "director"}, ask("hi"), nil)
		done <- err
	}()
	<-told
	if why := r.gw.Waits(run); !strings.Contains(why, "529") || !strings.Contains(why, "after 1.5s") || r.gw.Waits(id(t)) != "" {
		t.Errorf("it waits: %q", why)
	}
	close(goOn)
	if err := <-done; err != nil || r.gw.Waits(run) != "" {
		t.Errorf("afterwards it waits: %q, %v", r.gw.Waits(run), err)
	}
}

func TestANewRoutingIsInForceAtTheNextCall(t *testing.T) {
	first, second := &stub{stream: saysHello}, &stub{stream: saysHello}
	now := first
	r := newRig(t, func(c *modelgw.Config) {
		c.Routing = func() modelgw.Routing {
			return modelgw.Routing{Routes: map[string]modelgw.Route{"director": {Provider: now, Model: "stub-1", Free: true}}}
		}
	})
	c := r.client(t, choir.RoleDirector)
	for _, now = range []*stub{first, second} {
		if _, err := c.Call(t.Context(), gateway.CallInfo{Call: id(t), Caller: "director"}, ask("hi"), nil); err != nil {
			t.Fatal(err)
		}
	}
	if first.calls() != 1 || second.calls() != 1 {
		t.Errorf("asked %d and %d times", first.calls(), second.calls())
	}
}
