package moments

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/names"
	"choiros/internal/timeline"
)

// Told names the sentence of a mark, as data: which of the catalogue of marks
// (internal/names), and what stands in it.
type Told struct {
	Sentence string   `json:"sentence" doc:"The name of the sentence in the catalogue of marks."`
	About    []string `json:"about,omitempty" doc:"What the sentence names: paths, titles, the object of a tool, somebody's words. An empty one has no name; a window without a title has the id of its app."`
	More     int      `json:"more,omitempty" doc:"How many there are beside those."`
	Tool     string   `json:"tool,omitempty" doc:"The tool that was called."`
}

// Say returns the sentence of a mark in a language, and the English text of the log
// for a sentence that this catalogue does not have.
func (m *Mark) Say(l names.Language) string {
	unnamed := "aWindow"
	if m.Kind == eventstore.MarkDocument {
		unnamed = "aDocument"
	}
	about := make([]string, len(m.Told.About))
	for i, name := range m.Told.About {
		switch {
		case name == "":
			about[i], _ = names.SayMark(l, unnamed, names.Values{})
		case m.Kind == eventstore.MarkWindows:
			about[i] = names.App(name, l)
		default:
			about[i] = name
		}
	}
	v := names.Values{Text: names.ListMarked(l, about, m.Told.More), Tool: m.Told.Tool, N: m.Files}
	if text, ok := names.SayMark(l, m.Told.Sentence, v); ok {
		return text
	}
	return m.Text
}

// tellStreak tells of changes that a person or a run made in a row.
func tellStreak(f *eventstore.Mark, did string, about []string, more int) Told {
	who := "you"
	if f.Run != "" {
		who = "run"
	}
	return Told{Sentence: who + strings.ToUpper(did[:1]) + did[1:], About: about, More: more}
}

// tellPaths tells of changed paths, of which one is known.
func tellPaths(sentence string, f *eventstore.Mark) Told {
	if f.Files == 0 || f.Path == "" {
		return Told{Sentence: sentence}
	}
	return Told{Sentence: sentence, About: []string{f.Path}, More: f.Files - 1}
}

// plainSubject is a checkpoint's subject that only says when.
var plainSubject = regexp.MustCompile(`^checkpoint: [\d-]+$`)

// runEnds are the sentences of the ends of a run.
var runEnds = map[choir.Outcome]string{choir.OutcomeDone: "runDone", choir.OutcomeFailed: "runFailed", choir.OutcomeCancelled: "runStopped"}

// tellEvent tells of a mark that is one event.
func tellEvent(e *choir.Event, p choir.Payload) Told {
	say := func(sentence string, about ...string) Told {
		for i := range about {
			about[i] = timeline.Line(about[i])
		}
		return Told{Sentence: sentence, About: about}
	}
	switch p := p.(type) {
	case *choir.PromptSubmitted:
		return say("asked", p.Text)
	case *choir.RunFinished:
		if p.Outcome == choir.OutcomeFailed && p.Said != "" {
			return say("runFailedSaid", p.Said)
		}
		return say(runEnds[p.Outcome])
	case *choir.ToolCalled:
		return tellCall(p)
	case *choir.CheckpointCreated:
		if plainSubject.MatchString(p.Subject) {
			return say("checkpoint")
		}
		return say("checkpointOf", p.Subject)
	case *choir.TimelineRewound:
		if e.Source == choir.SourceSystem {
			return say("restored")
		}
		return say("wentBack")
	case *choir.TimelineUndone:
		return say("undid")
	case *choir.ChangesTaken:
		return say("took")
	case *choir.DesktopUpgraded:
		if n := len(p.Conflicts); n > 0 {
			return Told{Sentence: "upgradedLeft", About: p.Conflicts[:1], More: n - 1}
		}
		return say("upgraded")
	case *choir.TimelineForked:
		return say("forked", strconv.FormatUint(p.Seq, 10))
	case *choir.ComputerForked:
		return say("beginsAsFork", p.Name)
	case *choir.ComputerImported:
		return say("imported", p.Name)
	case *choir.RepoAdded:
		return say("repoAdded", p.Name)
	case *choir.ThemeChanged:
		return say("theme", p.Name)
	case *choir.CachesLeftOut:
		return tellLeft(p)
	}
	return Told{}
}

// tellCall tells of a tool call that changed files. A tool that names its file changed
// that; a command may have changed anything.
func tellCall(p *choir.ToolCalled) Told {
	about := strings.TrimSpace(strings.TrimPrefix(timeline.SayCall(p), p.Tool))
	switch {
	case strings.HasSuffix(p.Tool, "_file"):
		return Told{Sentence: "callFile", Tool: p.Tool, About: []string{about}}
	case about == "":
		return Told{Sentence: "call", Tool: p.Tool}
	}
	return Told{Sentence: "callAbout", Tool: p.Tool, About: []string{about}}
}

// tellLeft tells which paths snapshots leave out.
func tellLeft(p *choir.CachesLeftOut) Told {
	about := slices.Clone(p.Paths)
	for _, l := range p.Over {
		about = append(about, timeline.Line(l.Path))
	}
	if len(about) == 0 {
		return Told{Sentence: "cachesKept"}
	}
	const shown = 3
	return Told{Sentence: "cachesLeft", About: about[:min(shown, len(about))], More: max(0, len(about)-shown)}
}
