package moments

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/names"
)

func TestTwoMomentsAreComparedByWhatPeopleSee(t *testing.T) {
	l := newLab(t)
	l.Write("x", "one")
	win := workspacetest.NewID(t)
	l.appendAsOwner(choir.WindowOpened{Window: win, App: "files", Title: "Files", Bounds: choir.Rect{Width: 1, Height: 1}})
	then := l.Head()
	l.appendAsOwner(choir.WindowShown{Window: win, State: choir.WindowMinimised})
	l.appendAsOwner(choir.WindowOpened{Window: workspacetest.NewID(t), App: "terminal", Subject: "terminal:" + string(workspacetest.NewID(t)), Bounds: choir.Rect{Width: 1, Height: 1}})
	l.appendAsOwner(choir.WindowOpened{Window: workspacetest.NewID(t), App: "writer", Title: "Plan", Bounds: choir.Rect{Width: 1, Height: 1}})
	l.appendAsOwner(choir.SettingChanged{Key: "dock", Value: "left"})
	run := workspacetest.NewID(t)
	doc := choir.DocumentCreated{Document: workspacetest.NewID(t), Title: "Plan", Content: "a\n"}
	d := must(l.Events.Draft(doc))(t)
	must(l.Log.Append(l.Within(), choir.RoleDirector, d.ForRun(run, "")))(t)
	head := l.Head()
	got := must(l.Diff(l.Within(), then, 0))(t)
	for language, want := range map[names.Language][]string{
		names.English: {"dock: the default, then left", "window Files is minimised", "window Terminal is opened", "window Writer “Plan” is opened"},
		names.German:  {"Fenster Dateien: minimiert", "Fenster Terminal: geöffnet", "Fenster Texte „Plan“: geöffnet", "dock: die Vorgabe, danach left"},
	} {
		var said []string
		for i := range got.Changes {
			said = append(said, got.Changes[i].Say(language))
		}
		if language == names.English && !slices.Equal(said, got.Desktop) {
			t.Errorf("older desktops get %q, want %q", got.Desktop, said)
		}
		slices.Sort(said)
		if !slices.Equal(said, want) {
			t.Errorf("the desktop in %s: %q", language, said)
		}
	}
	back := must(l.Diff(l.Within(), 0, then))(t)
	if !slices.Contains(back.Changes, DesktopChange{Change: WindowClosed, App: "writer", Title: "Plan"}) {
		t.Errorf("the way back: %q", back.Changes)
	}
	if len(got.Documents) != 1 || got.Documents[0].From != nil || *got.Documents[0].To != 0 || got.Documents[0].Title != "Plan" || got.Documents[0].Diff == "" {
		t.Errorf("documents: %+v", got.Documents)
	}
	n := 0
	for _, c := range got.Counts {
		n += c.Count
	}
	if n != int(head-then) || len(got.Events) != 4 || got.Events[0].Text != "window opened: terminal" || got.EventsCut {
		t.Errorf("%d events are counted of %d, told are %+v", n, head-then, got.Events)
	}
	if same := must(l.Diff(l.Within(), then, then))(t); len(same.Documents)+len(same.Changes)+len(same.Desktop)+len(same.Events)+len(same.Counts) != 0 {
		t.Errorf("a moment and itself: %+v", same)
	}
	if _, err := l.Diff(l.Within(), then, head+1000); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("the future: %v", err)
	}
}

func TestAMomentIsTheWorkspaceAsItWasThen(t *testing.T) {
	l := newLab(t)
	if _, err := l.Tree(l.Within(), 0); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("before the first snapshot: %v", err)
	}
	l.Write("dir/x", "then\n")
	then := l.Head()
	tree := must(l.Tree(l.Within(), then))(t)
	l.Write("dir/x", "now\n")
	l.Write("y", "now\n")
	head := l.Head()

	m := must(l.At(l.Within(), then))(t)
	if m.Seq != then || m.Head != head || m.Snapshot != tree || m.Files != 1 || m.Bytes != 5 || m.Collected || m.Documents == nil || m.Windows == nil || m.Settings == nil {
		t.Errorf("the moment is %+v", m)
	}
	if first := must(l.At(l.Within(), 1))(t); first.Snapshot != "" || first.Type != choir.TypeComputerCreated {
		t.Errorf("the first moment is %+v", first)
	}
	for seq, want := range map[uint64]choir.Code{0: choir.CodeInvalid, head + 1: choir.CodeNotFound, 1 << 60: choir.CodeNotFound} {
		if _, err := l.At(l.Within(), seq); choir.CodeOf(err) != want {
			t.Errorf("moment %d: %v", seq, err)
		}
	}
	d := must(l.DiffFiles(l.Within(), then, 0))(t)
	files, cut, err := l.TextDiff(l.Within(), d)
	if err != nil || cut || d.From != tree || len(files) != 2 || files[0].Path != "dir/x" || files[0].Diff == "" || files[1].Change != "added" {
		t.Errorf("since then: %+v, %v, %v", files, cut, err)
	}
	if l.Head() != head {
		t.Errorf("looking wrote %d events", l.Head()-head)
	}
}

func TestAMomentWhoseFilesWereCollectedIsToldWithoutThem(t *testing.T) {
	l := newLab(t)
	l.Write("x", "then\n")
	then := l.Head()
	l.collected = must(l.Tree(l.Within(), then))(t)
	l.Write("x", "now\n")
	if m := must(l.At(l.Within(), then))(t); !m.Collected || m.TakenSeq == 0 || m.Files != 0 {
		t.Errorf("the moment is %+v", m)
	}
	if _, err := l.Tree(l.Within(), then); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("its tree: %v", err)
	}
}

// TestADiffForPeopleTellsALinkFromAFile, and what may be run, and lists a file that stands where a
// folder was.
func TestADiffForPeopleTellsALinkFromAFile(t *testing.T) {
	l := newLab(t)
	for path, text := range map[string]string{"p/same": "target\n", "p/script": "echo\n", "p/folder/in": "x\n", "p/gone/in": "x\n", "p/file": "x\n"} {
		l.WriteOutside(path, text)
	}
	at := func(path string) string { return filepath.Join(l.Dir, path) }
	noError := func(errs ...error) {
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	noError(os.Mkdir(at("p/empty"), 0o755), os.Chmod(at("p/script"), 0o644))
	l.Record(nil)
	then := l.Head()
	noError(os.Remove(at("p/same")), os.Symlink("target", at("p/same")), os.Chmod(at("p/script"), 0o755), os.Symlink("../..", at("p/up")))
	noError(os.RemoveAll(at("p/folder")), os.RemoveAll(at("p/gone")), os.Symlink("folder", at("p/gone")), os.Remove(at("p/empty")), os.Remove(at("p/file")))
	l.WriteOutside("p/folder", "evil\n")
	l.WriteOutside("p/empty", "evil too\n")
	l.WriteOutside("p/file/in", "y\n")
	l.Record(nil)
	d := must(l.DiffFiles(l.Within(), then, 0))(t)
	files, _, err := l.TextDiff(l.Within(), d)
	noError(err)
	got := map[string]string{}
	for _, f := range files {
		got[f.Path] = string(f.Change) + "\n" + f.Diff
	}
	for path, want := range map[string][]string{
		"p/same":      {"modified", "old mode 100644\nnew mode 120000"},
		"p/script":    {"modified", "old mode 100644\nnew mode 100755"},
		"p/up":        {"added", "new file mode 120000", "+../.."},
		"p/folder":    {"added", "+evil"},
		"p/folder/in": {"deleted", "-x"},
		"p/gone":      {"added", "new file mode 120000", "+folder"},
		"p/gone/in":   {"deleted"},
		"p/empty":     {"added", "+evil too"},
		"p/file":      {"deleted", "-x"},
		"p/file/in":   {"added", "+y"},
	} {
		for _, text := range want {
			if !strings.Contains(got[path], text) {
				t.Errorf("%s is told as %q, without %q", path, got[path], text)
			}
		}
	}
	if n := workspace.CountShown(d.Changes); len(files) != 10 || n != 10 {
		t.Errorf("%d paths are told, %d counted: %q", len(files), n, got)
	}
}

// TestANameCannotBeReadAsLinesOfADiff writes a file whose name is the beginning of another diff.
func TestANameCannotBeReadAsLinesOfADiff(t *testing.T) {
	l := newLab(t)
	l.WriteOutside("p/a", "1\n")
	l.Record(nil)
	then := l.Head()
	l.WriteOutside("p/x\n+++ b/p/a\n@@ -1 +1 @@\n-1\n+1", "evil\n")
	l.WriteOutside("p/a\tb", "evil\n")
	l.Record(nil)
	files, _, err := l.TextDiff(l.Within(), must(l.DiffFiles(l.Within(), then, 0))(t))
	if err != nil || len(files) != 2 {
		t.Fatalf("%+v, %v", files, err)
	}
	for _, f := range files {
		if n := strings.Count(f.Diff, "\n"); n != 4 || strings.Contains(f.Diff, "\t") || !strings.HasSuffix(f.Diff, "\n@@ -0,0 +1 @@\n+evil\n") {
			t.Errorf("%q is told as\n%s", f.Path, f.Diff)
		}
	}
}

func TestADiffForPeopleListsWhatTheySee(t *testing.T) {
	l := newLab(t)
	l.WriteOutside("p/.git/HEAD", "1")
	l.WriteOutside("p/a", "1\n")
	l.WriteOutside("p/bytes", "\x00")
	l.Record(nil)
	then := l.Head()
	l.WriteOutside("p/.git/HEAD", "2")
	l.WriteOutside("p/a", "2\n")
	l.WriteOutside("p/bytes", "\x00\x00")
	l.WriteOutside("p/made/large", strings.Repeat("x", maxDiffBytes+1))
	l.Record(nil)
	files, _, err := l.TextDiff(l.Within(), must(l.DiffFiles(l.Within(), then, 0))(t))
	var got []string
	for _, f := range files {
		got = append(got, fmt.Sprintf("%s %s %v", f.Change, f.Path, f.Binary))
	}
	if want := []string{"modified p/a false", "modified p/bytes true", "added p/made/large true"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
