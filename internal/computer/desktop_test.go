package computer

import (
	"fmt"
	"slices"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

func TestAWindowIsShownAsItWasBeforeItWasMinimised(t *testing.T) {
	t.Parallel()
	base := eventstore.Window{ID: newTestID(t), State: choir.WindowNormal, Bounds: choir.Rect{Width: 10, Height: 10}}
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
					w.State, w.Snap, w.Was = s.State, s.Snap, s.Was
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
	ctx, at := l.within(), choir.Rect{Width: 10, Height: 10}
	key := newTestID(t)
	one, seq, err := l.OpenWindow(ctx, choir.RoleShell, choir.WindowOpened{App: "files", Bounds: at}, key)
	if err != nil {
		t.Fatal(err)
	}
	again, same, err := l.OpenWindow(ctx, choir.RoleShell, choir.WindowOpened{App: "files", Bounds: at}, key)
	if err != nil || again != one || same != seq {
		t.Errorf("%+v %d, then %+v %d %v", one, seq, again, same, err)
	}
	for i := range maxWindows - 1 {
		if _, _, err := l.OpenWindow(ctx, choir.RoleDesktop, choir.WindowOpened{App: "files", Title: fmt.Sprint(i), Bounds: at}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := l.OpenWindow(ctx, choir.RoleShell, choir.WindowOpened{App: "files", Bounds: at}, ""); choir.CodeOf(err) != choir.CodeTooLarge {
		t.Errorf("one more: %v", err)
	}
	if _, _, err := l.ChangeWindow(ctx, choir.RoleShell, one.ID, "", CloseWindow); err != nil {
		t.Error(err)
	}
	if _, _, err := l.ChangeWindow(ctx, choir.RoleShell, one.ID, "", FocusWindow); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("closed: %v", err)
	}
	if _, _, err := l.OpenWindow(ctx, choir.RoleShell, choir.WindowOpened{App: "files", Bounds: at}, ""); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	d := must(l.Desktop(ctx, 0))(t)
	if len(d.Windows) != maxWindows || slices.ContainsFunc(d.Windows, func(w eventstore.Window) bool { return w.ID == one.ID }) {
		t.Errorf("%d windows", len(d.Windows))
	}
	if d = must(l.Desktop(ctx, seq))(t); len(d.Windows) != 1 || d.Windows[0].ID != one.ID || d.Seq != seq {
		t.Errorf("then: %+v", d)
	}
	// Refused is nothing appended.
	head, _ := l.store.Head()
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
	if now, _ := l.store.Head(); now != head {
		t.Errorf("%d events of what was refused", now-head)
	}
}
