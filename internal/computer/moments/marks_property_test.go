package moments

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"choiros/internal/choir"
	"choiros/internal/choir/choirtest"
	"choiros/internal/eventstore"
)

// randomLog is a log without a computer, in which random things happen.
type randomLog struct {
	rt      *rapid.T
	store   *eventstore.Store
	now     choir.Time
	tasks   []choir.DirectorTask
	calls   []choir.ID // events of tool calls
	windows []choir.ID
	openers []choir.ID // runs that open windows, and none
	docs    []choir.ID
}

func newRandomLog(rt *rapid.T, dir string) *randomLog {
	l := &randomLog{rt: rt, now: 1_795_000_000_000}
	for range 3 {
		l.windows, l.docs = append(l.windows, l.id()), append(l.docs, l.id())
	}
	l.openers = []choir.ID{"", "", l.id(), l.id()}
	l.open(dir, l.id())
	created, _ := choir.LookupType(choir.TypeComputerCreated)
	l.add(choir.RoleControl, choirtest.Payload(created).Draw(rt, "created"), choir.Draft{}) // the first event of every log
	return l
}

// open opens the log of a computer.
func (l *randomLog) open(dir string, computer choir.ID) {
	cfg := eventstore.Config{Computer: computer, User: l.windows[0], Now: func() choir.Time { return l.now }}
	store, err := eventstore.Open(context.Background(), dir, cfg)
	if err != nil {
		l.rt.Fatal(err)
	}
	l.store = store
}

func (l *randomLog) id() choir.ID {
	id, err := choir.NewID(l.now, rand.Reader)
	if err != nil {
		l.rt.Fatal(err)
	}
	return id
}

// add appends an event. What the log has already is left out.
func (l *randomLog) add(role choir.Role, p choir.Payload, about choir.Draft) choir.ID {
	d, err := choir.NewDraft(l.id(), p)
	if err != nil {
		l.rt.Fatal(err)
	}
	if len(d.Payload) > choir.InlineLimit {
		return ""
	}
	d = d.ForRun(about.Run, about.Task).CausedBy(about.Cause)
	if _, err := l.store.Append(context.Background(), role, d); err != nil && choir.CodeOf(err) != choir.CodeConflict {
		l.rt.Fatalf("%s: %v", d.Type, err)
	}
	return d.ID
}

func pick[V any](l *randomLog, from ...V) V { return rapid.SampledFrom(from).Draw(l.rt, "pick") }

func (l *randomLog) digest() choir.Digest { return choir.DigestOf([]byte(pick(l, "a", "b"))) }

// task is one of the tasks, new or not.
func (l *randomLog) task() (choir.DirectorTask, choir.Draft) {
	if len(l.tasks) == 0 || rapid.Bool().Draw(l.rt, "new") {
		t := choir.DirectorTask{Version: 1, TaskID: l.id(), RunID: l.id(), Kind: choir.TaskRun, Instruction: pick(l, "mend it", "look\nat it")}
		if pick(l, 1, 2, 3) == 1 {
			t.Kind, t.GitAction = choir.TaskGit, choir.GitCheckpoint
		}
		l.tasks = append(l.tasks, t)
		l.add(choir.RoleControl, choir.TaskDispatched{Task: t}, choir.Draft{Run: t.RunID, Task: t.TaskID})
	}
	t := pick(l, l.tasks...)
	return t, choir.Draft{Run: t.RunID, Task: t.TaskID}
}

// ofTask is something that a task does.
func (l *randomLog) ofTask() {
	t, about := l.task()
	switch pick(l, 1, 2, 3, 4, 5) {
	case 1:
		l.add(choir.RoleControl, choir.TaskStarted{Base: l.digest(), Attempt: 1}, about)
	case 2:
		call := l.add(choir.RoleAssociate, choir.ToolCalled{Call: l.id(), Tool: "bash", Input: choir.ToolInput{Command: pick(l, "make", "ls")}}, about)
		l.calls = append(l.calls, call)
	case 3:
		l.checkpoint("task", about)
	default:
		status, code := choir.StatusOK, choir.ResultCode("")
		if rapid.Bool().Draw(l.rt, "failed") {
			status, code = choir.StatusFailed, choir.ResultCrashed
		}
		l.add(choir.RoleAssociate, choir.TaskReturned{Result: choir.AssociateResult{
			Version: 1, TaskID: t.TaskID, RunID: t.RunID, Status: status, Summary: "s", Code: code,
			FilesChanged: []choir.FileChange{{Path: "a", Change: "added"}}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{},
			Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown}, Questions: []choir.Question{},
		}}, about)
	}
}

func (l *randomLog) checkpoint(trigger string, about choir.Draft) {
	l.add(choir.RoleAssociate, choir.CheckpointCreated{
		Checkpoint: l.id(), Snapshot: l.digest(), Subject: pick(l, "mine", "the other"), Trigger: trigger, Verified: rapid.Bool().Draw(l.rt, "verified"),
	}, about)
}

// files is a part of a look at the tree.
func (l *randomLog) files() {
	role, in := pick(l, choir.RoleControl, choir.RoleControl, choir.RoleShell, choir.RoleDesktop), l.digest()
	about := choir.Draft{}
	// What a person writes is of no task.
	if role == choir.RoleControl && len(l.tasks) > 0 && rapid.Bool().Draw(l.rt, "of a task") {
		t := pick(l, l.tasks...)
		about.Run, about.Task = t.RunID, t.TaskID
	}
	switch pick(l, 1, 2, 3, 4) {
	case 1:
		l.add(role, choir.FileRemoved{Paths: []string{pick(l, "a", "b/c")}, Snapshot: in}, about)
	case 2:
		l.add(role, choir.FileWritten{Files: []choir.FileState{{Path: pick(l, "a", "b/c"), Kind: "file", Digest: in}}, Snapshot: in}, about)
	default:
		if about.Cause = pick(l, append(l.calls, "", l.id())...); len(about.Cause) > 0 && len(l.calls) > 0 && rapid.Bool().Draw(l.rt, "the newest call") {
			about.Cause = l.calls[len(l.calls)-1]
		}
		reason := pick(l, "tool_returned", "tool_returned", "changed_outside", "undo", "taken", "repo_added", "task_ended")
		l.add(choir.RoleControl, choir.SnapshotTaken{Snapshot: in, Reason: reason}, about)
	}
}

// window is something that somebody does with a window.
func (l *randomLog) window() {
	id, role := pick(l, l.windows...), pick(l, choir.RoleShell, choir.RoleDesktop, choir.RoleDesktop)
	box := choir.Rect{Width: 9, Height: 9}
	l.add(role, pick[choir.Payload](l,
		choir.WindowOpened{Window: id, App: "files", Title: pick(l, "", "home", "a.txt"), Bounds: box, Run: pick(l, l.openers...)},
		choir.WindowMoved{Window: id, Bounds: box}, choir.WindowShown{Window: id, State: choir.WindowMaximised},
		choir.WindowShown{Window: id, State: choir.WindowNormal}, choir.WindowClosed{Window: id},
		choir.WindowRetitled{Window: id, Title: pick(l, "b.txt", "c.txt")}, choir.WindowFocused{Window: id}), choir.Draft{})
}

// document is something that somebody, or a run, does with a document.
func (l *randomLog) document() {
	id := pick(l, l.docs...)
	role := pick(l, choir.RoleShell, choir.RoleDesktop, choir.RoleDirector)
	p := pick[choir.Payload](l,
		choir.DocumentCreated{Document: id, Title: "Notes", Content: "x"}, choir.DocumentVersioned{Document: id, Version: 1, Content: "y"},
		choir.DocumentRenamed{Document: id, Title: pick(l, "One", "Two")}, choir.DocumentRemoved{Document: id})
	if info, _ := choir.LookupType(p.EventType()); info.MayAppend(role) {
		l.add(role, p, choir.Draft{})
	}
}

// other is an event of any type that is a mark by itself, or has nothing to do with
// marks.
func (l *randomLog) other() {
	var types []choir.TypeInfo
	for _, info := range choir.Types() {
		if _, plain := eventstore.PlainMarks[info.Type]; plain || info.Type == choir.TypeSessionStarted || info.Type == choir.TypeModelCalled || info.Type == choir.TypeToolReturned {
			types = append(types, info)
		}
	}
	info := pick(l, types...)
	p := choirtest.Payload(info).Draw(l.rt, "payload")
	if r, ok := p.(*choir.TimelineRewound); ok {
		head, _ := l.store.Head()
		r.ToSeq = rapid.Uint64Range(1, max(head, 1)).Draw(l.rt, "to")
	}
	if info.After == "" {
		l.add(info.Roles[0], p, choir.Draft{Run: l.id()})
	}
}

func (l *randomLog) happen(n int) {
	for range n {
		l.now += choir.Time(pick(l, 0, 1, 1000, int(6*time.Minute/time.Millisecond)))
		pick(l, l.ofTask, l.files, l.files, l.window, l.window, l.document, l.other, func() {
			l.checkpoint(pick(l, "manual", "time"), choir.Draft{})
		})()
	}
}

// agree holds the projection against the walk, and pages against the whole.
func (l *randomLog) agree() {
	ctx := context.Background()
	get := func(limit int, before uint64) []Mark {
		marks, err := listMarks(ctx, l.store, limit, before)
		if err != nil {
			l.rt.Fatal(err)
		}
		return marks
	}
	same := func(what string, want, got []Mark) {
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Mark{}, "Told")); diff != "" {
			l.rt.Fatalf("%s: the walk has -, the projection +\n%s", what, diff)
		}
	}
	head, _ := l.store.Head()
	all, err := walkMarks(ctx, l.store, int(head)+1, 0)
	if err != nil {
		l.rt.Fatal(err)
	}
	same("all", all, get(int(head)+1, 0))
	for range min(len(all), 5) {
		i := rapid.IntRange(0, len(all)-1).Draw(l.rt, "mark")
		m := all[i]
		limit := rapid.IntRange(1, len(all)+1).Draw(l.rt, "limit")
		page, err := walkMarks(ctx, l.store, limit, m.Seq)
		if err != nil {
			l.rt.Fatal(err)
		}
		same("a page of the walk", all[i+1:min(i+1+limit, len(all))], page)
		same("a page", page, get(limit, m.Seq))
	}
	for range 5 {
		before := rapid.Uint64Range(0, head+2).Draw(l.rt, "before")
		var want []Mark
		for _, m := range all {
			if before == 0 || m.Seq < before {
				want = append(want, m)
			}
		}
		same("before any event", want, get(int(head)+1, before))
	}
}

// TestTheProjectionOfMarksIsWhatAWalkThroughTheLogFinds: whatever happened, rewinds,
// undos and forks too, in a log that grew, was rebuilt and is another's past.
func TestTheProjectionOfMarksIsWhatAWalkThroughTheLogFinds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := newRandomLog(rt, t.TempDir())
		defer func() { l.store.Close() }()
		l.happen(rapid.IntRange(0, 60).Draw(rt, "events"))
		l.agree()
		if err := l.store.Rebuild(context.Background()); err != nil {
			rt.Fatal(err)
		}
		l.happen(rapid.IntRange(0, 15).Draw(rt, "more events"))
		l.agree()
		head, _ := l.store.Head()
		if head == 0 {
			return
		}
		fork := t.TempDir()
		if err := l.store.Share(context.Background(), fork, rapid.Uint64Range(1, head).Draw(rt, "forked after")); err != nil {
			rt.Fatal(err)
		}
		l.store.Close()
		l.open(fork, l.id())
		l.tasks = nil // the fork may have none of them
		l.add(choir.RoleControl, choir.ComputerForked{From: l.docs[0], Seq: 1, Hash: l.digest(), Name: "other"}, choir.Draft{})
		l.happen(rapid.IntRange(0, 15).Draw(rt, "events of the fork"))
		l.agree()
	})
}
