package runwriter_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"choiros/internal/choir"
	"choiros/internal/choir/choirtest"
	"choiros/internal/director/runwriter"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	run   = choir.ID("019f0000-0000-7000-8000-000000000001")
	task1 = choir.ID("019f0000-0000-7000-8000-000000000002")
	task2 = choir.ID("019f0000-0000-7000-8000-000000000003")
)

func events(t *testing.T, payloads ...choir.Payload) []choir.Event {
	t.Helper()
	var out []choir.Event
	for i, p := range payloads {
		raw, err := choir.Canonical(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, choir.Event{Seq: uint64(i + 1), Type: p.EventType(), Run: run, Payload: raw})
	}
	return out
}

func text(s string) *string { return &s }

func dispatched(task choir.ID, step string) choir.Payload {
	return &choir.TaskDispatched{Step: step, Task: choir.DirectorTask{
		Version: 1, TaskID: task, RunID: run, Kind: choir.TaskEditRepo, Instruction: "Do it.\nWell.",
	}}
}

func returned(task choir.ID, change func(*choir.AssociateResult)) choir.Payload {
	r := choir.AssociateResult{
		Version: 1, TaskID: task, RunID: run, Status: choir.StatusOK, Summary: "Changed `main.go`.",
		Verify: choir.VerifyOutcome{Mode: choir.VerifySmoke, Status: choir.VerifyPass, Commands: []choir.CommandRun{{Command: "go test ./..."}}},
	}
	if change != nil {
		change(&r)
	}
	return &choir.TaskReturned{Result: r}
}

func plan() choir.Payload {
	return &choir.PlanMade{Goal: "Everything is better.", Steps: []choir.PlanStep{
		{ID: "a", Title: "Make it <b>better</b>", Kind: choir.TaskEditRepo, Instruction: "Do it.", AcceptanceCriteria: []string{"it is *better*"}},
		{ID: "b", Title: "Look again", Kind: choir.TaskInspect, Instruction: "Look.", AcceptanceCriteria: []string{"seen"}, DependsOn: []string{"a"}},
	}}
}

func story() []choir.Payload {
	return []choir.Payload{
		&choir.PromptSubmitted{Text: "Make it better.\n\n# And <i>bigger</i>", Repo: "house"},
		&choir.PlanRefused{Problems: []string{"steps[0].kind is wrong"}},
		&choir.QuestionAsked{Question: choir.Question{ID: "q1", Text: "How much better?", Choices: []string{"a bit", "a lot"}}},
		&choir.QuestionAnswered{Question: "q1", Text: "A lot.\nReally."},
		plan(),
		dispatched(task1, "a"),
		returned(task1, func(r *choir.AssociateResult) {
			r.Status, r.Code = choir.StatusFailed, choir.ResultVerifyFailed
			r.Verify.Status, r.Verify.Log = choir.VerifyFail, "FAIL\n```\nnot a fence\n"
			r.Diff = &choir.Diff{Format: "unified", Content: "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+new\n+more\n"}
		}),
		&choir.TaskJudged{Task: task1, Step: "a", Verdict: choir.VerdictRevise, Reason: "It broke the tests.", Criteria: []choir.CriterionMet{{Criterion: "it is *better*"}}},
		&choir.SteeringSubmitted{Text: "Hurry."},
		dispatched(task2, "a"),
		returned(task2, func(r *choir.AssociateResult) {
			r.Checkpoint = text("0123456789abcdef0123456789abcdef01234567")
			r.Diff = &choir.Diff{Format: "unified", Blob: choir.ZeroHash}
			r.FilesChanged = []choir.FileChange{{Path: "workspace/house/main.go", Change: choir.ChangeModified}, {Path: "b`c", From: "a", Change: choir.ChangeRenamed}}
			r.Conflicts = []string{"notes.txt"}
		}),
		&choir.TaskJudged{Task: task2, Step: "a", Verdict: choir.VerdictAccept, Reason: "It passed.", Criteria: []choir.CriterionMet{{Criterion: "it is *better*", Met: true}}},
		&choir.RunFinished{Outcome: choir.OutcomeFailed, Code: choir.CodeBudget, Answer: "Stopped halfway.\n\n- one\n- two"},
	}
}

func TestTheStoryAtEveryPoint(t *testing.T) {
	t.Parallel()
	all := events(t, story()...)
	for _, c := range []struct {
		name string
		n    int
	}{{"asked", 1}, {"question", 3}, {"planned", 5}, {"working", 6}, {"judging", 7}, {"revising", 8}, {"finished", len(all)}} {
		golden(t, c.name, all[:c.n])
	}
	golden(t, "unplanned", events(t, story()[0], dispatched(task1, ""), returned(task1, func(r *choir.AssociateResult) {
		r.Verify = choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown, Log: "nothing to check", Proves: "2 tests ran, none new, 1 removed",
			Suspect: []string{"fewer *tests*"}, JudgedBy: []string{"a_test.go", "Makefile"}}
	}), &choir.RunFinished{Outcome: choir.OutcomeCancelled, Answer: ""}))
}

func golden(t *testing.T, name string, events []choir.Event) {
	t.Helper()
	got, err := runwriter.Render(events)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".md")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-golden +now), -update writes it\n%s", name, diff)
	}
}

// TestAnyEventsGiveADocument renders events with arbitrary valid payloads, in
// any order: always a document, always the same, never blank.
func TestAnyEventsGiveADocument(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var list []choir.Event
		for range rapid.IntRange(0, 8).Draw(rt, "events") {
			info := rapid.SampledFrom(choir.Types()).Draw(rt, "type")
			p := choirtest.Payload(info).Draw(rt, "payload")
			raw, err := choir.Canonical(p)
			if err != nil {
				rt.Fatal(err)
			}
			list = append(list, choir.Event{Type: p.EventType(), Payload: raw})
		}
		one, err := runwriter.Render(list)
		if err != nil {
			rt.Fatal(err)
		}
		two, _ := runwriter.Render(list)
		if one != two || strings.TrimSpace(one) == "" {
			rt.Fatalf("%q and %q", one, two)
		}
	})
}

func TestABadPayloadIsNamed(t *testing.T) {
	t.Parallel()
	_, err := runwriter.Render([]choir.Event{{Type: "plan.made", Payload: []byte(`{"goal":""}`)}})
	if choir.CodeOf(err) != choir.CodeInvalid || !strings.Contains(err.Error(), "payload.") {
		t.Errorf("error %v", err)
	}
}

// TestDoneStandsOnlyOverWhatWasKept: the first words of an answered run's document.
func TestDoneStandsOnlyOverWhatWasKept(t *testing.T) {
	t.Parallel()
	changed := func(status choir.VerifyStatus) func(*choir.AssociateResult) {
		return func(r *choir.AssociateResult) {
			r.Verify.Status = status
			r.FilesChanged = []choir.FileChange{{Path: "main.go", Change: "modified"}}
		}
	}
	undone := func(r *choir.AssociateResult) {
		changed(choir.VerifyFail)(r)
		r.Status, r.Code = choir.StatusFailed, choir.ResultVerifyFailed
	}
	for name, c := range map[string]struct {
		result func(*choir.AssociateResult)
		status choir.AnswerStatus
		want   string
	}{
		"nothing changed":  {nil, "", "Answered."},
		"taken back":       {undone, "", "Answered."},
		"verified":         {changed(choir.VerifyPass), "", "Done."},
		"not verified":     {changed(choir.VerifyUnknown), "", "Done, not verified."},
		"partly, verified": {changed(choir.VerifyPass), choir.AnsweredPartly, "Partly done."},
		"partly":           {changed(choir.VerifyUnknown), choir.AnsweredPartly, "Partly done, not verified."},
		"not done":         {nil, choir.AnsweredNotDone, "Not done."},
	} {
		got, err := runwriter.Render(events(t, &choir.PromptSubmitted{Text: "Mend it."}, plan(), dispatched(task1, "a"), returned(task1, c.result),
			&choir.RunFinished{Outcome: choir.OutcomeDone, Status: c.status, Answer: "So it is."}))
		if err != nil || !strings.HasPrefix(got, "# Mend it.\n\n**"+c.want+"**\n\nSo it is.") {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

// TestAChangeIsVerifiedByALaterTaskOfItsStep: a step is done again with a better check, and its change is there.
func TestAChangeIsVerifiedByALaterTaskOfItsStep(t *testing.T) {
	t.Parallel()
	verify := func(status choir.VerifyStatus, files ...choir.FileChange) func(*choir.AssociateResult) {
		return func(r *choir.AssociateResult) { r.Verify.Status, r.FilesChanged = status, files }
	}
	failed := func(r *choir.AssociateResult) {
		verify(choir.VerifyPass)(r)
		r.Status, r.Code = choir.StatusFailed, choir.ResultCommandFailed
	}
	change := choir.FileChange{Path: "main.go", Change: "modified"}
	for name, c := range map[string]struct {
		step          string
		first, second func(*choir.AssociateResult)
		want          string
	}{
		"the later one passes":               {"a", verify(choir.VerifyUnknown, change), verify(choir.VerifyPass), "Done."},
		"it passes with a change of its own": {"a", verify(choir.VerifyUnknown, change), verify(choir.VerifyPass, change), "Done."},
		"it is unknown":                      {"a", verify(choir.VerifyUnknown, change), verify(choir.VerifyUnknown), "Done, not verified."},
		"it changed more and is unknown":     {"a", verify(choir.VerifyPass, change), verify(choir.VerifyUnknown, change), "Done, not verified."},
		"it failed":                          {"a", verify(choir.VerifyUnknown, change), failed, "Done, not verified."},
		"it is of another step":              {"b", verify(choir.VerifyUnknown, change), verify(choir.VerifyPass), "Done, not verified."},
	} {
		got, err := runwriter.Render(events(t, &choir.PromptSubmitted{Text: "Mend it."}, plan(), dispatched(task1, "a"), returned(task1, c.first),
			dispatched(task2, c.step), returned(task2, c.second), &choir.RunFinished{Outcome: choir.OutcomeDone, Answer: "So it is."}))
		if err != nil || !strings.HasPrefix(got, "# Mend it.\n\n**"+c.want+"**\n\nSo it is.") {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}
