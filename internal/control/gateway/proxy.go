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

// ourCookies is the prefix of the gateway's cookies. They are not passed to servers
// behind the proxy, which cannot set them either.
const ourCookies = "__Host-choir"

// The maximum of idle connections to one server in a sandbox, and for how long each
// stays open. A desktop's development server counts open ones as use.
const (
	maxIdleConns = 8
	idleConnAge  = 20 * time.Second
)

// proxy forwards HTTP requests and WebSockets to a server inside a sandbox.
type proxy struct {
	// to identifies the server. Idle connections are reused only for the same value.
	to   string
	site Site
	dial dialFunc
	// answered changes the headers of an answer before it is sent on.
	answered  func(h http.Header)
	failed    func(w http.ResponseWriter, r *http.Request, err error)
	transport *http.Transport
}

// dialFunc connects to the server behind a proxy.
type dialFunc func(ctx context.Context) (net.Conn, error)

// newTransport returns the transport that all proxies of a gateway share. It dials with
// the function in the request's context.
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

// ServeHTTP forwards a request. It removes the gateway's cookies both ways, and answers
// a redirect to another origin with an error.
func (p proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(&httputil.ReverseProxy{
		Transport: quietly{p.transport, p.dial},
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(&url.URL{Scheme: "http", Host: p.to})
			pr.Out.Host = pr.In.Host
			dropCookies(pr.Out)
		},
		ModifyResponse: func(res *http.Response) error {
			if err := p.site.staysHere(res); err != nil {
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

// quietly is a transport that does not report informational answers (status 1xx).
// ReverseProxy would pass their headers on unchanged, and drop headers already set for
// the final answer.
type quietly struct {
	next *http.Transport
	dial dialFunc
}

// RoundTrip sends a request with only the dial function in its context, and thus without
// client traces.
func (q quietly) RoundTrip(r *http.Request) (*http.Response, error) {
	return q.next.RoundTrip(r.WithContext(dialContext{r.Context(), q.dial}))
}

type dialKey struct{}

// dialContext is a context that ends with its parent and whose only value is the dial
// function.
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

// staysHere returns an error of code forbidden if an answer redirects to another origin,
// which would bypass the page's policies. It makes a permitted Location absolute,
// because browsers interpret incomplete ones and backslashes differently, and gives it
// the scheme of the site: the server behind the proxy is asked over HTTP.
func (s Site) staysHere(res *http.Response) error {
	said := res.Header.Get("Location")
	if res.StatusCode < 300 || res.StatusCode > 399 || said == "" {
		return nil
	}
	own := url.URL{Scheme: s.Scheme, Host: res.Request.Host, Path: res.Request.URL.Path}
	to, err := own.Parse(said)
	if err == nil && (to.Scheme == "http" || to.Scheme == own.Scheme) && strings.EqualFold(to.Host, own.Host) && to.User == nil {
		to.Scheme = own.Scheme
		res.Header.Set("Location", to.String())
		return nil
	}
	return choir.Refuse("gateway.proxy", choir.ReasonPageLeadsOut, choir.TextOf("address", said))
}

// dropCookies removes the gateway's cookies from a request.
func dropCookies(r *http.Request) {
	all := r.Cookies()
	r.Header.Del("Cookie")
	for _, c := range all {
		if !strings.HasPrefix(c.Name, ourCookies) {
			r.AddCookie(c)
		}
	}
}

// keepCookies removes the gateway's cookies from a server's Set-Cookie headers.
func keepCookies(h http.Header) {
	all := h.Values("Set-Cookie")
	h.Del("Set-Cookie")
	for _, c := range all {
		if !strings.HasPrefix(strings.TrimSpace(c), ourCookies) {
			h.Add("Set-Cookie", c)
		}
	}
}

// fromOwnComputer reports whether a request to a preview comes from its own pages or its
// computer's desktop, or is a navigation, which frame-ancestors and the ticket control.
// The browser would also send the preview's cookie with requests of other computers'
// desktops.
func (g *Gateway) fromOwnComputer(r *http.Request, place auth.Place) bool {
	origin := r.Header.Get("Origin")
	own := strings.EqualFold(origin, g.cfg.Site.originOf(place))
	if upgrades(r) {
		return own
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return origin == "" || own
	}
	page := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate"
	return page || strings.EqualFold(origin, g.cfg.Site.originOf(auth.Place{Computer: place.Computer}))
}
