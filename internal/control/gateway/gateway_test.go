package gateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
	"choiros/internal/control/controltest"
)

type req = controltest.Request

// TestTheEdge shares one control plane: starting it is what takes time.
func TestTheEdge(t *testing.T) {
	p := controltest.Start(t)
	for name, test := range map[string]func(*testing.T, *controltest.Plane){
		"hosts": hosts, "origins": origins, "headers": headersEverywhere, "login": logins, "methods": methods, "openapi": openapi, "static": static,
		"health": health, "bodies": bodies, "redirects": redirects,
	} {
		t.Run(name, func(t *testing.T) { test(t, p) })
	}
}

func hosts(t *testing.T, p *controltest.Plane) {
	port := p.Host[strings.LastIndexByte(p.Host, ':'):]
	computer := string(p.Computers()[0].ID()) + ".localhost"
	for _, c := range []struct {
		host, path string
		status     int
	}{
		{p.Host, "/", 200},
		{strings.ToUpper(p.Host), "/", 200},
		{"choir.localhost", "/", 200},
		{"evil.example" + port, "/", 421},
		{"evil.example" + port, p.Base(), 421},
		{"evil.example" + port, "/health", 421},
		{"choir.localhost.evil.example", "/", 421},
		{"choir.localhost." + port, "/", 421},
		{"x.localhost" + port, "/", 421},
		{"..localhost" + port, "/", 421},
		{computer + port, "/", 401},
		{strings.ToUpper(computer) + port, "/", 401},
		{computer + port, "/api/computers", 401},
		{"none." + computer + port, "/", 421},
		{"08080--" + computer + port, "/", 421},
		{"0--" + computer + port, "/", 421},
		{"65536--" + computer + port, "/", 421},
		{"8080--" + computer + port, "/", 401},
		{"8080--x.localhost" + port, "/", 421},
		{"127.0.0.1" + port, "/health", 503},
		{"localhost" + port, "/health", 503},
		{"127.0.0.1" + port, "/login", 307},
		{"[::1]" + port, "/", 307},
		{"127.0.0.1" + port, "//evil.example/x", 307},
	} {
		if c.path == "/health" && c.status == 503 {
			p.Healthy()
			c.status = 200
		}
		res, _ := p.Do(req{Method: "GET", Path: c.path, Host: c.host})
		if res.StatusCode != c.status {
			t.Errorf("%s%s: %s, want %d", c.host, c.path, res.Status, c.status)
		}
		if to := res.Header.Get("Location"); c.status == 307 && !strings.HasPrefix(to, "http://"+p.Host+"/") {
			t.Errorf("%s leads to %s", c.host, to)
		}
	}
	if res, _ := p.Do(req{Method: "POST", Path: "/auth/login", Host: "127.0.0.1" + port}); res.StatusCode != 421 {
		t.Errorf("a mutation by address: %s", res.Status)
	}
}

// document is what the tests need of the OpenAPI document.
type document struct {
	OpenAPI    string `json:"openapi"`
	Paths      map[string]map[string]struct{ OperationID string }
	Components struct {
		Schemas map[string]any
	}
}

func openDocument(t *testing.T, p *controltest.Plane) document {
	t.Helper()
	res, body := p.Do(req{Method: "GET", Path: "/openapi.json", NoCookie: true})
	var d document
	if err := json.Unmarshal(body, &d); err != nil || res.StatusCode != 200 {
		t.Fatalf("%s: %v", res.Status, err)
	}
	return d
}

func openapi(t *testing.T, p *controltest.Plane) {
	d := openDocument(t, p)
	if !strings.HasPrefix(d.OpenAPI, "3.1") {
		t.Errorf("version %q", d.OpenAPI)
	}
	var ids []string
	for path, ops := range d.Paths {
		if strings.Contains(path, "...") {
			t.Errorf("%s is no OpenAPI path", path)
		}
		for _, op := range ops {
			ids = append(ids, op.OperationID)
		}
	}
	for _, want := range []string{"submitPrompt", "addRepo", "exportRepo", "writeFile", "removeFile", "getBlob", "rewind", "submitTask", "startDemo", "newTicket", "newPreview"} {
		if !slices.Contains(ids, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	if _, ok := d.Components.Schemas["Problem"]; !ok {
		t.Error("it does not describe problems")
	}
	res, _ := p.Do(req{Method: "HEAD", Path: "/openapi.json"})
	if res.StatusCode != 200 {
		t.Errorf("HEAD: %s", res.Status)
	}
}

// operations are the method and path of every operation, with its parameters
// filled in so that nothing happens.
func operations(t *testing.T, p *controltest.Plane, each func(method, path string)) {
	t.Helper()
	for path, ops := range openDocument(t, p).Paths {
		path = strings.ReplaceAll(path, "{computer}", string(p.Computers()[0].ID()))
		for strings.Contains(path, "{") {
			from, to := strings.IndexByte(path, '{'), strings.IndexByte(path, '}')
			path = path[:from] + "none" + path[to+1:]
		}
		for method := range ops {
			each(strings.ToUpper(method), path)
		}
	}
}

func origins(t *testing.T, p *controltest.Plane) {
	head, _ := p.Computers()[0].Store().Head()
	n := 0
	operations(t, p, func(method, path string) {
		if res, body := p.Do(req{Method: method, Path: path, NoCookie: true}); res.StatusCode != 401 {
			t.Errorf("%s %s without a session: %s %s", method, path, res.Status, body)
		}
		if method == "GET" {
			return
		}
		n++
		port := p.Host[strings.LastIndexByte(p.Host, ':'):]
		for _, origin := range []string{"", "null", "http://evil.example", "https://" + p.Host, "http://choir.localhost", "http://x.localhost" + port, "http://" + p.Host + ".evil.example"} {
			h := http.Header{"Origin": {origin}}
			if origin == "" {
				h = http.Header{"Origin": nil}
			}
			res, body := p.Do(req{Method: method, Path: path, Header: h})
			if res.StatusCode != 403 || p.Problem(res, body).Code != choir.CodeForbidden {
				t.Errorf("%s %s from %q: %s", method, path, origin, res.Status)
			}
		}
	})
	if n < 12 {
		t.Errorf("only %d mutations were tried", n)
	}
	for _, e := range must(p.Computers()[0].Store().EventsAfter(t.Context(), head, 0))(t) {
		if e.Source == choir.SourceUser {
			t.Errorf("a refused request left %s", e.Type)
		}
	}
	for _, path := range []string{"/auth/login", "/auth/logout"} {
		if res, _ := p.Do(req{Method: "POST", Path: path, Header: http.Header{"Origin": nil}}); res.StatusCode != 403 {
			t.Errorf("%s without an origin: %s", path, res.Status)
		}
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// redirects: what stands before the path of a request became
// part of the name that the browser was sent to.
func redirects(t *testing.T, p *controltest.Plane) {
	for asked, want := range map[string]string{
		"x:@evil.example/": "/", "http:@evil.example/": "/", "http://evil.example/a%2fb?c=%20d": "/a%2fb?c=%20d", "/login?x": "/login?x", "//evil.example/x": "//evil.example/x",
	} {
		conn := must(net.Dial("tcp", p.Address))(t)
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", asked); err != nil {
			t.Fatal(err)
		}
		res := must(http.ReadResponse(bufio.NewReader(conn), nil))(t)
		conn.Close()
		res.Body.Close()
		if to := res.Header.Get("Location"); res.StatusCode != http.StatusTemporaryRedirect && res.StatusCode < 400 || res.StatusCode < 400 && to != "http://"+p.Host+want {
			t.Errorf("%s: %s to %q", asked, res.Status, to)
		}
	}
}

func headersEverywhere(t *testing.T, p *controltest.Plane) {
	for _, r := range []req{
		{Method: "GET", Path: "/"}, {Method: "GET", Path: "/assets/a-1.js"}, {Method: "GET", Path: "/no.png"}, {Method: "GET", Path: "/health"},
		{Method: "GET", Path: "/api/computers"}, {Method: "GET", Path: "/api/none"}, {Method: "GET", Path: "/api/computers", NoCookie: true},
		{Method: "GET", Path: "/openapi.json"}, {Method: "POST", Path: "/auth/login"}, {Method: "DELETE", Path: "/"}, {Method: "OPTIONS", Path: "/api/computers"},
		{Method: "GET", Path: "/", Host: "evil.example"}, {Method: "GET", Path: "/", Host: "127.0.0.1"}, {Method: "GET", Path: "/bus"},
		{Method: "GET", Path: "/", Host: string(p.Computers()[0].ID()) + ".localhost"},
	} {
		res, _ := p.Do(r)
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s %s%s: %s is %q", r.Method, r.Host, r.Path, name, got)
			}
		}
		csp := res.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none'") || strings.Contains(csp, "unsafe-eval") || strings.Contains(csp, "script-src 'self' 'unsafe-inline'") {
			t.Errorf("%s %s%s: policy %q", r.Method, r.Host, r.Path, csp)
		}
		if res.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s%s lets others read", r.Method, r.Host, r.Path)
		}
		framed := strings.HasSuffix(r.Host, ".localhost") && r.Host != p.Host
		if !framed && res.StatusCode < 300 && !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("%s can be framed", r.Path)
		}
	}
}

func logins(t *testing.T, p *controltest.Plane) {
	token, err := p.NewLink()
	if err != nil {
		t.Fatal(err)
	}
	post := func(body any) (*http.Response, []byte) {
		return p.Do(req{Method: "POST", Path: "/auth/login", Body: body, NoCookie: true})
	}
	for _, bad := range []any{map[string]string{"token": "guess"}, map[string]string{"token": ""}} {
		if res, body := post(bad); res.StatusCode != 401 || p.Problem(res, body).Remedy == "" {
			t.Errorf("%v: %s %s", bad, res.Status, body)
		}
	}
	for _, bad := range []any{nil, strings.NewReader("{"), []int{1}, map[string]string{"tokens": "x"}, strings.NewReader(`{"token":"` + strings.Repeat("x", 5000) + `"}`)} {
		if res, body := post(bad); res.StatusCode != 422 {
			t.Errorf("%v: %s %s", bad, res.Status, body)
		}
	}
	res, _ := post(map[string]string{"token": token})
	cookies := res.Cookies()
	if res.StatusCode != 204 || len(cookies) != 1 {
		t.Fatalf("%s with %v", res.Status, cookies)
	}
	c := cookies[0]
	if c.Name != auth.Cookie || !strings.HasPrefix(c.Name, "__Host-") || !c.Secure || !c.HttpOnly || c.Path != "/" || c.Domain != "" || c.SameSite != http.SameSiteStrictMode {
		t.Errorf("cookie %+v", c)
	}
	if res, _ := post(map[string]string{"token": token}); res.StatusCode != 401 {
		t.Errorf("the link again: %s", res.Status)
	}
	as := func(method, path string) int {
		res, _ := p.Do(req{Method: method, Path: path, NoCookie: true, Header: http.Header{"Cookie": {c.Name + "=" + c.Value}}})
		return res.StatusCode
	}
	if got := as("GET", "/api/computers"); got != 200 {
		t.Errorf("with the new session: %d", got)
	}
	if got := as("POST", "/auth/logout"); got != 204 {
		t.Errorf("logout: %d", got)
	}
	if got := as("GET", "/api/computers"); got != 401 {
		t.Errorf("after the logout: %d", got)
	}
}

func methods(t *testing.T, p *controltest.Plane) {
	for _, r := range []req{{Method: "DELETE", Path: "/api/computers"}, {Method: "OPTIONS", Path: p.Base()}, {Method: "PATCH", Path: p.Base() + "/prompts"}} {
		res, body := p.Do(r)
		if res.StatusCode != 405 || res.Header.Get("Allow") == "" {
			t.Errorf("%s %s: %s, allows %q", r.Method, r.Path, res.Status, res.Header.Get("Allow"))
		}
		p.Problem(res, body)
	}
	for _, path := range []string{"/api/", "/api/x", p.Base() + "/nothing", "/auth/x"} {
		res, body := p.Do(req{Method: "GET", Path: path})
		if res.StatusCode != 404 || p.Problem(res, body).Code != choir.CodeNotFound {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		if res, _ := p.Do(req{Method: method, Path: "/"}); res.StatusCode != 405 {
			t.Errorf("%s /: %s", method, res.Status)
		}
	}
	res, body := p.Do(req{Method: "HEAD", Path: p.Base()})
	if res.StatusCode != 200 || len(body) != 0 {
		t.Errorf("HEAD: %s with %d bytes", res.Status, len(body))
	}
}

func static(t *testing.T, p *controltest.Plane) {
	for path, want := range map[string]int{"/": 200, "/login": 200, "/runs/x": 200, "/assets/a-1.js": 200, "/assets/no.js": 404, "/%2e%2e/etc/passwd.txt": 404, "/assets/": 200} {
		res, body := p.Do(req{Method: "GET", Path: path, NoCookie: true})
		if res.StatusCode != want && res.StatusCode != 307 && res.StatusCode != 301 {
			t.Errorf("%s: %s", path, res.Status)
		}
		if strings.Contains(string(body), "<pre>") {
			t.Errorf("%s lists a folder", path)
		}
	}
	res, _ := p.Do(req{Method: "GET", Path: "/assets/a-1.js"})
	if !strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("assets: %q", res.Header.Get("Cache-Control"))
	}
	res, _ = p.Do(req{Method: "GET", Path: "/"})
	if res.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("the page: %q", res.Header.Get("Cache-Control"))
	}
}

func health(t *testing.T, p *controltest.Plane) {
	p.Healthy()
	var times []time.Duration
	for _, host := range []string{p.Host, "127.0.0.1"} {
		if res, body := p.Do(req{Method: "GET", Path: "/health", Host: host, NoCookie: true}); res.StatusCode != 200 || string(body) != `{"status":"ok"}`+"\n" {
			t.Errorf("a stranger at %s is told %s %s", host, res.Status, body)
		}
	}
	for range 50 {
		began := time.Now()
		res, body := p.Do(req{Method: "GET", Path: "/health"})
		times = append(times, time.Since(began))
		var h struct{ Status, Version, Isolation, Bus, Log string }
		if err := json.Unmarshal(body, &h); err != nil || res.StatusCode != 200 || h.Status != "ok" || h.Version != "test" || h.Isolation == "" || h.Bus != "ok" || h.Log != "ok" {
			t.Fatalf("%s: %s", res.Status, body)
		}
	}
	slices.Sort(times)
	if m := times[len(times)/2]; m > 5*time.Millisecond {
		t.Errorf("the median is %s", m)
	}
}

func bodies(t *testing.T, p *controltest.Plane) {
	res, body := p.Do(req{Method: "POST", Path: p.Base() + "/prompts", Body: map[string]string{"text": strings.Repeat("x", 2<<20)}})
	if res.StatusCode != 413 || p.Problem(res, body).Code != choir.CodeTooLarge {
		t.Errorf("2 MiB: %s %s", res.Status, body)
	}
}
