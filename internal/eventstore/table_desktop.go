package eventstore

import (
	"encoding/json"

	"choiros/internal/choir"
)

// Window is the current state of a window of the desktop.
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

// NewWindow returns the window that event seq opens.
func NewWindow(p *choir.WindowOpened, seq uint64) Window {
	return Window{
		ID: p.Window, App: p.App, Title: p.Title, Subject: p.Subject, Bounds: p.Bounds, Desktop: p.Desktop,
		State: choir.WindowNormal, Focused: seq,
	}
}

// Moved returns the window after a move event.
func (w Window) Moved(p *choir.WindowMoved) Window {
	w.Bounds, w.Desktop = p.Bounds, p.Desktop
	return w
}

// Shown returns the window after a change of its state (normal, minimised, snapped and
// so on).
func (w Window) Shown(p *choir.WindowShown) Window {
	w.State, w.Snap, w.Was = p.State, p.Snap, p.Was
	return w
}

// Retitled returns the window after an event that sets its title and subject.
func (w Window) Retitled(p *choir.WindowRetitled) Window {
	w.Title, w.Subject = p.Title, p.Subject
	return w
}

// Raised returns the window after event seq has given it the focus.
func (w Window) Raised(seq uint64) Window {
	w.Focused = seq
	return w
}

// WindowOf returns the id of the window that a payload is about, "" for a payload that is
// about none.
func WindowOf(p choir.Payload) choir.ID {
	switch p := p.(type) {
	case *choir.WindowOpened:
		return p.Window
	case *choir.WindowMoved:
		return p.Window
	case *choir.WindowShown:
		return p.Window
	case *choir.WindowRetitled:
		return p.Window
	case *choir.WindowFocused:
		return p.Window
	case *choir.WindowClosed:
		return p.Window
	}
	return ""
}

// ReduceWindow applies an event to the window it is about. It returns the window after the
// event: nil when the event closes it, or when the window is not open and the event does
// not open it. The payload is that of the event with the number seq.
func ReduceWindow(before *Window, seq uint64, payload choir.Payload) *Window {
	if p, opens := payload.(*choir.WindowOpened); opens {
		opened := NewWindow(p, seq)
		return &opened
	}
	if before == nil {
		return nil
	}
	after := *before
	switch p := payload.(type) {
	case *choir.WindowMoved:
		after = before.Moved(p)
	case *choir.WindowShown:
		after = before.Shown(p)
	case *choir.WindowRetitled:
		after = before.Retitled(p)
	case *choir.WindowFocused:
		after = before.Raised(seq)
	case *choir.WindowClosed:
		return nil
	}
	return &after
}

// windowsTable stores the windows of the desktop; the value is a Window. The file is
// not called table_windows.go because Go builds such a file on Windows only.
var windowsTable = newVersioned("windows", 2, reducers{
	choir.TypeWindowOpened:    windowChanged,
	choir.TypeWindowMoved:     windowChanged,
	choir.TypeWindowShown:     windowChanged,
	choir.TypeWindowRetitled:  windowChanged,
	choir.TypeWindowFocused:   windowChanged,
	choir.TypeWindowClosed:    windowChanged,
	choir.TypeTimelineRewound: on(restoreVersions),
})

// windowChanged replaces the row of a window by the window after an event about it.
func windowChanged(rows part, e *choir.Event, payload choir.Payload) error {
	windows := rows.(*versions)
	key := string(WindowOf(payload))
	c, err := windows.get(key)
	if err != nil {
		return err
	}
	var before *Window
	if c.exists {
		before = &Window{}
		if err := json.Unmarshal([]byte(c.value), before); err != nil {
			return damagedRow(windows.table, key, err)
		}
	}
	if after := ReduceWindow(before, e.Seq, payload); after != nil {
		return windows.setJSON(key, e.Seq, after)
	}
	return windows.endVersion(key, e.Seq)
}
