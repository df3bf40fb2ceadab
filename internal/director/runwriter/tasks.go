package runwriter

import (
	"fmt"
	"strings"

	"choiros/internal/choir"
)

// writeStep writes the section of one step with its tasks, the newest last. over means
// that the run has ended.
func writeStep(b *strings.Builder, number int, st *step, over bool) {
	fmt.Fprintf(b, "## Step %d: %s\n\n", number, escape(oneLine(st.plan.Title)))
	for i, t := range st.tasks {
		if len(st.tasks) > 1 {
			fmt.Fprintf(b, "### Try %d\n\n", i+1)
		}
		writeTask(b, t, over)
	}
}

// writeTask writes the result and the verdict of one task. over means that the run has
// ended.
func writeTask(b *strings.Builder, t *task, over bool) {
	if t.result == nil && over {
		b.WriteString("It was stopped before it returned.\n\n")
		return
	}
	if t.result == nil {
		b.WriteString("The Associate is working on it.\n\n")
		return
	}
	r := t.result
	if text := strings.TrimSpace(r.Summary); text != "" {
		fmt.Fprintf(b, "%s\n\n", escape(clipText(text, maxSummary)))
	}
	fmt.Fprintf(b, "- Result: %s\n", statusLine(r))
	fmt.Fprintf(b, "- Verification: %s\n", verifyLine(r.Verify))
	writeProof(b, r.Verify)
	if line := checkpointLine(t); line != "" {
		fmt.Fprintf(b, "- Checkpoint: %s\n", line)
	}
	if line := diffLine(r); line != "" {
		fmt.Fprintf(b, "- Change: %s\n", line)
	}
	writeFiles(b, r)
	switch {
	case r.Code == choir.ResultConflict:
		fmt.Fprintf(b, "- Changed on both sides, and not merged: %s\n", codes(r.Conflicts))
	case len(r.Conflicts) > 0:
		fmt.Fprintf(b, "- Kept as the owner wrote it: %s\n", codes(r.Conflicts))
	}
	b.WriteString("\n")
	if r.Verify.Status == choir.VerifyFail && r.Verify.Log != "" {
		fmt.Fprintf(b, "%s\n\n", fence(clipTail(r.Verify.Log, maxLog)))
	}
	writeJudgement(b, t.judged)
}

func statusLine(r *choir.AssociateResult) string {
	switch r.Status {
	case choir.StatusOK:
		return "ok"
	case choir.StatusNeedsInput:
		return "needs an answer"
	}
	if r.Code == choir.ResultVerifyFailed {
		return "failed (verify_failed); nothing of it was kept"
	}
	return "failed (" + string(r.Code) + "); nothing of it was kept"
}

func verifyLine(v choir.VerifyOutcome) string {
	var checks []string
	for _, c := range v.Commands {
		checks = append(checks, c.Command)
	}
	line := "none; not verified"
	switch v.Status {
	case choir.VerifyPass:
		line = "passed"
	case choir.VerifyFail:
		line = "failed"
	case choir.VerifyUnknown:
		if v.Log != "" {
			line = "unknown, so not verified: " + escape(clipLine(v.Log, 200))
		}
	}
	if len(checks) > 0 {
		line += " (" + codes(checks) + ")"
	}
	return line
}

// writeProof writes what the checks prove, why they prove less than they seem, and which
// files of the change judge it.
func writeProof(b *strings.Builder, v choir.VerifyOutcome) {
	if v.Proves != "" {
		fmt.Fprintf(b, "- Proof: %s\n", escape(clipLine(v.Proves, 400)))
	}
	for _, s := range v.Suspect {
		fmt.Fprintf(b, "- Suspect: %s\n", escape(clipLine(s, 400)))
	}
	if len(v.JudgedBy) > 0 {
		fmt.Fprintf(b, "- It changes what judges it: %s\n", codes(v.JudgedBy))
	}
}

// checkpointLine returns a task's checkpoint and whether it is verified; "" without one.
func checkpointLine(t *task) string {
	verified := ", not verified"
	if t.result.Verify.Status == choir.VerifyPass {
		verified = ", verified"
	}
	if c := t.result.Checkpoint; c != nil && *c != "" {
		return code(short(*c)) + verified
	}
	return ""
}

func short(commit string) string { return commit[:min(len(commit), 10)] }

// diffLine returns a line about a task's diff, with the number of added and removed
// lines if the diff is inline; "" without one.
func diffLine(r *choir.AssociateResult) string {
	if r.Diff == nil {
		return ""
	}
	attempted := ""
	if r.Status != choir.StatusOK {
		attempted = ", attempted and undone"
	}
	if r.Diff.Content == "" {
		return "large, kept as a blob" + attempted
	}
	plus, minus := 0, 0
	for line := range strings.Lines(r.Diff.Content) {
		switch {
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		case strings.HasPrefix(line, "+"):
			plus++
		case strings.HasPrefix(line, "-"):
			minus++
		}
	}
	return fmt.Sprintf("%d lines added, %d removed%s", plus, minus, attempted)
}

func writeFiles(b *strings.Builder, r *choir.AssociateResult) {
	for i, f := range r.FilesChanged {
		if i == maxFiles {
			fmt.Fprintf(b, "  - and %d more\n", len(r.FilesChanged)-i)
			return
		}
		from := ""
		if f.From != "" {
			from = " from " + code(f.From)
		}
		fmt.Fprintf(b, "  - %s %s%s\n", f.Change, code(f.Path), from)
	}
}

func writeJudgement(b *strings.Builder, j *choir.TaskJudged) {
	if j == nil {
		return
	}
	verdict := map[choir.Verdict]string{
		choir.VerdictAccept: "Accepted", choir.VerdictRevise: "To be corrected", choir.VerdictAbort: "Given up",
	}[j.Verdict]
	fmt.Fprintf(b, "%s: %s\n\n", verdict, escape(clipText(j.Reason, maxSummary)))
	for _, c := range j.Criteria {
		mark := " "
		if c.Met {
			mark = "x"
		}
		fmt.Fprintf(b, "- [%s] %s\n", mark, escape(oneLine(c.Criterion)))
	}
	if len(j.Criteria) > 0 {
		b.WriteString("\n")
	}
}
