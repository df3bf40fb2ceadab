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
func (v *verification) reviewChange(ctx context.Context, answers int, excused func(change) bool) (string, error) {
	if v.task.Kind != choir.TaskEditRepo {
		return "", nil
	}
	// What the model left running must not write while it is checked.
	if err := v.place.clear(); err != nil {
		return "", fail(choir.ResultCrashed, "%v", err)
	}
	c, err := v.compared.changed()
	if err != nil || excused(c) {
		return "", err
	}
	last := v.last
	if last != nil && (last.failed != nil || last.old) && last.after.snapshot == c.snapshot {
		last.answers = answers // the model gave up: that check would say the same
		return "", nil
	}
	r := &review{before: c, after: c}
	if last != nil {
		r.rounds = last.rounds
	}
	if err := v.checkChange(ctx, r); err != nil {
		return "", err
	}
	v.last, r.answers = r, answers
	switch {
	case r.failed == nil && r.old && (last == nil || !last.old):
		return v.tellOldFailures(r), nil
	case r.failed == nil, r.rounds > choir.VerifyRounds:
		return "", nil
	}
	return v.tellFailure(r)
}

// checkChange verifies the change before of a review and takes back what the checks wrote.
func (v *verification) checkChange(ctx context.Context, r *review) error {
	ran, err := v.check(ctx, r.before)
	r.old = v.failedBefore
	if errors.As(err, &r.failed) && r.failed.code == choir.ResultVerifyFailed {
		r.rounds++
		err = nil
	}
	if err != nil || !ran {
		return err
	}
	r.after, err = v.compared.withoutDroppings(r.before)
	return err
}

// tellFailure returns the message to the model about a failed check, its log first, and
// appends a progress event about the round.
func (v *verification) tellFailure(r *review) (string, error) {
	how := excerpt.FirstLine(r.failed.summary, 300)
	err := v.rec.recordProgress(choir.DeriveID(v.rec.event.Task, "round", itoa(int64(r.rounds))),
		fmt.Sprintf("%s; round %d of %d", how, r.rounds, choir.VerifyRounds))
	var b strings.Builder
	b.WriteString(how + "\n")
	if log := strings.TrimSpace(tools.Cut(excerpt.Text(v.output), maxCheckLog)); log != "" {
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
func (v *verification) tellOldFailures(r *review) string {
	var b strings.Builder
	b.WriteString("The check does not pass, and did not before your change: " + v.outcome.Log + "\n")
	if log := strings.TrimSpace(tools.Cut(excerpt.Text(v.output), maxCheckLog)); log != "" {
		b.WriteString("\n" + log + "\n")
	}
	b.WriteString("\nIf your task is to make it pass, find the cause and mend it; never weaken the check. Otherwise change nothing more and say in a few sentences what you changed in all and why.")
	return b.String()
}

// hasPassed reports whether the task's change passed its verification.
func (v *verification) hasPassed() bool { return v.outcome.Status == choir.VerifyPass }

// isReviewed reports whether the task ended with its last review.
func (v *verification) isReviewed(answers int) bool {
	return v.last != nil && v.last.answers == answers
}

// recordCheck runs one command of a verification. For a task with a model it appends the
// events of a tool call around it, so that every round is in the log with its output, and
// a check that was begun is never begun again.
func (v *verification) recordCheck(ctx context.Context, c choir.Command, do func() (choir.CommandRun, []byte, error)) (choir.CommandRun, []byte, error) {
	if !v.byModel() {
		return do()
	}
	id := v.calls.countCall()
	called, err := v.calls.called(id, string(choir.ToolVerify), choir.ToolInput{Command: tools.Cut(command.Line(c), 4<<10)}, nil)
	if err == nil {
		err = v.calls.beginCall(ctx, called)
	}
	if err != nil {
		return choir.CommandRun{}, nil, err
	}
	run, out, err := do()
	v.output = out
	seen := command.ToolOutput(run, out, false, 0)
	if err != nil && seen.Code == "" {
		seen.OK, seen.Code = false, choir.CodeOf(err)
	}
	returned, rerr := v.calls.returned(id, seen, run.DurationMS)
	if rerr == nil {
		rerr = v.rec.appendEvents(returned)
	}
	if err == nil {
		err = rerr
	}
	return run, out, err
}
