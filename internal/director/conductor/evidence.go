package conductor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
)

// evidenceLog reads what tasks left: snapshots of the workspace, diffs and outputs; see Log.
type evidenceLog interface {
	LookAtWorkspace(ctx context.Context, r choir.LookRequest) (string, error)
	GetBlob(ctx context.Context, d choir.Digest) ([]byte, error)
}

// evidence reads the results of a run's tasks, and whatever else shows how far they came.
type evidence struct {
	log     evidenceLog
	run     choir.ID
	results []*attempt // all that have returned, in order
}

// resultOf returns the last result of a step, or of all with no step named; nil if there
// is none.
func (e *evidence) resultOf(step string) *attempt {
	for i := len(e.results) - 1; i >= 0; i-- {
		if a := e.results[i]; step == "" || a.step.ID == step {
			return a
		}
	}
	return nil
}

// lookAtWorkspace shows the workspace after the result a, or before the run without one.
func (e *evidence) lookAtWorkspace(ctx context.Context, in lookInput, a *attempt) (agentloop.Result, error) {
	req := choir.LookRequest{
		Run: e.run, What: choir.LookWhat(in.What), Path: in.Path, Pattern: in.Pattern, From: in.From, Lines: in.Lines,
	}
	if a != nil {
		req.Task = a.task.TaskID
	}
	if err := req.Check(); err != nil {
		return refuse(err)
	}
	text, err := e.log.LookAtWorkspace(ctx, req)
	switch choir.CodeOf(err) {
	case choir.CodeInvalid:
		return refuse(err)
	case choir.CodeNotFound:
		return refuse(choir.E("", choir.CodeNotFound, "no snapshot of the workspace is kept of then; a task of kind inspect can look"))
	case choir.CodeCorrupt:
		return refuse(choir.E("", choir.CodeCorrupt, "%s cannot be shown: its content is damaged; a task of kind inspect can look", clipHead(cmp.Or(in.Path, "the workspace"), 500)))
	}
	return textResult(asData(in.What+" "+in.Path, text), err)
}

// lookAtResult shows the diff or the verification log of a result.
func (e *evidence) lookAtResult(ctx context.Context, in lookInput, a *attempt) (agentloop.Result, error) {
	switch {
	case a == nil:
		return refuse(choir.Invalid("what", "no task has returned yet"))
	case in.Path != "" || in.Pattern != "":
		return refuse(choir.Invalid("path", "and pattern are not for %s", in.What))
	}
	text := a.result.Verify.Log
	if in.What == "diff" {
		var err error
		if text, err = e.diff(ctx, a.result.Diff); err != nil {
			return agentloop.Result{}, err
		}
	}
	shown, total := excerpt.Lines(text, in.From, in.Lines, choir.MaxLook)
	switch {
	case total == 0:
		return agentloop.Result{Text: "There is no " + in.What + " of step " + a.step.ID + "."}, nil
	case shown == "":
		return refuse(choir.Invalid("from", "the %s has %d lines", in.What, total))
	}
	return agentloop.Result{Text: asData(in.What+" of step "+a.step.ID, shown)}, nil
}

// proofMistakes returns the mistakes of a judgement's proofs: a part of the result a that
// there is not or that shows the opposite, and with accept a criterion without a proof.
// Lines of a file are looked up in the snapshot after the task, which the control plane
// reads.
func (e *evidence) proofMistakes(ctx context.Context, j judgement, a *attempt) (mistakes []error, err error) {
	for i, c := range j.Criteria {
		at := fmt.Sprintf("criteria[%d].shown_by", i)
		if c.ShownBy == nil {
			if j.Verdict == choir.VerdictAccept && c.Met {
				mistakes = append(mistakes, choir.Invalid(at, "is required to accept: name the check, the command, the line of the log, the changed file, the lines of a file, or the summary that shows it"))
			}
			continue
		}
		wrong := checkProof(*c.ShownBy, c.Met, a.result)
		if wrong == nil && c.ShownBy.Kind == choir.ProofFile {
			if wrong, err = e.checkFileProof(ctx, *c.ShownBy, a); err != nil {
				return nil, err
			}
		}
		if wrong != nil {
			mistakes = append(mistakes, choir.Under(at, wrong))
		}
	}
	return mistakes, nil
}

// checkFileProof returns as wrong the reason why the file has no such lines after the
// task.
func (e *evidence) checkFileProof(ctx context.Context, p choir.Proof, a *attempt) (wrong, err error) {
	_, err = e.log.LookAtWorkspace(ctx, choir.LookRequest{
		Run: e.run, Task: a.task.TaskID, What: choir.LookRead, Path: p.Path, From: p.To, Lines: 1,
	})
	switch choir.CodeOf(err) {
	case choir.CodeInvalid:
		return err, nil
	case choir.CodeCorrupt:
		return choir.Invalid("path", "the content of %q is damaged, so its lines show nothing; name another part of the result", p.Path), nil
	case choir.CodeNotFound:
		return choir.Invalid("kind", "no snapshot is kept of then, so lines of a file show nothing; name another part of the result"), nil
	}
	return nil, err
}

// diff returns the text of a change; "" if its blob is no longer stored.
func (e *evidence) diff(ctx context.Context, d *choir.Diff) (string, error) {
	if d == nil || d.Blob == "" {
		return contentOf(d), nil
	}
	raw, err := e.log.GetBlob(ctx, d.Blob)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", nil
	}
	return strings.ToValidUTF8(string(raw), "�"), err
}

// readOutputs replaces the tails in a result, of commands whose output is longer, by more of
// it, of the commands and checks that the model is told about.
func (e *evidence) readOutputs(ctx context.Context, res *choir.AssociateResult) error {
	res.CommandsRun, res.Verify.Commands = slices.Clone(res.CommandsRun), slices.Clone(res.Verify.Commands)
	for _, runs := range [][]choir.CommandRun{res.CommandsRun[max(0, len(res.CommandsRun)-maxCommandLines):], res.Verify.Commands} {
		for i := range runs {
			c := &runs[i]
			if err := errors.Join(e.readOutput(ctx, c.Stdout, &c.StdoutTail), e.readOutput(ctx, c.Stderr, &c.StderrTail)); err != nil {
				return err
			}
		}
	}
	return nil
}

// readOutput replaces the end of an output by a longer one, if the output has more and is
// still stored.
func (e *evidence) readOutput(ctx context.Context, whole choir.Digest, tail *string) error {
	if whole == "" || choir.DigestOf([]byte(*tail)) == whole {
		return nil
	}
	raw, err := e.log.GetBlob(ctx, whole)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return nil
	}
	if err != nil {
		return choir.Wrap("director.output", "", err, "read the output of a command")
	}
	*tail = clipTail(strings.ToValidUTF8(string(raw), "�"), maxCommandText)
	return nil
}
