package api

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer/desk"
	"choiros/internal/control/auth"
	"choiros/internal/eventstore"
)

// At most deskBurst changes of the desktop of one computer within deskSpan, so that a
// page in a loop does not fill the log.
const (
	deskBurst = 600
	deskSpan  = time.Minute
)

// deskWindows is the part of a desk with which the API changes windows, theme and
// settings.
type deskWindows interface {
	Desktop(ctx context.Context, asOf uint64) (desk.Desktop, error)
	OpenWindow(ctx context.Context, role choir.Role, p choir.WindowOpened, key choir.ID) (choir.ID, uint64, error)
	ChangeWindow(ctx context.Context, role choir.Role, id, key choir.ID, change desk.WindowChange) (uint64, error)
	Window(ctx context.Context, id choir.ID) (*eventstore.Window, error)
	SetTheme(ctx context.Context, role choir.Role, p choir.ThemeChanged, key choir.ID) (uint64, error)
	SetSetting(ctx context.Context, role choir.Role, p choir.SettingChanged, key choir.ID) (uint64, error)
}

// WindowRequest is the request to open a window.
type WindowRequest struct {
	App     string `json:"app" minLength:"1" maxLength:"100" doc:"App it runs: lower-case letters, digits and dash."`
	Title   string `json:"title,omitempty" maxLength:"200" doc:"What its bar says."`
	Subject string `json:"subject,omitempty" maxLength:"4096" doc:"What it shows: a path below the workspace root or the id of a document."`
	Bounds  RectOf `json:"bounds" doc:"Place and size when normal."`
	Desktop int    `json:"desktop,omitempty" minimum:"0" maximum:"31" doc:"Virtual desktop it is on, from 0."`
	// The desk checks it when the window is opened.
	Run choir.ID `json:"run,omitempty" doc:"The run that opens it: an open one of this computer, or a demo whose card is there. Absent when a person does."`
}

// RectOf is a rectangle on the desktop in CSS pixels, from the top left corner.
type RectOf struct {
	X      int `json:"x" minimum:"-100000" maximum:"100000"`
	Y      int `json:"y" minimum:"-100000" maximum:"100000"`
	Width  int `json:"width" minimum:"1" maximum:"100000"`
	Height int `json:"height" minimum:"1" maximum:"100000"`
}

// MoveRequest is the request to move a window, resize it, or put it on another virtual
// desktop. At least one field is set.
type MoveRequest struct {
	Bounds  *RectOf `json:"bounds,omitempty" doc:"Place and size now; a maximised or snapped window becomes normal."`
	Desktop *int    `json:"desktop,omitempty" minimum:"0" maximum:"31" doc:"Virtual desktop it is on now."`
}

// SnapRequest is the request to snap a window.
type SnapRequest struct {
	To choir.WindowSnap `json:"to" enum:"left,right,top,bottom,top_left,top_right,bottom_left,bottom_right" doc:"Part of the desktop it fills."`
}

// RetitleRequest is the new title and subject of a window.
type RetitleRequest struct {
	Title   string `json:"title,omitempty" maxLength:"200" doc:"What its bar says now."`
	Subject string `json:"subject,omitempty" maxLength:"4096" doc:"What it shows now."`
}

// ThemeRequest is the request to change the theme.
type ThemeRequest struct {
	Name   string             `json:"name" minLength:"1" maxLength:"100" doc:"Name of the theme."`
	Tokens []choir.ThemeToken `json:"tokens,omitempty" maxItems:"200" doc:"Values that differ from the shipped theme of that name: plain values in CSS, which fetch nothing."`
}

// SettingRequest is the request to change a setting of the desktop.
type SettingRequest struct {
	Key   string `json:"key" minLength:"1" maxLength:"100" doc:"Name: lower-case letters, digits, dot, dash and underscore."`
	Value string `json:"value,omitempty" maxLength:"4096" doc:"Its value; the default when empty."`
}

// WindowAdded is the answer to WindowRequest.
type WindowAdded struct {
	Seq    uint64            `json:"seq" doc:"Event that opens it."`
	Window eventstore.Window `json:"window" doc:"The window."`
}

// WindowChanged is the answer to a change of a window. The window itself is for pages that
// an owner rewrote from those of an earlier choir, which display the answer instead of the
// event.
type WindowChanged struct {
	Seq    uint64             `json:"seq" doc:"Event of the change, the last of several; 0 when nothing was different."`
	Window *eventstore.Window `json:"window,omitempty" doc:"The window now; absent when it is closed."`
}

// DesktopChanged is the answer to a change of theme or settings. The new state is in the
// event.
type DesktopChanged struct {
	Seq uint64 `json:"seq" doc:"Event of the change; 0 when nothing was different."`
}

// Keyed has the parameters of a request on a computer that may be repeated with the same
// key.
type Keyed struct {
	In
	Key string `header:"Idempotency-Key" doc:"The same key makes one change."`
}

// OnWindow has the parameters of a request on one window.
type OnWindow struct {
	Keyed
	Window choir.ID `path:"window" doc:"The window."`
}

// windowRoutes are the routes for windows, theme and settings of a desktop.
type windowRoutes struct {
	finder
	changes *rateLimit
}

// register registers the routes.
func (w windowRoutes) register(h huma.API) {
	const base = "/api/computers/{computer}"
	huma.Register(h, op("getDesktop", http.MethodGet, base+"/desktop", "Show windows, theme and settings, as they are or as they were", 200),
		func(ctx context.Context, r *struct {
			In
			AsOf uint64 `query:"as_of" doc:"Event; 0 for now."`
		}) (*body[desk.Desktop], error) {
			c, _, err := w.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Desk.Desktop(ctx, r.AsOf))
		})
	huma.Register(h, op("openWindow", http.MethodPost, base+"/windows", "Open a window, on top", 201), w.openWindow)
	huma.Register(h, op("moveWindow", http.MethodPost, base+"/windows/{window}/move", "Move or resize a window, or put it on another virtual desktop", 200),
		func(ctx context.Context, r *struct {
			OnWindow
			Body MoveRequest
		}) (*body[WindowChanged], error) {
			var bounds *choir.Rect
			if r.Body.Bounds != nil {
				b := choir.Rect(*r.Body.Bounds)
				bounds = &b
			}
			return w.changeWindow(ctx, &r.OnWindow, "move", desk.MoveWindow(bounds, r.Body.Desktop))
		})
	huma.Register(h, op("snapWindow", http.MethodPost, base+"/windows/{window}/snap", "Let a window fill a part of the desktop, on top", 200),
		func(ctx context.Context, r *struct {
			OnWindow
			Body SnapRequest
		}) (*body[WindowChanged], error) {
			return w.changeWindow(ctx, &r.OnWindow, "snap", desk.SnapWindow(r.Body.To))
		})
	huma.Register(h, op("retitleWindow", http.MethodPost, base+"/windows/{window}/title", "Say what a window shows now", 200),
		func(ctx context.Context, r *struct {
			OnWindow
			Body RetitleRequest
		}) (*body[WindowChanged], error) {
			return w.changeWindow(ctx, &r.OnWindow, "title", desk.RetitleWindow(r.Body.Title, r.Body.Subject))
		})
	for _, verb := range []struct {
		name, summary string
		change        desk.WindowChange
	}{
		{"focus", "Bring a window to the top, and back when it was minimised", desk.FocusWindow},
		{"minimise", "Minimise a window", desk.MinimiseWindow},
		{"maximise", "Maximise a window, on top", desk.MaximiseWindow},
		{"restore", "Show a minimised window as it was before, any other at its bounds, on top", desk.RestoreWindow},
		{"close", "Close a window", desk.CloseWindow},
	} {
		huma.Register(h, op(verb.name+"Window", http.MethodPost, base+"/windows/{window}/"+verb.name, verb.summary, 200),
			func(ctx context.Context, r *OnWindow) (*body[WindowChanged], error) {
				return w.changeWindow(ctx, r, verb.name, verb.change)
			})
	}
	huma.Register(h, op("setTheme", http.MethodPost, base+"/theme", "Change the theme", 200), w.setTheme)
	huma.Register(h, op("setSetting", http.MethodPost, base+"/settings", "Change a setting of the desktop", 200), w.setSetting)
}

func (w windowRoutes) openWindow(ctx context.Context, r *struct {
	Keyed
	Body WindowRequest
}) (*body[WindowAdded], error) {
	d, p, err := w.findDesktop(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	b := &r.Body
	id, seq, err := d.OpenWindow(ctx, p.Role, choir.WindowOpened{
		App: b.App, Title: b.Title, Subject: b.Subject, Bounds: choir.Rect(b.Bounds), Desktop: b.Desktop, Run: b.Run,
	}, keyID(p, r.Computer, "window", r.Key))
	added := WindowAdded{Seq: seq, Window: eventstore.Window{ID: id}}
	if err == nil {
		// The key may be that of a window that was closed since.
		var w *eventstore.Window
		if w, err = d.Window(ctx, id); w != nil {
			added.Window = *w
		}
	}
	return answer(added, err)
}

// changeWindow applies a change to a window once for each Idempotency-Key. verb
// distinguishes the keys of different changes.
func (w windowRoutes) changeWindow(ctx context.Context, r *OnWindow, verb string, change desk.WindowChange) (*body[WindowChanged], error) {
	d, p, err := w.findDesktop(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	seq, err := d.ChangeWindow(ctx, p.Role, r.Window, keyID(p, r.Computer, verb+" "+string(r.Window), r.Key), change)
	changed := WindowChanged{Seq: seq}
	if err == nil {
		changed.Window, err = d.Window(ctx, r.Window)
	}
	return answer(changed, err)
}

func (w windowRoutes) setTheme(ctx context.Context, r *struct {
	Keyed
	Body ThemeRequest
}) (*body[DesktopChanged], error) {
	d, p, err := w.findDesktop(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	seq, err := d.SetTheme(ctx, p.Role, choir.ThemeChanged(r.Body), keyID(p, r.Computer, "theme", r.Key))
	return answer(DesktopChanged{seq}, err)
}

func (w windowRoutes) setSetting(ctx context.Context, r *struct {
	Keyed
	Body SettingRequest
}) (*body[DesktopChanged], error) {
	d, p, err := w.findDesktop(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	seq, err := d.SetSetting(ctx, p.Role, choir.SettingChanged(r.Body), keyID(p, r.Computer, "setting", r.Key))
	return answer(DesktopChanged{seq}, err)
}

// findDesktop returns a computer's desktop and the caller, for a change. Code
// rate_limited: more than deskBurst changes within deskSpan.
func (w windowRoutes) findDesktop(ctx context.Context, id choir.ID) (deskWindows, auth.Principal, error) {
	c, p, err := w.findComputer(ctx, id)
	if err != nil {
		return nil, p, err
	}
	if wait := w.changes.allow(id); wait > 0 {
		return nil, p, tooOften(wait, "api.desktop", choir.ReasonTooManyDeskChanges, deskBurst, deskSpan)
	}
	return c.Desk, p, nil
}

// tooOften returns the problem of more than n requests in a span, with the time to wait
// in its remedy and in the header Retry-After.
func tooOften(wait time.Duration, op string, reason choir.Reason, n int, span time.Duration) error {
	seconds := int(math.Ceil(wait.Seconds()))
	return ProblemOf(choir.Refuse(op, reason, choir.CountOf("n", n), choir.SecondsOf("span", span), choir.CountOf("wait", seconds)))
}
