package desk

import (
	"fmt"
	"slices"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

func TestAWindowIsShownAsItWasBeforeItWasMinimised(t *testing.T) {
	t.Parallel()
	base := eventstore.Window{ID: must(newTestID())(t), State: choir.WindowNormal, Bounds: choir.Rect{Width: 10, Height: 10}}
	for _, c := range []struct {
		name   string
		change []WindowChange
		state  choir.WindowState
		snap   choir.WindowSnap
	}{
		{"maximised", []WindowChange{MaximiseWindow, MinimiseWindow, RestoreWindow}, choir.WindowMaximised, ""},
		{"snapped", []WindowChange{SnapWindow(choir.SnapTopLeft), MinimiseWindow, FocusWindow}, choir.WindowSnapped, choir.SnapTopLeft},
		{"normal", []WindowChange{MinimiseWindow, RestoreWindow}, choir.WindowNormal, ""},
		{"restored twice", []WindowChange{MaximiseWindow, MinimiseWindow, RestoreWindow, RestoreWindow}, choir.WindowNormal, ""},
		{"dragged", []WindowChange{SnapWindow(choir.SnapLeft), MoveWindow(&choir.Rect{X: 1, Width: 1, Height: 1}, nil)}, choir.WindowNormal, ""},
		{"other desktop", []WindowChange{MaximiseWindow, MoveWindow(nil, ptr(3))}, choir.WindowMaximised, ""},
		{"from half to quarter", []WindowChange{SnapWindow(choir.SnapLeft), SnapWindow(choir.SnapBottomLeft)}, choir.WindowSnapped, choir.SnapBottomLeft},
	} {
		w := base
		for _, change := range c.change {
			for _, p := range must(change(w, true))(t) {
				if _, err := choir.DecodePayload(p.EventType(), must(choir.Canonical(p))(t)); err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
				if s, ok := p.(choir.WindowShown); ok {
					w = w.Shown(&s)
				}
			}
		}
		if w.State != c.state || w.Snap != c.snap || w.Was != "" {
			t.Errorf("%s: %+v", c.name, w)
		}
	}
}

func ptr[V any](v V) *V { return &v }

func TestTheDesktopTakesOneChangePerKeyAndOnlySoManyWindows(t *testing.T) {
	l := newLab(t)
	ctx, at := t.Context(), choir.Rect{Width: 10, Height: 10}
	key := l.newID()
	one, seq, err := l.OpenWindow(ctx, choir.RoleShell, choir.WindowOpened{App: "files", Bounds: at}, key)
	if err != nil {
		t.Fatal(err)
	}
	again, same, err := l.OpenWindow(ctx, choir.RoleShell, choir.WindowOpened{App: "files", Bounds: at}, key)
	if err != nil || again != one || same != seq {
		t.Errorf("%s %d, then %s %d %v", one, seq, again, same, err)
	}
	if _, _, err := l.OpenWindow(ctx, choir.RoleDesktop, choir.WindowOpened{App: "files", Bounds: at}, ""); err != nil {
		t.Fatal(err)
	}
	var more []choir.Payload
	for i := range maxWindows - 2 {
		more = append(more, choir.WindowOpened{Window: l.newID(), App: "files", Title: fmt.Sprint(i), Bounds: at})
	}
	must(l.events.Append(ctx, choir.RoleDesktop, more...))(t)
	if _, _, err := l.OpenWindow(ctx, choir.RoleShell, choir.WindowOpened{App: "files", Bounds: at}, ""); choir.CodeOf(err) != choir.CodeTooLarge {
		t.Errorf("one more: %v", err)
	}
	if _, err := l.ChangeWindow(ctx, choir.RoleShell, one, "", CloseWindow); err != nil {
		t.Error(err)
	}
	if _, err := l.ChangeWindow(ctx, choir.RoleShell, one, "", FocusWindow); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("closed: %v", err)
	}
	if _, _, err := l.OpenWindow(ctx, choir.RoleShell, choir.WindowOpened{App: "files", Bounds: at}, ""); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	d := must(l.Desktop(ctx, 0))(t)
	if len(d.Windows) != maxWindows || slices.ContainsFunc(d.Windows, func(w eventstore.Window) bool { return w.ID == one }) {
		t.Errorf("%d windows", len(d.Windows))
	}
	if d = must(l.Desktop(ctx, seq))(t); len(d.Windows) != 1 || d.Windows[0].ID != one || d.Seq != seq {
		t.Errorf("then: %+v", d)
	}
	// Refused is nothing appended.
	head := l.head()
	for _, key := range []string{"", "A", "a b", "a\x00"} {
		if _, err := l.SetSetting(ctx, choir.RoleShell, choir.SettingChanged{Key: key, Value: "x"}, ""); choir.CodeOf(err) != choir.CodeInvalid {
			t.Errorf("setting %q: %v", key, err)
		}
	}
	for _, p := range []choir.WindowOpened{{App: "Files", Bounds: at}, {App: "files", Title: "a\nb", Bounds: at}, {App: "files", Subject: "\u202egnp.exe", Bounds: at}, {App: "files"}} {
		if _, _, err := l.OpenWindow(ctx, choir.RoleShell, p, ""); err == nil {
			t.Errorf("%+v was opened", p)
		}
	}
	if now := l.head(); now != head {
		t.Errorf("%d events of what was refused", now-head)
	}
}

// TestARunOpensWindowsOnlyWhileItIsOpen has a page say which run opens a window: the
// log says so of an open run, and of a demo that has its card, and of nothing else.
func TestARunOpensWindowsOnlyWhileItIsOpen(t *testing.T) {
	l := newLab(t)
	ctx, at := t.Context(), choir.Rect{Width: 10, Height: 10}
	begin := func(p choir.PromptSubmitted) choir.ID {
		run := l.newID()
		must(l.log.Append(ctx, choir.RoleShell, must(l.events.Draft(p))(t).ForRun(run, "")))(t)
		return run
	}
	end := func(run choir.ID, ends ...choir.Payload) {
		for _, p := range ends {
			role := choir.RoleControl
			if _, byPerson := p.(choir.RunDismissed); byPerson {
				role = choir.RoleShell
			}
			must(l.log.Append(ctx, role, must(l.events.Draft(p))(t).ForRun(run, "")))(t)
		}
	}
	finished := choir.RunFinished{Outcome: choir.OutcomeCancelled}
	open, ended := begin(choir.PromptSubmitted{Text: "open"}), begin(choir.PromptSubmitted{Text: "ended"})
	demo, dismissed := begin(choir.PromptSubmitted{Text: "demo", Paced: true}), begin(choir.PromptSubmitted{Text: "gone", Paced: true})
	key := l.newID()
	first, _, err := l.OpenWindow(ctx, choir.RoleDesktop, choir.WindowOpened{App: "trace", Bounds: at, Run: ended}, key)
	if err != nil {
		t.Fatal(err)
	}
	end(ended, finished)
	end(demo, finished)
	end(dismissed, finished, choir.RunDismissed{})
	for run, allowed := range map[choir.ID]bool{"": true, open: true, demo: true, ended: false, dismissed: false, l.newID(): false, "x": false} {
		head := l.head()
		_, seq, err := l.OpenWindow(ctx, choir.RoleDesktop, choir.WindowOpened{App: "terminal", Bounds: at, Run: run}, "")
		if !allowed {
			l.wantCode(err, choir.CodeInvalid)
			if l.head() != head {
				t.Errorf("run %q: what was refused made an event", run)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		opened, err := choir.ReadPayload(choir.TypeWindowOpened, must(l.log.At(ctx, seq))(t).Payload)
		if err != nil || opened.(*choir.WindowOpened).Run != run {
			t.Errorf("run %q: %+v %v", run, opened, err)
		}
	}
	report, gone := begin(choir.PromptSubmitted{Text: "report"}), begin(choir.PromptSubmitted{Text: "gone"})
	made := choir.RunFinished{Outcome: choir.OutcomeDone, Answer: "It is there.", File: "artifacts/report.md"}
	end(report, made)
	end(gone, made, choir.RunDismissed{})
	for _, c := range []struct {
		run     choir.ID
		subject string
		allowed bool
	}{{report, "artifacts/report.md", true}, {report, "artifacts/other.md", false}, {report, "", false}, {ended, "artifacts/report.md", false}, {gone, "artifacts/report.md", false}} {
		_, _, err := l.OpenWindow(ctx, choir.RoleDesktop, choir.WindowOpened{App: "viewer", Subject: c.subject, Bounds: at, Run: c.run}, "")
		if (err == nil) != c.allowed {
			t.Errorf("%q of run %s: %v", c.subject, c.run, err)
		}
	}
	again, _, err := l.OpenWindow(ctx, choir.RoleDesktop, choir.WindowOpened{App: "trace", Bounds: at, Run: ended}, key)
	if err != nil || again != first {
		t.Errorf("the key of a window that is open: %s %v", again, err)
	}
}

// TestAWindowIsOpenedWhoeverTookItsId has a guest hold the id of the event that a
// key leads to, which anybody can work out.
func TestAWindowIsOpenedWhoeverTookItsId(t *testing.T) {
	l := newLab(t)
	ctx, key := t.Context(), l.newID()
	taken := must(choir.NewDraft(key, choir.PlanRefused{Problems: []string{"mine"}}))(t)
	must(l.Append(ctx, choir.RoleDirector, taken.ForRun(l.newID(), "")))(t)
	opened := choir.WindowOpened{App: "files", Bounds: choir.Rect{Width: 10, Height: 10}}
	w, seq, err := l.OpenWindow(ctx, choir.RoleShell, opened, key)
	if err != nil || seq != l.head() || w != choir.DeriveID(key, "window") {
		t.Fatalf("%s as event %d: %v", w, seq, err)
	}
	e := must(l.log.EventsAfter(ctx, seq-1, 1))(t)[0]
	if e.ID == key || e.Type != "window.opened" || e.Source != choir.SourceUser {
		t.Errorf("%+v", e)
	}
}

func TestASettingIsChangedOnlyWhenItDiffers(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	set := func(key, value string) (uint64, error) {
		return l.SetSetting(ctx, choir.RoleDesktop, choir.SettingChanged{Key: key, Value: value}, "")
	}
	for _, step := range []struct {
		key, value string
		changes    bool
	}{{"dock", "left", true}, {"dock", "left", false}, {"dock", "top", true}, {"clock", "", false}, {"dock", "", true}, {"dock", "", false}} {
		if seq := must(set(step.key, step.value))(t); (seq > 0) != step.changes {
			t.Errorf("%s=%q: event %d", step.key, step.value, seq)
		}
	}
	var many []choir.Payload
	for i := range maxSettings {
		many = append(many, choir.SettingChanged{Key: fmt.Sprint("a", i), Value: "x"})
	}
	for part := range slices.Chunk(many, choir.MaxDrafts) {
		must(l.events.Append(ctx, choir.RoleDesktop, part...))(t)
	}
	_, err := set("one.more", "x")
	l.wantCode(err, choir.CodeTooLarge)
	must(set("a0", "y"))(t)
	must(set("a0", ""))(t)
	must(set("one.more", "x"))(t)
	if d := must(l.Desktop(ctx, 0))(t); len(d.Settings) != maxSettings || d.Theme != nil {
		t.Errorf("%d settings, theme %+v", len(d.Settings), d.Theme)
	}
}
