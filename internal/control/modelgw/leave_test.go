package modelgw_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/model"
	"choiros/internal/model/gateway"
)

// postProgram makes one call of a program that goes on until ctx ends. The status, 0 after
// ctx, is sent to answers.
func (r *rig) postProgram(ctx context.Context, t *testing.T, answers chan<- int) {
	c := plainHTTP(t)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.http.URL+"/v1/messages",
		strings.NewReader(`{"model":"x","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		resp, err := c.Do(req)
		if err != nil {
			answers <- 0
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		answers <- resp.StatusCode
	}()
}

// Calls of programs that had hung up left one after the other for two minutes, also after
// their task was stopped.
func TestCallsOfProgramsThatHungUpAreNotSent(t *testing.T) {
	release := make(chan struct{})
	p := &stub{stream: func(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
		<-release
		return saysHello(ctx, req, on)
	}}
	r := newRig(t, func(c *modelgw.Config) { routes(p)(c); c.Concurrent = 1 })
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	const waiting = 5
	answers := make(chan int, 1+waiting)
	r.postProgram(ctx, t, answers)
	until(func() bool { return p.calls() == 1 })
	for range waiting {
		r.postProgram(ctx, t, answers)
	}
	until(func() bool { return r.gw.InFlight() == 1+waiting })
	hangUp()
	until(func() bool { return r.ended.Load() == 1+waiting })
	close(release)
	until(func() bool { return r.gw.InFlight() == 0 })
	if called, returned := len(r.log.of(choir.TypeModelCalled)), len(r.log.of(choir.TypeModelReturned)); called != 1 || returned != 1 || p.calls() != 1 {
		t.Errorf("of %d calls that waited %d were sent; the log has %d ends", waiting, called-1, returned)
	}
	end := payload[choir.ModelReturned](t, r.log.of(choir.TypeModelReturned)[0])
	if end.Code != "" {
		t.Errorf("the call at the provider did not linger: %+v", end)
	}
}

func TestAFallbackIsNotAskedForAProgramThatHungUp(t *testing.T) {
	release := make(chan struct{})
	first, second := &stub{stream: func(context.Context, model.Request, func(model.Delta)) (model.Response, error) {
		<-release
		return model.Response{}, choir.E("stub", choir.CodeOverloaded, "no")
	}}, &stub{stream: saysHello}
	r := newRig(t, withFallback(first, second))
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	r.postProgram(ctx, t, make(chan int, 1))
	until(func() bool { return first.calls() == 1 })
	hangUp()
	until(func() bool { return r.ended.Load() == 1 })
	close(release)
	until(func() bool { return r.gw.InFlight() == 0 })
	if second.calls() != 0 || len(r.log.of(choir.TypeModelCalled)) != 1 {
		t.Errorf("the fallback was asked %d times", second.calls())
	}
}

// The end of a paused run let the calls that waited for the pause leave, after its end.
func TestACallThatWaitedWhileItsTaskEndedIsNotSent(t *testing.T) {
	for _, caller := range []choir.Role{"", choir.RoleDirector} {
		t.Run("as "+string(caller), func(t *testing.T) {
			p := &stub{stream: saysHello}
			held, resume := make(chan choir.ID), make(chan struct{})
			var over atomic.Bool
			var asked atomic.Value
			r := newRig(t, func(c *modelgw.Config) {
				routes(p)(c)
				c.Hold = func(_ context.Context, run choir.ID) error {
					held <- run
					<-resume
					return nil
				}
				c.MayCall = func(_ context.Context, role choir.Role, run, task choir.ID) error {
					asked.Store([]string{string(role), string(run), string(task)})
					if over.Load() {
						return choir.E("test", choir.CodeConflict, "run %s is over", run)
					}
					return nil
				}
			})
			run := id(t)
			answers := make(chan int, 1)
			if caller == "" {
				r.postProgram(t.Context(), t, answers)
			} else {
				go func() {
					_, err := r.client(t, caller).Call(t.Context(), gateway.CallInfo{Call: id(t), Run: run, Caller: string(caller)}, ask("hi"), nil)
					answers <- choir.CodeOf(err).HTTPStatus()
				}()
			}
			of := <-held
			over.Store(true) // the owner cancels the run
			close(resume)
			if status := <-answers; status != http.StatusConflict {
				t.Errorf("the call is answered %d", status)
			}
			if n := len(r.log.of(choir.TypeModelCalled)); n != 0 || p.calls() != 0 {
				t.Errorf("it is %d times in the log, and the provider was asked %d times", n, p.calls())
			}
			if last, ok := asked.Load().([]string); !ok || last[1] != string(of) || caller == "" && (last[0] != string(choir.RoleAssociate) || last[2] == "") {
				t.Errorf("asked was for %q", last)
			}
		})
	}
}

func TestABrokenAttemptIsNotRepeatedAfterTheEndOfTheTask(t *testing.T) {
	var over atomic.Bool
	p := &stub{stream: func(ctx context.Context, _ model.Request, _ func(model.Delta)) (model.Response, error) {
		broke := choir.E("stub", choir.CodeProvider, "it broke")
		if err := model.AskAgain(ctx, model.Usage{}, broke); err != nil {
			t.Errorf("an open task is refused a second attempt: %v", err)
		}
		over.Store(true)
		return model.Response{}, model.AskAgain(ctx, model.Usage{}, broke)
	}}
	r := newRig(t, func(c *modelgw.Config) {
		routes(p)(c)
		c.MayCall = func(_ context.Context, _ choir.Role, run, _ choir.ID) error {
			if over.Load() {
				return choir.E("test", choir.CodeConflict, "run %s is over", run)
			}
			return nil
		}
	})
	_, err := r.client(t, choir.RoleDirector).Call(t.Context(), gateway.CallInfo{Call: id(t), Run: id(t), Caller: "director"}, ask("hi"), nil)
	wantCode(t, err, choir.CodeConflict)
}
