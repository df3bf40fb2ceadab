package moments

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/timeline"
)

// MarkKind is the kind of a mark on the timeline.
type MarkKind = eventstore.MarkKind

// Mark is an entry of the timeline in words.
type Mark struct {
	Seq        uint64       `json:"seq" doc:"The moment: everything up to this event."`
	At         choir.Time   `json:"at"`
	Kind       MarkKind     `json:"kind" enum:"prompt,answer,task,call,files,outside,checkpoint,rewind,undo,take,fork,import,repo,theme,caches,windows,document"`
	Source     choir.Source `json:"source" doc:"Who made it."`
	Text       string       `json:"text" doc:"What happened, in the English of the log."`
	Told       Told         `json:"told" doc:"What happened, as data: the pages and the CLI say it in the reader's language."`
	Run        choir.ID     `json:"run,omitempty"`
	Task       choir.ID     `json:"task,omitempty"`
	Call       choir.ID     `json:"call,omitempty" doc:"The tool call."`
	Checkpoint choir.ID     `json:"checkpoint,omitempty"`
	Verified   bool         `json:"verified,omitempty" doc:"The change passed verification, says the Associate."`
	Withheld   []string     `json:"withheld,omitempty" doc:"Paths that look like keys: in the snapshot, not in the commit."`
	Files      int          `json:"files,omitempty" doc:"Paths that changed."`
	ToSeq      uint64       `json:"to_seq,omitempty" doc:"The moment that a rewind went back to."`
}

// MarkLog is the log as far as Marks reads it; eventstore.Store is one.
type MarkLog interface {
	Marks(ctx context.Context, limit int, before uint64) ([]eventstore.Mark, error)
}

// Marks lists up to limit marks before an event, newest first; before 0 means
// all.
func (ms *Moments) Marks(ctx context.Context, limit int, before uint64) ([]Mark, error) {
	return listMarks(ctx, ms.log, limit, before)
}

// listMarks returns the marks of a log in words; see Moments.Marks.
func listMarks(ctx context.Context, log MarkLog, limit int, before uint64) ([]Mark, error) {
	found, err := log.Marks(ctx, limit, before)
	if err != nil {
		return nil, err
	}
	marks := make([]Mark, len(found))
	for i := range found {
		if marks[i], err = describeMark(&found[i]); err != nil {
			return nil, err
		}
	}
	return marks, nil
}

// describeMark converts a mark to words.
func describeMark(f *eventstore.Mark) (Mark, error) {
	m := Mark{
		Seq: f.Seq, At: f.Event.Time, Kind: f.Kind, Source: f.Event.Source, Run: f.Event.Run, Task: f.Event.Task,
		Files: f.Files, Checkpoint: f.Checkpoint, Verified: f.Verified, Withheld: f.Withheld,
	}
	switch f.Kind {
	case eventstore.MarkTask:
		m.Text = timeline.Line(f.Instruction)
		m.Told = Told{Sentence: "taskDone", About: []string{m.Text}}
		if f.Failed {
			m.Text, m.Told.Sentence = "failed and taken back: "+m.Text, "taskFailed"
		}
	case eventstore.MarkFiles:
		m.Source, m.Text, m.Told = f.By, "you changed "+timeline.Paths([]string{f.Path}, f.Files), tellPaths("youChanged", f)
	case eventstore.MarkOutside:
		m.Text, m.Told = "changed outside of any task: "+timeline.Paths([]string{f.Path}, f.Files), tellPaths("outside", f)
	case eventstore.MarkDocument:
		m.Text, m.Told = sayDocument(f)
	case eventstore.MarkWindows:
		m.Run = cmp.Or(m.Run, f.Run)
		m.Text, m.Told = sayWindows(f)
	default:
		return m, describeEvent(&m, f)
	}
	return m, nil
}

// describeEvent sets the text of a mark from its event, or from the tool call that
// caused it.
func describeEvent(m *Mark, f *eventstore.Mark) error {
	if f.Kind == eventstore.MarkCall && f.Called == nil {
		m.Text, m.Told = "a command of the task changed "+timeline.Paths([]string{f.Path}, f.Files), tellPaths("command", f)
		return nil
	}
	e := &f.Event
	if f.Called != nil {
		e = f.Called
	}
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return err
	}
	m.Text, m.Told = timeline.Say(e), tellEvent(e, p)
	switch p := p.(type) {
	case *choir.ToolCalled:
		m.Source, m.Call, m.Text = e.Source, p.Call, timeline.SayCall(p)
	case *choir.CheckpointCreated:
		m.Text = timeline.Line(p.Subject)
	case *choir.PromptSubmitted:
		m.Text = timeline.Line(p.Text)
	case *choir.TimelineRewound:
		m.Files, m.ToSeq = int(p.Files), p.ToSeq
	case *choir.TimelineUndone:
		m.Files = int(p.Files)
	case *choir.DesktopUpgraded:
		m.Files = int(p.Files)
	case *choir.ChangesTaken:
		m.Files = int(p.Files)
	case *choir.RepoAdded:
		m.Files = int(p.Files)
	}
	return nil
}

// sayDocument describes a streak of changes to a document.
func sayDocument(f *eventstore.Mark) (string, Told) {
	did := f.Did[0]
	if slices.Contains(f.Did, "began") && did != "removed" {
		did = "began"
	}
	if f.Title == nil {
		return "you " + did + " a document", tellStreak(f, did, []string{""}, 0)
	}
	title := timeline.Line(*f.Title)
	return "you " + did + " " + title, tellStreak(f, did, []string{title}, 0)
}

// sayWindows describes a streak of window changes. Titles may be newer than the
// streak, because a window's title follows its content.
func sayWindows(f *eventstore.Mark) (string, Told) {
	titles := make([]string, 0, len(f.Windows))
	for _, w := range f.Windows {
		if title := timeline.Line(w.Name); !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
	}
	names := slices.Clone(titles)
	for i, name := range names {
		names[i] = cmp.Or(name, "a window")
	}
	did := f.Did[0]
	if len(f.Did) > 1 && (len(names) > 1 || !slices.Contains(f.Did, "opened") || slices.Contains(f.Did, "closed")) {
		did = "arranged"
	} else if len(f.Did) > 1 {
		did = "opened"
	}
	who := "you"
	if f.Run != "" {
		who = "the run"
	}
	const shown = 3
	if more := len(names) - shown; more > 0 {
		text := fmt.Sprintf("%s %s %s and %d more", who, did, strings.Join(names[:shown], ", "), more+f.More)
		return text, tellStreak(f, did, titles[:shown], more+f.More)
	}
	return who + " " + did + " " + strings.Join(names, ", "), tellStreak(f, did, titles, 0)
}
