package desk

import (
	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// WindowChange says which events make the change of a window as it is; top says
// that none is above it.
type WindowChange func(w eventstore.Window, top bool) ([]choir.Payload, error)

// MoveWindow gives a window another place and size, another virtual desktop, or
// both; nil keeps what it has. With bounds a maximised or snapped window becomes
// normal, because that is where it then is.
func MoveWindow(bounds *choir.Rect, desktop *int) WindowChange {
	return func(w eventstore.Window, _ bool) ([]choir.Payload, error) {
		if bounds == nil && desktop == nil {
			return nil, choir.Invalid("bounds", "give bounds, desktop, or both")
		}
		moved := choir.WindowMoved{Window: w.ID, Bounds: w.Bounds, Desktop: w.Desktop}
		if bounds != nil {
			moved.Bounds = *bounds
		}
		if desktop != nil {
			moved.Desktop = *desktop
		}
		var out []choir.Payload
		if w.Moved(&moved) != w {
			out = append(out, moved)
		}
		if bounds != nil && (w.State == choir.WindowMaximised || w.State == choir.WindowSnapped) {
			out = append(out, choir.WindowShown{Window: w.ID, State: choir.WindowNormal})
		}
		return out, nil
	}
}

// FocusWindow brings a window to the top, and back when it was minimised.
func FocusWindow(w eventstore.Window, top bool) ([]choir.Payload, error) {
	var out []choir.Payload
	if w.State == choir.WindowMinimised {
		out = append(out, restored(w))
	}
	if !top || len(out) > 0 {
		out = append(out, choir.WindowFocused{Window: w.ID})
	}
	return out, nil
}

// MinimiseWindow hides a window, which remembers how it was shown.
func MinimiseWindow(w eventstore.Window, _ bool) ([]choir.Payload, error) {
	if w.State == choir.WindowMinimised {
		return nil, nil
	}
	return []choir.Payload{choir.WindowShown{Window: w.ID, State: choir.WindowMinimised, Was: w.State, Snap: w.Snap}}, nil
}

// MaximiseWindow lets a window fill its desktop, on top.
func MaximiseWindow(w eventstore.Window, top bool) ([]choir.Payload, error) {
	return show(w, top, choir.WindowShown{Window: w.ID, State: choir.WindowMaximised}), nil
}

// SnapWindow lets a window fill a part of its desktop, on top.
func SnapWindow(to choir.WindowSnap) WindowChange {
	return func(w eventstore.Window, top bool) ([]choir.Payload, error) {
		return show(w, top, choir.WindowShown{Window: w.ID, State: choir.WindowSnapped, Snap: to}), nil
	}
}

// RestoreWindow shows a minimised window as it was before, and any other at its
// bounds, on top.
func RestoreWindow(w eventstore.Window, top bool) ([]choir.Payload, error) {
	if w.State == choir.WindowMinimised {
		return show(w, top, restored(w)), nil
	}
	return show(w, top, choir.WindowShown{Window: w.ID, State: choir.WindowNormal}), nil
}

// RetitleWindow says that a window shows something else.
func RetitleWindow(title, subject string) WindowChange {
	return func(w eventstore.Window, _ bool) ([]choir.Payload, error) {
		if err := checkLine("title", title); err != nil {
			return nil, err
		}
		if err := checkLine("subject", subject); err != nil {
			return nil, err
		}
		retitled := choir.WindowRetitled{Window: w.ID, Title: title, Subject: subject}
		if w.Retitled(&retitled) == w {
			return nil, nil
		}
		return []choir.Payload{retitled}, nil
	}
}

// CloseWindow takes a window off the desktop.
func CloseWindow(w eventstore.Window, _ bool) ([]choir.Payload, error) {
	return []choir.Payload{choir.WindowClosed{Window: w.ID}}, nil
}

// show is a state with the focus that comes with it; nothing when it is so.
func show(w eventstore.Window, top bool, as choir.WindowShown) []choir.Payload {
	var out []choir.Payload
	if w.Shown(&as) != w {
		out = append(out, as)
	}
	if !top {
		out = append(out, choir.WindowFocused{Window: w.ID})
	}
	return out
}

func restored(w eventstore.Window) choir.WindowShown {
	state := w.Was
	if state == "" {
		state = choir.WindowNormal
	}
	return choir.WindowShown{Window: w.ID, State: state, Snap: w.Snap}
}
