package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/names"
)

// maxWords is the maximal number of characters of quoted text in a sentence.
const maxWords = 120

// Say returns one line of English that describes an event; empty for events that do not
// concern people.
func Say(e *choir.Event) string { return SayIn(names.English, e) }

// SayIn returns the same as Say in a language.
func SayIn(l names.Language, e *choir.Event) string {
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return string(e.Type)
	}
	s := speaker{l}
	for _, say := range []func(choir.Payload) string{s.sayRun, s.sayWork, s.sayFiles, s.sayDesktop, s.sayTime} {
		if words := say(p); words != "" {
			return words
		}
	}
	return ""
}

func (s speaker) sayRun(p choir.Payload) string {
	switch p := p.(type) {
	case *choir.PromptSubmitted:
		return s.sentence("asked", "text", Line(p.Text))
	case *choir.SteeringSubmitted:
		return s.sentence("added", "text", Line(p.Text))
	case *choir.RunCancelRequested:
		if p.Reason == "" {
			return s.sentence("stopped")
		}
		return s.sentence("stoppedWhy", "text", Line(p.Reason))
	case *choir.CommandEndRequested:
		return s.sentence("commandEnded")
	case *choir.RunPaused:
		return s.sentence("paused")
	case *choir.RunResumed:
		return s.sentence("resumed")
	case *choir.PlanMade:
		return s.sentence("planned", "text", titles(p.Steps))
	case *choir.PlanChanged:
		return s.sentence("planChanged", "text", titles(p.Steps))
	case *choir.PlanRefused:
		return s.sentence("planRefused", "text", Line(p.Problems[0]))
	case *choir.DecisionRefused:
		return s.sentence("decisionRefused", "text", Line(p.Reason))
	case *choir.QuestionAsked:
		return s.sentence("question", "text", Line(p.Question.Text))
	case *choir.QuestionAnswered:
		return s.sentence("answered", "text", Line(p.Text))
	case *choir.ToastShown:
		return s.sentence("toast", "text", Line(p.Text))
	case *choir.RunFinished:
		switch {
		case p.Status == choir.AnsweredPartly:
			return s.sentence("finishedPartly")
		case p.Status == choir.AnsweredNotDone:
			return s.sentence("finishedNotDone")
		case p.Said != "":
			return s.sentence("finishedSaid", "outcome", s.term("outcome", p.Outcome), "text", Line(p.Said))
		}
		return s.sentence("finished", "outcome", s.term("outcome", p.Outcome))
	case *choir.RunDismissed:
		return s.sentence("dismissed")
	case *choir.BudgetReached:
		return s.sentence("budget", "scope", s.term("budgetScope", p.Scope), "limit", s.term("budgetLimit", p.Limit))
	}
	return ""
}

func (s speaker) sayWork(p choir.Payload) string {
	switch p := p.(type) {
	case *choir.TaskDispatched:
		return s.sentence("task", "kind", p.Task.Kind, "text", Line(p.Task.Instruction))
	case *choir.TaskProgressed:
		if p.Request != "" {
			return s.sentence("associateAsks", "request", p.Request, "text", Line(p.Text))
		}
		return s.sentence("associateSays", "text", Line(p.Text))
	case *choir.TaskSteered:
		return s.sentence("taskSteered")
	case *choir.TaskReturned:
		return s.taskOutcome(&p.Result)
	case *choir.TaskJudged:
		return s.sentence("judged", "verdict", s.term("verdict", p.Verdict), "text", Line(p.Reason))
	case *choir.ToolCalled:
		return s.sentence("tool", "text", SayCall(p))
	case *choir.ModelReturned:
		if p.Code != "" && p.Code != choir.CodeCancelled {
			return s.sentence("modelFailed", "text", Line(p.Error))
		}
	case *choir.EgressRefused:
		if p.Why == choir.EgressDigest {
			return s.sentence("egressDigest", "host", p.Host)
		}
		return s.sentence("egressRefused", "host", p.Host)
	case *choir.EgressPassed:
		if p.Cached {
			return s.sentence("egressCached", "host", p.Host, "size", BytesIn(s.language, p.Received))
		}
		return s.sentence("egressPassed", "host", p.Host, "sent", BytesIn(s.language, p.Sent), "received", BytesIn(s.language, p.Received))
	case *choir.EgressGranted:
		return s.sentence("egressGranted", "host", hostPort(p.Host, p.Port), "scope", s.term("scope", p.Scope))
	case *choir.EgressRevoked:
		return s.sentence("egressRevoked", "host", hostPort(p.Host, p.Port))
	case *choir.EgressDenied:
		return s.sentence("egressDenied", "host", hostPort(p.Host, p.Port))
	case *choir.EffectHeld:
		return s.sentence("effectHeld", "text", Line(strings.Join(p.Rules, "; ")))
	case *choir.EffectAnswered:
		return s.sayEffect(p)
	case *choir.RepoLinked:
		return s.sentence("repoLinked", "name", p.Name, "url", p.URL)
	case *choir.RepoPushed:
		return s.sentence("repoPushed", "name", p.Name, "url", p.URL)
	case *choir.RepoPushFailed:
		return s.sentence("repoPushFailed", "name", p.Name, "url", p.URL, "text", Line(p.Said))
	case *choir.VaultSet:
		return s.sentence("vaultSet", "name", p.Name, "host", hostPort(p.Bound.Host, p.Bound.Port))
	case *choir.VaultRemoved:
		return s.sentence("vaultRemoved", "name", p.Name)
	case *choir.CheckpointCreated:
		if len(p.Withheld) > 0 {
			return s.sentence("checkpointWithheld", "checkpoint", s.checkpointName(p.Subject), "paths", s.paths(p.Withheld, len(p.Withheld)))
		}
		return s.checkpointName(p.Subject)
	}
	return ""
}

// hostPort returns a host and its port.
func hostPort(host string, port int) string { return fmt.Sprintf("%s:%d", host, port) }

// checkpointName returns the display name of a checkpoint with this subject. A default
// subject, which is git's timestamp, becomes a readable date.
func (s speaker) checkpointName(subject string) string {
	if at, err := time.Parse("checkpoint: 20060102-150405", subject); err == nil {
		return s.sentence("checkpointOf", "at", at.Format("2006-01-02, 15:04"))
	}
	return s.sentence("checkpoint", "text", Line(subject))
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

// taskOutcome describes the result of a task, such as "task failed (verify_failed):
// verification fail, ...".
func (s speaker) taskOutcome(r *choir.AssociateResult) string {
	status, verification := s.term("status", r.Status), s.term("verify", r.Verify.Status)
	if r.Code != "" {
		return s.sentence("taskReturnedCode", "status", status, "code", r.Code, "verification", verification, "text", Line(r.Summary))
	}
	return s.sentence("taskReturned", "status", status, "verification", verification, "text", Line(r.Summary))
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

func (s speaker) sayFiles(p choir.Payload) string {
	switch p := p.(type) {
	case *choir.FileWritten:
		paths := make([]string, len(p.Files))
		for i := range p.Files {
			paths[i] = p.Files[i].Path
		}
		return s.sentence("wrote", "paths", s.paths(paths, len(paths)))
	case *choir.FileRemoved:
		return s.sentence("removed", "paths", s.paths(p.Paths, len(p.Paths)))
	case *choir.RepoAdded:
		return s.sentence("repoAdded", "name", p.Name, "n", p.Files)
	case *choir.RepoExported:
		return s.sentence("repoExported", "name", p.Name, "format", p.Format)
	case *choir.CachesLeftOut:
		return s.sayLeft(p)
	case *choir.DocumentCreated:
		return s.sentence("documentBegun", "text", Line(p.Title))
	case *choir.DocumentRenamed:
		return s.sentence("documentRenamed", "text", Line(p.Title))
	case *choir.DocumentRemoved:
		return s.sentence("documentRemoved")
	case *choir.OverlayAdded:
		return s.sentence("overlay."+string(p.Kind), "text", Line(p.Text))
	case *choir.OverlaySettled:
		return s.sentence("overlaySettled." + string(p.Outcome))
	}
	return ""
}

func (s speaker) sayDesktop(p choir.Payload) string {
	switch p := p.(type) {
	case *choir.WindowOpened:
		if p.Run != "" {
			return s.window("windowOpenedByRun", p)
		}
		return s.window("windowOpened", p)
	case *choir.WindowClosed:
		return s.sentence("windowClosed")
	case *choir.TerminalOpened:
		return s.sentence("terminalOpened", "text", Line(p.Title))
	case *choir.TerminalClosed:
		return s.sentence("terminalClosed", "reason", s.term("terminalReason", p.Reason))
	case *choir.ThemeChanged:
		return s.sentence("theme", "text", Line(p.Name))
	case *choir.DesktopBroke:
		return s.sentence("desktopBroke", "text", Line(p.Message))
	case *choir.SettingChanged:
		return s.sentence("setting", "key", p.Key, "text", Line(p.Value))
	}
	return ""
}

func (s speaker) sayTime(p choir.Payload) string {
	switch p := p.(type) {
	case *choir.TimelineRewound:
		return s.sentence("rewound", "seq", p.ToSeq, "n", p.Files)
	case *choir.TimelineUndone:
		return s.sentence("undone", "n", p.Files)
	case *choir.ChangesTaken:
		return s.sentence("taken", "n", p.Files)
	case *choir.DesktopUpgraded:
		if n := len(p.Conflicts); n > 0 {
			return s.sentence("upgradedLeft", "n", p.Files, "paths", s.paths(p.Conflicts, n))
		}
		return s.sentence("upgraded", "n", p.Files)
	case *choir.TimelineForked:
		return s.sentence("forked", "seq", p.Seq)
	case *choir.ComputerForked:
		return s.sentence("beginsAsFork", "text", Line(p.Name))
	case *choir.ComputerImported:
		return s.sentence("imported", "text", Line(p.Name))
	case *choir.ComputerExported:
		return s.sentence("exported", "seq", p.Seq)
	}
	return ""
}

// window returns the sentence with a key about a window that was opened, with its title if it has one.
func (s speaker) window(key string, p *choir.WindowOpened) string {
	if p.Title == "" {
		return s.sentence(key, "app", p.App)
	}
	return s.sentence(key+"Title", "app", p.App, "text", Line(p.Title))
}

// Paths returns the first path and the number of the others, "a and 2 more"; "nothing"
// without paths. count is the number of all paths, of which first may hold fewer.
func Paths(first []string, count int) string { return speaker{names.English}.paths(first, count) }

// paths returns the same as Paths in the speaker's language.
func (s speaker) paths(first []string, count int) string {
	switch {
	case count == 0 || len(first) == 0:
		return s.sentence("nothing")
	case count == 1:
		return first[0]
	}
	return s.sentence("andMore", "path", first[0], "n", count-1)
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
func (s speaker) sayLeft(p *choir.CachesLeftOut) string {
	var parts []string
	if len(p.Paths) > 0 {
		parts = append(parts, s.sentence("cacheOver", "limit", p.Limit>>20, "paths", s.paths(p.Paths, len(p.Paths))))
	}
	for _, l := range p.Over {
		parts = append(parts, fmt.Sprintf("%s (%s)", clipPath(l.Path), WhyLeft(s.language, l.Reason)))
	}
	if len(parts) == 0 {
		return s.sentence("cachesKept")
	}
	return s.sentence("cachesLeft", "text", strings.Join(parts, "; "))
}

// WhyLeft returns a clause in a language that explains why no snapshot holds a path.
func WhyLeft(l names.Language, r choir.LeftReason) string { return speaker{l}.term("left", r) }

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
func (s speaker) sayEffect(p *choir.EffectAnswered) string {
	switch p.Answer {
	case choir.EffectApprove:
		return s.sentence("effectApproved", "n", p.Files)
	case choir.EffectRefuse:
		return s.sentence("effectRefused")
	}
	return s.sentence("effectAgain")
}
