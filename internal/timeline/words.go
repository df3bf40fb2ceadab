package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"choiros/internal/choir"
)

// maxWords is the maximal number of characters of quoted text in a sentence.
const maxWords = 120

// Say returns one line of English that describes an event; empty for events that do not
// concern people.
func Say(e *choir.Event) string {
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return string(e.Type)
	}
	for _, say := range []func(choir.Payload) string{sayRun, sayWork, sayFiles, sayDesktop, sayTime} {
		if words := say(p); words != "" {
			return words
		}
	}
	return ""
}

func sayRun(p choir.Payload) string {
	switch p := p.(type) {
	case *choir.PromptSubmitted:
		return "you asked: " + Line(p.Text)
	case *choir.SteeringSubmitted:
		return "you added: " + Line(p.Text)
	case *choir.RunCancelRequested:
		return join("you stopped it", p.Reason)
	case *choir.CommandEndRequested:
		return "you ended a command of it"
	case *choir.RunPaused:
		return "you paused it"
	case *choir.RunResumed:
		return "you let it go on"
	case *choir.PlanMade:
		return "planned: " + titles(p.Steps)
	case *choir.PlanChanged:
		return "changed what is left of the plan: " + titles(p.Steps)
	case *choir.PlanRefused:
		return "a plan did not hold: " + Line(p.Problems[0])
	case *choir.DecisionRefused:
		return "a decision was refused: " + Line(p.Reason)
	case *choir.QuestionAsked:
		return "asks you: " + Line(p.Question.Text)
	case *choir.QuestionAnswered:
		return "you answered: " + Line(p.Text)
	case *choir.ToastShown:
		return "says: " + Line(p.Text)
	case *choir.RunFinished:
		switch {
		case p.Status == choir.AnsweredPartly:
			return "finished: partly done"
		case p.Status == choir.AnsweredNotDone:
			return "finished: not done"
		case p.Said != "":
			return "finished: " + string(p.Outcome) + "; the model said, unchecked: " + Line(p.Said)
		}
		return "finished: " + string(p.Outcome)
	case *choir.RunDismissed:
		return "you put its card away"
	case *choir.BudgetReached:
		return fmt.Sprintf("reached the %s's limit on %s", p.Scope, p.Limit)
	}
	return ""
}

func sayWork(p choir.Payload) string {
	switch p := p.(type) {
	case *choir.TaskDispatched:
		return fmt.Sprintf("task %s: %s", p.Task.Kind, Line(p.Task.Instruction))
	case *choir.TaskProgressed:
		if p.Request != "" {
			return fmt.Sprintf("the Associate asks (%s): %s", p.Request, Line(p.Text))
		}
		return "the Associate says: " + Line(p.Text)
	case *choir.TaskSteered:
		return "the Associate hears what you added"
	case *choir.TaskReturned:
		return "task " + taskOutcome(&p.Result)
	case *choir.TaskJudged:
		return fmt.Sprintf("judged: %s, %s", p.Verdict, Line(p.Reason))
	case *choir.ToolCalled:
		return "tool " + SayCall(p)
	case *choir.ModelReturned:
		if p.Code != "" && p.Code != choir.CodeCancelled {
			return "the model did not answer: " + Line(p.Error)
		}
	case *choir.EgressRefused:
		if p.Why == choir.EgressDigest {
			return "refused content of " + p.Host + ", which has a false digest"
		}
		return "refused to reach " + p.Host
	case *choir.EgressPassed:
		if p.Cached {
			return fmt.Sprintf("had %s of %s from the package cache", Bytes(p.Received), p.Host)
		}
		return fmt.Sprintf("reached %s: %s sent, %s received", p.Host, Bytes(p.Sent), Bytes(p.Received))
	case *choir.EgressGranted:
		return fmt.Sprintf("let %s:%d out (%s)", p.Host, p.Port, p.Scope)
	case *choir.EgressRevoked:
		return fmt.Sprintf("revoked the grant of %s:%d", p.Host, p.Port)
	case *choir.EgressDenied:
		return fmt.Sprintf("did not let %s:%d out", p.Host, p.Port)
	case *choir.EffectHeld:
		return "the result waits for your approval: " + Line(strings.Join(p.Rules, "; "))
	case *choir.EffectAnswered:
		return sayEffect(p)
	case *choir.RepoLinked:
		return fmt.Sprintf("%s comes from %s", p.Name, p.URL)
	case *choir.RepoPushed:
		return fmt.Sprintf("pushed %s to %s", p.Name, p.URL)
	case *choir.RepoPushFailed:
		return fmt.Sprintf("could not push %s to %s: %s", p.Name, p.URL, Line(p.Said))
	case *choir.VaultSet:
		return fmt.Sprintf("bound the key %s to %s:%d", p.Name, p.Bound.Host, p.Bound.Port)
	case *choir.VaultRemoved:
		return fmt.Sprintf("removed the key %s", p.Name)
	case *choir.CheckpointCreated:
		if len(p.Withheld) > 0 {
			return CheckpointName(p.Subject) + " (in no commit, because it looks like a key: " + Paths(p.Withheld, len(p.Withheld)) + ")"
		}
		return CheckpointName(p.Subject)
	}
	return ""
}

// CheckpointName returns the display name of a checkpoint with this subject. A default
// subject, which is git's timestamp, becomes a readable date.
func CheckpointName(subject string) string {
	if at, err := time.Parse("checkpoint: 20060102-150405", subject); err == nil {
		return "checkpoint of " + at.Format("2006-01-02, 15:04")
	}
	return "checkpoint: " + Line(subject)
}

// SayCall returns the name of a tool call's tool and its path, command, pattern or URL.
func SayCall(p *choir.ToolCalled) string {
	about := strings.Join(slices.DeleteFunc([]string{p.Input.Path, p.Input.Command, p.Input.Pattern, p.Input.URL}, func(s string) bool { return s == "" }), " ")
	return strings.TrimSpace(p.Tool + " " + Line(about))
}

// titles returns the titles of steps on one line.
func titles(steps []choir.PlanStep) string {
	list := make([]string, len(steps))
	for i := range steps {
		list[i] = steps[i].Title
	}
	return Line(strings.Join(list, "; "))
}

// taskOutcome describes the result of a task, such as "failed (verify_failed):
// verification fail, ...".
func taskOutcome(r *choir.AssociateResult) string {
	status := string(r.Status)
	if r.Code != "" {
		status += " (" + string(r.Code) + ")"
	}
	return fmt.Sprintf("%s: verification %s, %s", status, r.Verify.Status, Line(r.Summary))
}

// Count returns a number with its noun, in the plural unless n is 1: "1 path", "3 paths".
func Count[N int | int64 | uint64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Bytes returns a size as people read it: "535 B", "12.3 kB", "4.1 MB".
func Bytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	size, unit := float64(n)/1000, 0
	for size >= 999.95 && unit < len(units)-1 {
		size, unit = size/1000, unit+1
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", size), ".0") + " " + units[unit]
}

// units are those of a thousand bytes and more.
var units = [...]string{"kB", "MB", "GB", "TB"}

func sayFiles(p choir.Payload) string {
	switch p := p.(type) {
	case *choir.FileWritten:
		paths := make([]string, len(p.Files))
		for i := range p.Files {
			paths[i] = p.Files[i].Path
		}
		return "wrote " + Paths(paths, len(paths))
	case *choir.FileRemoved:
		return "removed " + Paths(p.Paths, len(p.Paths))
	case *choir.RepoAdded:
		return fmt.Sprintf("project %s added: %s", p.Name, Count(p.Files, "file"))
	case *choir.RepoExported:
		return fmt.Sprintf("project %s exported as a %s", p.Name, p.Format)
	case *choir.CachesLeftOut:
		return sayLeft(p)
	case *choir.DocumentCreated:
		return "document begun: " + Line(p.Title)
	case *choir.DocumentRenamed:
		return "document renamed: " + Line(p.Title)
	case *choir.DocumentRemoved:
		return "document removed"
	case *choir.OverlayAdded:
		return string(p.Kind) + ": " + Line(p.Text)
	case *choir.OverlaySettled:
		return "overlay " + string(p.Outcome)
	}
	return ""
}

func sayDesktop(p choir.Payload) string {
	switch p := p.(type) {
	case *choir.WindowOpened:
		if p.Run != "" {
			return join("window opened by a run: "+p.App, p.Title)
		}
		return join("window opened: "+p.App, p.Title)
	case *choir.WindowClosed:
		return "window closed"
	case *choir.TerminalOpened:
		return "terminal opened: " + Line(p.Title)
	case *choir.TerminalClosed:
		return "terminal closed: " + string(p.Reason)
	case *choir.ThemeChanged:
		return "theme: " + Line(p.Name)
	case *choir.DesktopBroke:
		return "the desktop broke: " + Line(p.Message)
	case *choir.SettingChanged:
		return "setting " + p.Key + ": " + Line(p.Value)
	}
	return ""
}

func sayTime(p choir.Payload) string {
	switch p := p.(type) {
	case *choir.TimelineRewound:
		return fmt.Sprintf("rewound to event %d: %s", p.ToSeq, Count(p.Files, "path"))
	case *choir.TimelineUndone:
		return "undone: " + Count(p.Files, "path")
	case *choir.ChangesTaken:
		return "changes taken from another computer: " + Count(p.Files, "path")
	case *choir.DesktopUpgraded:
		words := "desktop's source upgraded: " + Count(p.Files, "path")
		if n := len(p.Conflicts); n > 0 {
			words += ", left as they are: " + Paths(p.Conflicts, n)
		}
		return words
	case *choir.TimelineForked:
		return fmt.Sprintf("forked after event %d", p.Seq)
	case *choir.ComputerForked:
		return "this computer begins as a fork: " + Line(p.Name)
	case *choir.ComputerImported:
		return "this computer was imported: " + Line(p.Name)
	case *choir.ComputerExported:
		return fmt.Sprintf("exported up to event %d", p.Seq)
	}
	return ""
}

func join(what, more string) string {
	if more == "" {
		return what
	}
	return what + ": " + Line(more)
}

// Paths returns the first path and the number of the others, "a and 2 more"; "nothing"
// without paths. count is the number of all paths, of which first may hold fewer.
func Paths(first []string, count int) string {
	switch {
	case count == 0 || len(first) == 0:
		return "nothing"
	case count == 1:
		return first[0]
	}
	return fmt.Sprintf("%s and %d more", first[0], count-1)
}

// Line returns text as one line, shortened to maxWords characters.
func Line(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > maxWords {
		return string(r[:maxWords-3]) + "..."
	}
	return s
}

// sayLeft describes the paths that snapshots leave out, with the reasons.
func sayLeft(p *choir.CachesLeftOut) string {
	var parts []string
	if len(p.Paths) > 0 {
		parts = append(parts, fmt.Sprintf("a cache of more than %d MiB: %s", p.Limit>>20, Paths(p.Paths, len(p.Paths))))
	}
	for _, l := range p.Over {
		parts = append(parts, fmt.Sprintf("%s (%s)", clipPath(l.Path), WhyLeft(l.Reason)))
	}
	if len(parts) == 0 {
		return "every cache is kept again"
	}
	return "not kept from here on, " + strings.Join(parts, "; ")
}

// WhyLeft returns a clause that explains why no snapshot holds a path.
func WhyLeft(r choir.LeftReason) string {
	switch r {
	case choir.LeftFileTooLarge:
		return "the file is longer than storage.file_mb"
	case choir.LeftTreeTooLarge:
		return "the workspace has more than storage.workspace_mb"
	case choir.LeftTooMany:
		return "the workspace has more paths than storage.entries"
	case choir.LeftTooDeep:
		return "it lies too deep"
	case choir.LeftChanging:
		return "it did not hold still while it was read"
	case choir.LeftNoSpace:
		return "the disk has no room for a copy"
	case choir.LeftUnreadable:
		return "it may not be read"
	case choir.LeftRemoving:
		return "it is being removed for good"
	}
	return string(r)
}

// mostOfPath is the maximal number of characters of a path in a sentence.
const mostOfPath = 200

// clipPath shortens a long path by cutting out its middle.
func clipPath(path string) string {
	r := []rune(path)
	if len(r) <= mostOfPath {
		return path
	}
	return string(r[:mostOfPath/2]) + "..." + string(r[len(r)-mostOfPath/2:])
}

// sayEffect returns the owner's answer to a result.
func sayEffect(p *choir.EffectAnswered) string {
	switch p.Answer {
	case choir.EffectApprove:
		return fmt.Sprintf("you approved the result; %s changed", Count(int(p.Files), "file"))
	case choir.EffectRefuse:
		return "you refused the result"
	}
	return "you had it done again"
}
