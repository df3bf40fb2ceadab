package taskrunner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"choiros/internal/associate/command"
	"choiros/internal/associate/tools"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
)

// review is a verification of the change that the model said it is done with.
type review struct {
	before  change   // what was verified
	after   change   // without what the checks wrote
	failed  *failure // nil if no check failed
	old     bool     // tests failed that had failed before the change
	rounds  int      // how many failed before and with this one
	answers int      // model calls until then
}

// maxCheckLog limits the output of a failed check that the model is given, in bytes.
const maxCheckLog = 16_000

// reviewChange verifies the change of an edit when the model is done. It returns what to
// tell the model about a failed check, or "" if the task ends: no check failed, none ran,
// choir.VerifyRounds were told before, or nothing was changed since the last. An error
// that is no failed check ends the task.
func (j *job) reviewChange(ctx context.Context) (string, error) {
	if j.task.Kind != choir.TaskEditRepo {
		return "", nil
	}
	// What the model left running must not write while it is checked.
	if err := j.place.clear(); err != nil {
		return "", fail(choir.ResultCrashed, "%v", err)
	}
	c, err := j.compared.changed()
	if err != nil || j.refusedInstead(c) != nil {
		return "", err
	}
	last := j.review
	if last != nil && (last.failed != nil || last.old) && last.after.snapshot == c.snapshot {
		last.answers = j.models // the model gave up: that check would say the same
		return "", nil
	}
	r := &review{before: c, after: c}
	if last != nil {
		r.rounds = last.rounds
	}
	if err := j.checkChange(ctx, r); err != nil {
		return "", err
	}
	j.review, r.answers = r, j.models
	switch {
	case r.failed == nil && r.old && (last == nil || !last.old):
		return j.tellOldFailures(r), nil
	case r.failed == nil, r.rounds > choir.VerifyRounds:
		return "", nil
	}
	return j.tellFailure(r)
}

// checkChange verifies the change before of a review and takes back what the checks wrote.
func (j *job) checkChange(ctx context.Context, r *review) error {
	ran, err := j.verify(ctx, r.before)
	r.old = j.failedBefore
	if errors.As(err, &r.failed) && r.failed.code == choir.ResultVerifyFailed {
		r.rounds++
		err = nil
	}
	if err != nil || !ran {
		return err
	}
	r.after, err = j.compared.withoutDroppings(r.before)
	return err
}

// tellFailure returns the message to the model about a failed check, its log first, and
// appends a progress event about the round.
func (j *job) tellFailure(r *review) (string, error) {
	how := excerpt.FirstLine(r.failed.summary, 300)
	err := j.rec.recordProgress(choir.DeriveID(j.event.Task, "round", itoa(int64(r.rounds))),
		fmt.Sprintf("%s; round %d of %d", how, r.rounds, choir.VerifyRounds))
	var b strings.Builder
	b.WriteString(how + "\n")
	if log := strings.TrimSpace(tools.Cut(excerpt.Text(j.checkOutput), maxCheckLog)); log != "" {
		b.WriteString("\n" + log + "\n")
	}
	fmt.Fprintf(&b, "\nThis is round %d of %d. Your change is still there; what you started was ended, and what the check wrote was taken back. ", r.rounds, choir.VerifyRounds)
	b.WriteString("Find the cause and mend it; never weaken the check. Then call done and say in a few sentences what you changed in all and why. ")
	if r.rounds == choir.VerifyRounds {
		b.WriteString("If the check fails once more, everything is taken back. ")
	}
	b.WriteString("If you cannot mend it, change nothing and say why.")
	return b.String(), err
}

// tellOldFailures returns the message to the model about tests that failed before its
// change too, which no task is failed for. It is told once.
func (j *job) tellOldFailures(r *review) string {
	var b strings.Builder
	b.WriteString("The check does not pass, and did not before your change: " + j.report.result.Verify.Log + "\n")
	if log := strings.TrimSpace(tools.Cut(excerpt.Text(j.checkOutput), maxCheckLog)); log != "" {
		b.WriteString("\n" + log + "\n")
	}
	b.WriteString("\nIf your task is to make it pass, find the cause and mend it; never weaken the check. Otherwise change nothing more and say in a few sentences what you changed in all and why.")
	return b.String()
}

// isReviewed reports whether the task ended with its last review.
func (j *job) isReviewed() bool { return j.review != nil && j.review.answers == j.models }

// keepReviewed keeps the change of the last review, which is the last that the task did. It
// returns its *failure if a check failed.
func (j *job) keepReviewed() error {
	if j.review.failed != nil {
		j.attempt = &j.review.before
		return j.review.failed
	}
	return j.keepChecked(j.review.after)
}

// recordCheck runs one command of a verification. For a task with a model it appends the
// events of a tool call around it, so that every round is in the log with its output, and
// a check that was begun is never begun again.
func (j *job) recordCheck(ctx context.Context, c choir.Command, do func() (choir.CommandRun, []byte, error)) (choir.CommandRun, []byte, error) {
	if j.models == 0 {
		return do()
	}
	id := j.calls.countCall()
	called, err := j.calls.called(id, string(choir.ToolVerify), choir.ToolInput{Command: tools.Cut(command.Line(c), 4<<10)}, nil)
	if err == nil {
		err = j.calls.beginCall(ctx, called)
	}
	if err != nil {
		return choir.CommandRun{}, nil, err
	}
	run, out, err := do()
	j.checkOutput = out
	seen := command.ToolOutput(run, out, false, 0)
	if err != nil && seen.Code == "" {
		seen.OK, seen.Code = false, choir.CodeOf(err)
	}
	returned, rerr := j.calls.returned(id, seen, run.DurationMS)
	if rerr == nil {
		rerr = j.rec.appendEvents(returned)
	}
	if err == nil {
		err = rerr
	}
	return run, out, err
}
