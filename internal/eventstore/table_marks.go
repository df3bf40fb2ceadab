package eventstore

import (
	"cmp"
	"slices"
	"time"

	"choiros/internal/choir"
)

// marksTable stores the marks of the timeline by the number of their event; the value
// is a Mark. A rewind removes none. The latest streak is in the trail until it ends,
// because each further event changes it.
var marksTable = &listed{projection{
	name: "marks", since: 9, key: 1, columns: []column{seqColumn, valueColumn}, on: markReducers(),
}}

// markTrailTable has one row, the state from which later marks are computed. The
// reducers of marksTable write it.
var markTrailTable = &keyed[markTrail]{projection: projection{
	name: "mark_trail", since: 9, key: 1, columns: []column{keyColumn, valueColumn},
}}

// MarkKind is the kind of a mark on the timeline.
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

// PlainMarks maps event types that always make a mark of their own to the kind of that
// mark.
var PlainMarks = map[choir.Type]MarkKind{
	choir.TypePromptSubmitted: MarkPrompt, choir.TypeRunFinished: MarkAnswer, choir.TypeTimelineRewound: MarkRewind, choir.TypeTimelineUndone: MarkUndo,
	choir.TypeChangesTaken: MarkTake, choir.TypeDesktopUpgraded: MarkTake, choir.TypeTimelineForked: MarkFork, choir.TypeComputerForked: MarkFork, choir.TypeComputerImported: MarkImport,
	choir.TypeRepoAdded: MarkRepo, choir.TypeThemeChanged: MarkTheme, choir.TypeCachesLeftOut: MarkCaches,
}

// Mark is an entry of the timeline as data; user interfaces make its text.
type Mark struct {
	Kind MarkKind `json:"kind"`
	Seq  uint64   `json:"seq"` // the moment: everything up to this event
	// First is the first event of a streak: of changes that a person made in a row.
	First    uint64         `json:"first,omitempty"`
	Did      []string       `json:"did,omitempty"`      // in a streak, the newest first, each once
	Document choir.ID       `json:"document,omitempty"` // that a streak is about
	Run      choir.ID       `json:"run,omitempty"`      // that opened the windows of a streak; empty for a person
	Windows  []MarkedWindow `json:"windows,omitempty"`  // of a streak, the newest first, each once
	More     int            `json:"more,omitempty"`     // windows beside those, about
	Task     choir.ID       `json:"task,omitempty"`     // that was answered
	Failed   bool           `json:"failed,omitempty"`   // the task failed
	Files    int            `json:"files,omitempty"`    // paths that changed
	Path     string         `json:"path,omitempty"`     // one of them
	By       choir.Source   `json:"by,omitempty"`       // the person who changed them
	Call     uint64         `json:"call,omitempty"`     // event of the tool call that changed them
	// What is known of the checkpoint, also of that of a task.
	Checkpoint choir.ID `json:"checkpoint,omitempty"`
	Verified   bool     `json:"verified,omitempty"`
	Withheld   []string `json:"withheld,omitempty"`

	// Store.Marks reads these beside the mark.
	Event       choir.Event  `json:"-"` // of number Seq
	Called      *choir.Event `json:"-"` // of number Call
	Instruction string       `json:"-"` // of the task
	Title       *string      `json:"-"` // of the document, as it is now; nil when that is gone
}

// MarkedWindow is a window of a streak. Its name is empty until Store.Marks reads it,
// if no event of the streak has it.
type MarkedWindow struct {
	ID   choir.ID `json:"id"`
	Name string   `json:"name,omitempty"`
}

const (
	// streakGap is how long a person may rest between two changes of one streak.
	streakGap = 5 * time.Minute
	// maxTrail bounds each list of a trail, and the windows of a streak: a guest can
	// make any number of the events they come from.
	maxTrail = 64
)

// markTrail is the state from which later marks are computed: the open streak, and
// recent files, checkpoints and tool calls.
type markTrail struct {
	Streak      *Mark        `json:"streak,omitempty"` // the streak that may go on, if any
	Source      choir.Source `json:"source,omitempty"` // of the streak
	At          choir.Time   `json:"at,omitempty"`     // of the streak's newest event
	Files       []fileCount  `json:"files,omitempty"`  // since something else was done
	Commits     []taskCommit `json:"commits,omitempty"`
	Calls       []toolCall   `json:"calls,omitempty"` // the newest last
	HadSnapshot bool         `json:"had_snapshot,omitempty"`
}

// fileCount counts the changed paths of the file events of one task, or of none, that
// name one snapshot.
type fileCount struct {
	Snapshot choir.Digest `json:"snapshot"`
	Task     choir.ID     `json:"task,omitempty"`
	Count    int          `json:"count"`
	Path     string       `json:"path"`
	By       choir.Source `json:"by,omitempty"` // a person who changed one
}

// taskCommit is the first checkpoint of a task since the last task started.
type taskCommit struct {
	Task       choir.ID `json:"task"`
	Checkpoint choir.ID `json:"checkpoint"`
	Verified   bool     `json:"verified,omitempty"`
	Withheld   []string `json:"withheld,omitempty"`
}

// toolCall is the id and the event number of a tool call.
type toolCall struct {
	ID  choir.ID `json:"id"`
	Seq uint64   `json:"seq"`
}

type markRows = *listedRows

// close ends the open streak and drops the file counts, because another kind of event
// follows.
func (t *markTrail) close(marks markRows) error {
	t.Files = t.Files[:0]
	return t.endStreak(marks)
}

func (t *markTrail) endStreak(marks markRows) error {
	m := t.Streak
	if m == nil {
		return nil
	}
	t.Streak, t.Source, t.At = nil, "", 0
	return m.add(marks)
}

// add adds the row of a mark.
func (m *Mark) add(marks markRows) error { return marks.addJSON(row{seq: m.Seq}, m) }

// appendBounded appends v, and removes the oldest element of a full list.
func appendBounded[V any](list []V, v V) []V {
	if len(list) >= maxTrail {
		list = slices.Delete(list, 0, len(list)+1-maxTrail)
	}
	return append(list, v)
}

// marker returns a reducer that calls f with the trail, which f may change.
func marker[P any](f func(markRows, *markTrail, *choir.Event, *P) error) reducer {
	return on(func(marks markRows, e *choir.Event, p *P) error {
		t, err := trailOf(marks)
		if err != nil {
			return err
		}
		return f(marks, t, e, p)
	})
}

// trailOf returns the trail, for the caller to change.
func trailOf(marks markRows) (*markTrail, error) { return markTrailTable.of(marks.view).edit("trail") }

func markReducers() reducers {
	out := reducers{
		choir.TypeFileWritten: marker(func(_ markRows, t *markTrail, e *choir.Event, p *choir.FileWritten) error {
			t.countFiles(e, p.Snapshot, len(p.Files), p.Files[0].Path)
			return nil
		}),
		choir.TypeFileRemoved: marker(func(_ markRows, t *markTrail, e *choir.Event, p *choir.FileRemoved) error {
			t.countFiles(e, p.Snapshot, len(p.Paths), p.Paths[0])
			return nil
		}),
		choir.TypeTaskStarted: marker(func(marks markRows, t *markTrail, _ *choir.Event, _ *choir.TaskStarted) error {
			t.Commits, t.HadSnapshot = nil, true
			return t.close(marks)
		}),
		choir.TypeTaskDispatched: marker(func(marks markRows, t *markTrail, _ *choir.Event, _ *choir.TaskDispatched) error {
			return t.close(marks)
		}),
		choir.TypeSessionStarted: marker(func(marks markRows, t *markTrail, _ *choir.Event, _ *choir.SessionStarted) error {
			return t.close(marks)
		}),
		choir.TypeSnapshotTaken:     marker(markSnapshot),
		choir.TypeCheckpointCreated: marker(markCheckpoint),
		choir.TypeTaskReturned:      marker(markTask),
		choir.TypeToolCalled:        marker(markToolCall),
	}
	for eventType := range PlainMarks {
		out[eventType] = markPlain
	}
	for eventType := range streaks {
		out[eventType] = markStreak
	}
	return out
}

// markPlain makes the mark of an event type in PlainMarks.
func markPlain(rows part, e *choir.Event, _ choir.Payload) error {
	marks := rows.(markRows)
	t, err := trailOf(marks)
	if err == nil {
		err = t.close(marks)
	}
	if err != nil {
		return err
	}
	t.HadSnapshot = t.HadSnapshot || e.Type == choir.TypeTimelineRewound
	return (&Mark{Kind: PlainMarks[e.Type], Seq: e.Seq}).add(marks)
}

// countFiles adds count paths of a file event to the count of its task and snapshot in. A
// scan of the workspace appends file events first and then the snapshot.taken event that
// they name.
func (t *markTrail) countFiles(e *choir.Event, in choir.Digest, count int, path string) {
	i := slices.IndexFunc(t.Files, func(f fileCount) bool { return f.Snapshot == in && f.Task == e.Task })
	if i < 0 {
		t.Files = appendBounded(t.Files, fileCount{Snapshot: in, Task: e.Task, Path: path})
		i = len(t.Files) - 1
	}
	f := &t.Files[i]
	f.Count += count
	if person(e.Source) && f.By == "" {
		f.By = e.Source
	}
}

// filesOf returns the count of the paths of a snapshot that a task or nobody's task
// changed, without those of other tasks, whose own marks tell of them; zero if there are
// none.
func (t *markTrail) filesOf(in choir.Digest, task choir.ID) (sum fileCount) {
	for _, f := range t.Files {
		if f.Snapshot != in || f.Task != "" && f.Task != task {
			continue
		}
		if sum.Count == 0 {
			sum.Path = f.Path
		}
		sum.Count += f.Count
		sum.By = cmp.Or(sum.By, f.By)
	}
	return sum
}

func person(s choir.Source) bool { return s == choir.SourceUser || s == choir.SourceDesktop }

// markSnapshot makes the mark of a snapshot that a scan took after changes, unless
// another mark covers these changes.
func markSnapshot(marks markRows, t *markTrail, e *choir.Event, p *choir.SnapshotTaken) error {
	m := Mark{Seq: e.Seq}
	if f := t.filesOf(p.Snapshot, e.Task); f.Count > 0 {
		m.Kind, m.Files, m.Path, m.By = t.kindOf(e, p, f.By), f.Count, f.Path, f.By
	}
	if m.Kind == MarkCall && e.Cause != "" {
		m.Call = t.call(e.Cause)
	}
	t.HadSnapshot = true
	if err := t.close(marks); err != nil || m.Kind == "" {
		return err
	}
	return m.add(marks)
}

// kindOf returns the kind of the mark for the changes before a snapshot, empty for no
// mark.
func (t *markTrail) kindOf(e *choir.Event, p *choir.SnapshotTaken, by choir.Source) MarkKind {
	switch {
	case p.Reason == "repo_added":
		return "" // it has a mark of its own
	case by != "":
		return MarkFiles
	case p.Reason == "tool_returned" && e.Cause != "" && t.call(e.Cause) == 0:
		return "" // what it says it was caused by is no call
	case p.Reason == "tool_returned":
		return MarkCall
	case p.Reason == "undo" || p.Reason == "taken" || p.Reason == "approved":
		return "" // these have marks of their own, or their task has
	case e.Task != "":
		return "" // its task's mark tells of it
	case !t.HadSnapshot:
		return "" // the first look at a new workspace
	}
	return MarkOutside
}

// call returns the event number of a recent tool call, 0 if there is none with the id.
func (t *markTrail) call(id choir.ID) uint64 {
	i := slices.IndexFunc(t.Calls, func(c toolCall) bool { return c.ID == id })
	if i < 0 {
		return 0
	}
	return t.Calls[i].Seq
}

func markToolCall(marks markRows, t *markTrail, e *choir.Event, _ *choir.ToolCalled) error {
	if e.Source == choir.SourceAssociate {
		t.Calls = appendBounded(t.Calls, toolCall{e.ID, e.Seq})
	}
	return t.close(marks)
}

// markCheckpoint makes the mark of a checkpoint. The checkpoint of a task is stored for
// the mark of the task, which follows.
func markCheckpoint(marks markRows, t *markTrail, e *choir.Event, p *choir.CheckpointCreated) error {
	if err := t.close(marks); err != nil {
		return err
	}
	if p.Trigger != "task" {
		return (&Mark{Kind: MarkCheckpoint, Seq: e.Seq, Checkpoint: p.Checkpoint, Verified: p.Verified, Withheld: p.Withheld}).add(marks)
	}
	if !slices.ContainsFunc(t.Commits, func(c taskCommit) bool { return c.Task == e.Task }) {
		t.Commits = appendBounded(t.Commits, taskCommit{e.Task, p.Checkpoint, p.Verified, p.Withheld})
	}
	return nil
}

// markTask makes the mark of a returned task. A task that only made a checkpoint has no
// mark of its own.
func markTask(marks markRows, t *markTrail, e *choir.Event, p *choir.TaskReturned) error {
	if err := t.close(marks); err != nil {
		return err
	}
	task, ok, err := tasksTable.of(marks.view).get(p.Result.TaskID)
	if err != nil || !ok || task.ReturnedSeq != e.Seq || task.Task.GitAction == choir.GitCheckpoint {
		return err
	}
	m := Mark{Kind: MarkTask, Seq: e.Seq, Task: task.ID, Files: len(p.Result.FilesChanged)}
	if p.Result.Status == choir.StatusFailed {
		m.Failed, m.Files = true, 0
	}
	if task.StartedSeq > 0 {
		for _, c := range t.Commits {
			if c.Task == e.Task {
				m.Checkpoint, m.Verified, m.Withheld = c.Checkpoint, c.Verified, c.Withheld
			}
		}
		t.Commits = nil
	}
	return m.add(marks)
}

// action is one change in a streak.
type action struct {
	kind             MarkKind
	did              string
	window, document choir.ID
	name             string   // of the window, when the event has it
	run              choir.ID // that did it, empty for a person
}

// streaks lists the event types that people cause many times in a row, such as moving
// windows or writing a document. Consecutive events become one mark, at the newest of
// them. Focus and title events are left out, because they follow from other changes.
var streaks = map[choir.Type]func(choir.Payload) action{
	choir.TypeWindowOpened: func(p choir.Payload) action {
		w := p.(*choir.WindowOpened)
		return action{kind: MarkWindows, did: "opened", window: w.Window, name: cmp.Or(w.Title, w.App), run: w.Run}
	},
	choir.TypeWindowClosed: func(p choir.Payload) action {
		return action{kind: MarkWindows, did: "closed", window: p.(*choir.WindowClosed).Window}
	},
	choir.TypeWindowMoved: func(p choir.Payload) action {
		return action{kind: MarkWindows, did: "moved", window: p.(*choir.WindowMoved).Window}
	},
	choir.TypeWindowShown: func(p choir.Payload) action {
		w := p.(*choir.WindowShown)
		return action{kind: MarkWindows, did: shownWord(w.State), window: w.Window}
	},
	choir.TypeDocumentCreated: func(p choir.Payload) action {
		return action{kind: MarkDocument, did: "began", document: p.(*choir.DocumentCreated).Document}
	},
	choir.TypeDocumentVersioned: func(p choir.Payload) action {
		return action{kind: MarkDocument, did: "wrote", document: p.(*choir.DocumentVersioned).Document}
	},
	choir.TypeDocumentRenamed: func(p choir.Payload) action {
		return action{kind: MarkDocument, did: "renamed", document: p.(*choir.DocumentRenamed).Document}
	},
	choir.TypeDocumentRemoved: func(p choir.Payload) action {
		return action{kind: MarkDocument, did: "removed", document: p.(*choir.DocumentRemoved).Document}
	},
}

func shownWord(state choir.WindowState) string {
	if state == choir.WindowNormal {
		return "restored"
	}
	return string(state)
}

// markStreak adds an event to the open streak, or ends that and starts another. It
// ignores changes of documents by runs, which have other marks.
func markStreak(rows part, e *choir.Event, p choir.Payload) error {
	marks, d := rows.(markRows), streaks[e.Type](p)
	if d.kind == MarkDocument && !person(e.Source) {
		return nil
	}
	t, err := trailOf(marks)
	if err != nil {
		return err
	}
	if !t.continues(e, d) {
		if err := t.endStreak(marks); err != nil {
			return err
		}
		t.Streak = &Mark{Kind: d.kind, First: e.Seq, Document: d.document, Run: d.run}
	}
	t.Source, t.At = e.Source, e.Time
	t.Streak.extend(e, d)
	return nil
}

// continues reports whether an action belongs to the open streak: same source, kind and
// objects, soon after the last one.
func (t *markTrail) continues(e *choir.Event, d action) bool {
	m := t.Streak
	return m != nil && m.Kind == d.kind && m.Document == d.document && m.Run == d.run && t.Source == e.Source &&
		e.Time.Std().Sub(t.At.Std()) <= streakGap
}

// extend adds an action to a streak.
func (m *Mark) extend(e *choir.Event, d action) {
	m.Seq = e.Seq
	m.Did = append([]string{d.did}, slices.DeleteFunc(m.Did, func(s string) bool { return s == d.did })...)
	if d.window == "" {
		return
	}
	w := MarkedWindow{ID: d.window, Name: d.name}
	if i := slices.IndexFunc(m.Windows, func(x MarkedWindow) bool { return x.ID == d.window }); i >= 0 {
		w.Name = cmp.Or(m.Windows[i].Name, d.name)
		m.Windows = slices.Delete(m.Windows, i, i+1)
	}
	if len(m.Windows) >= maxTrail {
		m.Windows, m.More = m.Windows[:maxTrail-1], m.More+1
	}
	m.Windows = slices.Insert(m.Windows, 0, w)
}
