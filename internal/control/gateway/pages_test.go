package gateway

import (
	"net/http"
	"slices"
	"testing"

	"choiros/internal/control/auth"
)

var testPlace = auth.Place{Computer: "01a1fc66-455c-725b-b446-026efbb4ef29", Port: 7777}

// TestAPreviewSaysNothingToTheBrowserBesideItsPage: no header makes the browser
// talk to others, and what the application says of its page stays.
func TestAPreviewSaysNothingToTheBrowserBesideItsPage(t *testing.T) {
	g := &Gateway{cfg: Config{Site: Site{Scheme: "http", Shell: "choir.localhost", Domain: "localhost", Port: "8080"}}}
	h := http.Header{"Content-Type": {"text/html"}, "X-Own": {"1"}, "Etag": {`"a"`}}
	for _, name := range previewMayNotSay {
		if http.CanonicalHeaderKey(name) != name {
			t.Errorf("%s is not spelled as Go spells it", name)
		}
		h.Set(name, "evil.example")
	}
	g.restrictPreview(h, testPlace)
	for name, values := range h {
		if slices.Contains(values, "evil.example") {
			t.Errorf("%s passes", name)
		}
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html", "X-Own": "1", "Etag": `"a"`, "Connection-Allowlist": "(response-origin);redirects=allow",
		"Content-Security-Policy": "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self' ws://7777--" + string(testPlace.Computer) +
			".localhost:8080; form-action 'self'; base-uri 'self'; frame-src 'self' data: blob:; frame-ancestors http://" + string(testPlace.Computer) +
			".localhost:8080 http://choir.localhost:8080",
	} {
		if got := h.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q", name, got)
		}
	}
}

// TestAPolicySendsNoReports: a browser sends them wherever the policy says.
func TestAPolicySendsNoReports(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want []string
	}{
		{"none", nil, nil},
		{"an ordinary one", []string{"default-src 'self'; img-src *"}, []string{"default-src 'self'; img-src *"}},
		{"with an address", []string{"img-src 'none'; report-uri http://evil.example/; font-src 'none'"}, []string{"img-src 'none'; font-src 'none'"}},
		{"only an address", []string{"report-uri http://evil.example/"}, nil},
		{"in capitals", []string{"REPORT-URI http://evil.example/;Report-To x"}, nil},
		{"with a tab", []string{"report-uri\thttp://evil.example/"}, nil},
		{"two in one", []string{"img-src 'none', report-to x; font-src 'none'"}, []string{"img-src 'none'", "font-src 'none'"}},
		{"two", []string{"img-src 'none'", "report-to x"}, []string{"img-src 'none'"}},
	} {
		h := http.Header{}
		for _, one := range c.got {
			h.Add("Content-Security-Policy", one)
		}
		keepPolicies(h)
		if got := h.Values("Content-Security-Policy"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTheAllowlistOfADesktopNamesItsPreviews(t *testing.T) {
	g := &Gateway{cfg: Config{Site: Site{Scheme: "http", Shell: "choir.localhost", Domain: "localhost", Port: "8080"}}}
	desktop := auth.Place{Computer: testPlace.Computer}
	if got, want := g.allowlist(desktop), `(response-origin "http://*--`+string(testPlace.Computer)+`.localhost:8080");redirects=allow`; got != want {
		t.Errorf("it is %s", got)
	}
	desktop.Past = true
	if got := g.allowlist(desktop); got != "(response-origin);redirects=allow" {
		t.Errorf("the past's is %s", got)
	}
}
