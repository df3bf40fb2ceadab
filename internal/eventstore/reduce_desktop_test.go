package eventstore

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/choir"
)

func TestWindowsAndSettingsGoBackAndForth(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t, t.TempDir())
	a, b := newID(), newID()
	at := choir.Rect{X: 10, Y: 20, Width: 300, Height: 200}
	add(t, s, "", "", choir.WindowMoved{Window: a, Bounds: at}) // of a window that is not there
	add(t, s, "", "", choir.WindowOpened{Window: a, App: "writer", Bounds: at})
	add(t, s, "", "", choir.WindowOpened{Window: b, App: "files", Bounds: at, Desktop: 1})
	add(t, s, "", "", choir.ThemeChanged{Name: "dark"})
	then := add(t, s, "", "", choir.SettingChanged{Key: "theme", Value: "is only a name"})
	windows, settings := must[[]Window](t)(s.Windows(ctx, 0)), must[[]Setting](t)(s.Settings(ctx, 0))
	if len(windows) != 2 || windows[1].ID != b || len(settings) != 2 || settings[1].Theme == nil {
		t.Fatalf("%+v %+v", windows, settings)
	}
	add(t, s, "", "", choir.WindowFocused{Window: a})
	add(t, s, "", "", choir.WindowShown{Window: a, State: choir.WindowMaximised})
	add(t, s, "", "", choir.WindowShown{Window: a, State: choir.WindowMinimised, Was: choir.WindowSnapped, Snap: choir.SnapTopLeft})
	hidden := add(t, s, "", "", choir.WindowRetitled{Window: a, Title: "later", Subject: "x/y"})
	add(t, s, "", "", choir.WindowShown{Window: a, State: choir.WindowMaximised})
	add(t, s, "", "", choir.WindowMoved{Window: a, Bounds: choir.Rect{Width: 1, Height: 1}})
	add(t, s, "", "", choir.WindowClosed{Window: b})
	add(t, s, "", "", choir.ThemeChanged{Name: "light"})
	last := add(t, s, "", "", choir.SettingChanged{Key: "theme"})
	later := must[[]Window](t)(s.Windows(ctx, 0))
	if len(later) != 1 || later[0].ID != a || later[0].State != choir.WindowMaximised || later[0].Bounds.Width != 1 {
		t.Fatalf("%+v", later)
	}
	if w := must[[]Window](t)(s.Windows(ctx, hidden.Seq))[1]; w.State != choir.WindowMinimised || w.Was != choir.WindowSnapped || w.Snap != choir.SnapTopLeft || w.Title != "later" || w.Subject != "x/y" {
		t.Errorf("minimised: %+v", w)
	}
	if w := later[0]; w.Was != "" || w.Snap != "" {
		t.Errorf("%+v", w)
	}
	if got := must[[]Setting](t)(s.Settings(ctx, 0)); len(got) != 1 || got[0].Theme.Name != "light" {
		t.Fatalf("%+v", got)
	}
	for _, to := range []choir.Receipt{then, last, then} {
		add(t, s, "", "", choir.TimelineRewound{ToSeq: to.Seq, Snapshot: choir.ZeroHash, Before: choir.ZeroHash})
		wantWindows, wantSettings := windows, settings
		if to == last {
			wantWindows, wantSettings = later, must[[]Setting](t)(s.Settings(ctx, last.Seq))
		}
		if diff := cmp.Diff(wantWindows, must[[]Window](t)(s.Windows(ctx, 0))); diff != "" {
			t.Errorf("back at %d: %s", to.Seq, diff)
		}
		if diff := cmp.Diff(wantSettings, must[[]Setting](t)(s.Settings(ctx, 0))); diff != "" {
			t.Errorf("back at %d: %s", to.Seq, diff)
		}
	}
}
