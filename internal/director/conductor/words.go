package conductor

import (
	_ "embed" // the system prompt
	"fmt"
	"regexp"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// systemPrompt is the system prompt, the same for every run and computer.
//
//go:embed system.md
var systemPrompt string

// reminder is the message to a model that answered without a tool.
const reminder = "Words outside of tools decide nothing. If these were your answer, give it with the tool answer; else go on with another of your tools: " +
	"submit_plan, judge_result, look, ask_user, answer or show_toast."

// The maximum sizes of the parts of one message to the model, in bytes or entries.
const (
	maxResult       = 32_000
	maxSummary      = 4_000
	maxDiff         = 10_000
	maxVerifyLog    = 4_000
	maxOutput       = 500
	maxCommandText  = 4_000  // of the output of one command
	maxCommandTexts = 12_000 // of all commands, the last ones first
	maxPassedTexts  = 4_000  // of all commands when the checks passed, which show more
	maxNotes        = 1_500
	maxFileLines    = 60
	maxCommandLines = 8
	maxQuestionText = 1_000
	maxConversation = 400_000
)

// opening returns the first message to the model: the prompt, the projects, the facts
// about them, and the earlier talk it follows up.
func opening(rec *record, facts string, talk []turn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The user asks:\n\n%s\n\n", rec.prompt.Text)
	if rec.prompt.Repo != "" {
		// The other projects are left out: they are not what it is about, and a
		// recorded run must read the same beside them.
		fmt.Fprintf(&b, "It is about the project %s.", rec.prompt.Repo)
	} else {
		fmt.Fprintf(&b, "Projects in the workspace: %s.", listRepos(rec.repos))
	}
	if facts != "" {
		b.WriteString("\n\nThis lay in the workspace when the user asked, read from a snapshot and cut short. Names and texts are those of the files.\n")
		writeData(&b, "facts", clipHead(facts, choir.MaxFacts))
	}
	writeTalk(&b, talk)
	return b.String()
}

func steeringText(text string) string { return "The user adds:\n\n" + text }

// resultText returns the message to the model about a task's result. It contains no
// times, durations or ids, so that the same work reads the same, and marks everything
// from the sandbox as data.
func resultText(a *attempt, notes []string, diff string) string {
	res := a.result
	var b strings.Builder
	fmt.Fprintf(&b, "Result of step %q, task %d of at most %d:\n", a.step.ID, a.number, maxTasksPerStep)
	writeStatus(&b, a)
	for _, text := range a.heard {
		fmt.Fprintf(&b, "The worker was told while it worked what the user added: %s\n", oneLine(text))
	}
	writeChecks(&b, res.Verify)
	b.WriteString("Acceptance criteria to judge:\n")
	for i, c := range a.step.AcceptanceCriteria {
		fmt.Fprintf(&b, "- %s: %s\n", criterionID(i), c)
	}
	writeChanged(&b, res)
	writeData(&b, "notes of the worker", clipHead(strings.Join(notes, "\n"), maxNotes))
	writeData(&b, "summary", clipHead(res.Summary, maxSummary))
	if res.Verify.Status != choir.VerifyPass {
		writeData(&b, "verification log", clipTail(res.Verify.Log, maxVerifyLog))
	}
	writeData(&b, "diff", clipHead(diff, maxDiff))
	writeCommands(&b, a)
	return clipHead(strings.TrimRight(b.String(), "\n"), maxResult)
}

func writeStatus(b *strings.Builder, a *attempt) {
	res := a.result
	fmt.Fprintf(b, "status: %s", res.Status)
	if res.Code != "" {
		fmt.Fprintf(b, ", code %s", res.Code)
	}
	b.WriteString("\n")
	switch {
	case res.Status != choir.StatusOK:
		b.WriteString("The workspace is as it was before the task; the diff, if any, was attempted and undone.\n")
		if a.isKept() {
			b.WriteString("What it tried is kept: verdict revise with from_attempt goes on from there.\n")
		}
	case res.Checkpoint != nil:
		b.WriteString("A checkpoint was made.\n")
	}
	switch {
	case res.Code == choir.ResultConflict:
		fmt.Fprintf(b, "These were changed in the project too while the task worked in its copy, and nothing was merged: %s\n", clipHead(strings.Join(res.Conflicts, ", "), maxOutput))
	case len(res.Conflicts) > 0:
		fmt.Fprintf(b, "The owner wrote these meanwhile, and the owner's version was kept: %s\n", clipHead(strings.Join(res.Conflicts, ", "), maxOutput))
	}
	if res.SuggestedNext != nil {
		writeData(b, "suggested next", clipHead(*res.SuggestedNext, maxOutput))
	}
}

func writeChecks(b *strings.Builder, v choir.VerifyOutcome) {
	fmt.Fprintf(b, "verification (%s): %s\n", v.Mode, v.Status)
	for i, c := range v.Commands {
		if i == maxCommandLines {
			fmt.Fprintf(b, "- and %d more\n", len(v.Commands)-i)
			break
		}
		fmt.Fprintf(b, "- check %d: %s: %s\n", i+1, oneLine(c.Command), exitText(c))
	}
	writeData(b, "what the checks prove", clipHead(v.Proves, maxOutput))
	if len(v.Suspect) > 0 {
		b.WriteString("The checks prove less than they seem, so nothing is verified:\n")
		writeData(b, "suspect", clipHead("- "+strings.Join(v.Suspect, "\n- "), maxVerifyLog))
	}
	if len(v.JudgedBy) > 0 {
		b.WriteString("The change touches files that judge it; hold their diff against the criteria too:\n")
		writeData(b, "touched judges", clipHead(strings.Join(v.JudgedBy, "\n"), maxOutput))
	}
}

// exitText describes how a command ended.
func exitText(c choir.CommandRun) string {
	if c.Signal != "" {
		return "ended by signal " + c.Signal
	}
	return fmt.Sprintf("exit code %d", c.ExitCode)
}

func writeChanged(b *strings.Builder, res choir.AssociateResult) {
	if n := len(res.IgnoredFiles); n > 0 {
		fmt.Fprintf(b, "Beside the diff, %d files that git ignores changed, such as %s.\n", n, oneLine(res.IgnoredFiles[0]))
	}
	if len(res.FilesChanged) == 0 {
		return
	}
	b.WriteString("Files changed:\n")
	for i, f := range res.FilesChanged {
		if i == maxFileLines {
			fmt.Fprintf(b, "- and %d more\n", len(res.FilesChanged)-i)
			break
		}
		from := ""
		if f.From != "" {
			from = " from " + oneLine(f.From)
		}
		fmt.Fprintf(b, "- %s %s%s\n", f.Change, oneLine(f.Path), from)
	}
}

// writeCommands writes the ends of the outputs of a task's last commands, the checks of
// its verification included. The log has those of a failed check.
func writeCommands(b *strings.Builder, a *attempt) {
	runs := a.result.CommandsRun
	left := max(0, len(runs)-maxCommandLines)
	if left > 0 {
		fmt.Fprintf(b, "The first %d commands are left out.\n", left)
	}
	runs = runs[left:]
	checks := a.result.Verify.Commands
	if a.result.Verify.Status == choir.VerifyFail {
		checks = nil
	}
	all := maxCommandTexts
	if a.result.Verify.Status == choir.VerifyPass {
		all = maxPassedTexts
	}
	sizes := textSizes(append(slices.Clone(runs), checks...), all)
	for i, c := range runs {
		writeCommand(b, fmt.Sprintf("command %d", left+i+1), c, sizes[i])
	}
	for i, c := range checks {
		writeCommand(b, fmt.Sprintf("check %d", i+1), c, sizes[len(runs)+i])
	}
}

// writeCommand writes a command and the last bytes of its outputs, at most size.
func writeCommand(b *strings.Builder, what string, c choir.CommandRun, size int) {
	fmt.Fprintf(b, "%s: %s: %s\n", what, oneLine(c.Command), exitText(c))
	wrong := min(len(c.StderrTail), size)
	if len(c.StdoutTail) > 0 {
		wrong = min(wrong, max(size/2, size-len(c.StdoutTail)))
	}
	if size > wrong {
		writeData(b, "output", clipTail(c.StdoutTail, size-wrong))
	}
	if wrong > 0 {
		writeData(b, "error output", clipTail(c.StderrTail, wrong))
	}
}

// textSizes returns how much of the output of each command is written: maxCommandText, as
// long as those after it leave room for it in all.
func textSizes(runs []choir.CommandRun, all int) []int {
	sizes, left := make([]int, len(runs)), all
	for i := len(runs) - 1; i >= 0; i-- {
		sizes[i] = min(maxCommandText, left)
		left -= min(sizes[i], len(runs[i].StdoutTail)+len(runs[i].StderrTail))
	}
	return sizes
}

// oneLine returns a text on one line, at most maxOutput bytes and the note of clipHead.
func oneLine(s string) string { return clipHead(strings.Join(strings.Fields(s), " "), maxOutput) }

// markEnd matches the end tag of a data mark as a model may read it: in any case, with
// white space and invisible characters in between.
var markEnd = regexp.MustCompile(`(?i)(<[\s\p{Z}\p{C}\p{M}]*)(/[\s\p{Z}\p{C}\p{M}]*data)`)

// writeData writes text from the sandbox between data marks, which the text cannot
// close.
func writeData(b *strings.Builder, name, text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	text = markEnd.ReplaceAllString(text, `${1}\${2}`)
	fmt.Fprintf(b, "<data name=%q>\n%s\n</data>\n", name, text)
}

// fitConversation returns messages shortened to about limit bytes: it clips tool
// results, the oldest first, until they fit. It does not change its input.
func fitConversation(messages []model.Message, limit int) []model.Message {
	size := 0
	for _, m := range messages {
		for _, b := range m.Content {
			size += len(b.Text) + len(b.Input)
		}
	}
	if size <= limit {
		return messages
	}
	out := slices.Clone(messages)
	for i := 1; i < len(out)-1 && size > limit; i++ {
		size -= shorten(&out[i])
	}
	return out
}

const shortResult = 1_000

// shorten clips the tool results of one message and returns the bytes saved.
func shorten(m *model.Message) (saved int) {
	m.Content = slices.Clone(m.Content)
	for i := range m.Content {
		b := &m.Content[i]
		before := len(b.Text)
		if b.Kind == model.ToolResult {
			b.Text = clipHead(b.Text, shortResult)
		}
		saved += before - len(b.Text)
	}
	return saved
}
