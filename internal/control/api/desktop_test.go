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
)

// fields are a JSON object that a client sends.
type fields = map[string]any

func desktop(t *testing.T, p *controltest.Plane) {
	placed := func(path string, body any, status int) (w api.WindowPlaced) {
		t.Helper()
		res, raw := p.Do(req{Method: "POST", Path: p.Base() + "/windows" + path, Body: body})
		if err := json.Unmarshal(raw, &w); err != nil || res.StatusCode != status {
			t.Fatalf("%s: %s %s", path, res.Status, raw)
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
	bounds := fields{"x": 10, "y": -5, "width": 640, "height": 480}
	a := placed("", fields{"app": "files", "title": "Home", "bounds": bounds}, 201)
	b := placed("", fields{"app": "writer", "bounds": bounds, "desktop": 2}, 201)
	at := "/" + string(a.Window.ID)
	if w := placed(at+"/maximise", nil, 200).Window; w.State != choir.WindowMaximised || w.Bounds != (choir.Rect{X: 10, Y: -5, Width: 640, Height: 480}) || w.Focused < b.Window.Focused {
		t.Errorf("maximised: %+v", w)
	}
	if w := placed(at+"/minimise", nil, 200); w.Window.Was != choir.WindowMaximised || placed(at+"/minimise", nil, 200).Seq != 0 {
		t.Errorf("minimised: %+v", w)
	}
	if w := placed(at+"/restore", nil, 200).Window; w.State != choir.WindowMaximised {
		t.Errorf("restored: %+v", w)
	}
	if w := placed(at+"/snap", fields{"to": "top_right"}, 200).Window; w.State != choir.WindowSnapped || w.Snap != choir.SnapTopRight {
		t.Errorf("snapped: %+v", w)
	}
	if w := placed(at+"/move", fields{"bounds": fields{"x": 0, "y": 0, "width": 100, "height": 90}, "desktop": 1}, 200).Window; w.State != choir.WindowNormal || w.Bounds.Width != 100 || w.Desktop != 1 {
		t.Errorf("moved: %+v", w)
	}
	if w := placed(at+"/title", fields{"title": "src", "subject": "src"}, 200).Window; w.Title != "src" {
		t.Errorf("retitled: %+v", w)
	}
	placed("/"+string(b.Window.ID)+"/focus", nil, 200)
	for _, body := range []fields{{"name": "dark", "tokens": []fields{{"name": "accent", "value": "#f80"}}}} {
		if res, raw := p.Do(req{Method: "POST", Path: p.Base() + "/theme", Body: body}); res.StatusCode != 200 {
			t.Errorf("theme: %s %s", res.Status, raw)
		}
	}
	var changed api.DesktopChanged
	_, raw := p.Do(req{Method: "POST", Path: p.Base() + "/settings", Body: fields{"key": "dock.side", "value": "left"}})
	if err := json.Unmarshal(raw, &changed); err != nil || changed.Seq == 0 {
		t.Errorf("setting: %s", raw)
	}
	now := show("")
	if len(now.Windows) != 2 || now.Windows[1].ID != b.Window.ID || now.Theme == nil || len(now.Settings) != 1 || now.Settings[0].Key != "dock.side" {
		t.Errorf("now: %+v", now)
	}
	if w := placed(at+"/close", nil, 200); w.Window.ID != a.Window.ID || len(show("").Windows) != 1 {
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
