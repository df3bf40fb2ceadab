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

// windowsTable has the windows of the desktop; the value is a Window. Go builds a file
// table_windows.go on Windows only, so it has another name.
var windowsTable = newVersioned("windows", 2, reducers{
	choir.TypeWindowOpened:    on(windowOpened),
	choir.TypeWindowMoved:     on(windowMoved),
	choir.TypeWindowShown:     on(windowShown),
	choir.TypeWindowRetitled:  on(windowRetitled),
	choir.TypeWindowFocused:   on(windowFocused),
	choir.TypeWindowClosed:    on(windowClosed),
	choir.TypeTimelineRewound: on(goBack),
})

func windowOpened(windows *versions, e *choir.Event, p *choir.WindowOpened) error {
	return windows.setJSON(string(p.Window), e.Seq, NewWindow(p, e.Seq))
}

// changeWindow replaces a window by the one after an event. A window that is not
// there stays so.
func changeWindow(windows *versions, e *choir.Event, id choir.ID, after func(Window) Window) error {
	c, err := windows.get(string(id))
	if err != nil || !c.exists {
		return err
	}
	var w Window
	if err := json.Unmarshal([]byte(c.value), &w); err != nil {
		return damagedRow(windows.table, string(id), err)
	}
	return windows.setJSON(string(id), e.Seq, after(w))
}

func windowMoved(windows *versions, e *choir.Event, p *choir.WindowMoved) error {
	return changeWindow(windows, e, p.Window, func(w Window) Window { return w.Moved(p) })
}

func windowShown(windows *versions, e *choir.Event, p *choir.WindowShown) error {
	return changeWindow(windows, e, p.Window, func(w Window) Window { return w.Shown(p) })
}

func windowRetitled(windows *versions, e *choir.Event, p *choir.WindowRetitled) error {
	return changeWindow(windows, e, p.Window, func(w Window) Window { return w.Retitled(p) })
}

func windowFocused(windows *versions, e *choir.Event, p *choir.WindowFocused) error {
	return changeWindow(windows, e, p.Window, func(w Window) Window { return w.Raised(e.Seq) })
}

func windowClosed(windows *versions, e *choir.Event, p *choir.WindowClosed) error {
	return windows.endVersion(string(p.Window), e.Seq)
}
