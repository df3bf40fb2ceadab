package runs

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
)

// newLog opens a log in a folder of the test's own. Nothing else runs.
func newLog(t *testing.T) (*eventstore.Store, *appender.Appender) {
	t.Helper()
	t.Parallel()
	log := must(eventstore.Open(t.Context(), t.TempDir(), eventstore.Config{
		Computer: newID(t), User: newID(t), Now: func() choir.Time { return choir.TimeOf(time.Now()) },
	}))(t)
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return log, appender.New(log, newID(t), madeID, slog.New(slog.DiscardHandler))
}

func madeID() (choir.ID, error) { return choir.NewID(choir.TimeOf(time.Now()), rand.Reader) }

func newID(t testing.TB) choir.ID {
	t.Helper()
	return must(madeID())(t)
}

func wantCode(t testing.TB, err error, want choir.Code) {
	t.Helper()
	if choir.CodeOf(err) != want {
		t.Errorf("%v, want the code %q", err, want)
	}
}

// must ends the test at an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// asked begins a run.
func asked(t *testing.T, rs *Runs, p choir.PromptSubmitted) choir.ID {
	t.Helper()
	run, _, err := rs.Prompt(t.Context(), choir.RoleShell, p, "")
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestAPromptIsCheckedBeforeItIsInTheLog(t *testing.T) {
	log, events := newLog(t)
	rs := New(log, events, Config{Now: time.Now, MustHaveProject: func(_ context.Context, name string) error {
		if name == "hello" {
			return nil
		}
		return choir.E("x", choir.CodeNotFound, "there is no project %q", name)
	}})
	for name, c := range map[string]struct {
		prompt choir.PromptSubmitted
		code   choir.Code
	}{
		"no text":            {choir.PromptSubmitted{Text: " \n"}, choir.CodeInvalid},
		"too long a text":    {choir.PromptSubmitted{Text: strings.Repeat("ä", choir.MaxInstruction+1)}, choir.CodeTooLarge},
		"an unknown project": {choir.PromptSubmitted{Text: "x", Repo: "other"}, choir.CodeNotFound},
		"no such document":   {choir.PromptSubmitted{Text: "x", Proposal: &choir.ProposalTarget{Document: newID(t)}}, choir.CodeNotFound},
		"after no run":       {choir.PromptSubmitted{Text: "x", After: newID(t)}, choir.CodeNotFound},
	} {
		_, _, err := rs.Prompt(t.Context(), choir.RoleShell, c.prompt, "")
		if choir.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want the code %s", name, err, c.code)
		}
	}
	if head, _ := log.Head(); head != 0 {
		t.Errorf("%d events were appended for refused prompts", head)
	}
	asked(t, rs, choir.PromptSubmitted{Text: "x", Repo: "hello"})
	key := newID(t)
	one, first, err := rs.Prompt(t.Context(), choir.RoleShell, choir.PromptSubmitted{Text: "x"}, key)
	if err != nil {
		t.Fatal(err)
	}
	if again, r, err := rs.Prompt(t.Context(), choir.RoleShell, choir.PromptSubmitted{Text: "x"}, key); err != nil || again != one || r.Seq != first.Seq {
		t.Errorf("the same key again: run %s, %+v, %v", again, r, err)
	}
}

func TestARunTakesMoreUntilItHasEnded(t *testing.T) {
	log, events := newLog(t)
	rs := New(log, events, Config{Now: time.Now})
	ctx := t.Context()
	run := asked(t, rs, choir.PromptSubmitted{Text: "x"})
	for _, err := range []error{rs.Steer(ctx, choir.RoleShell, run, "and more"), rs.Cancel(ctx, choir.RoleShell, run, "enough")} {
		if err != nil {
			t.Error(err)
		}
	}
	wantCode(t, rs.Answer(ctx, choir.RoleShell, run, "", "yes"), choir.CodeConflict)
	must(events.AppendToRun(ctx, choir.RoleControl, newID(t), run, "", choir.RunFinished{Outcome: choir.OutcomeDone, Answer: "Done."}))(t)
	wantCode(t, rs.Steer(ctx, choir.RoleShell, run, "and more"), choir.CodeConflict)
	wantCode(t, rs.Cancel(ctx, choir.RoleShell, run, ""), choir.CodeConflict)
	other := newID(t)
	wantCode(t, rs.Steer(ctx, choir.RoleShell, other, "x"), choir.CodeNotFound)
	wantCode(t, rs.Cancel(ctx, choir.RoleShell, other, ""), choir.CodeNotFound)
}

func TestATaskThatAPersonWroteIsStoppedByItsRun(t *testing.T) {
	log, events := newLog(t)
	rs := New(log, events, Config{Now: time.Now})
	task := choir.DirectorTask{Version: choir.ContractVersion, TaskID: newID(t), RunID: newID(t), Kind: choir.TaskRun, Instruction: "x"}
	must(events.AppendToRun(t.Context(), choir.RoleCLI, newID(t), task.RunID, task.TaskID, choir.TaskDispatched{Task: task}))(t)
	if err := rs.Cancel(t.Context(), choir.RoleCLI, task.RunID, ""); err != nil {
		t.Error(err)
	}
	must(events.AppendToRun(t.Context(), choir.RoleAssociate, newID(t), task.RunID, task.TaskID, choir.TaskReturned{Result: choir.AssociateResult{
		Version: choir.ContractVersion, TaskID: task.TaskID, RunID: task.RunID, Status: choir.StatusOK, Summary: "done",
		FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
		Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown},
	}}))(t)
	wantCode(t, rs.Cancel(t.Context(), choir.RoleCLI, task.RunID, ""), choir.CodeConflict)
}

func TestAnAnswerIsForTheQuestionThatTheRunWaitsFor(t *testing.T) {
	log, events := newLog(t)
	rs := New(log, events, Config{Now: time.Now})
	ctx := t.Context()
	run := asked(t, rs, choir.PromptSubmitted{Text: "x"})
	must(events.AppendToRun(ctx, choir.RoleDirector, newID(t), run, "", choir.QuestionAsked{Question: choir.Question{ID: "q", Text: "Which?"}}))(t)
	wantCode(t, rs.Answer(ctx, choir.RoleShell, run, "another", "this"), choir.CodeConflict)
	if err := rs.Answer(ctx, choir.RoleShell, run, "q", "this"); err != nil {
		t.Error(err)
	}
	if r := must(log.Run(ctx, run))(t); r.Question != nil {
		t.Errorf("it still waits: %+v", r.Question)
	}
	wantCode(t, rs.Answer(ctx, choir.RoleShell, run, "q", "that"), choir.CodeConflict)
}

func TestARunIsPausedUntilItGoesOn(t *testing.T) {
	log, events := newLog(t)
	rs := New(log, events, Config{Now: time.Now})
	ctx := t.Context()
	run := asked(t, rs, choir.PromptSubmitted{Text: "x"})
	paused := func(want bool, errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Error(err)
			}
		}
		if r := must(log.Run(ctx, run))(t); (r.PausedSeq > 0) != want {
			t.Errorf("paused by %d, want %v", r.PausedSeq, want)
		}
	}
	head, _ := log.Head()
	paused(true, rs.Pause(ctx, choir.RoleShell, run), rs.Pause(ctx, choir.RoleCLI, run))
	paused(false, rs.Resume(ctx, choir.RoleShell, run), rs.Resume(ctx, choir.RoleCLI, run))
	if now, _ := log.Head(); now != head+2 {
		t.Errorf("%d events were appended, want one for each change", now-head)
	}
	wantCode(t, rs.Pause(ctx, choir.RoleDesktop, run), choir.CodeForbidden)
	must(events.AppendToRun(ctx, choir.RoleControl, newID(t), run, "", choir.RunFinished{Outcome: choir.OutcomeDone, Answer: "Done."}))(t)
	wantCode(t, rs.Pause(ctx, choir.RoleShell, run), choir.CodeConflict)
	wantCode(t, rs.Resume(ctx, choir.RoleShell, newID(t)), choir.CodeNotFound)
}
