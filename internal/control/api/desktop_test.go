package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/desk"
	"choiros/internal/control/api"
	"choiros/internal/control/controltest"
	"choiros/internal/eventstore"
)

// fields are a JSON object that a client sends.
type fields = map[string]any

func desktop(t *testing.T, p *controltest.Plane) {
	open := func(body any) (w api.WindowAdded) {
		t.Helper()
		res, raw := p.Do(req{Method: "POST", Path: p.Base() + "/windows", Body: body})
		if err := choir.DecodeStrict(raw, &w); err != nil || res.StatusCode != 201 || w.Seq == 0 {
			t.Fatalf("%s %s", res.Status, raw)
		}
		return w
	}
	show := func(query string) (d desk.Desktop) {
		t.Helper()
		res, raw := p.Do(req{Method: "GET", Path: p.Base() + "/desktop" + query})
		if err := json.Unmarshal(raw, &d); err != nil || res.StatusCode != 200 || strings.Contains(string(raw), "null") {
			t.Fatalf("%s %s", res.Status, raw)
		}
		return d
	}
	if d := show(""); len(d.Windows) != 0 || len(d.Settings) != 0 || d.Theme != nil {
		t.Fatalf("at first: %+v", d)
	}
	change := func(id choir.ID, verb string, body any) (w eventstore.Window, seq uint64) {
		t.Helper()
		res, raw := p.Do(req{Method: "POST", Path: p.Base() + "/windows/" + string(id) + "/" + verb, Body: body})
		var changed api.WindowChanged
		if err := choir.DecodeStrict(raw, &changed); err != nil || res.StatusCode != 200 {
			t.Fatalf("%s: %s %s", verb, res.Status, raw)
		}
		for _, w = range show("").Windows {
			if w.ID == id {
				if changed.Window == nil || *changed.Window != w {
					t.Errorf("%s answers %+v, and the desktop has %+v", verb, changed.Window, w)
				}
				return w, changed.Seq
			}
		}
		if changed.Window != nil {
			t.Errorf("%s answers %+v, which is closed", verb, changed.Window)
		}
		return eventstore.Window{}, changed.Seq
	}
	bounds := fields{"x": 10, "y": -5, "width": 640, "height": 480}
	a := open(fields{"app": "files", "title": "Home", "bounds": bounds})
	b := open(fields{"app": "writer", "bounds": bounds, "desktop": 2})
	if w, _ := change(a.Window.ID, "maximise", nil); w.State != choir.WindowMaximised || w.Bounds != (choir.Rect{X: 10, Y: -5, Width: 640, Height: 480}) || w.Focused <= b.Seq {
		t.Errorf("maximised: %+v", w)
	}
	if w, seq := change(a.Window.ID, "minimise", nil); w.Was != choir.WindowMaximised || event(t, p, seq).Type != choir.TypeWindowShown {
		t.Errorf("minimised: %+v, event %d", w, seq)
	}
	if _, seq := change(a.Window.ID, "minimise", nil); seq != 0 {
		t.Errorf("minimised twice: event %d", seq)
	}
	if w, _ := change(a.Window.ID, "restore", nil); w.State != choir.WindowMaximised {
		t.Errorf("restored: %+v", w)
	}
	if w, _ := change(a.Window.ID, "snap", fields{"to": "top_right"}); w.State != choir.WindowSnapped || w.Snap != choir.SnapTopRight {
		t.Errorf("snapped: %+v", w)
	}
	if w, _ := change(a.Window.ID, "move", fields{"bounds": fields{"x": 0, "y": 0, "width": 100, "height": 90}, "desktop": 1}); w.State != choir.WindowNormal || w.Bounds.Width != 100 || w.Desktop != 1 {
		t.Errorf("moved: %+v", w)
	}
	if w, _ := change(a.Window.ID, "title", fields{"title": "src", "subject": "src"}); w.Title != "src" {
		t.Errorf("retitled: %+v", w)
	}
	change(b.Window.ID, "focus", nil)
	for _, body := range []fields{{"name": "dark", "tokens": []fields{{"name": "accent", "value": "#f80"}}}} {
		if res, raw := p.Do(req{Method: "POST", Path: p.Base() + "/theme", Body: body}); res.StatusCode != 200 {
			t.Errorf("theme: %s %s", res.Status, raw)
		}
	}
	var changed api.WindowChanged
	_, raw := p.Do(req{Method: "POST", Path: p.Base() + "/settings", Body: fields{"key": "dock.side", "value": "left"}})
	if err := json.Unmarshal(raw, &changed); err != nil || changed.Seq == 0 {
		t.Errorf("setting: %s", raw)
	}
	now := show("")
	if len(now.Windows) != 2 || now.Windows[1].ID != b.Window.ID || now.Theme == nil || len(now.Settings) != 1 || now.Settings[0].Key != "dock.side" {
		t.Errorf("now: %+v", now)
	}
	if w, seq := change(a.Window.ID, "close", nil); w.ID != "" || seq == 0 || len(show("").Windows) != 1 {
		t.Errorf("closed: %+v", w)
	}
	if then := show("?as_of=" + num(a.Seq)); len(then.Windows) != 1 || then.Windows[0].Title != "Home" || then.Theme != nil {
		t.Errorf("then: %+v", then)
	}
	if e := event(t, p, a.Seq); e.Type != "window.opened" || e.Source != choir.RoleShell.Source() {
		t.Errorf("stamped: %+v", e)
	}
	desktopKeys(t, p)
	desktopRefusals(t, p, "/"+string(b.Window.ID))
}

func event(t *testing.T, p *controltest.Plane, seq uint64) choir.Event {
	t.Helper()
	events, err := p.Computers()[0].Store().EventsAfter(t.Context(), seq-1, 1)
	if err != nil || len(events) != 1 {
		t.Fatal(err)
	}
	return events[0]
}

func desktopKeys(t *testing.T, p *controltest.Plane) {
	send := func(key string) (*http.Response, []byte) {
		return p.Do(req{Method: "POST", Path: p.Base() + "/windows", Body: fields{"app": "notes", "bounds": fields{"x": 0, "y": 0, "width": 1, "height": 1}}, Header: http.Header{"Idempotency-Key": {key}}})
	}
	_, one := send("w1")
	_, two := send("w1")
	_, three := send("w2")
	if !bytes.Equal(one, two) || bytes.Equal(one, three) {
		t.Errorf("%s %s %s", one, two, three)
	}
}

func desktopRefusals(t *testing.T, p *controltest.Plane, window string) {
	head, _ := p.Computers()[0].Store().Head()
	rect := fields{"x": 0, "y": 0, "width": 10, "height": 10}
	for _, c := range []struct {
		path   string
		body   any
		status int
		field  string
	}{
		{"/windows", fields{"bounds": rect}, 422, ""},
		{"/windows", fields{"app": "../x", "bounds": rect}, 422, "app"},
		{"/windows", fields{"app": "files"}, 422, ""},
		{"/windows", fields{"app": "files", "bounds": rect, "run": "01990000-0000-7000-8000-000000000000"}, 422, "run"},
		{"/windows", fields{"app": "files", "bounds": rect, "run": "mine"}, 422, "run"},
		{"/windows", fields{"app": "files", "bounds": fields{"x": 0, "y": 0, "width": 0, "height": 1}}, 422, "bounds.width"},
		{"/windows", fields{"app": "files", "bounds": fields{"x": 1e9, "y": 0, "width": 1, "height": 1}}, 422, "bounds.x"},
		{"/windows", fields{"app": "files", "bounds": rect, "desktop": 32}, 422, "desktop"},
		{"/windows", fields{"app": "files", "bounds": rect, "title": strings.Repeat("x", 201)}, 422, "title"},
		{"/windows", fields{"app": "files", "bounds": rect, "more": 1}, 422, "more"},
		{"/windows/x/focus", nil, 404, "window"},
		{window + "0/focus", nil, 404, ""},
		{"/windows" + window + "/move", fields{}, 422, "bounds"},
		{"/windows" + window + "/snap", fields{"to": "middle"}, 422, "to"},
		{"/windows" + window + "/snap", fields{}, 422, ""},
		{"/windows" + window + "/title", fields{"title": "a\u0000b"}, 422, "title"},
		{"/desktop/upgrade", fields{"dry_run": true}, 409, ""},
		{"/desktop/broke", fields{"message": "x", "line": 3}, 409, ""},
		{"/desktop/broke", fields{"message": ""}, 422, "message"},
		{"/desktop/broke", fields{"message": "\u202e"}, 422, "message"},
		{"/theme", fields{"name": "x", "tokens": []fields{{"name": "a", "value": "url(http://x)"}}}, 422, "tokens[0].value"},
		{"/theme", fields{"name": "x", "tokens": []fields{{"name": "a", "value": strings.Repeat("1", 201)}}}, 413, "payload.tokens[0].value"},
		{"/settings", fields{"key": "A b", "value": "x"}, 422, "key"},
		{"/settings", fields{"key": "a", "value": strings.Repeat("x", 4097)}, 422, "value"},
	} {
		res, raw := p.Do(req{Method: "POST", Path: p.Base() + c.path, Body: c.body})
		if got := p.Problem(res, raw); got.Status != c.status || c.field != "" && got.Field != c.field {
			t.Errorf("%s %v: %s", c.path, c.body, raw)
		}
	}
	for _, query := range []string{"999999", "-1", "x"} {
		if res, raw := p.Do(req{Method: "GET", Path: p.Base() + "/desktop?as_of=" + query}); res.StatusCode != 404 && res.StatusCode != 422 {
			t.Errorf("as of %s: %s %s", query, res.Status, raw)
		}
	}
	if now, _ := p.Computers()[0].Store().Head(); now != head {
		t.Errorf("what was refused made %d events", now-head)
	}
}
