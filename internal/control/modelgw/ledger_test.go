package modelgw_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/model"
	"choiros/internal/model/gateway"
)

func TestACallThatIsStoppedStopsNobodyWhoWaitsForTheSameAccount(t *testing.T) {
	p := &stub{stream: saysHello}
	r := newRig(t, routes(p))
	r.close()
	reads, goOn := make(chan struct{}), make(chan struct{})
	var first sync.Once
	r.books.reads = func(ctx context.Context) (err error) {
		first.Do(func() {
			close(reads)
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-goOn:
			}
		})
		return err
	}
	r.open(t)
	run, c := id(t), r.client(t, choir.RoleDirector)
	call := func(ctx context.Context, done chan<- error) {
		_, err := c.Call(ctx, gateway.CallInfo{Call: id(t), Run: run, Caller: "director"}, ask("hi"), nil)
		done <- err
	}
	ctx, stop := context.WithCancel(t.Context())
	stopped, waits := make(chan error, 1), make(chan error, 1)
	go call(ctx, stopped)
	<-reads
	go call(t.Context(), waits)
	until(func() bool { return r.gw.InFlight() == 2 })
	stop()
	wantCode(t, <-stopped, choir.CodeCancelled)
	until(func() bool { return r.gw.InFlight() <= 1 })
	close(goOn)
	if err := <-waits; err != nil {
		t.Errorf("the call that nobody stopped: %v", err)
	}
}

func TestACloseDoesNotWaitForAnAccount(t *testing.T) {
	r := newRig(t, routes(&stub{stream: saysHello}))
	r.close()
	reads := make(chan struct{})
	r.books.reads = func(ctx context.Context) error {
		close(reads)
		<-ctx.Done()
		return ctx.Err()
	}
	r.open(t)
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { <-reads; cancel() }()
		_, err := r.client(t, choir.RoleDirector).Call(ctx, gateway.CallInfo{Call: id(t), Run: id(t), Caller: "director"}, ask("hi"), nil)
		done <- err
	}()
	wantCode(t, <-done, choir.CodeCancelled)
	if err := r.gw.Close(); err != nil {
		t.Error(err)
	}
}

func TestAccountsOfFormerRunsAreDroppedAndTheirSumsAreNot(t *testing.T) {
	r := newRig(t, func(c *modelgw.Config) {
		routes(&stub{stream: saysHello})(c)
		c.Budget.Run.Calls = 1
	})
	c := r.client(t, choir.RoleDirector)
	call := func(run choir.ID) error {
		_, err := c.Call(t.Context(), gateway.CallInfo{Call: id(t), Run: run, Caller: "director"}, ask("hi"), func(model.Delta) {})
		return err
	}
	first := id(t)
	if err := call(first); err != nil {
		t.Fatal(err)
	}
	for range modelgw.MaxAccounts + 20 {
		if err := call(id(t)); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.gw.Accounts(); n > modelgw.MaxAccounts {
		t.Errorf("%d accounts are held", n)
	}
	wantCode(t, call(first), choir.CodeBudget)
}

// An image of half a megabyte is some thousand tokens to a provider, not 230,000.
func TestAnImageIsReservedAsTokensNotAsBytes(t *testing.T) {
	r := newRig(t, func(c *modelgw.Config) {
		routes(&stub{stream: saysHello})(c)
		c.Budget.Run.Tokens = 20_000
	})
	req := ask("look")
	image := model.Image{MediaType: "image/png", Data: strings.Repeat("AAAA", 200_000)}
	req.Messages[0].Content = append(req.Messages[0].Content, model.Block{Kind: model.Picture, Images: []model.Image{image}})
	if _, err := r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: id(t), Run: id(t), Caller: "director"}, req, nil); err != nil {
		t.Error(err)
	}
}
