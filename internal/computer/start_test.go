package computer

import (
	"slices"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// story is a log to which a test appends as several roles.
type story struct {
	t *testing.T
	*Computer
}

func (s story) tell(role choir.Role, run choir.ID, p choir.Payload) uint64 {
	s.t.Helper()
	d, err := choir.NewDraft(newTestID(s.t), p)
	if err != nil {
		s.t.Fatal(err)
	}
	receipts, err := s.store.Append(s.t.Context(), role, d.ForRun(run, ""))
	if err != nil {
		s.t.Fatal(err)
	}
	return receipts[0].Seq
}

func TestTheDirectorStartsBeforeItsOldestOpenRun(t *testing.T) {
	t.Parallel()
	store, err := eventstore.Open(t.Context(), t.TempDir(), eventstore.Config{
		Computer: newTestID(t), User: newTestID(t), Now: func() choir.Time { return choir.TimeOf(time.Now()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := story{t, &Computer{store: store}}
	starts := func(after uint64, projects ...string) {
		t.Helper()
		got, err := s.directorStart(t.Context())
		if err != nil || got.After != after || !slices.Equal(got.Projects, projects) {
			t.Errorf("it starts at %+v, %v; want after %d with %v", got, err, after, projects)
		}
	}
	starts(0)
	over, open, later := newTestID(t), newTestID(t), newTestID(t)
	s.tell(choir.RoleCLI, "", choir.RepoAdded{Name: "zebra"})
	s.tell(choir.RoleCLI, over, choir.PromptSubmitted{Text: "one"})
	s.tell(choir.RoleCLI, "", choir.RepoAdded{Name: "ant"})
	last := s.tell(choir.RoleCLI, "", choir.RepoAdded{Name: "zebra"})
	starts(1, "zebra")
	end := s.tell(choir.RoleDirector, over, choir.RunFinished{Outcome: choir.OutcomeDone, Answer: "Done."})
	starts(end, "zebra", "ant")
	first := s.tell(choir.RoleCLI, open, choir.PromptSubmitted{Text: "two"})
	s.tell(choir.RoleCLI, "", choir.RepoAdded{Name: "bee"})
	s.tell(choir.RoleCLI, later, choir.PromptSubmitted{Text: "three"})
	if first-1 < last {
		t.Fatal("the story is told in another order")
	}
	starts(first-1, "zebra", "ant")
}
