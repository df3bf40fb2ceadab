package moments

import (
	"os"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/desk"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/eventstore"
)

// A page reads the marks again when one of the events in telling.ts arrived:
// what makes a mark and is not named there is not seen until a reload.
func TestPagesKnowEveryEventThatIsAMark(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../ui/base/domain/telling.ts")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(raw), "new Set<EventType>([")
	list, _, ended := strings.Cut(list, "])")
	if !found || !ended {
		t.Fatal("telling.ts has no list of events")
	}
	for event := range map[choir.Type]bool{"window.opened": true, "window.closed": true, "window.moved": true, "window.shown": true,
		"document.created": true, "document.versioned": true, "document.renamed": true, "document.removed": true} {
		if !strings.Contains(list, `"`+string(event)+`"`) {
			t.Errorf("telling.ts lacks %s, which is part of a mark", event)
		}
	}
	for event, kind := range eventstore.PlainMarks {
		// It comes in one append with a snapshot.taken.
		if event == "caches.left_out" {
			continue
		}
		if !strings.Contains(list, `"`+string(event)+`"`) {
			t.Errorf("telling.ts lacks %s, which is a mark of the kind %q", event, kind)
		}
	}
}

// What a person does in a row is one mark, wherever the pages are cut.
func TestWindowsAndWritingAreMarks(t *testing.T) {
	l := newLab(t)
	open := func(app, title string) choir.ID {
		w, _, err := l.desk.OpenWindow(l.Within(), choir.RoleDesktop, choir.WindowOpened{App: app, Title: title, Bounds: choir.Rect{Width: 9, Height: 9}}, "")
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	change := func(id choir.ID, how desk.WindowChange) {
		if _, err := l.desk.ChangeWindow(l.Within(), choir.RoleDesktop, id, "", how); err != nil {
			t.Fatal(err)
		}
	}
	l.Write("first.txt", "")
	files := open("files", "home")
	change(files, desk.MaximiseWindow)
	l.Write("a.txt", "one\n")
	change(files, desk.RestoreWindow)
	l.Write("b.txt", "two\n")
	code := open("code", "a.txt")
	change(files, desk.FocusWindow)
	change(files, desk.MoveWindow(&choir.Rect{X: 5, Y: 5, Width: 20, Height: 20}, nil))
	change(code, desk.CloseWindow)
	doc := must(l.desk.CreateDocument(l.Within(), choir.RoleDesktop, desk.NewDocument{Title: "Notes"}))(t)
	must(l.desk.SaveDocument(l.Within(), choir.RoleDesktop, doc.ID, desk.Save{Content: "one"}))(t)
	must(l.desk.SaveDocument(l.Within(), choir.RoleDesktop, doc.ID, desk.Save{Base: 1, Content: "two"}))(t)
	all := must(l.Marks(l.Within(), 100, 0))(t)
	var got []string
	for _, m := range all {
		got = append(got, m.Text)
	}
	want := []string{"you began Notes", "you arranged a.txt, home", "you changed b.txt", "you restored home", "you changed a.txt", "you opened home", "you changed first.txt"}
	if !slices.Equal(got, want) {
		t.Fatalf("the marks are %q, want %q", got, want)
	}
	if all[0].Kind != eventstore.MarkDocument || all[1].Kind != eventstore.MarkWindows {
		t.Errorf("%+v", all[:2])
	}
}

// TestWindowsThatARunOpensAreAMarkOfItsOwn: a demo opens them, and a person moves one.
func TestWindowsThatARunOpensAreAMarkOfItsOwn(t *testing.T) {
	l := newLab(t)
	run := workspacetest.NewID(t)
	prompt := must(l.Events.Draft(choir.PromptSubmitted{Text: "show me"}))(t)
	must(l.Events.AppendAs(l.Within(), choir.RoleDesktop, prompt.ForRun(run, "")))(t)
	open := func(app string, run choir.ID) choir.ID {
		w, _, err := l.desk.OpenWindow(l.Within(), choir.RoleDesktop, choir.WindowOpened{App: app, Bounds: choir.Rect{Width: 9, Height: 9}, Run: run}, "")
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	open("writer", run)
	terminal := open("terminal", run)
	if _, err := l.desk.ChangeWindow(l.Within(), choir.RoleDesktop, terminal, "", desk.MoveWindow(&choir.Rect{X: 5, Width: 9, Height: 9}, nil)); err != nil {
		t.Fatal(err)
	}
	open("files", "")
	all := must(l.Marks(l.Within(), 100, 0))(t)
	var got []string
	for _, m := range all {
		if m.Kind == eventstore.MarkWindows {
			got = append(got, m.Text+string(m.Run))
		}
	}
	want := []string{"you arranged files, terminal", "the run opened terminal, writer" + string(run)}
	if !slices.Equal(got, want) {
		t.Errorf("the marks are %q, want %q", got, want)
	}
}
