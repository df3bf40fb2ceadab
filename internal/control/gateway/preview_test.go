package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
	"choiros/internal/control/controltest"
	"choiros/internal/guest"
)

// app is a server in the sandbox that answers with the headers it got, and sets
// cookies.
const app = `
import http.server, json
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path in ("/ends", "/lies"):
            if self.path == "/lies": self.wfile.write(b"not HTTP\n")
            self.close_connection = True
            return
        body = json.dumps(dict(self.headers)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Security-Policy", "default-src 'self'")
        self.send_header("Set-Cookie", "mine=1")
        self.send_header("Set-Cookie", "__Host-choir-preview=stolen; Secure; Path=/")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_GET
    def log_message(self, *a): pass
s = http.server.HTTPServer(("127.0.0.1", 0), H)
print(s.server_port, flush=True)
s.serve_forever()
`

// portOf starts the app and is where it listens.
func portOf(t *testing.T, p *controltest.Plane) int {
	t.Helper()
	proc := must(p.Computers()[0].Roles().Exec(t.Context(), guest.ExecSpec{Argv: []string{"python3", "-c", app}}))(t)
	said := make(chan int, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// It ends with the test.
		_, _ = proc.Wait(portReader{said}, nil)
	}()
	t.Cleanup(func() {
		if err := proc.Kill(); err != nil {
			t.Log(err)
		}
		<-ended
	})
	select {
	case port := <-said:
		return port
	case <-ended:
		t.Skip("there is no Python in the sandbox")
	}
	return 0
}

type portReader struct{ said chan int }

// Write implements io.Writer: the first line is the port.
func (r portReader) Write(b []byte) (int, error) {
	var port int
	if _, err := fmt.Sscan(string(b), &port); err == nil {
		r.said <- port
	}
	return len(b), nil
}

// enterPreview goes from a desktop into a preview of a port.
func enterPreview(t *testing.T, d *desk, port int) (host string, cookie *http.Cookie) {
	t.Helper()
	res, body := d.do(req{Method: "POST", Path: d.p.Base() + "/previews", Body: map[string]int{"port": port}})
	var out struct{ URL string }
	if err := json.Unmarshal(body, &out); err != nil || res.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s", res.Status, body)
	}
	u := must(url.Parse(out.URL))(t)
	if want := fmt.Sprintf("%d--%s", port, d.host); u.Host != want {
		t.Fatalf("the preview is at %s, not %s", u.Host, want)
	}
	res, body = d.p.Do(req{Method: "GET", Path: u.RequestURI(), Host: u.Host, NoCookie: true})
	if res.StatusCode != http.StatusSeeOther || len(res.Cookies()) != 1 || res.Cookies()[0].Name != auth.PreviewCookie {
		t.Fatalf("%s %v %s", res.Status, res.Cookies(), body)
	}
	return u.Host, res.Cookies()[0]
}

// TestAPreview looks at a server in the sandbox through its own origin.
func TestAPreview(t *testing.T) {
	p := controltest.Start(t)
	p.Healthy()
	d := enterDesktop(t, p, p.Computers()[0].ID())
	host, cookie := enterPreview(t, d, portOf(t, p))
	own := cookie.Name + "=" + cookie.Value
	res, body := p.Do(req{Method: "GET", Path: "/x", Host: host, NoCookie: true, Header: http.Header{"Cookie": {own + "; theirs=2"}, "Origin": nil}})
	if res.StatusCode != 200 || strings.Contains(string(body), cookie.Value) || !strings.Contains(string(body), "theirs=2") {
		t.Errorf("%s %s", res.Status, body)
	}
	if set := res.Header.Values("Set-Cookie"); len(set) != 1 || set[0] != "mine=1" {
		t.Errorf("it sets %v", set)
	}
	policies := strings.Join(res.Header.Values("Content-Security-Policy"), " | ")
	if !strings.Contains(policies, "default-src 'self'") || !strings.Contains(policies, "frame-ancestors http://"+d.host+" http://"+p.Host) {
		t.Errorf("its policy is %q", policies)
	}
	for name, c := range map[string]struct {
		r    req
		want int
	}{
		"without a session":          {req{Method: "GET", Path: "/", Header: http.Header{"Origin": nil}}, 401},
		"with the desktop's":         {req{Method: "GET", Path: "/", Header: http.Header{"Cookie": {auth.PreviewCookie + "=" + d.cookie.Value}, "Origin": nil}}, 401},
		"at another port":            {req{Method: "GET", Path: "/", Host: "1--" + d.host, Header: http.Header{"Cookie": {own}, "Origin": nil}}, 401},
		"from its own page":          {req{Method: "POST", Path: "/", Header: http.Header{"Cookie": {own}, "Origin": {"http://" + host}, "Sec-Fetch-Site": {"same-origin"}}}, 200},
		"from its computer's page":   {req{Method: "POST", Path: "/", Header: http.Header{"Cookie": {own}, "Origin": {"http://" + d.host}, "Sec-Fetch-Site": {"cross-site"}}}, 200},
		"from another's page":        {req{Method: "POST", Path: "/", Header: http.Header{"Cookie": {own}, "Origin": {"http://x.localhost"}, "Sec-Fetch-Site": {"cross-site"}}}, 403},
		"from another's page, a GET": {req{Method: "GET", Path: "/", Header: http.Header{"Cookie": {own}, "Origin": nil, "Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"no-cors"}}}, 403},
		"as a frame":                 {req{Method: "GET", Path: "/", Header: http.Header{"Cookie": {own}, "Origin": nil, "Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}}}, 200},
		"the API there":              {req{Method: "GET", Path: p.Base(), Header: http.Header{"Cookie": {auth.DesktopCookie + "=" + d.cookie.Value}, "Origin": nil}}, 401},
	} {
		c.r.NoCookie = true
		if c.r.Host == "" {
			c.r.Host = host
		}
		if res, body := p.Do(c.r); res.StatusCode != c.want {
			t.Errorf("%s: %s, want %d: %.200s", name, res.Status, c.want, body)
		}
	}
	for _, path := range []string{"/ends", "/lies"} {
		if res, body := p.Do(req{Method: "GET", Path: path, Host: host, NoCookie: true, Header: http.Header{"Cookie": {own}, "Origin": nil}}); res.StatusCode != 503 || !strings.Contains(string(body), "without an answer in HTTP.") {
			t.Errorf("a server without an answer, %s: %s %s", path, res.Status, body)
		}
	}
	for _, port := range []int{0, -1, 65536} {
		if res, body := d.do(req{Method: "POST", Path: p.Base() + "/previews", Body: map[string]int{"port": port}}); res.StatusCode != 422 || p.Problem(res, body).Code != choir.CodeInvalid {
			t.Errorf("port %d: %s %s", port, res.Status, body)
		}
	}
	quiet, cookie := enterPreview(t, d, 1)
	if res, body := p.Do(req{Method: "GET", Path: "/", Host: quiet, NoCookie: true, Header: http.Header{"Cookie": {cookie.Name + "=" + cookie.Value}, "Origin": nil}}); res.StatusCode != 503 || !strings.Contains(string(body), `<p role="alert">Nothing listens at port `) || !strings.Contains(string(body), `<a href="">Try again</a>`) {
		t.Errorf("where nothing listens: %s %s", res.Status, body)
	}
	if res, _ := d.do(req{Method: "POST", Path: "/api/computers/01a1fc66-455c-725b-b446-026efbb4ef29/previews", Body: map[string]int{"port": 80}}); res.StatusCode != 403 {
		t.Errorf("of another computer: %s", res.Status)
	}
}

// TestADesktopHasNoServiceWorker, which would go on after its source was taken
// back.
func TestADesktopHasNoServiceWorker(t *testing.T) {
	p := controltest.Start(t)
	d := enterDesktop(t, p, p.Computers()[0].ID())
	for header, want := range map[string]int{"": 200, "script": 403} {
		h := http.Header{"Service-Worker": {header}}
		if header == "" {
			h = http.Header{"Service-Worker": nil}
		}
		if res, _ := d.do(req{Method: "GET", Path: "/assets/a-1.js", Header: h}); res.StatusCode != want {
			t.Errorf("%q: %s", header, res.Status)
		}
	}
}
