package gateway

import (
	"net/http"
	"net/url"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/auth"
)

func TestAddressesOfASite(t *testing.T) {
	const id = choir.ID("01a21651-bf7f-7d84-8147-3cb188651bbf")
	here := config.Listen{Shell: "choir.localhost", Domain: "localhost", Scheme: "http"}
	public := config.Listen{Shell: "choir.example.org", Domain: "desktops.example", Scheme: "https", PublicPort: 443}
	for _, c := range []struct {
		name                                   string
		listen                                 config.Listen
		port                                   string
		shell, desktop, past, preview, all, ws string
	}{
		{"this machine", here, "8080", "http://choir.localhost:8080", "http://" + string(id) + ".localhost:8080", "http://past--" + string(id) + ".localhost:8080",
			"http://3000--" + string(id) + ".localhost:8080", "http://*.localhost:8080", "ws://choir.localhost:8080"},
		{"HTTP's own port", here, "80", "http://choir.localhost", "http://" + string(id) + ".localhost", "http://past--" + string(id) + ".localhost",
			"http://3000--" + string(id) + ".localhost", "http://*.localhost", "ws://choir.localhost"},
		{"behind a proxy", public, "8080", "https://choir.example.org", "https://" + string(id) + ".desktops.example", "https://past--" + string(id) + ".desktops.example",
			"https://3000--" + string(id) + ".desktops.example", "https://*.desktops.example", "wss://choir.example.org"},
	} {
		s := NewSite(c.listen, c.port)
		for _, o := range []struct{ got, want string }{
			{s.Origin(), c.shell}, {s.anyPlace(), c.all}, {socketOf(s.Origin()), c.ws},
			{s.originOf(auth.Place{Computer: id}), c.desktop}, {s.originOf(auth.Place{Computer: id, Past: true}), c.past}, {s.originOf(auth.Place{Computer: id, Port: 3000}), c.preview},
		} {
			if o.got != o.want {
				t.Errorf("%s: %s, want %s", c.name, o.got, o.want)
			}
		}
		for _, p := range []auth.Place{{Computer: id}, {Computer: id, Past: true}, {Computer: id, Port: 3000}} {
			u, err := url.Parse(s.originOf(p))
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := s.placeOf(u.Hostname()); !ok || got != p {
				t.Errorf("%s: %s is %v, %v, want %v", c.name, u.Hostname(), got, ok, p)
			}
		}
	}
	for _, host := range []string{"choir.example.org", string(id) + ".localhost", string(id) + ".evil-desktops.example", "desktops.example"} {
		if p, ok := NewSite(public, "8080").placeOf(host); ok {
			t.Errorf("%s is the place %v", host, p)
		}
	}
}

// TestRedirectsKeepTheSchemeOfTheSite shows that a server in a sandbox, which is asked
// over HTTP, sends no browser from HTTPS to HTTP.
func TestRedirectsKeepTheSchemeOfTheSite(t *testing.T) {
	s := Site{Scheme: "https", Domain: "desktops.example"}
	for said, want := range map[string]string{
		"/next":                             "https://3000--a.desktops.example/next",
		"http://3000--a.desktops.example/x": "https://3000--a.desktops.example/x",
		"https://3000--a.desktops.example":  "https://3000--a.desktops.example",
		"http://4000--a.desktops.example/":  "",
		"//evil.example/":                   "",
	} {
		res := &http.Response{StatusCode: 302, Header: http.Header{"Location": {said}}, Request: &http.Request{Host: "3000--a.desktops.example", URL: &url.URL{Path: "/"}}}
		err := s.staysHere(res)
		if (err != nil) != (want == "") || err == nil && res.Header.Get("Location") != want {
			t.Errorf("%s leads to %s, %v", said, res.Header.Get("Location"), err)
		}
	}
}
