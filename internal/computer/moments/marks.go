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

// MarkKind is what a mark on the timeline stands for.
type MarkKind = eventstore.MarkKind

// Mark is a moment worth a place on the timeline, in the owner's words.
type Mark struct {
	Seq        uint64       `json:"seq" doc:"The moment: everything up to this event."`
	At         choir.Time   `json:"at"`
	Kind       MarkKind     `json:"kind" enum:"prompt,answer,task,call,files,outside,checkpoint,rewind,undo,take,fork,import,repo,theme,caches,windows,document"`
	Source     choir.Source `json:"source" doc:"Who made it."`
	Text       string       `json:"text" doc:"What happened."`
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

// listMarks is Marks for a log without a computer.
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

// describeMark puts a mark into words.
func describeMark(f *eventstore.Mark) (Mark, error) {
	m := Mark{
		Seq: f.Seq, At: f.Event.Time, Kind: f.Kind, Source: f.Event.Source, Run: f.Event.Run, Task: f.Event.Task,
		Files: f.Files, Checkpoint: f.Checkpoint, Verified: f.Verified, Withheld: f.Withheld,
	}
	switch f.Kind {
	case eventstore.MarkTask:
		if m.Text = timeline.Line(f.Instruction); f.Failed {
			m.Text = "failed and taken back: " + m.Text
		}
	case eventstore.MarkFiles:
		m.Source, m.Text = f.By, "you changed "+timeline.Paths([]string{f.Path}, f.Files)
	case eventstore.MarkOutside:
		m.Text = "changed outside of any task: " + timeline.Paths([]string{f.Path}, f.Files)
	case eventstore.MarkDocument:
		m.Text = sayDocument(f)
	case eventstore.MarkWindows:
		m.Run, m.Text = cmp.Or(m.Run, f.Run), sayWindows(f)
	default:
		return m, describeEvent(&m, f)
	}
	return m, nil
}

// describeEvent puts a mark into words that are those of its event, or of the tool
// call behind it.
func describeEvent(m *Mark, f *eventstore.Mark) error {
	if f.Kind == eventstore.MarkCall && f.Called == nil {
		m.Text = "a command of the task changed " + timeline.Paths([]string{f.Path}, f.Files)
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
	m.Text = timeline.Say(e)
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

// sayDocument says what became of a document.
func sayDocument(f *eventstore.Mark) string {
	did := f.Did[0]
	if slices.Contains(f.Did, "began") && did != "removed" {
		did = "began"
	}
	if f.Title == nil {
		return "you " + did + " a document"
	}
	return "you " + did + " " + timeline.Line(*f.Title)
}

// sayWindows says what became of windows. A title can be of another moment than
// the streak's: what a window shows changes, and its bar with it.
func sayWindows(f *eventstore.Mark) string {
	names := make([]string, 0, len(f.Windows))
	for _, w := range f.Windows {
		if w.Name == "" {
			w.Name = "a window"
		}
		if name := timeline.Line(w.Name); !slices.Contains(names, name) {
			names = append(names, name)
		}
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
		return fmt.Sprintf("%s %s %s and %d more", who, did, strings.Join(names[:shown], ", "), more+f.More)
	}
	return who + " " + did + " " + strings.Join(names, ", ")
}
