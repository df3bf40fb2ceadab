package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/control/controltest"
)

// moments looks into folders and files of the past, while the present is another.
func moments(t *testing.T, p *controltest.Plane) {
	p.Healthy()
	put := func(path, content string) {
		t.Helper()
		if res, body := p.Do(req{Method: "PUT", Path: p.Base() + "/files/" + url.PathEscape(path), Body: strings.NewReader(content), Header: http.Header{"If-Match": {"*"}}}); res.StatusCode != 200 {
			t.Fatalf("%s %s", res.Status, body)
		}
	}
	get := func(seq uint64, what, path string) (*http.Response, []byte) {
		t.Helper()
		return p.Do(req{Method: "GET", Path: p.Base() + "/at/" + num(seq) + "/" + what + "?path=" + url.QueryEscape(path)})
	}
	head := func() uint64 { seq, _ := p.Computers()[0].Store().Head(); return seq }
	put("past/a b%25.txt", "one\n")
	put("past/sub/c", "c")
	then := head()
	put("past/a b%25.txt", "two, and longer\n")
	res, body := p.Do(req{Method: "DELETE", Path: p.Base() + "/files/past/sub", Header: http.Header{"If-Match": {"*"}}})
	if res.StatusCode != 204 {
		t.Fatalf("%s %s", res.Status, body)
	}
	now := head()
	for seq, want := range map[uint64]string{then: "one\n", now: "two, and longer\n"} {
		res, body := get(seq, "file", "past/a b%25.txt")
		if res.StatusCode != 200 || string(body) != want || res.Header.Get("ETag") != `"`+string(choir.DigestOf(body))+`"` ||
			res.Header.Get("Content-Type") != "application/octet-stream" || res.Header.Get("Content-Disposition") != "attachment" {
			t.Errorf("at %d: %s %q %v", seq, res.Status, body, res.Header)
		}
	}
	for _, c := range []struct {
		seq  uint64
		path string
		want string
	}{
		{then, "past", "file past/a b%25.txt, dir past/sub"}, {now, "past", "file past/a b%25.txt"},
		{then, "past/sub", "file past/sub/c"}, {then, "past/sub/c", "file past/sub/c"},
	} {
		res, body := get(c.seq, "folder", c.path)
		var list []choir.FileState
		if err := json.Unmarshal(body, &list); err != nil || res.StatusCode != 200 {
			t.Errorf("%s at %d: %s %s", c.path, c.seq, res.Status, body)
		}
		var got []string
		for _, f := range list {
			got = append(got, f.Kind+" "+f.Path)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s at %d has %q, not %q", c.path, c.seq, got, c.want)
		}
	}
	for _, c := range []struct {
		seq        uint64
		what, path string
		status     int
	}{
		{now, "folder", "past/sub", 404}, {now, "file", "past/sub/c", 404}, {then, "file", "past/sub", 409}, {then, "file", "", 409},
		{then, "folder", "../..", 404}, {then, "file", "/etc/passwd", 404}, {then, "file", "past/a b%zz", 422}, {0, "folder", "", 422},
		{now + 1000, "folder", "", 404}, {now + 1000, "file", "past/sub/c", 404}, {1, "folder", "", 404},
	} {
		res, body := get(c.seq, c.what, c.path)
		if got := p.Problem(res, body); got.Status != c.status {
			t.Errorf("%s %q at %d: %s", c.what, c.path, c.seq, body)
		}
	}
	asTheDesktopReads(t, p, then, now)
	// Of another computer there is nothing to see.
	other := "/api/computers/" + string(choir.DeriveID(p.Computers()[0].ID(), "other"))
	for _, path := range []string{"/at/" + num(then), "/at/" + num(then) + "/folder", "/at/" + num(then) + "/file?path=past/sub/c", "/timeline", "/desktop"} {
		if res, body := p.Do(req{Method: "GET", Path: other + path}); res.StatusCode != 404 || p.Problem(res, body).Code != choir.CodeNotFound {
			t.Errorf("another's %s: %s %s", path, res.Status, body)
		}
	}
	if head() != now {
		t.Error("looking wrote events")
	}
}

// asTheDesktopReads asks for the past by the routes that a desktop reads now with.
func asTheDesktopReads(t *testing.T, p *controltest.Plane, then, now uint64) {
	t.Helper()
	for _, c := range []struct {
		seq    uint64
		path   string
		status int
		want   string
	}{
		{then, "/files/past/a%20b%2525.txt?", 200, "one\n"}, {now, "/files/past/a%20b%2525.txt?", 200, "two, and longer\n"},
		{then, "/files/past/sub/c?", 200, "c"}, {now, "/files/past/sub/c?", 404, ""}, {then, "/files/past?", 409, ""}, {now + 1000, "/files/past/sub/c?", 404, ""},
		{then, "/folder?path=past&", 200, "past/a b%25.txt past/sub"}, {now, "/folder?path=past&", 200, "past/a b%25.txt"},
		{then, "/folder?path=past&limit=1&", 200, "past/a b%25.txt more"}, {then, "/folder?path=past&after=a%20b%2525.txt&", 200, "past/sub"},
		{then, "/folder?path=past/sub/c&", 409, ""}, {now, "/folder?path=past/sub&", 404, ""}, {then, "/folder?path=past&after=%25zz&", 422, ""},
	} {
		res, body := p.Do(req{Method: "GET", Path: p.Base() + c.path + "as_of=" + num(c.seq)})
		if res.StatusCode != c.status {
			t.Errorf("%s as of %d: %s %s", c.path, c.seq, res.Status, body)
			continue
		}
		got := string(body)
		if c.status != 200 {
			continue
		}
		if strings.HasPrefix(c.path, "/folder") {
			got = pageWords(t, body)
		} else if res.Header.Get("ETag") != `"`+string(choir.DigestOf(body))+`"` {
			t.Errorf("%s as of %d: %v", c.path, c.seq, res.Header)
		}
		if got != c.want {
			t.Errorf("%s as of %d: %q, not %q", c.path, c.seq, got, c.want)
		}
	}
	if res, body := p.Do(req{Method: "GET", Path: p.Base() + "/files/past/sub/c?as_of=then"}); res.StatusCode != 422 {
		t.Errorf("as of no number: %s %s", res.Status, body)
	}
}

// pageWords are the paths of a page of a folder.
func pageWords(t *testing.T, body []byte) string {
	t.Helper()
	var page workspace.FolderPage
	if err := json.Unmarshal(body, &page); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	words := []string{}
	for _, f := range page.Entries {
		words = append(words, f.Path)
		if f.MTime < 1_600_000_000_000 || f.Mode == 0 {
			t.Errorf("%s %s was changed at %d and has mode %o", f.Kind, f.Path, f.MTime, f.Mode)
		}
	}
	if page.More {
		words = append(words, "more")
	}
	return strings.Join(words, " ")
}
