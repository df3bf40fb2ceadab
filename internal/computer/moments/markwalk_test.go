package moments

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/timeline"
)

// walkMarks is what Marks was before marks were a projection: the log is read
// backwards, and the marks are made on the way. It is the reference of the projection.
func walkMarks(ctx context.Context, store *eventstore.Store, limit int, before uint64) ([]Mark, error) {
	w := markWalk{store: store, ctx: ctx}
	head, _ := store.Head()
	if before > 1 && before <= head {
		if err := w.continuing(before); err != nil {
			return nil, err
		}
	}
	for e, err := range store.Backwards(ctx, before) {
		if err == nil {
			err = w.visit(&e)
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
	store *eventstore.Store
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

// visit takes up one event. Those of a look at the tree stand close together, but
// not always side by side: what ends it is the next thing that was done.
func (w *markWalk) visit(e *choir.Event) error {
	if is, err := w.part(e); is || err != nil {
		return err
	}
	kind, plain := eventstore.PlainMarks[e.Type]
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
	if w.group == nil || w.group.taken.Snapshot != in || e.Task != "" && e.Task != w.group.event.Task {
		return // another task's own marks tell of its files
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
	t, err := w.store.Task(w.ctx, p.Result.TaskID)
	if err != nil {
		return err
	}
	if t.ReturnedSeq != e.Seq || t.Task.GitAction == choir.GitCheckpoint {
		return nil
	}
	m := markOf(e, eventstore.MarkTask, timeline.Line(t.Instruction))
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
		w.marks = append(w.marks, markOf(e, eventstore.MarkCheckpoint, timeline.Line(p.Subject)))
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
	m := markOf(g.event, eventstore.MarkOutside, "changed outside of any task: "+timeline.Paths([]string{g.first}, g.count))
	m.Files = g.count
	switch {
	case g.taken.Reason == "repo_added":
		return nil // it has a mark of its own
	case g.by != "":
		m.Kind, m.Source, m.Text = eventstore.MarkFiles, g.by, "you changed "+timeline.Paths([]string{g.first}, g.count)
	case g.taken.Reason == "tool_returned":
		return w.call(g, m)
	case g.taken.Reason == "undo" || g.taken.Reason == "taken":
		return nil // these have marks of their own
	case g.event.Task != "":
		return nil // its task's mark tells of it
	default:
		_, _, err := w.store.SnapshotAt(w.ctx, g.event.Seq-1)
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
		m.Kind, m.Text = eventstore.MarkCall, "a command of the task changed "+timeline.Paths([]string{g.first}, g.count)
		w.marks = append(w.marks, m)
		return nil
	}
	e, err := w.store.Event(w.ctx, g.event.Cause)
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
	m.Kind, m.Source, m.Call, m.Text = eventstore.MarkCall, e.Source, called.Call, timeline.SayCall(called)
	w.marks = append(w.marks, m)
	return nil
}

// walkGap is how long a person may rest between two changes of one streak.
const walkGap = 5 * time.Minute

// streak is what a person does many times in a row, which is one mark: windows
// put in place, a document being written. It stands at its newest event.
type streak struct {
	kind      MarkKind
	newest    choir.Event
	oldest    choir.Event
	document  choir.ID
	run       choir.ID   // that did it, empty for a person
	did       []string   // what was done, the newest first, each once
	windows   []choir.ID // those that were changed, the newest first, each once
	names     map[choir.ID]string
	elsewhere bool // its mark is on a page before
}

// deed is one change of a streak.
type deed struct {
	kind             MarkKind
	did              string
	window, document choir.ID
	name             string   // of the window, when the event has it
	run              choir.ID // that did it, empty for a person
}

// deedOf is what an event adds to a streak; false when it belongs to none.
// Focus and titles follow from other changes.
func deedOf(e *choir.Event) (deed, bool, error) {
	switch e.Type {
	case choir.TypeWindowOpened, choir.TypeWindowClosed, choir.TypeWindowMoved, choir.TypeWindowShown:
	case choir.TypeDocumentCreated, choir.TypeDocumentVersioned, choir.TypeDocumentRenamed, choir.TypeDocumentRemoved:
		if e.Source != choir.SourceUser && e.Source != choir.SourceDesktop {
			return deed{}, false, nil // a run's are told by its own marks
		}
	default:
		return deed{}, false, nil
	}
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return deed{}, false, err
	}
	s := deed{kind: eventstore.MarkWindows}
	switch p := p.(type) {
	case *choir.WindowOpened:
		s.did, s.window, s.name, s.run = "opened", p.Window, cmp.Or(p.Title, p.App), p.Run
	case *choir.WindowClosed:
		s.did, s.window = "closed", p.Window
	case *choir.WindowMoved:
		s.did, s.window = "moved", p.Window
	case *choir.WindowShown:
		s.did, s.window = shownWords(p.State), p.Window
	case *choir.DocumentCreated:
		s.kind, s.did, s.document = eventstore.MarkDocument, "began", p.Document
	case *choir.DocumentVersioned:
		s.kind, s.did, s.document = eventstore.MarkDocument, "wrote", p.Document
	case *choir.DocumentRenamed:
		s.kind, s.did, s.document = eventstore.MarkDocument, "renamed", p.Document
	case *choir.DocumentRemoved:
		s.kind, s.did, s.document = eventstore.MarkDocument, "removed", p.Document
	}
	return s, true, nil
}

func shownWords(state choir.WindowState) string {
	if state == choir.WindowNormal {
		return "restored"
	}
	return string(state)
}

// continuing begins with the streak whose mark is at event seq, on a page before:
// what is left of it has no mark of its own.
func (w *markWalk) continuing(seq uint64) error {
	e, err := w.store.At(w.ctx, seq)
	if choir.CodeOf(err) == choir.CodeCorrupt {
		return nil // the marks of a damaged log are those of the events it has
	}
	if err != nil {
		return err
	}
	if _, err := w.part(&e); err != nil || w.streak == nil {
		return err
	}
	w.streak.elsewhere = true
	return nil
}

// part takes up an event as part of a streak, and says whether it is.
func (w *markWalk) part(e *choir.Event) (bool, error) {
	s, ok, err := deedOf(e)
	if err != nil || !ok {
		return false, err
	}
	if k := w.streak; k == nil || k.kind != s.kind || k.document != s.document || k.run != s.run || k.oldest.Source != e.Source ||
		k.oldest.Time.Std().Sub(e.Time.Std()) > walkGap {
		if err := w.endStreak(); err != nil {
			return true, err
		}
		w.streak = &streak{kind: s.kind, newest: *e, document: s.document, run: s.run, names: map[choir.ID]string{}}
	}
	k := w.streak
	k.oldest = *e
	if !slices.Contains(k.did, s.did) {
		k.did = append(k.did, s.did)
	}
	if s.window != "" && !slices.Contains(k.windows, s.window) {
		k.windows = append(k.windows, s.window)
	}
	if s.name != "" {
		k.names[s.window] = s.name
	}
	return true, nil
}

// endStreak makes the mark of a streak of which all has been seen.
func (w *markWalk) endStreak() error {
	k := w.streak
	w.streak = nil
	if k == nil || k.elsewhere {
		return nil
	}
	m := markOf(&k.newest, k.kind, "")
	var err error
	if k.kind == eventstore.MarkDocument {
		m.Text, err = w.walkedDocument(k)
	} else {
		m.Text, err = w.walkedWindows(k)
		m.Run = cmp.Or(m.Run, k.run)
	}
	w.marks = append(w.marks, m)
	return err
}

// walkedDocument says what became of a document.
func (w *markWalk) walkedDocument(k *streak) (string, error) {
	did := k.did[0]
	if slices.Contains(k.did, "began") && did != "removed" {
		did = "began"
	}
	d, err := w.store.Document(w.ctx, k.document, -1)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "you " + did + " a document", nil
	}
	return "you " + did + " " + timeline.Line(d.Title), err
}

// walkedWindows says what became of windows. A title can be of another moment than
// the streak's: what a window shows changes, and its bar with it.
func (w *markWalk) walkedWindows(k *streak) (string, error) {
	if slices.ContainsFunc(k.windows, func(id choir.ID) bool { return k.names[id] == "" }) {
		before, err := w.store.Windows(w.ctx, k.oldest.Seq-1)
		if err != nil {
			return "", err
		}
		for _, win := range before {
			if k.names[win.ID] == "" {
				k.names[win.ID] = cmp.Or(win.Title, win.App)
			}
		}
	}
	names := make([]string, 0, len(k.windows))
	for _, id := range k.windows {
		if name := timeline.Line(cmp.Or(k.names[id], "a window")); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	did := k.did[0]
	if len(k.did) > 1 && (len(names) > 1 || !slices.Contains(k.did, "opened") || slices.Contains(k.did, "closed")) {
		did = "arranged"
	} else if len(k.did) > 1 {
		did = "opened"
	}
	who := "you"
	if k.run != "" {
		who = "the run"
	}
	const shown = 3
	if more := len(names) - shown; more > 0 {
		return fmt.Sprintf("%s %s %s and %d more", who, did, strings.Join(names[:shown], ", "), more), nil
	}
	return who + " " + did + " " + strings.Join(names, ", "), nil
}
