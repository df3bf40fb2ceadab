package director_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"choiros/internal/bus/bustest"
	"choiros/internal/choir"
	"choiros/internal/director/conductor"
	"choiros/internal/model/wiretest"
)

// desk is a Director at work on real ground, for tests that are no script.
type desk struct {
	*ground
	t      *testing.T
	server *wiretest.Scripted
}

// sit starts a Director whose model answers by rules; without rules no model
// is configured.
func sit(t *testing.T, rules string, change func(*conductor.Config)) *desk {
	t.Helper()
	script, err := wiretest.ParseScript([]byte(rules))
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, server: wiretest.NewScripted(script)}
	url := d.server.URL
	if len(script.Rules) == 0 {
		url = ""
	}
	d.ground = newGround(t, url)
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	client, err := d.director(ctx, public)
	if err != nil {
		t.Fatal(err)
	}
	models, hangUp := d.models()
	cfg := conductor.Config{
		Log: client, Models: models, Key: key,
		Now:   func() choir.Time { return choir.TimeOf(time.Now()) },
		Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	if change != nil {
		change(&cfg)
	}
	var work sync.WaitGroup
	work.Go(func() { _ = conductor.New(cfg).Serve(ctx) })
	t.Cleanup(func() {
		stop()
		work.Wait()
		hangUp()
		client.Close()
		d.server.Close()
		d.close()
	})
	return d
}

func (d *desk) submit(run choir.ID, payload choir.Payload) {
	d.t.Helper()
	draft, err := choir.NewDraft(choir.DeriveID(run, string(payload.EventType())), payload)
	if err == nil {
		_, err = d.Append(bustest.Within(d.t), choir.RoleCLI, draft.ForRun(run, ""))
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// wait returns the first event of a run with a type.
func (d *desk) wait(run choir.ID, want choir.Type) (found choir.Event) {
	d.t.Helper()
	done := errors.New("found")
	err := d.follow(bustest.Within(d.t), func(e choir.Event) error {
		if e.Run != run || e.Type != want {
			return nil
		}
		found = e
		return done
	})
	if !errors.Is(err, done) {
		d.t.Fatalf("no %s: %v", want, err)
	}
	return found
}

func (d *desk) finished(run choir.ID) (end choir.RunFinished) {
	d.t.Helper()
	decode(d.t, d.wait(run, "run.finished"), &end)
	return end
}

func run(n int) choir.ID { return choir.DeriveID(runID, fmt.Sprint("desk ", n)) }

const (
	toast    = `{"match":{"first":"hello"},"respond":{"tool_calls":[{"name":"show_toast","input":{"text":"Hello."}}]}}`
	question = `{"match":{"first":"unsure"},"respond":{"tool_calls":[{"name":"ask_user","input":{"text":"What?"}}]}}`
	endless  = `{"match":{"first":"work"},"respond":{"tool_calls":[{"name":"submit_plan","input":{"goal":"g","steps":[{"id":"a","title":"t","kind":"run","instruction":"i","acceptance_criteria":["c"]}]}}]}}`
)

func rules(list ...string) string { return `{"rules":[` + strings.Join(list, ",") + `]}` }

// TestPlainWordsAreTheAnswerWhenNothingIsOpen: after one reminder where there was no
// plan, since they may only announce work, and never while a step is open.
func TestPlainWordsAreTheAnswerWhenNothingIsOpen(t *testing.T) {
	t.Parallel()
	d := sit(t, rules(`{"match":{"first":"capital"},"respond":{"text":"Paris is the capital."}}`,
		`{"match":{"first":"steps","turn":1},"respond":{"tool_calls":[{"name":"submit_plan","input":{"goal":1}}]}}`,
		`{"match":{"first":"steps"},"respond":{"text":"I shall plan it."}}`), nil)
	d.submit(run(1), &choir.PromptSubmitted{Text: "capital"})
	if end := d.finished(run(1)); end.Outcome != choir.OutcomeDone || end.Answer != "Paris is the capital." || end.Said != "" || end.Signature == "" {
		t.Errorf("the run ended with %+v", end)
	}
	if asked := len(d.model()); asked != 4 {
		t.Errorf("%d events of model calls", asked)
	}
	d.submit(run(2), &choir.PromptSubmitted{Text: "steps"})
	if end := d.finished(run(2)); end.Outcome != choir.OutcomeFailed || end.Said != "I shall plan it." || strings.Contains(end.Answer, "I shall") {
		t.Errorf("with a refused plan the run ended with %+v", end)
	}
}

// TestAnAnswerSaysHowMuchIsDone: the event and the first words of the document.
func TestAnAnswerSaysHowMuchIsDone(t *testing.T) {
	t.Parallel()
	say := func(first, status string) string {
		return `{"match":{"first":"` + first + `"},"respond":{"tool_calls":[{"name":"answer","input":{` + status + `"text":"Nothing was changed."}}]}}`
	}
	d := sit(t, rules(say("zero", `"status":"not_done",`), say("some", `"status":"partly",`), say("all", `"status":"done",`), say("word", "")), nil)
	for i, c := range []struct {
		prompt string
		status choir.AnswerStatus
		begins string
	}{{"zero", choir.AnsweredNotDone, "Not done."}, {"some", choir.AnsweredPartly, "Partly done."}, {"all", "", "Answered."}, {"word", "", "Answered."}} {
		d.submit(run(i), &choir.PromptSubmitted{Text: c.prompt})
		if end := d.finished(run(i)); end.Outcome != choir.OutcomeDone || end.Status != c.status {
			t.Errorf("%s: %+v", c.prompt, end)
		}
		var shown string
		for e, err := range d.Events(t.Context(), 1, 0) {
			if err == nil && e.Run == run(i) && e.Type == choir.TypeDocumentVersioned {
				var v choir.DocumentVersioned
				decode(t, e, &v)
				shown = v.Content
			}
		}
		if !strings.HasPrefix(shown, "# "+c.prompt+"\n\n**"+c.begins+"**\n") {
			t.Errorf("%s: the document is %q", c.prompt, shown)
		}
	}
}

func TestARunThatWaitsForTheUserHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	d := sit(t, rules(toast, question), func(c *conductor.Config) { c.MaxActive = 1 })
	d.submit(run(1), &choir.PromptSubmitted{Text: "unsure"})
	d.wait(run(1), "question.asked")
	d.submit(run(2), &choir.PromptSubmitted{Text: "hello"})
	if end := d.finished(run(2)); end.Outcome != choir.OutcomeDone {
		t.Errorf("the other run ended %+v", end)
	}
}

// TestARunInTheQueueStopsWithinASecond tries a few times, because a busy machine is slow now and then.
func TestARunInTheQueueStopsWithinASecond(t *testing.T) {
	t.Parallel()
	fastest := time.Hour
	for tries := 0; tries < 5 && fastest > time.Second; tries++ {
		fastest = min(fastest, stopQueued(t))
	}
	if fastest > time.Second {
		t.Errorf("at best they ended after %s", fastest)
	}
}

// stopQueued cancels a run that waits for its turn, and then the run that is at work, and returns
// how long it took until both had ended.
func stopQueued(t *testing.T) time.Duration {
	d := sit(t, rules(toast, endless), func(c *conductor.Config) { c.MaxActive = 1 })
	d.submit(run(1), &choir.PromptSubmitted{Text: "work"})
	d.wait(run(1), "task.dispatched")
	d.submit(run(2), &choir.PromptSubmitted{Text: "hello"})
	began := time.Now()
	d.submit(run(2), &choir.RunCancelRequested{})
	if end := d.finished(run(2)); end.Outcome != choir.OutcomeCancelled {
		t.Errorf("the queued run ended %+v", end)
	}
	d.submit(run(1), &choir.RunCancelRequested{})
	if end := d.finished(run(1)); end.Outcome != choir.OutcomeCancelled {
		t.Errorf("the working run ended %+v", end)
	}
	return time.Since(began)
}

func TestAModelThatFailsForAMomentIsAskedAgain(t *testing.T) {
	t.Parallel()
	d := sit(t, rules(`{"times":1,"match":{},"fail":{"malformed":true}}`, toast), nil)
	d.submit(run(1), &choir.PromptSubmitted{Text: "hello"})
	if end := d.finished(run(1)); end.Outcome != choir.OutcomeDone {
		t.Errorf("the run ended %+v", end)
	}
}

func TestAModelThatKeepsFailingEndsTheRunWithItsReason(t *testing.T) {
	t.Parallel()
	d := sit(t, rules(`{"match":{},"fail":{"status":400,"type":"invalid_request_error","message":"no such model"}}`), nil)
	d.submit(run(1), &choir.PromptSubmitted{Text: "hello"})
	if end := d.finished(run(1)); end.Outcome != choir.OutcomeFailed || !strings.Contains(end.Answer, "no such model") || !strings.HasSuffix(end.Answer, ". There was no plan yet and nothing was changed.") {
		t.Errorf("the run ended %+v", end)
	}
}

func TestWithoutAModelTheUserIsToldWhatToDo(t *testing.T) {
	t.Parallel()
	d := sit(t, rules(), nil)
	d.submit(run(1), &choir.PromptSubmitted{Text: "hello"})
	if end := d.finished(run(1)); end.Code != choir.CodeUnavailable || !strings.Contains(end.Answer, "(") {
		t.Errorf("the run ended %+v", end)
	}
	if events := d.model(); len(events) > 0 {
		t.Errorf("a model was called: %v", events)
	}
}

// model lists the events of model calls.
func (d *desk) model() (out []choir.Type) {
	events, err := d.EventsAfter(d.t.Context(), 0, choir.MaxEventsAfter)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, e := range events {
		if strings.HasPrefix(string(e.Type), "model.") {
			out = append(out, e.Type)
		}
	}
	return out
}

func TestTheTimeLimitEndsARunThatWaitsForATask(t *testing.T) {
	t.Parallel()
	began := choir.TimeOf(time.Now())
	var waits atomic.Bool // until then no time passes, however long the machine takes
	d := sit(t, rules(endless), func(c *conductor.Config) {
		c.Limits.Seconds = 1
		c.Now = func() choir.Time {
			if waits.Load() {
				return choir.TimeOf(time.Now()) + 1000
			}
			return began
		}
	})
	d.submit(run(1), &choir.PromptSubmitted{Text: "work"})
	d.wait(run(1), "task.dispatched")
	waits.Store(true)
	if end := d.finished(run(1)); end.Code != choir.CodeBudget || !strings.Contains(end.Answer, "limit of 1 seconds") {
		t.Errorf("the run ended %+v", end)
	}
	var over choir.BudgetReached
	decode(t, d.wait(run(1), "budget.reached"), &over)
	if over.Limit != "time" || over.Max != 1 {
		t.Errorf("the limit is %+v", over)
	}
}

// TestALongPromptHasADocument submits the longest prompt there may be.
func TestALongPromptHasADocument(t *testing.T) {
	t.Parallel()
	d := sit(t, rules(`{"match":{},"respond":{"tool_calls":[{"name":"answer","input":{"text":"Read."}}]}}`), nil)
	d.submit(run(1), &choir.PromptSubmitted{Text: strings.Repeat("\u00e4", 20_000)})
	if end := d.finished(run(1)); end.Outcome != choir.OutcomeDone {
		t.Errorf("the run ended %+v", end)
	}
	d.wait(run(1), "document.versioned")
}
