package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

// visitor is a browser that logged in.
type visitor struct {
	r      *running
	cookie *http.Cookie
}

// ask makes a request as a page of the shell does, and gives the status.
func (v *visitor) ask(method, path string, body any) *http.Response {
	t := v.r.m.t
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(v.r.Address, "http://")
	req, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+host[strings.LastIndexByte(host, ':'):]+path, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	req.Header.Set("Origin", v.r.Address)
	req.Header.Set("Content-Type", "application/json")
	if v.cookie != nil {
		req.AddCookie(v.cookie)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return res
}

// logIn uses a one-time link.
func (v *visitor) logIn(link string) int {
	_, token, _ := strings.Cut(link, "#")
	res := v.ask(http.MethodPost, "/auth/login", map[string]string{"token": token})
	for _, c := range res.Cookies() {
		v.cookie = c
	}
	return res.StatusCode
}

// TestWhatWasRevokedStaysRevoked: a rewind, a fork and an import bring files
// back, and neither a login that ended nor a link that was used.
func TestWhatWasRevokedStaysRevoked(t *testing.T) {
	m := newMachine(t, "")
	r := m.up()
	o := &office{m, m.client(), r.cmd.Process.Pid}
	r.healthy()
	o.add(t, "p", files{"a.txt": "one\n"})

	v := &visitor{r: r}
	if got := v.logIn(r.Login); got != http.StatusNoContent {
		t.Fatalf("the login was answered with %d", got)
	}
	look := func(c *client) int { return v.ask(http.MethodGet, c.path(""), nil).StatusCode }
	if got := look(o.c); got != http.StatusOK {
		t.Fatalf("whoever is logged in is told %d", got)
	}
	events := o.c.log(t)
	then := o.files()
	at := strconv.FormatUint(events[len(events)-1].Seq, 10)
	file := filepath.Join(t.TempDir(), "computer.choir")
	o.must("export", file)
	o.ends(t, shellTask("edit_repo", "p", "echo two > a.txt", noVerify), 0, choir.StatusOK, "")
	if got := v.ask(http.MethodPost, "/auth/logout", nil).StatusCode; got != http.StatusNoContent {
		t.Fatalf("the logout was answered with %d", got)
	}

	stays := func(after string, c *client) {
		t.Helper()
		if got := look(c); got != http.StatusUnauthorized {
			t.Errorf("after %s the login that ended is told %d", after, got)
		}
		if got := (&visitor{r: r}).logIn(r.Login); got != http.StatusUnauthorized {
			t.Errorf("after %s the link that was used is told %d", after, got)
		}
	}
	stays("the logout", o.c)
	o.must("rewind", at)
	sameTree(t, then, o.files())
	stays("the rewind", o.c)
	_, fork := o.fork(at, "--name", "second")
	stays("the fork", fork.c)
	var came api.Imported
	if err := json.Unmarshal([]byte(o.must("import", "--json", "--name", "third", file)), &came); err != nil {
		t.Fatal(err)
	}
	stays("the import", o.of(came.ID).c)
}

// aloneOnItsLine is a login link that can be copied by its line.
var aloneOnItsLine = regexp.MustCompile(`(?m)^http://\S+/login#\S+$`)

// TestTheLinkOfAStartStandsAloneOnItsLine: it was indented, so that marking its line
// marked what is not of it.
func TestTheLinkOfAStartStandsAloneOnItsLine(t *testing.T) {
	const login = "http://choir.localhost:8080/login#secret"
	for _, link := range []string{login, ""} {
		var out strings.Builder
		a := &app{printer: newPrinter(newConsole(&out, io.Discard), func(string) string { return "" })}
		a.printAddress("http://choir.localhost:8080", link, api.ModelState{Message: "No model is connected."})
		if got := aloneOnItsLine.FindString(out.String()); got != link {
			t.Errorf("the link %q is printed as\n%s", link, out.String())
		}
	}
}

// TestAStartPrintsALinkOnlyWhenNobodyIsLoggedIn: each start printed one, and
// whoever read the journal had the owner's session.
func TestAStartPrintsALinkOnlyWhenNobodyIsLoggedIn(t *testing.T) {
	m := newMachine(t, "")
	r := m.up()
	v := &visitor{r: r}
	if got := v.logIn(r.Login); got != http.StatusNoContent {
		t.Fatalf("the login was answered with %d", got)
	}
	r.stop()
	r = m.up()
	v.r = r
	if r.Login != "" {
		t.Errorf("a start with a session prints %s", r.Login)
	}
	if v.ask(http.MethodGet, "/api/computers", nil).StatusCode != http.StatusOK {
		t.Errorf("the session did not stay")
	}
	if link := m.must("up", "--link"); !aloneOnItsLine.MatchString(link) || strings.Count(link, "\n") != 1 {
		t.Errorf("asked for a link it prints %q", link)
	}
	var link struct{ Login string }
	if err := json.Unmarshal([]byte(m.must("up", "--link", "--json")), &link); err != nil || !aloneOnItsLine.MatchString(link.Login) {
		t.Errorf("asked for a link as JSON it prints %q: %v", link.Login, err)
	}
	if got := v.ask(http.MethodPost, "/auth/logout", nil).StatusCode; got != http.StatusNoContent {
		t.Fatalf("the logout was answered with %d", got)
	}
	r.stop()
	if r = m.up(); r.Login == "" {
		t.Error("a start without a session prints no link")
	}
}
