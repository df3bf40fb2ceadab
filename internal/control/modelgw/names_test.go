package modelgw_test

import (
	"strconv"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/eventstore"
	"choiros/internal/model/gateway"
)

// realLog is a computer's log in a folder of the test.
func realLog(t *testing.T) *eventstore.Store {
	t.Helper()
	log, err := eventstore.Open(t.Context(), t.TempDir(), eventstore.Config{
		Computer: id(t), User: id(t), Now: func() choir.Time { return choir.TimeOf(time.Now()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log
}

// squat has the Associate use an id that is not its own.
func squat(t *testing.T, log *eventstore.Store, id, run choir.ID) {
	t.Helper()
	d, err := choir.NewDraft(id, choir.TaskProgressed{Kind: "progress", Text: "mine"})
	if err == nil {
		_, err = log.Append(t.Context(), choir.RoleAssociate, d.ForRun(run, run))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func eventsOf(t *testing.T, log *eventstore.Store, want choir.Type) (out []choir.Event) {
	t.Helper()
	events, err := log.EventsAfter(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Type == want {
			out = append(out, e)
		}
	}
	return out
}

func TestACallIsRecordedOnceWhoeverTookTheIdsOfItsEvents(t *testing.T) {
	log := realLog(t)
	p := &stub{stream: saysHello}
	r := newRig(t, func(c *modelgw.Config) { routes(p)(c); c.Log = log })
	info := gateway.CallInfo{Call: id(t), Run: id(t), Caller: "director"}
	for attempt := 1; attempt <= 2; attempt++ {
		squat(t, log, choir.DeriveID(info.Call, "model.called", strconv.Itoa(attempt)), info.Run)
		squat(t, log, choir.DeriveID(info.Call, "model.returned", strconv.Itoa(attempt)), info.Run)
	}
	c := r.client(t, choir.RoleDirector)
	for range 3 {
		resp, err := c.Call(t.Context(), info, ask("hi"), nil)
		if err != nil || resp.Stop != hello().Stop {
			t.Fatalf("the call got %+v, %v", resp, err)
		}
		r.close() // what is remembered is not what answers
		r.open(t)
	}
	called, returned := eventsOf(t, log, "model.called"), eventsOf(t, log, "model.returned")
	if p.calls() != 1 || len(called) != 1 || len(returned) != 1 || returned[0].Cause != called[0].ID {
		t.Errorf("%d calls, %d model.called, %d model.returned", p.calls(), len(called), len(returned))
	}
	if u, err := log.Usage(t.Context(), info.Run); err != nil || u.Calls != 1 || u.OutputTokens != 20 {
		t.Errorf("the usage is %+v, %v", u, err)
	}
}

func TestACallerCannotTakeTheCallOfAnother(t *testing.T) {
	log := realLog(t)
	p := &stub{stream: saysHello}
	r := newRig(t, func(c *modelgw.Config) { routes(p)(c); c.Log = log })
	call, run := id(t), id(t)
	for _, caller := range []string{"associate", "director", "associate", "director"} {
		info := gateway.CallInfo{Call: call, Run: run, Caller: caller}
		if _, err := r.client(t, choir.Role(caller)).Call(t.Context(), info, ask(caller), nil); err != nil {
			t.Fatalf("the %s: %v", caller, err)
		}
	}
	if n := len(eventsOf(t, log, "model.returned")); n != 2 || p.calls() != 2 {
		t.Errorf("%d model.returned, %d calls", n, p.calls())
	}
}

func TestABudgetIsRecordedWhoeverTookTheIdOfItsEvent(t *testing.T) {
	log := realLog(t)
	p := &stub{stream: saysHello}
	r := newRig(t, func(c *modelgw.Config) { routes(p)(c); c.Log = log; c.Budget.Run.Tokens = 500 })
	run := id(t)
	squat(t, log, choir.DeriveID(run, "budget", "run", "tokens", "500"), run)
	c := r.client(t, choir.RoleDirector)
	refused := 0
	for range 10 {
		_, err := c.Call(t.Context(), gateway.CallInfo{Call: id(t), Run: run, Caller: "director"}, ask("hi"), nil)
		if err != nil {
			wantCode(t, err, choir.CodeBudget)
			refused++
		}
	}
	if n := len(eventsOf(t, log, "budget.reached")); n != 1 || refused < 2 {
		t.Errorf("%d budget.reached for %d refused calls", n, refused)
	}
}
