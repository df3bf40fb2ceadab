package gateway_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
	"choiros/internal/control/controltest"
	"choiros/internal/control/gateway"
)

// desk is a desktop's page in a browser: its host and its cookie.
type desk struct {
	p      *controltest.Plane
	id     choir.ID
	host   string
	cookie *http.Cookie
}

// enterDesktop goes from the shell into a computer's desktop.
func enterDesktop(t *testing.T, p *controltest.Plane, id choir.ID) *desk {
	t.Helper()
	return enterPlace(t, p, id, "", "")
}

// enterPlace goes from the shell to the place that a ticket of this kind leads to.
func enterPlace(t *testing.T, p *controltest.Plane, id choir.ID, kind, name string) *desk {
	t.Helper()
	d := &desk{p: p, id: id, host: name + string(id) + ".localhost" + p.Host[strings.LastIndexByte(p.Host, ':'):]}
	res, body := p.Do(req{Method: "GET", Path: ticketPath(t, p, id, kind, d.host), Host: d.host, NoCookie: true})
	if res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(res.Header.Get("Location"), "/") || len(res.Cookies()) != 1 {
		t.Fatalf("%s to %q with %v: %s", res.Status, res.Header.Get("Location"), res.Cookies(), body)
	}
	d.cookie = res.Cookies()[0]
	return d
}

// ticketPath asks the shell for a ticket, and is where it leads on the host.
func ticketPath(t *testing.T, p *controltest.Plane, id choir.ID, kind, host string) string {
	t.Helper()
	res, body := p.Do(req{Method: "POST", Path: "/api/computers/" + string(id) + "/ticket" + kind})
	var out struct{ URL string }
	if err := json.Unmarshal(body, &out); err != nil || res.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s", res.Status, body)
	}
	u := must(url.Parse(out.URL))(t)
	if u.Scheme != "http" || u.Host != host || u.Path != "/enter" {
		t.Fatalf("the ticket leads to %s", u)
	}
	return u.RequestURI()
}

// do sends what the desktop's page would send.
func (d *desk) do(r req) (*http.Response, []byte) {
	r.Host, r.NoCookie = d.host, true
	h := http.Header{"Origin": {"http://" + d.host}, "Cookie": {d.cookie.Name + "=" + d.cookie.Value}, "Sec-Fetch-Site": {"same-origin"}}
	for name, values := range r.Header {
		h[name] = values
	}
	r.Header = h
	return d.p.Do(r)
}

// filled is a route's path on a computer, with its other parameters filled in.
func filled(route string, id choir.ID) (method, path string) {
	method, path, _ = strings.Cut(route, " ")
	path = strings.ReplaceAll(path, "{computer}", string(id))
	for strings.Contains(path, "{") {
		from, to := strings.IndexByte(path, '{'), strings.IndexByte(path, '}')
		path = path[:from] + "none" + path[to+1:]
	}
	return method, path
}

// TestWhatADesktopMayDo tries every route of the API with a desktop's session.
func TestWhatADesktopMayDo(t *testing.T) {
	p := controltest.Start(t)
	id := p.Computers()[0].ID()
	d := enterDesktop(t, p, id)
	may, not := gateway.Rights()
	routes := p.API.Routes()
	// The gateway makes the tickets itself, and describes that in the same document.
	served := append(slices.Clone(routes), "POST /api/computers/{computer}/ticket", "POST /api/computers/{computer}/previews")
	described := openDocument(t, p)
	for path, ops := range described.Paths {
		for method := range ops {
			if route := strings.ToUpper(method) + " " + path; !slices.Contains(served, route) && !slices.Contains(served, strings.Replace(route, "{path}", "{path...}", 1)) {
				t.Errorf("%s is described and not served", route)
			}
		}
	}
	if len(routes) < 45 || len(may) < 30 || len(not) < 10 {
		t.Fatalf("only %d routes, %d and %d rows", len(routes), len(may), len(not))
	}
	for _, route := range routes {
		if strings.Contains(route, "/openapi") || strings.Contains(route, "/schemas/") {
			continue // not below /api/
		}
		in, out := slices.Contains(may, route), slices.Contains(not, route)
		if in == out {
			t.Errorf("%s has no row in internal/control/gateway/rights.go, or two: may a desktop call it?", route)
			continue
		}
		method, path := filled(route, id)
		res, body := d.do(req{Method: method, Path: path, Header: http.Header{"Upgrade": nil}})
		if refused := res.StatusCode == 403 && strings.Contains(string(body), "a desktop may not"); refused == in {
			t.Errorf("%s: %s %s", route, res.Status, body)
		}
		if out && p.Problem(res, body).Remedy == "" {
			t.Errorf("%s is refused without a way out", route)
		}
	}
	for _, route := range append(slices.Clone(may), not...) {
		other := choir.ID("01a1fc66-455c-725b-b446-026efbb4ef29")
		method, path := filled(route, other)
		if res, body := d.do(req{Method: method, Path: path}); res.StatusCode != 403 {
			t.Errorf("%s of another computer: %s %s", route, res.Status, body)
		}
	}
	for _, path := range []string{"/api/none", "/api/computers/" + string(id) + "/none", "/api/computers/" + string(id) + "/runs/x/none"} {
		if res, _ := d.do(req{Method: "GET", Path: path}); res.StatusCode != 403 {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
}

// TestThePastIsReadOnly tries every route of the API with the session of a
// desktop as it was, and what one place's cookie is good for at the other.
func TestThePastIsReadOnly(t *testing.T) {
	p := controltest.Start(t)
	head := p.Settled()
	id := p.Computers()[0].ID()
	past, now := enterPlace(t, p, id, "?past=true", "past--"), enterDesktop(t, p, id)
	may := gateway.PastRights()
	desktopMay, _ := gateway.Rights()
	for _, route := range may {
		if !strings.HasPrefix(route, "GET ") || !slices.Contains(desktopMay, route) {
			t.Errorf("%s is more than reading what a desktop reads", route)
		}
	}
	for _, route := range p.API.Routes() {
		if strings.Contains(route, "/openapi") || strings.Contains(route, "/schemas/") {
			continue // not below /api/
		}
		method, path := filled(route, id)
		res, body := past.do(req{Method: method, Path: path})
		if refused := res.StatusCode == 403 && strings.Contains(string(body), "a desktop may not"); refused == slices.Contains(may, route) {
			t.Errorf("%s: %s %s", route, res.Status, body)
		}
	}
	for _, path := range []string{"/api/computers/" + string(id) + "/bus", "/api/computers/" + string(id) + "/previews"} {
		if res, _ := past.do(req{Method: "POST", Path: path}); res.StatusCode != 403 {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
	if after, _ := p.Computers()[0].Store().Head(); after != head {
		t.Errorf("the log went from %d to %d", head, after)
	}
	past.cookie, now.cookie = now.cookie, past.cookie
	for _, d := range []*desk{past, now} {
		if res, body := d.do(req{Method: "GET", Path: p.Base()}); res.StatusCode != 401 {
			t.Errorf("the other place's cookie at %s: %s %s", d.host, res.Status, body)
		}
	}
}

// TestWhatADesktopBeginsIsStampedAsItsOwn looks at who the log says it was.
func TestWhatADesktopBeginsIsStampedAsItsOwn(t *testing.T) {
	p := controltest.Start(t)
	head := p.Settled()
	c := p.Computers()[0]
	d := enterDesktop(t, p, c.ID())
	for path, body := range map[string]any{
		"/prompts": map[string]string{"text": "hello"}, "/settings": map[string]string{"key": "a", "value": "b"}, "/checkpoints": map[string]string{},
	} {
		if res, body := d.do(req{Method: "POST", Path: p.Base() + path, Body: body}); res.StatusCode >= 300 {
			t.Errorf("%s: %s %s", path, res.Status, body)
		}
	}
	if res, body := d.do(req{Method: "PUT", Path: p.Base() + "/files/x", Body: strings.NewReader("x"), Header: http.Header{"If-Match": {"*"}}}); res.StatusCode != 200 {
		t.Errorf("%s %s", res.Status, body)
	}
	seen := map[string]int{}
	for _, e := range must(c.Store().EventsAfter(t.Context(), head, 0))(t) {
		if e.Source == choir.SourceUser {
			t.Errorf("%s is said to be the owner's", e.Type)
		}
		if e.Source == choir.SourceDesktop {
			seen[string(e.Type)]++
		}
	}
	for _, want := range []string{"prompt.submitted", "setting.changed", "file.written"} {
		if seen[want] == 0 {
			t.Errorf("no %s of the desktop in %v", want, seen)
		}
	}
}

// TestTheDoorOfADesktop tries what does not get in.
func TestTheDoorOfADesktop(t *testing.T) {
	p := controltest.Start(t)
	id := p.Computers()[0].ID()
	d := enterDesktop(t, p, id)
	t.Run("its cookie stays with it", func(t *testing.T) {
		c := d.cookie
		if c.Name != auth.DesktopCookie || !c.Secure || !c.HttpOnly || !c.Partitioned || c.SameSite != http.SameSiteNoneMode || c.Path != "/" || c.Domain != "" {
			t.Errorf("%+v", c)
		}
	})
	t.Run("a ticket is for one use", func(t *testing.T) {
		path := ticketPath(t, p, id, "", d.host)
		for _, want := range []int{303, 401} {
			if res, body := p.Do(req{Method: "GET", Path: path, Host: d.host, NoCookie: true}); res.StatusCode != want {
				t.Errorf("%s, want %d: %s", res.Status, want, body)
			}
		}
	})
	t.Run("only the shell gets tickets", func(t *testing.T) {
		if res, _ := d.do(req{Method: "POST", Path: p.Base() + "/ticket"}); res.StatusCode != 403 {
			t.Errorf("the desktop: %s", res.Status)
		}
		if res, _ := p.Do(req{Method: "POST", Path: p.Base() + "/ticket", NoCookie: true}); res.StatusCode != 401 {
			t.Errorf("nobody: %s", res.Status)
		}
	})
	shellCookie := http.Header{"Cookie": {auth.Cookie + "=" + d.cookie.Value}, "Sec-Fetch-Site": nil}
	for name, c := range map[string]struct {
		r    req
		want int
	}{
		"its secret as the shell's":     {req{Method: "GET", Path: "/api/computers", NoCookie: true, Header: shellCookie}, 401},
		"the shell's secret as its":     {req{Method: "GET", Path: p.Base(), Host: d.host, NoCookie: true, Header: http.Header{"Cookie": {auth.DesktopCookie + "=" + p.Cookie.Value}}}, 401},
		"the shell's cookie at its":     {req{Method: "GET", Path: p.Base(), Host: d.host}, 401},
		"its cookie at the shell":       {req{Method: "GET", Path: p.Base(), NoCookie: true, Header: http.Header{"Cookie": {d.cookie.String()}}}, 401},
		"a page without a session":      {req{Method: "GET", Path: "/", Host: d.host, NoCookie: true}, 401},
		"an asset without a session":    {req{Method: "GET", Path: "/assets/a-1.js", Host: d.host, NoCookie: true}, 401},
		"no ticket":                     {req{Method: "GET", Path: "/enter", Host: d.host, NoCookie: true}, 401},
		"the shell's doors":             {req{Method: "POST", Path: "/auth/logout", Host: d.host, NoCookie: true, Header: http.Header{"Origin": {"http://" + d.host}, "Cookie": {d.cookie.String()}}}, 405},
		"its page":                      {req{Method: "GET", Path: "/", Host: d.host, NoCookie: true, Header: http.Header{"Cookie": {d.cookie.String()}}}, 200},
		"its page under another's name": {req{Method: "GET", Path: "/", Host: "01a1fc66-455c-725b-b446-026efbb4ef29.localhost", NoCookie: true, Header: http.Header{"Cookie": {d.cookie.String()}}}, 421},
	} {
		if res, body := p.Do(c.r); res.StatusCode != c.want {
			t.Errorf("%s: %s, want %d: %.200s", name, res.Status, c.want, body)
		}
	}
	for name, c := range map[string]struct {
		method, path, site, mode string
		want                     int
	}{
		"framed by the shell":             {"GET", "/", "cross-site", "navigate", 200},
		"its own script":                  {"GET", "/", "same-origin", "no-cors", 200},
		"a script of another site's page": {"GET", "/", "cross-site", "no-cors", 403},
		"a script of a sibling's page":    {"GET", "/", "same-site", "no-cors", 403},
		"a fetch of another site's page":  {"GET", "/index.html", "cross-site", "cors", 403},
		"a fetch of a sibling's page":     {"GET", "/index.html", "same-site", "cors", 403},
		"a form of a sibling's page":      {"POST", "/", "same-site", "navigate", 403},
	} {
		h := http.Header{"Cookie": {d.cookie.String()}, "Sec-Fetch-Site": {c.site}, "Sec-Fetch-Mode": {c.mode}}
		if res, body := p.Do(req{Method: c.method, Path: c.path, Host: d.host, NoCookie: true, Header: h}); res.StatusCode != c.want {
			t.Errorf("%s: %s, want %d: %.200s", name, res.Status, c.want, body)
		}
	}
	res, _ := p.Do(req{Method: "GET", Path: "/", Host: d.host, NoCookie: true, Header: http.Header{"Cookie": {d.cookie.String()}}})
	if policy := res.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "; script-src 'self';") {
		t.Errorf("the bundle's policy is %q", policy)
	}
	for _, h := range []http.Header{
		{"Origin": {"http://" + p.Host}}, {"Origin": {"null"}}, {"Origin": nil}, {"Origin": {"http://8080--" + d.host}}, {"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}},
	} {
		if res, _ := d.do(req{Method: "POST", Path: p.Base() + "/prompts", Body: map[string]string{"text": "x"}, Header: h}); res.StatusCode != 403 {
			t.Errorf("a prompt with %v: %s", h, res.Status)
		}
	}
	if res, _ := d.do(req{Method: "GET", Path: p.Base(), Header: http.Header{"Sec-Fetch-Site": {"cross-site"}}}); res.StatusCode != 403 {
		t.Errorf("reading from another site: %s", res.Status)
	}
}

// TestADesktopsSessionEndsWithTheShells logs out of the shell.
func TestADesktopsSessionEndsWithTheShells(t *testing.T) {
	p := controltest.Start(t)
	d := enterDesktop(t, p, p.Computers()[0].ID())
	waiting := ticketPath(t, p, d.id, "", d.host)
	ws, res, err := dialer{t, p, http.Header{"Cookie": {d.cookie.Name + "=" + d.cookie.Value}, "Origin": {"http://" + d.host}}}.openAt(d.host)
	if err != nil {
		t.Fatal(err, res)
	}
	defer ws.CloseNow()
	if _, _, err := ws.Read(t.Context()); err != nil { // the bus greets
		t.Fatal(err)
	}
	if res, _ := p.Do(req{Method: "POST", Path: "/auth/logout"}); res.StatusCode != 204 {
		t.Fatal(res.Status)
	}
	if _, _, err := ws.Read(t.Context()); err == nil {
		t.Error("its socket lives on")
	}
	if res, _ := d.do(req{Method: "GET", Path: p.Base()}); res.StatusCode != 401 {
		t.Errorf("its session lives on: %s", res.Status)
	}
	if res, _ := p.Do(req{Method: "GET", Path: waiting, Host: d.host, NoCookie: true}); res.StatusCode != 401 {
		t.Errorf("a ticket lives on: %s", res.Status)
	}
}
