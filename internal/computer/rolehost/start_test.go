package rolehost

import (
	"slices"
	"testing"

	"choiros/internal/choir"
)

func TestTheDirectorStartsBeforeItsOldestOpenRun(t *testing.T) {
	t.Parallel()
	log, events := newLog(t)
	h := New(log, events, nil, nil, Config{ReadOnly: true})
	told := func(role choir.Role, run choir.ID, p choir.Payload) uint64 {
		t.Helper()
		d := must(choir.NewDraft(newID(t), p))(t)
		return must(log.Append(t.Context(), role, d.ForRun(run, "")))(t)[0].Seq
	}
	starts := func(after uint64, projects ...string) {
		t.Helper()
		got, err := h.directorStart(t.Context())
		if err != nil || got.After != after || !slices.Equal(got.Projects, projects) {
			t.Errorf("it starts at %+v, %v; want after %d with %v", got, err, after, projects)
		}
	}
	starts(0)
	over, open, later := newID(t), newID(t), newID(t)
	told(choir.RoleCLI, "", choir.RepoAdded{Name: "zebra"})
	told(choir.RoleCLI, over, choir.PromptSubmitted{Text: "one"})
	told(choir.RoleCLI, "", choir.RepoAdded{Name: "ant"})
	last := told(choir.RoleCLI, "", choir.RepoAdded{Name: "zebra"})
	starts(1, "zebra")
	end := told(choir.RoleDirector, over, choir.RunFinished{Outcome: choir.OutcomeDone, Answer: "Done."})
	starts(end, "zebra", "ant")
	first := told(choir.RoleCLI, open, choir.PromptSubmitted{Text: "two"})
	told(choir.RoleCLI, "", choir.RepoAdded{Name: "bee"})
	told(choir.RoleCLI, later, choir.PromptSubmitted{Text: "three"})
	if first-1 < last {
		t.Fatal("the events are appended in another order")
	}
	starts(first-1, "zebra", "ant")
}
