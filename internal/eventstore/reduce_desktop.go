package eventstore

import (
	"encoding/json"

	"choiros/internal/choir"
)

// Window is a window of the desktop as it is.
type Window struct {
	ID      choir.ID          `json:"id"`
	App     string            `json:"app"`
	Title   string            `json:"title,omitempty"`
	Subject string            `json:"subject,omitempty"`
	Bounds  choir.Rect        `json:"bounds" doc:"Place and size when its state is normal."`
	Desktop int               `json:"desktop,omitempty"`
	State   choir.WindowState `json:"state"`
	Snap    choir.WindowSnap  `json:"snap,omitempty" doc:"Part of the desktop it fills when snapped."`
	Was     choir.WindowState `json:"was,omitempty" doc:"For a minimised window, what restoring it gives; normal when absent."`
	Focused uint64            `json:"focused_seq" doc:"Event of its last focus; the highest is on top."`
}

// NewWindow is a window as the event that opens it makes it, with the event's number.
func NewWindow(p *choir.WindowOpened, seq uint64) Window {
	return Window{
		ID: p.Window, App: p.App, Title: p.Title, Subject: p.Subject, Bounds: p.Bounds, Desktop: p.Desktop,
		State: choir.WindowNormal, Focused: seq,
	}
}

// Moved is the window after an event that moves it.
func (w Window) Moved(p *choir.WindowMoved) Window {
	w.Bounds, w.Desktop = p.Bounds, p.Desktop
	return w
}

// Shown is the window after an event that shows it in another state.
func (w Window) Shown(p *choir.WindowShown) Window {
	w.State, w.Snap, w.Was = p.State, p.Snap, p.Was
	return w
}

// Retitled is the window after an event that gives it another title and subject.
func (w Window) Retitled(p *choir.WindowRetitled) Window {
	w.Title, w.Subject = p.Title, p.Subject
	return w
}

// Raised is the window after the event with a number that gives it the focus.
func (w Window) Raised(seq uint64) Window {
	w.Focused = seq
	return w
}

// Setting is a setting of the desktop that is not at its default; Theme is given
// for the theme alone, whose key is ThemeSetting.
type Setting struct {
	Key   string              `json:"key"`
	Value string              `json:"value,omitempty"`
	Theme *choir.ThemeChanged `json:"theme,omitempty"`
}

// ThemeSetting is the key of the theme among the settings; the others begin with "setting/".
const ThemeSetting = "theme"

func windowOpened(v *view, e *choir.Event, p *choir.WindowOpened) error {
	value, err := encode(NewWindow(p, e.Seq))
	if err != nil {
		return err
	}
	return v.windows.set(string(p.Window), e.Seq, value)
}

// changeWindow replaces a window by the one after an event. A window that is not
// there stays so.
func (v *view) changeWindow(e *choir.Event, id choir.ID, after func(Window) Window) error {
	c, err := v.windows.get(string(id))
	if err != nil || !c.exists {
		return err
	}
	var w Window
	if err := json.Unmarshal([]byte(c.value), &w); err != nil {
		return damagedRow(windowsTable, string(id), err)
	}
	value, err := encode(after(w))
	if err != nil {
		return err
	}
	return v.windows.set(string(id), e.Seq, value)
}

func windowMoved(v *view, e *choir.Event, p *choir.WindowMoved) error {
	return v.changeWindow(e, p.Window, func(w Window) Window { return w.Moved(p) })
}

func windowShown(v *view, e *choir.Event, p *choir.WindowShown) error {
	return v.changeWindow(e, p.Window, func(w Window) Window { return w.Shown(p) })
}

func windowRetitled(v *view, e *choir.Event, p *choir.WindowRetitled) error {
	return v.changeWindow(e, p.Window, func(w Window) Window { return w.Retitled(p) })
}

func windowFocused(v *view, e *choir.Event, p *choir.WindowFocused) error {
	return v.changeWindow(e, p.Window, func(w Window) Window { return w.Raised(e.Seq) })
}

func windowClosed(v *view, e *choir.Event, p *choir.WindowClosed) error {
	return v.windows.end(string(p.Window), e.Seq)
}

func themeChanged(v *view, e *choir.Event, p *choir.ThemeChanged) error {
	value, err := encode(Setting{Key: ThemeSetting, Theme: p})
	if err != nil {
		return err
	}
	return v.settings.set(ThemeSetting, e.Seq, value)
}

// sourceSetting is the key under which the settings keep what the desktop's
// source was merged from; it goes back with the source, and is no Setting.
const sourceSetting = "source"

func desktopUpgraded(v *view, e *choir.Event, p *choir.DesktopUpgraded) error {
	value, err := encode(p)
	if err != nil {
		return err
	}
	return v.settings.set(sourceSetting, e.Seq, value)
}

func settingChanged(v *view, e *choir.Event, p *choir.SettingChanged) error {
	key := "setting/" + p.Key
	if p.Value == "" {
		return v.settings.end(key, e.Seq)
	}
	value, err := encode(Setting{Key: p.Key, Value: p.Value})
	if err != nil {
		return err
	}
	return v.settings.set(key, e.Seq, value)
}
