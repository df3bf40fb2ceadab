package eventstore

import (
	"context"
	"sync"
	"testing"

	"choiros/internal/choir"
)

// panicking is the configuration of a store in which a projection panics on the
// events of a type, and the failures that were told.
func panicking(projection string, eventType choir.Type) (Config, func() []ProjectionFailure) {
	var mu sync.Mutex
	var told []ProjectionFailure
	cfg := testConfig()
	cfg.ProjectionFailed = func(f ProjectionFailure) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, f)
	}
	cfg.beforeReducer = func(name string, e *choir.Event) {
		if name == projection && e.Type == eventType {
			panic("no such thing")
		}
	}
	return cfg, func() []ProjectionFailure {
		mu.Lock()
		defer mu.Unlock()
		return told
	}
}

// TestAProjectionThatPanicsIsNamedAndTheRestGoesOn: on one event, while it is applied
// and in a rebuild.
func TestAProjectionThatPanicsIsNamedAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	cfg, told := panicking("messages", choir.TypeSteeringSubmitted)
	s := must[*Store](t)(Open(ctx, t.TempDir(), cfg))
	defer s.Close()
	run := newID()
	add(t, s, run, "", choir.PromptSubmitted{Text: "one"})
	at := add(t, s, run, "", choir.SteeringSubmitted{Text: "two"}).Seq
	add(t, s, run, "", choir.QuestionAsked{Question: choir.Question{ID: "q", Text: "three"}})
	check := func(failures int) {
		t.Helper()
		said := must[[]Message](t)(s.Messages(ctx, run))
		if len(said) != 2 || said[0].Text != "one" || said[1].Text != "three" {
			t.Errorf("the projection that panicked has %+v", said)
		}
		if r := must[Run](t)(s.Run(ctx, run)); r.State != RunWaiting || r.LastSeq != at+1 {
			t.Errorf("the others stopped: %+v", r)
		}
		got := told()
		if len(got) != failures || got[len(got)-1] != (ProjectionFailure{"messages", at, "no such thing"}) {
			t.Errorf("told %+v", got)
		}
	}
	check(1)
	if err := s.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
	check(2)
	if same, err := s.VerifyProjections(ctx); err != nil || !same {
		t.Errorf("a rebuild gives other rows: %v", err)
	}
}
