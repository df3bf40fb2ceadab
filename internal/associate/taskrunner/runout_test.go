package taskrunner_test

import (
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// TestATaskThatRunsOutEndsInOrder: the model is asked where it stands, and its words and
// what it tried are in the result.
func TestATaskThatRunsOutEndsInOrder(t *testing.T) {
	t.Parallel()
	words := "Half of it is done."
	for _, c := range []struct {
		name    string
		task    choir.DirectorTask
		work    []model.Response
		code    choir.ResultCode
		told    string
		changes bool
	}{
		{"time", choir.DirectorTask{TimeBudgetS: 1}, []model.Response{write("x"), use("bash", `{"command":"sleep 100"}`)}, choir.ResultTimeBudget, "Your time for commands and checks is used up.", true},
		{"tokens", choir.DirectorTask{TokenBudget: 150}, []model.Response{write("x"), write("y")}, choir.ResultTokenBudget, "Your tokens are used up.", true},
		{"calls", choir.DirectorTask{}, slices.Repeat([]model.Response{use("bash", `{"command":"true"}`)}, 60), choir.ResultLimit, "Your model calls are used up.", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			before := l.hash()
			l.model.responses = append(c.work, say(words))
			c.task.Kind = choir.TaskEditRepo
			r := l.do(c.task)
			holds(t, r, choir.StatusFailed, c.code)
			if last := l.model.lastText(len(l.model.requests) - 1); !strings.HasPrefix(last, c.told) || len(l.model.requests) != len(c.work)+1 {
				t.Errorf("in call %d it was told %q", len(l.model.requests), last)
			}
			if !strings.HasSuffix(r.Summary, "\nThe model's last words: "+words) || r.Usage.OutputTokens != int64(10*len(l.model.requests)) {
				t.Errorf("summary %q, usage %+v", r.Summary, r.Usage)
			}
			if (r.Attempt != "") != c.changes || l.hash() != before {
				t.Errorf("attempt %q, changed %v", r.Attempt, l.hash() != before)
			}
		})
	}
}

// TestLastWordsThatDoNotComeAreThoseBefore has a model that no longer answers.
func TestLastWordsThatDoNotComeAreThoseBefore(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.model.responses = []model.Response{use("bash", `{"command":"true"}`), use("read_file", `{"path":"workspace"}`)}
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, TokenBudget: 150})
	holds(t, r, choir.StatusFailed, choir.ResultTokenBudget)
	if !strings.HasSuffix(r.Summary, "\nThe model's last words: using read_file") {
		t.Errorf("summary %q", r.Summary)
	}
}

// TestTheModelIsToldWhenALimitGetsLow tells each once, at a quarter and at a tenth.
func TestTheModelIsToldWhenALimitGetsLow(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.model.responses = append(slices.Repeat([]model.Response{use("bash", `{"command":"true"}`)}, 58), say("Done."))
	r := l.do(choir.DirectorTask{Kind: choir.TaskRun, TokenBudget: 8000})
	holds(t, r, choir.StatusOK, "")
	var told []string
	for i := range l.model.requests {
		if text := l.model.lastText(i); strings.HasPrefix(text, "[You have left: ") {
			told = append(told, strings.TrimPrefix(text[:strings.Index(text, ". Bring")], "[You have left: "))
		}
	}
	want := []string{"15 of 60 model calls", "6 of 60 model calls", "1950 of 8000 tokens"}
	if !slices.Equal(told, want) {
		t.Errorf("it was told %q, want %q", told, want)
	}
}
