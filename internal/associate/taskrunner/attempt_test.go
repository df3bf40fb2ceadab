package taskrunner_test

import (
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// TestATaskGoesOnFromAnAttempt has a task fail, and another one begin with what that tried:
// the first one's change is the second one's, and goes back with it.
func TestATaskGoesOnFromAnAttempt(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.write("workspace/a", "old\n")
	before := l.hash()
	l.model.responses = []model.Response{write("tried"), say("Done."), say("I cannot.")}
	failed := l.do(edits("test -f workspace/b"))
	holds(t, failed, choir.StatusFailed, choir.ResultVerifyFailed)
	if !failed.Attempt.Valid() || l.hash() != before {
		t.Fatalf("attempt %q, changed %v", failed.Attempt, l.hash() != before)
	}
	goesOn := func(responses ...model.Response) choir.AssociateResult {
		l.model.requests, l.model.responses = nil, responses
		task := edits("test -f workspace/b")
		task.FromAttempt = failed.TaskID
		return l.do(task)
	}
	again := goesOn(say("I cannot either."), say("No."))
	holds(t, again, choir.StatusFailed, choir.ResultVerifyFailed)
	if l.hash() != before || !strings.Contains(again.Diff.Content, "+tried") || again.Attempt == "" {
		t.Errorf("changed %v, %+v", l.hash() != before, again)
	}
	if got := l.model.requests[0].Messages[0].Content[0].Text; !strings.Contains(got, "You go on from a task that failed. What it changed is there, and is part of your change:\n- modified workspace/a\n") {
		t.Errorf("it is told %q", got)
	}
	r := goesOn(use("write_file", `{"path":"workspace/b","content":"new\n"}`), say("Mended."))
	holds(t, r, choir.StatusOK, "")
	if l.read("workspace/a") != "tried" || len(r.FilesChanged) != 2 || r.Attempt != "" || r.Verify.Status != choir.VerifyPass {
		t.Errorf("%q, %+v", l.read("workspace/a"), r)
	}
}

// TestATaskThatNamesNoAttemptIsRefused has it name a task that succeeded.
func TestATaskThatNamesNoAttemptIsRefused(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	fine := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, VerifyProfile: unverified, Commands: sh("echo > workspace/x")})
	holds(t, fine, choir.StatusOK, "")
	r := l.do(choir.DirectorTask{Kind: choir.TaskEditRepo, FromAttempt: fine.TaskID})
	holds(t, r, choir.StatusFailed, choir.ResultInvalidTask)
	if len(l.model.requests) != 0 {
		t.Errorf("%d model calls", len(l.model.requests))
	}
}
