package gateway

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
)

// ourCookies begin the names of our own cookies: they go to nobody behind the
// proxy, and nobody there sets them.
const ourCookies = "__Host-choir"

// How many connections to one server in a sandbox wait for the next request, and
// for how long. A desktop's development server counts them as its being used.
const (
	maxIdleConns = 8
	idleConnAge  = 20 * time.Second
)

// proxy passes requests on to what listens inside a sandbox: HTTP and WebSockets.
type proxy struct {
	// to names the server: connections that wait for it are for nobody else.
	to   string
	dial dialFunc
	// answered changes the headers of an answer, before it is sent on.
	answered  func(h http.Header)
	failed    func(w http.ResponseWriter, r *http.Request, err error)
	transport *http.Transport
}

type dialFunc func(ctx context.Context) (net.Conn, error)

// newTransport makes the connections of all proxies of a gateway, which closes
// those that wait when it is closed.
func newTransport() *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			dial, ok := ctx.Value(dialKey{}).(dialFunc)
			if !ok {
				return nil, choir.E("gateway.proxy", choir.CodeInternal, "a request does not say what it is for")
			}
			return dial(ctx)
		},
		DisableCompression: true, MaxIdleConnsPerHost: maxIdleConns, IdleConnTimeout: idleConnAge,
	}
}

// ServeHTTP implements http.Handler. Hop-by-hop headers are ReverseProxy's work.
func (p proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(&httputil.ReverseProxy{
		Transport: quietly{p.transport, p.dial},
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(&url.URL{Scheme: "http", Host: p.to})
			pr.Out.Host = pr.In.Host
			dropCookies(pr.Out)
		},
		ModifyResponse: func(res *http.Response) error {
			if err := staysHere(res); err != nil {
				return err
			}
			keepCookies(res.Header)
			p.answered(res.Header)
			return nil
		},
		ErrorHandler:  p.failed,
		FlushInterval: -1,
	}).ServeHTTP(w, r)
}

// quietly sends requests without telling of answers before the answer (status
// 1xx). ReverseProxy would pass their headers on unchanged, and drop with them
// the headers that were set for the answer itself.
type quietly struct {
	next *http.Transport
	dial dialFunc
}

// RoundTrip implements http.RoundTripper.
func (q quietly) RoundTrip(r *http.Request) (*http.Response, error) {
	return q.next.RoundTrip(r.WithContext(dialContext{r.Context(), q.dial}))
}

type dialKey struct{}

// dialContext ends with its parent and has one value only: how to reach the
// server.
type dialContext struct {
	context.Context
	dial dialFunc
}

// Value implements context.Context.
func (c dialContext) Value(key any) any {
	if key == (dialKey{}) {
		return c.dial
	}
	return nil
}

// staysHere refuses an answer that leads the browser to another origin. What a
// page may ask for is held to its own origin, and a redirect is the server's
// way around that. Where it leads is spelled out, because browsers read what is
// left out, and backslashes, differently from us.
func staysHere(res *http.Response) error {
	said := res.Header.Get("Location")
	if res.StatusCode < 300 || res.StatusCode > 399 || said == "" {
		return nil
	}
	own := url.URL{Scheme: "http", Host: res.Request.Host, Path: res.Request.URL.Path}
	to, err := own.Parse(said)
	if err == nil && to.Scheme == own.Scheme && strings.EqualFold(to.Host, own.Host) && to.User == nil {
		res.Header.Set("Location", to.String())
		return nil
	}
	return choir.E("gateway.proxy", choir.CodeForbidden, "the page leads to %.200q, which is outside of the sandbox", said).
		WithRemedy("open that address yourself if you trust it")
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
