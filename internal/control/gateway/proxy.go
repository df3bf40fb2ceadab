package gateway

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	"choiros/internal/control/auth"
)

// ourCookies begin the names of our own cookies: they go to nobody behind the
// proxy, and nobody there sets them.
const ourCookies = "__Host-choir"

// proxy passes requests on to what listens inside a sandbox: HTTP and WebSockets.
type proxy struct {
	dial func(ctx context.Context) (net.Conn, error)
	// answered changes what comes back, before it is sent on.
	answered func(h http.Header)
	failed   func(w http.ResponseWriter, r *http.Request, err error)
}

// ServeHTTP implements http.Handler. Hop-by-hop headers are ReverseProxy's work.
func (p proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	transport := &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return p.dial(ctx) },
		DisableKeepAlives: true, DisableCompression: true,
	}
	(&httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(&url.URL{Scheme: "http", Host: pr.In.Host})
			pr.Out.Host = pr.In.Host
			dropCookies(pr.Out)
		},
		ModifyResponse: func(res *http.Response) error {
			keepCookies(res.Header)
			p.answered(res.Header)
			return nil
		},
		ErrorHandler:  p.failed,
		FlushInterval: -1,
	}).ServeHTTP(w, r)
}

// dropCookies takes our cookies out of a request.
func dropCookies(r *http.Request) {
	all := r.Cookies()
	r.Header.Del("Cookie")
	for _, c := range all {
		if !strings.HasPrefix(c.Name, ourCookies) {
			r.AddCookie(c)
		}
	}
}

// keepCookies takes our cookies out of what is to be set.
func keepCookies(h http.Header) {
	all := h.Values("Set-Cookie")
	h.Del("Set-Cookie")
	for _, c := range all {
		if !strings.HasPrefix(strings.TrimSpace(c), ourCookies) {
			h.Add("Set-Cookie", c)
		}
	}
}

// fromOwnComputer reports whether a request to a preview comes from its own
// pages or its computer's desktop, or opens a page, which frame-ancestors and
// the ticket decide about. The browser would send the preview's cookie with the
// requests of other computers' desktops too.
func (g *Gateway) fromOwnComputer(r *http.Request, place auth.Place) bool {
	origin := r.Header.Get("Origin")
	own := strings.EqualFold(origin, g.originOf(place))
	if upgrades(r) {
		return own
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return origin == "" || own
	}
	page := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate"
	return page || strings.EqualFold(origin, g.originOf(auth.Place{Computer: place.Computer}))
}
