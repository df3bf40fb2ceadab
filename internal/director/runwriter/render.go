package runwriter

import (
	"fmt"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// The maximum sizes of the parts of one version of the document, in bytes, and of listed
// files. The log has the complete texts.
const (
	maxTitle   = 160
	maxSummary = 2_000
	maxLog     = 2_000
	maxFiles   = 40
)

// Markdown returns the current document as Markdown. It is never empty.
func (s *Story) Markdown() string {
	var b strings.Builder
	s.writeHead(&b)
	s.writePlan(&b)
	for i, st := range s.steps {
		if len(st.tasks) > 0 {
			writeStep(&b, i+1, st, s.finished != nil)
		}
	}
	s.writeDialogue(&b)
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Title returns the first non-empty line of the prompt, at most 80 bytes.
func Title(prompt string) string {
	if t := clipLine(prompt, 80); t != "" {
		return t
	}
	return "Untitled"
}

func (s *Story) writeHead(b *strings.Builder) {
	fmt.Fprintf(b, "# %s\n\n", escape(Title(s.asked.Text)))
	if f := s.finished; f != nil {
		fmt.Fprintf(b, "**%s**\n\n", s.outcomeLine(*f))
		if f.Answer != "" {
			fmt.Fprintf(b, "%s\n\n", strings.TrimSpace(f.Answer))
		}
	} else {
		fmt.Fprintf(b, "**%s**\n\n", s.stage())
	}
	fmt.Fprintf(b, "## Asked\n\n%s\n\n", quote(s.asked.Text))
	if s.asked.Repo != "" {
		fmt.Fprintf(b, "Project: %s\n\n", code(s.asked.Repo))
	}
	for _, text := range s.added {
		fmt.Fprintf(b, "Added meanwhile:\n\n%s\n\n", quote(text))
	}
}

// outcomeLine returns how the run ended. "Done" stands only over a change that was kept,
// and says so when not all of it was verified.
func (s *Story) outcomeLine(f choir.RunFinished) string {
	kept, verified := s.keptChanges()
	switch {
	case f.Outcome == choir.OutcomeDone && f.Status == choir.AnsweredNotDone:
		return "Not done."
	case f.Outcome == choir.OutcomeDone && kept == 0 && f.Status != choir.AnsweredPartly:
		return "Answered."
	case f.Outcome == choir.OutcomeDone:
		line := "Done"
		if f.Status == choir.AnsweredPartly {
			line = "Partly done"
		}
		if verified < kept {
			line += ", not verified"
		}
		return line + "."
	}
	switch f.Outcome {
	case choir.OutcomeCancelled:
		return "Stopped by the user."
	}
	return "Failed (" + string(f.Code) + ")."
}

// keptChanges returns the number of tasks whose changes of files were kept, and of those
// among them that passed verification: their own, or that of a later task of the step,
// whose checks ran on the files with the change in them.
func (s *Story) keptChanges() (kept, verified int) {
	for _, st := range s.steps {
		passed := false
		for _, t := range slices.Backward(st.tasks) {
			if t.result == nil || t.result.Status != choir.StatusOK {
				continue
			}
			passed = passed || t.result.Verify.Status == choir.VerifyPass
			if len(t.result.FilesChanged) == 0 {
				continue
			}
			kept++
			if passed {
				verified++
			}
		}
	}
	return kept, verified
}

// stage describes the current stage of the run in one line.
func (s *Story) stage() string {
	for _, x := range s.dialogue {
		if x.answer == "" {
			return "Waiting for an answer."
		}
	}
	done, total := s.Progress()
	for _, st := range s.steps {
		switch st.current() {
		case "working", "being judged", "to be corrected", "needs an answer":
			return fmt.Sprintf("Step %d of %d: %s.", done+1, total, st.current())
		}
	}
	switch {
	case len(s.steps) == 0 && s.refused > 0:
		return "Planning: the plan is being corrected."
	case len(s.steps) == 0:
		return "Planning."
	case done == total:
		return "Every step is done; the answer is being written."
	}
	return fmt.Sprintf("%d of %d steps done.", done, total)
}

func (s *Story) writePlan(b *strings.Builder) {
	if len(s.steps) == 0 {
		return
	}
	b.WriteString("## Plan\n\n")
	if s.goal != "" {
		fmt.Fprintf(b, "%s\n\n", escape(clipText(s.goal, maxSummary)))
	}
	for i, st := range s.steps {
		mark := " "
		if st.current() == "done" {
			mark = "x"
		}
		fmt.Fprintf(b, "%d. [%s] %s (%s)\n", i+1, mark, escape(oneLine(st.plan.Title)), st.state(s.finished != nil))
	}
	b.WriteString("\n")
}

func (s *Story) writeDialogue(b *strings.Builder) {
	if len(s.dialogue) == 0 {
		return
	}
	b.WriteString("## Questions\n\n")
	for _, x := range s.dialogue {
		fmt.Fprintf(b, "%s\n\n", escape(clipText(x.question.Text, maxSummary)))
		for _, c := range x.question.Choices {
			fmt.Fprintf(b, "- %s\n", escape(oneLine(c)))
		}
		if len(x.question.Choices) > 0 {
			b.WriteString("\n")
		}
		if x.answer == "" {
			b.WriteString("Not answered yet.\n\n")
		} else {
			fmt.Fprintf(b, "%s\n\n", quote(x.answer))
		}
	}
}
