package conductor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// proofMistakes returns the mistakes of a judgement's proofs: a part of the result a that
// there is not or that shows the opposite, and with accept a criterion without a proof.
// Lines of a file are looked up in the snapshot after the task, which the control plane
// reads.
func (r *run) proofMistakes(ctx context.Context, j judgement, a *attempt) (mistakes []error, err error) {
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
			if wrong, err = r.checkFileProof(ctx, *c.ShownBy, a); err != nil {
				return nil, err
			}
		}
		if wrong != nil {
			mistakes = append(mistakes, choir.Under(at, wrong))
		}
	}
	return mistakes, nil
}

// checkProof returns an error if a result has no such part, or a check or a command that
// failed is to show that a criterion is met.
func checkProof(p choir.Proof, met bool, res choir.AssociateResult) error {
	switch p.Kind {
	case choir.ProofCheck:
		return checkRun(p.Number, met, res.Verify.Commands, "check")
	case choir.ProofCommand:
		return checkRun(p.Number, met, res.CommandsRun, "command")
	case choir.ProofLog:
		if lines := countLines(res.Verify.Log); p.Number > lines {
			return choir.Invalid("number", "the verification log has %d lines", lines)
		}
	case choir.ProofDiff:
		if !slices.ContainsFunc(res.FilesChanged, func(f choir.FileChange) bool { return p.Path == f.Path || p.Path == f.From && f.From != "" }) {
			return choir.Invalid("path", "the task did not change %q", p.Path)
		}
	case choir.ProofSummary:
		if strings.TrimSpace(res.Summary) == "" {
			return choir.Invalid("kind", "the result has no summary")
		}
	}
	return nil
}

// checkRun returns an error if there is no run with a number, or it failed and is to show
// that a criterion is met.
func checkRun(number int, met bool, runs []choir.CommandRun, name string) error {
	if number > len(runs) {
		return choir.Invalid("number", "the result has only %d of the kind %s", len(runs), name)
	}
	if c := runs[number-1]; met && (c.ExitCode != 0 || c.Signal != "") && name == "check" {
		return choir.Invalid("number", "check %d failed (%s), which shows no criterion to be met", number, exitText(c))
	}
	return nil
}

// countLines returns the number of lines of a text.
func countLines(text string) int {
	return len(slices.Collect(strings.Lines(text)))
}

// checkFileProof returns as wrong the reason why the file has no such lines after the
// task.
func (r *run) checkFileProof(ctx context.Context, p choir.Proof, a *attempt) (wrong, err error) {
	_, err = r.cfg.Log.LookAtWorkspace(ctx, choir.LookRequest{
		Run: r.rec.run, Task: a.task.TaskID, What: choir.LookRead, Path: p.Path, From: p.To, Lines: 1,
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
