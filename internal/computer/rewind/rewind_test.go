package rewind

import (
	"encoding/json"
	"slices"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/eventstore"
)

func TestARewindIsAStepForwardThatCanBeRewound(t *testing.T) {
	l := newLab(t)
	l.Write("a", "then\n")
	l.Write("gone", "then\n")
	then := l.Head()
	target := must(l.past.Tree(l.Within(), then))(t)
	must(l.Events.Append(l.Within(), choir.RoleShell, choir.SettingChanged{Key: "dock", Value: "left"}))(t)
	l.Write("a", "now\n")
	l.WriteOutside("unrecorded", "now\n")
	now, head := l.Files(""), l.Head()

	would := must(l.Rewind(l.Within(), choir.RoleCLI, then, true))(t)
	if l.WantFiles(now); l.Head() != head || l.open.stopped != "" {
		t.Errorf("a dry run wrote %d events and stopped terminals for %q", l.Head()-head, l.open.stopped)
	}
	r := l.rewound(then)
	l.WantFiles(map[string]string{"a": "then\n", "gone": "then\n"})
	if r.To != target || would.To != target || len(would.Changes) != len(r.Changes) || r.Terminals != 2 || would.Terminals != 2 || l.open.stopped != choir.TerminalRewind {
		t.Errorf("it did %+v, the dry run says %+v", r, would)
	}
	if settings := must(l.Log.Settings(l.Within(), 0))(t); len(settings) != 0 {
		t.Errorf("the settings are %+v", settings)
	}
	l.rewound(r.Receipt.Seq - 1)
	l.WantFiles(now)
	if settings := must(l.Log.Settings(l.Within(), 0))(t); len(settings) != 1 {
		t.Errorf("the settings are %+v", settings)
	}
}

func TestARewindToNowhereIsRefused(t *testing.T) {
	l := newLab(t)
	if _, err := l.Rewind(l.Within(), choir.RoleCLI, l.Head(), false); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("before the first snapshot: %v", err)
	}
	l.Write("x", "one")
	head := l.Head()
	for seq, want := range map[uint64]choir.Code{0: choir.CodeInvalid, head + 1000: choir.CodeNotFound, 1<<64 - 1: choir.CodeNotFound} {
		if _, err := l.Rewind(l.Within(), choir.RoleCLI, seq, false); choir.CodeOf(err) != want {
			t.Errorf("to %d: %v", seq, err)
		}
		if _, err := l.Start(l.Within(), choir.RoleCLI, seq); choir.CodeOf(err) != want {
			t.Errorf("a job to %d: %v", seq, err)
		}
	}
	if l.Head() != head || l.Last() != nil {
		t.Errorf("the refusals wrote %d events", l.Head()-head)
	}
}

// TestBeforeTheFirstLookIsTheFirstLook: the sandbox is given out before its workspace
// was looked at, so a prompt may stand in the log before the first snapshot.
func TestBeforeTheFirstLookIsTheFirstLook(t *testing.T) {
	l := newLab(t)
	l.finish(l.prompt())
	l.WriteOutside("shipped", "s")
	now := must(l.ScanWith(l.Within(), l.Client, nil))(t)
	if err := l.RecordOwners(l.Within(), now); err != nil {
		t.Fatal(err)
	}
	first, at, err := l.Log.FirstSnapshot(l.Within())
	if err != nil || at < 3 || first.Reason != workspace.ReasonCreated {
		t.Fatalf("the first snapshot is %+v, event %d: %v", first, at, err)
	}
	l.Write("x", "one")
	if r := l.rewound(1); r.ToSeq != at || r.To != first.Snapshot {
		t.Errorf("to the beginning: %+v", r)
	}
	l.WantFiles(map[string]string{"shipped": "s"})
}

// TestAMomentInsideAChangeIsTheWholeChange: the events of one look at the tree
// cannot be taken apart by a rewind.
func TestAMomentInsideAChangeIsTheWholeChange(t *testing.T) {
	l := newLab(t)
	l.Write("x", "one")
	l.Write("x", "two")
	written := l.All(choir.TypeFileWritten)
	inside := written[len(written)-2].Seq
	r := l.rewound(inside)
	l.WantFiles(map[string]string{"x": "one"})
	if files := must(l.Log.Files(l.Within(), 0, "x", 1, ""))(t); len(files) != 1 || files[0].Digest != choir.DigestOf([]byte("one")) {
		t.Errorf("the log says %+v", files)
	}
	if r.ToSeq <= inside {
		t.Errorf("it went to %d", r.ToSeq)
	}
}

func TestARewindCountsWhatItsDiffLists(t *testing.T) {
	l := newLab(t)
	for path, content := range map[string]string{"p/.git/HEAD": "1", "p/a": "1", "p/b": "1"} {
		l.WriteOutside(path, content)
	}
	l.Write("x", "x")
	then := l.Head()
	for path, content := range map[string]string{"p/.git/HEAD": "2", "p/.git/objects/o": "o", "p/a": "2", "p/made/c": "3", "p/made/d": "4"} {
		l.WriteOutside(path, content)
	}
	r := l.rewound(then)
	files, _, err := l.past.TextDiff(l.Within(), r.Difference)
	if err != nil || len(files) != 3 {
		t.Fatalf("%v %+v", err, files)
	}
	var told choir.TimelineRewound
	if err := json.Unmarshal(l.All(choir.TypeTimelineRewound)[0].Payload, &told); err != nil || told.Files != 3 {
		t.Errorf("the event counts %d files, %v", told.Files, err)
	}
	marks := must(l.past.Marks(l.Within(), 1, 0))(t)
	if m := marks[0]; m.Kind != eventstore.MarkRewind || m.ToSeq != then || m.Files != 3 {
		t.Errorf("the mark is %+v", m)
	}
}

// TestADocumentGoesBackAsANewVersion: a rewind gives it the content it had, and
// what was written in between stays readable under its number.
func TestADocumentGoesBackAsANewVersion(t *testing.T) {
	l := newLab(t)
	l.Write("x", "x") // before a snapshot there is nothing to go back to
	run, doc := workspacetest.NewID(t), workspacetest.NewID(t)
	write := func(p choir.Payload) uint64 { return l.appendAs(choir.RoleDirector, run, "", p).Seq }
	is := func(version int, content string) {
		t.Helper()
		got := must(l.Log.Document(l.Within(), doc, -1))(t)
		if got.Version != version || got.Content != content || got.Title != "Parser" {
			t.Errorf("it is %+v, wanted %q as version %d", got, content, version)
		}
	}
	write(choir.DocumentCreated{Document: doc, Title: "Parser", Content: "the prompt"})
	then := write(choir.DocumentVersioned{Document: doc, Version: 1, Content: "plan"})
	write(choir.DocumentVersioned{Document: doc, Version: 2, Content: "plan and result"})
	is(2, "plan and result")

	r := l.rewound(then)
	is(3, "plan")
	if old := must(l.Log.Document(l.Within(), doc, 2))(t); old.Content != "plan and result" {
		t.Errorf("version 2 is %+v", old)
	}
	l.rewound(r.Receipt.Seq - 1)
	is(4, "plan and result")

	// The Director does not know of the rewinds and asks for a number that is taken.
	write(choir.DocumentVersioned{Document: doc, Version: 3, Content: "next"})
	is(5, "next")
}

// TestARewindWaitsForTheTasksThatItStops has a task that writes once more after its run
// was told to stop.
func TestARewindWaitsForTheTasksThatItStops(t *testing.T) {
	l := newLab(t)
	l.Write("x", "then\n")
	then := l.Head()
	run := l.prompt()
	task := l.startTask(run)
	if would := must(l.Rewind(l.Within(), choir.RoleCLI, then, true))(t); !slices.Equal(would.Stopped, []choir.ID{run}) || len(l.All(choir.TypeRunCancelRequested)) != 0 {
		t.Fatalf("a dry run would stop %v", would.Stopped)
	}
	type result struct {
		Rewound
		err error
	}
	ended := make(chan result, 1)
	go func() {
		r, err := l.Rewind(l.Within(), choir.RoleCLI, then, false)
		ended <- result{r, err}
	}()
	for e, err := range l.Log.Follow(l.Within(), then) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == choir.TypeRunCancelRequested {
			break
		}
	}
	l.WriteOutside("x", "late\n")
	l.answer(run, task, choir.StatusFailed)
	l.finish(run)
	r := <-ended
	if r.err != nil {
		t.Fatal(r.err)
	}
	l.WantFiles(map[string]string{"x": "then\n"})
	if asked := l.All(choir.TypeRunCancelRequested); len(asked) != 1 || asked[0].Run != run || !slices.Equal(r.Stopped, []choir.ID{run}) {
		t.Errorf("it stopped %v, the log has %+v", r.Stopped, asked)
	}
	if back := l.All(choir.TypeTaskReturned); back[0].Seq > r.Receipt.Seq {
		t.Error("the task returned after the rewind")
	}
}
