package modelgw_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/model"
	"choiros/internal/model/anthropic"
	"choiros/internal/model/attempt"
	"choiros/internal/model/gateway"
	"choiros/internal/model/openai"
	"choiros/internal/model/wiretest"
)

// billedPrice is a dollar for each input token and ten for each output token.
var billedPrice = modelgw.Price{Input: 1e6, Output: 1e7, CacheRead: 1e6, CacheWrite: 1e6}

// billed connects a rig to a service of our own that bills what it generates.
func billed(b *wiretest.Biller, wire wiretest.Wire) func(*modelgw.Config) {
	key := func(context.Context) (string, error) { return "key", nil }
	var p model.Provider = anthropic.New(anthropic.Config{BaseURL: b.URL, Key: key, Retry: attempt.Policy{First: 1}})
	if wire == wiretest.OpenAI {
		p = openai.New(openai.Config{BaseURL: b.URL, Key: key, Retry: attempt.Policy{First: 1}})
	}
	return func(c *modelgw.Config) {
		c.Routing = modelgw.Fixed(map[string]modelgw.Route{"director": {Provider: p, Model: "m"}, "associate": {Provider: p, Model: "m"}}, map[string]modelgw.Price{"m": billedPrice})
		c.Budget.Run.CostUSD = choir.MaxCostUSD
	}
}

// sums adds up what was billed, and what the log says, exact and estimated.
func sums(t *testing.T, r *rig, b *wiretest.Biller) (bills, exact, estimated float64) {
	t.Helper()
	for _, bill := range b.Bills() {
		bills += (float64(bill.Input)*billedPrice.Input + float64(bill.Output)*billedPrice.Output) / 1e6
	}
	for _, e := range r.log.of("model.returned") {
		if p := payload[choir.ModelReturned](t, e); p.Estimated {
			estimated += p.CostUSD
		} else {
			exact += p.CostUSD
		}
	}
	return bills, exact, estimated
}

// until waits for a condition.
func until(holds func() bool) {
	for !holds() {
		runtime.Gosched()
	}
}

// settled waits until no call is open at the gateway and every request has its
// bill.
func (r *rig) settled(b *wiretest.Biller) {
	until(func() bool { return r.gw.InFlight() == 0 && len(b.Bills()) == b.Asked() })
}

// director makes one call of the Director, and leaves after so many pieces; -1
// for never.
func (r *rig) director(t *testing.T, run choir.ID, maxTokens, leaveAfter int) error {
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	req, heard := ask("hi"), 0
	req.MaxTokens = maxTokens
	_, err := r.client(t, choir.RoleDirector).Call(ctx, gateway.CallInfo{Call: id(t), Run: run, Caller: "director"}, req, func(model.Delta) {
		r.heard.Add(1)
		if heard++; heard == leaveAfter {
			leave()
		}
	})
	return err
}

// program makes one call of a program, and hangs up after the first line when it
// is cut. It returns the status and, of a call that is not cut, the answer.
func (r *rig) program(t *testing.T, cut bool) (int, string) {
	t.Helper()
	c := plainHTTP(t)
	resp, err := c.Post(r.http.URL+"/openai/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"x","max_tokens":300,"stream":true,"messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if cut {
		_, _ = bufio.NewReader(resp.Body).ReadString('\n')
		return resp.StatusCode, ""
	}
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(all)
}

// pace lets a biller hand out so many pieces.
func pace(t *testing.T, b *wiretest.Biller, pieces int) {
	for range pieces {
		select {
		case b.Pace <- struct{}{}:
		case <-t.Context().Done():
			return
		}
	}
}

// hangUp makes the call of a program that hears one piece and hangs up, and
// returns once the gateway has noticed.
func (r *rig) hangUp(t *testing.T, b *wiretest.Biller) int {
	t.Helper()
	before := r.ended.Load()
	go pace(t, b, 1)
	status, _ := r.program(t, true)
	until(func() bool { return r.ended.Load() > before })
	return status
}

func TestTheLogCostsWhatTheProviderBilled(t *testing.T) {
	for _, wire := range []wiretest.Wire{wiretest.Anthropic, wiretest.OpenAI} {
		for _, c := range []struct {
			name   string
			breaks func(n int) int
			do     func(t *testing.T, r *rig, b *wiretest.Biller)
			exact  bool
		}{
			{"whole", nil, func(t *testing.T, r *rig, b *wiretest.Biller) {
				go pace(t, b, 60)
				for range 3 {
					if err := r.director(t, id(t), 300, -1); err != nil {
						t.Fatal(err)
					}
				}
			}, true},
			{"the reader of a role goes", nil, func(t *testing.T, r *rig, b *wiretest.Biller) {
				go pace(t, b, 5)
				wantCode(t, r.director(t, id(t), 300, 5), choir.CodeCancelled)
			}, false},
			{"a program hangs up", nil, func(t *testing.T, r *rig, b *wiretest.Biller) {
				r.hangUp(t, b)
				go pace(t, b, 19)
			}, true},
			{"the provider breaks in the middle", func(int) int { return 7 }, func(t *testing.T, r *rig, b *wiretest.Biller) {
				go pace(t, b, 14) // it is asked once more, and breaks again
				wantCode(t, r.director(t, id(t), 300, -1), choir.CodeProvider)
			}, false},
			{"the provider breaks before the first piece and answers then", func(n int) int { return 100 * max(0, n-2) }, func(t *testing.T, r *rig, b *wiretest.Biller) {
				go pace(t, b, 20)
				if err := r.director(t, id(t), 300, -1); err != nil {
					t.Fatal(err)
				}
			}, false},
			{"the gateway closes", nil, func(t *testing.T, r *rig, b *wiretest.Biller) {
				done := make(chan error, 2)
				for range 2 {
					go func() { done <- r.director(t, id(t), 300, -1) }()
				}
				until(func() bool { return b.Asked() == 2 })
				pace(t, b, 4)
				until(func() bool { return r.heard.Load() == 4 }) // nothing is on its way
				r.gw.Close()
				r.http.Close()
				r.settled(b)
				r.open(t)
				go pace(t, b, 40) // the roles ask again
				for range 2 {
					if err := <-done; err != nil {
						t.Fatal(err)
					}
				}
			}, false},
		} {
			t.Run(string(wire)+"/"+c.name, func(t *testing.T) {
				b := wiretest.NewBiller(20)
				t.Cleanup(b.Close)
				b.Pace, b.Break = make(chan struct{}), c.breaks
				r := newRig(t, billed(b, wire))
				c.do(t, r, b)
				r.settled(b)
				bills, exact, estimated := sums(t, r, b)
				if bills == 0 || c.exact != (estimated == 0) {
					t.Errorf("billed %v, of which %v is in the log and %v as an estimate", bills, exact, estimated)
				}
				if logged := exact + estimated; logged < bills-1e-9 || logged-bills > estimated {
					t.Errorf("billed %v, the log says %v and %v more as an estimate", bills, exact, estimated)
				}
				if c.exact && math.Abs(bills-exact) > 1e-9 {
					t.Errorf("billed %v, the log says %v", bills, exact)
				}
			})
		}
	}
}

func TestProgramsThatHangUpPayForTheirCalls(t *testing.T) {
	b := wiretest.NewBiller(80) // 240 tokens of output
	t.Cleanup(b.Close)
	r := newRig(t, func(c *modelgw.Config) {
		billed(b, wiretest.OpenAI)(c)
		work := modelgw.Work{Run: id(t), Task: id(t), Allowed: &choir.ModelBudget{CostUSD: 3600}} // one reserves about 3030
		c.Running = func(*http.Request) (modelgw.Work, error) { return work, nil }
	})
	b.Pace = make(chan struct{})
	accepted := 0
	if r.hangUp(t, b) == http.StatusOK {
		accepted++
	}
	go pace(t, b, 79+24*80)
	for range 24 {
		if status, _ := r.program(t, true); status == http.StatusOK {
			accepted++
		}
	}
	r.settled(b)
	bills, exact, estimated := sums(t, r, b)
	if accepted != 1 || b.Asked() != 1 {
		t.Errorf("%d of 25 calls that were cut were accepted, and the provider asked %d times, for a budget of one", accepted, b.Asked())
	}
	if bills != exact || estimated != 0 {
		t.Errorf("billed %v, the log says %v and %v as an estimate", bills, exact, estimated)
	}
}

// Each attempt is billed for its input. Reserved was one of them, and five were made.
func TestAttemptsThatBreakStayWithinTheBound(t *testing.T) {
	for _, wire := range []wiretest.Wire{wiretest.Anthropic, wiretest.OpenAI} {
		t.Run(string(wire), func(t *testing.T) {
			const most = 10_000 // the estimate of an attempt is about 4,100, its bill 3,000
			b := wiretest.NewBiller(20)
			t.Cleanup(b.Close)
			b.Break = func(int) int { return 0 }
			run := id(t)
			r := newRig(t, func(c *modelgw.Config) { billed(b, wire)(c); c.Budget.Run.CostUSD = most })
			req := ask(strings.Repeat("words, words", 1000))
			req.MaxTokens = 3
			_, err := r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: id(t), Run: run, Caller: "director"}, req, nil)
			wantCode(t, err, choir.CodeBudget)
			r.settled(b)
			bills, exact, estimated := sums(t, r, b)
			if bills > most || b.Asked() != 2 || exact != 0 || estimated < bills {
				t.Errorf("%d attempts were billed %v of %v; the log says %v and %v as an estimate", b.Asked(), bills, float64(most), exact, estimated)
			}
			if n := len(r.log.of("budget.reached")); n != 1 {
				t.Errorf("the log says %d times that the limit was reached", n)
			}
		})
	}
}

// The room that an attempt needs may be reserved by calls that are open: it is not
// made then, and the budget is not said to be reached.
func TestAnAttemptThatFitsOnlyWithoutTheOpenCallsIsNotMade(t *testing.T) {
	asked, goOn := make(chan struct{}), make(chan struct{})
	broke := choir.E("stub", choir.CodeProvider, "the stream was cut")
	p := &stub{stream: func(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
		if req.MaxTokens == 1 {
			close(asked)
			<-goOn
			return saysHello(ctx, req, on)
		}
		broken := model.Usage{Uncounted: 1, Broken: true}
		return model.Response{Usage: broken}, model.AskAgain(ctx, broken, broke)
	}}
	text := strings.Repeat("words, words", 1000)
	r := newRig(t, func(c *modelgw.Config) {
		c.Routing = modelgw.Fixed(map[string]modelgw.Route{"director": {Provider: p, Model: "m"}}, map[string]modelgw.Price{"m": billedPrice})
		c.Budget.Run.CostUSD = 10_000 // a call reserves about 4,100
	})
	run, open := id(t), make(chan error, 1)
	call := func(maxTokens int) error {
		req := ask(text)
		req.MaxTokens = maxTokens
		_, err := r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: id(t), Run: run, Caller: "director"}, req, nil)
		return err
	}
	go func() { open <- call(1) }()
	<-asked
	err := call(2)
	close(goOn)
	wantCode(t, err, choir.CodeProvider)
	if err := <-open; err != nil || len(r.log.of("budget.reached")) > 0 {
		t.Errorf("the open call: %v; reached: %v", err, r.log.of("budget.reached"))
	}
}

func TestCallsThatStartTogetherStayWithinTheBound(t *testing.T) {
	const most = 20_000 // each call reserves about 3,040 and is billed about 3,010
	for name, bound := range map[string]func(*modelgw.Config){
		"run":      func(c *modelgw.Config) { c.Budget.Run.CostUSD = most },
		"computer": func(c *modelgw.Config) { c.Budget.ComputerCostUSD = most },
	} {
		t.Run(name, func(t *testing.T) {
			b := wiretest.NewBiller(100)
			t.Cleanup(b.Close)
			r := newRig(t, func(c *modelgw.Config) { billed(b, wiretest.Anthropic)(c); bound(c) })
			var all sync.WaitGroup
			var mu sync.Mutex
			answered, run := 0, id(t)
			for range 16 {
				all.Go(func() {
					err := r.director(t, run, 300, -1)
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						answered++
					} else if choir.CodeOf(err) != choir.CodeBudget {
						t.Error(err)
					}
				})
			}
			all.Wait()
			bills, exact, _ := sums(t, r, b)
			if bills > most || bills != exact || answered != 6 {
				t.Errorf("%d calls were answered and billed %v of %v; the log says %v", answered, bills, float64(most), exact)
			}
		})
	}
}

func TestAReservationWaitsForTheOpenCallsBeforeItIsRefused(t *testing.T) {
	b := wiretest.NewBiller(10)
	t.Cleanup(b.Close)
	b.Pace = make(chan struct{})
	run := id(t)
	r := newRig(t, func(c *modelgw.Config) {
		billed(b, wiretest.Anthropic)(c)
		c.Budget.Run.CostUSD = 4000 // one call reserves 3,040 and needs 330
	})
	done := make(chan error, 2)
	go func() { done <- r.director(t, run, 300, -1) }()
	until(func() bool { return b.Asked() == 1 })
	go func() { done <- r.director(t, run, 300, -1) }()
	until(func() bool { return r.gw.InFlight() == 2 })
	pace(t, b, 5)
	if b.Asked() != 1 {
		t.Error("the second call left while there was no room beside the first")
	}
	pace(t, b, 5)
	go pace(t, b, 10)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestALimitThatWasReachedStaysReachedAfterARestart(t *testing.T) {
	b := wiretest.NewBiller(100)
	t.Cleanup(b.Close)
	r := newRig(t, func(c *modelgw.Config) {
		billed(b, wiretest.OpenAI)(c)
		c.Budget.ComputerCostUSD = 3500
	})
	if err := r.director(t, "", 300, -1); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		e := wantCode(t, r.director(t, "", 300, -1), choir.CodeBudget)
		if !strings.Contains(e.Error(), "limits.cost_usd") {
			t.Errorf("the refusal does not say which limit: %v", e)
		}
		r.close()
		r.open(t)
	}
	if n := len(r.log.of("budget.reached")); b.Asked() != 1 || n != 1 {
		t.Errorf("the provider was asked %d times, and the log says %d times that the limit was reached", b.Asked(), n)
	}
}

func TestACallThatAKillLeftOpenIsCountedOnce(t *testing.T) {
	b := wiretest.NewBiller(20)
	t.Cleanup(b.Close)
	r := newRig(t, billed(b, wiretest.Anthropic))
	run := id(t)
	if err := errors.Join(r.director(t, run, 300, -1), r.director(t, run, 300, 1)); choir.CodeOf(err) == choir.CodeInternal {
		t.Fatal(err)
	}
	r.settled(b)
	r.log.events = r.log.events[:len(r.log.events)-1] // as if it had been killed before the second call's end
	for range 3 {
		r.close()
		r.open(t)
		if err := r.gw.CloseUnreturned(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ends := r.log.of("model.returned")
	if len(ends) != 2 {
		t.Fatalf("two calls have %d ends", len(ends))
	}
	bills, exact, estimated := sums(t, r, b)
	if logged := exact + estimated; logged < bills || estimated < 3000 {
		t.Errorf("billed %v, the log says %v, and %v as an estimate", bills, exact, estimated)
	}
	called := r.log.of("model.called")
	if end := payload[choir.ModelReturned](t, ends[1]); !end.Estimated || end.Code != choir.CodeCancelled || ends[1].Cause != called[1].ID || ends[1].Run != run {
		t.Errorf("the end of the call that was left open is %+v", end)
	}
	r.cfg.Budget.Run.CostUSD = exact + estimated + 1
	r.close()
	r.open(t)
	wantCode(t, r.director(t, run, 300, -1), choir.CodeBudget)
	// The role that waits for it asks again, and is answered.
	call := payload[choir.ModelCalled](t, called[1])
	r.cfg.Budget.Run.CostUSD = choir.MaxCostUSD
	r.close()
	r.open(t)
	req := ask("hi")
	req.MaxTokens = 300
	if _, err := r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: call.Call, Run: run, Caller: "director"}, req, nil); err != nil {
		t.Error(err)
	}
}

func TestAServiceThatDoesNotCountIsEstimated(t *testing.T) {
	p := &stub{stream: func(_ context.Context, _ model.Request, on func(model.Delta)) (model.Response, error) {
		on(model.Delta{Text: "Hello, world."})
		resp := hello()
		resp.Usage = model.Usage{}
		return resp, nil
	}}
	r := newRig(t, func(c *modelgw.Config) {
		routes(p)(c)
		c.Routing = modelgw.Fixed(map[string]modelgw.Route{"director": {Provider: p, Model: "m"}}, map[string]modelgw.Price{"m": billedPrice})
		c.Budget.Run.CostUSD = choir.MaxCostUSD
	})
	if err := r.director(t, id(t), 300, -1); err != nil {
		t.Fatal(err)
	}
	if end := payload[choir.ModelReturned](t, r.log.of("model.returned")[0]); !end.Estimated || end.InputTokens < 20 || end.OutputTokens != 5 || end.CostUSD != float64(end.InputTokens)+50 {
		t.Errorf("%+v", end)
	}
}
