package computer

import (
	"cmp"
	"context"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/timeline"
)

// MarkKind is what a mark on the timeline stands for.
type MarkKind string

// The kinds of marks.
const (
	MarkPrompt     MarkKind = "prompt"     // a person asked for something
	MarkAnswer     MarkKind = "answer"     // a run ended
	MarkTask       MarkKind = "task"       // a task was answered
	MarkCall       MarkKind = "call"       // a tool call changed files
	MarkFiles      MarkKind = "files"      // a person changed files
	MarkOutside    MarkKind = "outside"    // files changed without anybody's task
	MarkCheckpoint MarkKind = "checkpoint" // a checkpoint was made by hand or by the clock
	MarkRewind     MarkKind = "rewind"
	MarkUndo       MarkKind = "undo"
	MarkTake       MarkKind = "take" // changes of another computer, or of a newer desktop
	MarkFork       MarkKind = "fork"
	MarkImport     MarkKind = "import"
	MarkRepo       MarkKind = "repo" // a project was added
	MarkTheme      MarkKind = "theme"
	MarkCaches     MarkKind = "caches" // snapshots leave other caches out than before
	MarkWindows    MarkKind = "windows"
	MarkDocument   MarkKind = "document" // a person wrote, renamed or removed one
)

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

// Marks lists up to limit marks before an event, newest first; before 0 means
// all.
func (c *Computer) Marks(ctx context.Context, limit int, before uint64) ([]Mark, error) {
	w := markWalk{c: c, ctx: ctx}
	head, _ := c.store.Head()
	if before > 1 && before <= head {
		if err := w.continuing(before); err != nil {
			return nil, err
		}
	}
	for e, err := range c.store.Backwards(ctx, before) {
		if err == nil {
			err = w.take(&e)
		}
		if err != nil {
			return nil, err
		}
		if w.full(limit) {
			break
		}
	}
	if err := w.close(); err != nil {
		return nil, err
	}
	// What is made of several events comes when the oldest of them is seen.
	slices.SortStableFunc(w.marks, func(a, b Mark) int { return cmp.Compare(b.Seq, a.Seq) })
	return w.marks[:min(limit, len(w.marks))], nil
}

// markWalk goes through the log backwards.
type markWalk struct {
	c     *Computer
	ctx   context.Context
	marks []Mark
	group *fileGroup // the file events that one snapshot ends
	task  int        // index of the mark whose task is not passed yet, from 1
	// What a person has been doing, back to the event at hand.
	streak *streak
}

// fileGroup is a snapshot and the file events before it that name it.
type fileGroup struct {
	event *choir.Event // the snapshot.taken
	taken *choir.SnapshotTaken
	count int
	first string       // one of the paths
	by    choir.Source // of a person who wrote one
}

// full says that no mark asked for can come any more, nor anything that belongs
// to one.
func (w *markWalk) full(limit int) bool {
	return len(w.marks) >= limit && w.task == 0 && w.group == nil && w.streak == nil
}

// take takes up one event. Those of a look at the tree stand close together, but
// not always side by side: what ends it is the next thing that was done.
func (w *markWalk) take(e *choir.Event) error {
	if is, err := w.part(e); is || err != nil {
		return err
	}
	kind, plain := plainMarks[e.Type]
	switch e.Type {
	case choir.TypeFileWritten, choir.TypeFileRemoved:
	case choir.TypeSnapshotTaken, choir.TypeCheckpointCreated, choir.TypeTaskStarted, choir.TypeTaskReturned, choir.TypeTaskDispatched, choir.TypeToolCalled, choir.TypeSessionStarted:
		if err := w.close(); err != nil {
			return err
		}
	default:
		if !plain {
			return nil
		}
		if err := w.close(); err != nil {
			return err
		}
		return w.plain(e, kind)
	}
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return err
	}
	return w.work(e, p)
}

// plainMarks are events that are a mark by themselves.
var plainMarks = map[choir.Type]MarkKind{
	choir.TypePromptSubmitted: MarkPrompt, choir.TypeRunFinished: MarkAnswer, choir.TypeTimelineRewound: MarkRewind, choir.TypeTimelineUndone: MarkUndo,
	choir.TypeChangesTaken: MarkTake, choir.TypeDesktopUpgraded: MarkTake, choir.TypeTimelineForked: MarkFork, choir.TypeComputerForked: MarkFork, choir.TypeComputerImported: MarkImport,
	choir.TypeRepoAdded: MarkRepo, choir.TypeThemeChanged: MarkTheme, choir.TypeCachesLeftOut: MarkCaches,
}

func (w *markWalk) plain(e *choir.Event, kind MarkKind) error {
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return err
	}
	m := markOf(e, kind, timeline.Say(e))
	switch p := p.(type) {
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
	w.marks = append(w.marks, m)
	return nil
}

func markOf(e *choir.Event, kind MarkKind, text string) Mark {
	return Mark{Seq: e.Seq, At: e.Time, Kind: kind, Source: e.Source, Text: text, Run: e.Run, Task: e.Task}
}

// work takes up what tasks and files say.
func (w *markWalk) work(e *choir.Event, p choir.Payload) error {
	switch p := p.(type) {
	case *choir.SnapshotTaken:
		w.group = &fileGroup{event: e, taken: p}
	case *choir.FileWritten:
		w.file(e, p.Snapshot, len(p.Files), p.Files[0].Path)
	case *choir.FileRemoved:
		w.file(e, p.Snapshot, len(p.Paths), p.Paths[0])
	case *choir.TaskReturned:
		return w.returned(e, p)
	case *choir.TaskStarted:
		w.task = 0
	case *choir.CheckpointCreated:
		w.checkpoint(e, p)
	}
	return nil
}

func (w *markWalk) file(e *choir.Event, in choir.Digest, count int, path string) {
	if w.group == nil || w.group.taken.Snapshot != in {
		return
	}
	w.group.count += count
	w.group.first = path
	if e.Source == choir.SourceUser || e.Source == choir.SourceDesktop {
		w.group.by = e.Source
	}
}

// returned makes the mark of a task; one that only made a checkpoint has the
// checkpoint's.
func (w *markWalk) returned(e *choir.Event, p *choir.TaskReturned) error {
	t, err := w.c.store.Task(w.ctx, p.Result.TaskID)
	if err != nil {
		return err
	}
	if t.ReturnedSeq != e.Seq || t.Task.GitAction == choir.GitCheckpoint {
		return nil
	}
	m := markOf(e, MarkTask, timeline.Line(t.Instruction))
	m.Files = len(p.Result.FilesChanged)
	if p.Result.Status == choir.StatusFailed {
		m.Text, m.Files = "failed and taken back: "+m.Text, 0
	}
	w.marks = append(w.marks, m)
	if t.StartedSeq > 0 {
		w.task = len(w.marks)
	}
	return nil
}

// checkpoint adds to the mark of its task, or makes one.
func (w *markWalk) checkpoint(e *choir.Event, p *choir.CheckpointCreated) {
	if p.Trigger != "task" {
		w.marks = append(w.marks, markOf(e, MarkCheckpoint, timeline.Line(p.Subject)))
	} else if w.task == 0 || w.marks[w.task-1].Task != e.Task {
		return // of a task whose mark is on an earlier page
	}
	m := &w.marks[len(w.marks)-1]
	if p.Trigger == "task" {
		m = &w.marks[w.task-1]
	}
	m.Checkpoint, m.Verified, m.Withheld = p.Checkpoint, p.Verified, p.Withheld
}

// close makes the marks of what something else comes before.
func (w *markWalk) close() error {
	if err := w.endStreak(); err != nil {
		return err
	}
	return w.closeGroup()
}

// closeGroup makes the mark of a snapshot whose file events have been seen.
func (w *markWalk) closeGroup() error {
	g := w.group
	w.group = nil
	if g == nil || g.count == 0 {
		return nil
	}
	m := markOf(g.event, MarkOutside, "changed outside of any task: "+timeline.Paths([]string{g.first}, g.count))
	m.Files = g.count
	switch {
	case g.taken.Reason == "repo_added":
		return nil // it has a mark of its own
	case g.by != "":
		m.Kind, m.Source, m.Text = MarkFiles, g.by, "you changed "+timeline.Paths([]string{g.first}, g.count)
	case g.taken.Reason == "tool_returned":
		return w.call(g, m)
	case g.taken.Reason == "undo" || g.taken.Reason == "taken":
		return nil // these have marks of their own
	case g.event.Task != "":
		return nil // its task's mark tells of it
	default:
		_, _, err := w.c.store.SnapshotAt(w.ctx, g.event.Seq-1)
		if choir.CodeOf(err) == choir.CodeNotFound {
			return nil // the first look at a new workspace
		} else if err != nil {
			return err
		}
	}
	w.marks = append(w.marks, m)
	return nil
}

// call names the tool call that a snapshot was taken after.
func (w *markWalk) call(g *fileGroup, m Mark) error {
	if g.event.Cause == "" {
		m.Kind, m.Text = MarkCall, "a command of the task changed "+timeline.Paths([]string{g.first}, g.count)
		w.marks = append(w.marks, m)
		return nil
	}
	e, err := w.c.store.Event(w.ctx, g.event.Cause)
	if choir.CodeOf(err) == choir.CodeNotFound || err == nil && (e.Type != choir.TypeToolCalled || e.Source != choir.SourceAssociate) {
		return nil
	}
	if err != nil {
		return err
	}
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return err
	}
	called := p.(*choir.ToolCalled)
	m.Kind, m.Source, m.Call, m.Text = MarkCall, e.Source, called.Call, timeline.SayCall(called)
	w.marks = append(w.marks, m)
	return nil
}
