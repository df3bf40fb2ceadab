package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/auth"
	"choiros/internal/control/controltest"
)

// folders is what a person does with files, over HTTP.
func folders(t *testing.T, p *controltest.Plane) {
	p.Healthy()
	base := p.Base()
	put := func(path, content string) {
		t.Helper()
		res, body := p.Do(req{Method: "PUT", Path: base + "/files/" + path, Body: strings.NewReader(content), Header: http.Header{"If-Match": {"*"}}})
		if res.StatusCode != 200 {
			t.Fatalf("PUT %s: %s %s", path, res.Status, body)
		}
	}
	put("box/a.txt", "0123456789")
	put("box/page.html", "<script>alert(1)</script>")
	post := func(path string, body any, status int, into any) {
		t.Helper()
		res, raw := p.Do(req{Method: "POST", Path: base + path, Body: body})
		if res.StatusCode != status || into != nil && json.Unmarshal(raw, into) != nil {
			t.Fatalf("POST %s %v: %s %s", path, body, res.Status, raw)
		}
	}
	post("/folders", api.FolderRequest{Path: "box/new"}, 201, nil)
	post("/folders", api.FolderRequest{Path: "box/new"}, 409, nil)
	post("/folders", api.FolderRequest{Path: "../x"}, 422, nil)
	post("/moves", api.TransferRequest{Items: []api.TransferItem{{From: "box/a.txt", To: "box/b.txt"}}}, 422, nil)
	item := api.TransferItem{From: "box/a.txt", To: "box/new/b.txt", IfMatch: string(choir.DigestOf([]byte("0123456789")))}
	var moved api.Transferred
	post("/moves", api.TransferRequest{Items: []api.TransferItem{item}}, 200, &moved)
	if len(moved.Files) != 1 || moved.Files[0].Path != "box/new/b.txt" || moved.Files[0].Size != 10 {
		t.Errorf("moved: %+v", moved)
	}
	post("/copies", api.TransferRequest{Items: []api.TransferItem{{From: "box/new", To: "box/copy", IfMatch: "*"}}}, 200, nil)
	post("/copies", api.TransferRequest{Items: []api.TransferItem{{From: "box", To: "box/copy/box", IfMatch: "*"}}}, 422, nil)

	var folder struct {
		Entries []choir.FileState
		More    bool
	}
	res, body := p.Do(req{Method: "GET", Path: base + "/folder?path=box"})
	if err := json.Unmarshal(body, &folder); err != nil || len(folder.Entries) != 3 || folder.Entries[0].Path != "box/copy" || folder.Entries[2].Digest == "" {
		t.Errorf("the folder: %s %s", res.Status, body)
	}
	for path, status := range map[string]int{"none": 404, "..%2fx": 422, "%2fetc": 422, "box%2fpage.html": 409} {
		if res, body := p.Do(req{Method: "GET", Path: base + "/folder?path=" + path}); res.StatusCode != status {
			t.Errorf("folder %s: %s %s", path, res.Status, body)
		}
	}
	if res, body := p.Do(req{Method: "GET", Path: base + "/find?path=box&content=3456"}); res.StatusCode != 200 || strings.Count(string(body), "b.txt") != 2 {
		t.Errorf("found: %s %s", res.Status, body)
	}

	var thrown, trash api.Trash
	post("/trash", api.TrashRequest{Items: []api.TrashItem{{Path: "box/copy", IfMatch: "*"}}}, 200, &thrown)
	if res, body := p.Do(req{Method: "GET", Path: base + "/trash"}); json.Unmarshal(body, &trash) != nil || len(trash.Items) != 1 || trash.Items[0].From != "box/copy" {
		t.Errorf("the trash: %s %s", res.Status, body)
	}
	post("/trash/"+string(thrown.Items[0].ID)+"/restore", api.RestoreRequest{}, 200, nil)
	post("/trash/"+string(thrown.Items[0].ID)+"/restore", api.RestoreRequest{}, 404, nil)
	if res, body := p.Do(req{Method: "DELETE", Path: base + "/trash"}); res.StatusCode != 204 {
		t.Errorf("emptying: %s %s", res.Status, body)
	}
	reading(t, p)
}

// reading is how a file of the workspace comes to whom.
func reading(t *testing.T, p *controltest.Plane) {
	get := func(role choir.Role, path string, h http.Header) *http.Response {
		t.Helper()
		r := httptest.NewRequest("GET", p.Base()+"/files/"+path, nil)
		for name, values := range h {
			r.Header[name] = values
		}
		w := httptest.NewRecorder()
		p.API.ServeHTTP(w, r.WithContext(auth.With(r.Context(), auth.Principal{Role: role, User: p.User()})))
		return w.Result()
	}
	tag := `"` + string(choir.DigestOf([]byte("0123456789"))) + `"`
	for _, c := range []struct {
		role                        choir.Role
		path                        string
		header                      http.Header
		status                      int
		kind, shown, length, ranged string
	}{
		{choir.RoleDesktop, "box/new/b.txt", nil, 200, "text/plain; charset=utf-8", "inline", "10", ""},
		{choir.RoleDesktop, "box/new/b.txt?download=true", nil, 200, "application/octet-stream", "attachment", "10", ""},
		{choir.RoleDesktop, "box/new/b.txt", http.Header{"Range": {"bytes=2-4"}}, 206, "text/plain; charset=utf-8", "inline", "3", "bytes 2-4/10"},
		{choir.RoleDesktop, "box/new/b.txt", http.Header{"Range": {"bytes=2-4"}, "If-Range": {`"x"`}}, 200, "text/plain; charset=utf-8", "inline", "10", ""},
		{choir.RoleDesktop, "box/new/b.txt", http.Header{"If-None-Match": {tag}}, 304, "", "inline", "", ""},
		{choir.RoleDesktop, "box/page.html", nil, 200, "text/plain; charset=utf-8", "inline", "25", ""},
		{choir.RoleShell, "box/page.html", nil, 200, "application/octet-stream", "attachment", "25", ""},
		{choir.RoleDesktop, "box", nil, 409, "application/problem+json", "", "", ""},
		{choir.RoleDesktop, "box/none", nil, 404, "application/problem+json", "", "", ""},
		{choir.RoleDesktop, "..%2fx", nil, 422, "application/problem+json", "", "", ""},
	} {
		res := get(c.role, c.path, c.header)
		how, _, _ := strings.Cut(res.Header.Get("Content-Disposition"), ";")
		if res.StatusCode != c.status || res.Header.Get("Content-Type") != c.kind || how != c.shown || c.length != "" && res.Header.Get("Content-Length") != c.length || res.Header.Get("Content-Range") != c.ranged {
			t.Errorf("%s %v as %s: %s %v", c.path, c.header, c.role, res.Status, res.Header)
		}
		if c.status < 300 && (res.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(res.Header.Get("Content-Security-Policy"), "sandbox")) {
			t.Errorf("%s: %v", c.path, res.Header)
		}
	}
}
