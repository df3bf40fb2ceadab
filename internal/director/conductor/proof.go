package conductor

import (
	"slices"
	"strings"

	"choiros/internal/choir"
)

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
