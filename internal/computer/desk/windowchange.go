package desk

import (
	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// WindowChange returns the events that make a change of window w, none if it changes
// nothing. top reports that no window is above it.
type WindowChange func(w eventstore.Window, top bool) ([]choir.Payload, error)

// MoveWindow returns the change that sets a window's bounds, its virtual desktop, or both;
// nil leaves one unchanged. With bounds, a maximised or snapped window becomes normal.
func MoveWindow(bounds *choir.Rect, desktop *int) WindowChange {
	return func(w eventstore.Window, _ bool) ([]choir.Payload, error) {
		if bounds == nil && desktop == nil {
			return nil, choir.RefuseField("bounds", choir.ReasonWindowNoChange)
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

// FocusWindow returns the events that bring window w to the top and restore it if it is minimised; none if
// it is on top. It is a WindowChange.
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

// MinimiseWindow returns the event that minimises window w and records its former state; none if it is
// minimised. It is a WindowChange.
func MinimiseWindow(w eventstore.Window, _ bool) ([]choir.Payload, error) {
	if w.State == choir.WindowMinimised {
		return nil, nil
	}
	return []choir.Payload{choir.WindowShown{Window: w.ID, State: choir.WindowMinimised, Was: w.State, Snap: w.Snap}}, nil
}

// MaximiseWindow returns the events that maximise window w and bring it to the top, as far as needed. It is
// a WindowChange.
func MaximiseWindow(w eventstore.Window, top bool) ([]choir.Payload, error) {
	return showAndFocus(w, top, choir.WindowShown{Window: w.ID, State: choir.WindowMaximised}), nil
}

// SnapWindow returns the change that snaps a window to a part of its desktop and brings it
// to the top.
func SnapWindow(to choir.WindowSnap) WindowChange {
	return func(w eventstore.Window, top bool) ([]choir.Payload, error) {
		return showAndFocus(w, top, choir.WindowShown{Window: w.ID, State: choir.WindowSnapped, Snap: to}), nil
	}
}

// RestoreWindow returns the events that give a minimised window its former state, any other the normal
// state, and bring it to the top. It is a WindowChange.
func RestoreWindow(w eventstore.Window, top bool) ([]choir.Payload, error) {
	if w.State == choir.WindowMinimised {
		return showAndFocus(w, top, restored(w)), nil
	}
	return showAndFocus(w, top, choir.WindowShown{Window: w.ID, State: choir.WindowNormal}), nil
}

// RetitleWindow returns the change that sets a window's title and subject.
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

// CloseWindow returns the event that closes window w. It is a WindowChange.
func CloseWindow(w eventstore.Window, _ bool) ([]choir.Payload, error) {
	return []choir.Payload{choir.WindowClosed{Window: w.ID}}, nil
}

// showAndFocus returns the events that set window w's state as given and focus it; none if both are
// already so.
func showAndFocus(w eventstore.Window, top bool, as choir.WindowShown) []choir.Payload {
	var out []choir.Payload
	if w.Shown(&as) != w {
		out = append(out, as)
	}
	if !top {
		out = append(out, choir.WindowFocused{Window: w.ID})
	}
	return out
}

// restored returns the event that shows window w in its state before it was minimised.
func restored(w eventstore.Window) choir.WindowShown {
	state := w.Was
	if state == "" {
		state = choir.WindowNormal
	}
	return choir.WindowShown{Window: w.ID, State: state, Snap: w.Snap}
}
