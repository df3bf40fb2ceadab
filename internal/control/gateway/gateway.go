// Package gateway is the HTTP edge of the control plane. On one port it serves the
// shell, the desktops and the previews by their host names, checks sessions and rights,
// and sets the security headers of every answer.
package gateway

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/auth"
	"choiros/internal/desktop"
)

// maxBody is the maximum size of a request's body that is not a stream, in bytes.
const maxBody = 1 << 20

// Config is the configuration of a gateway.
type Config struct {
	Site    Site
	Shell   fs.FS // the built shell, or nil
	Desktop fs.FS // the built desktop, or nil
	API     API
	System  System
	Auth    auth.Authority
	// Metrics serves the figures to requests with the token of Scrape; nil serves none.
	Metrics http.Handler
	Scrape  *auth.ScrapeToken
	Bus     Bus
	Log     *slog.Logger
}

// Bus is the part of the bus that the gateway needs.
type Bus interface {
	// Bridge carries the bytes of a page's connection until either side ends or ctx does.
	Bridge(ctx context.Context, nc net.Conn) error
}

// System is the part of the control plane that the gateway needs.
type System interface {
	api.Owners
	api.Users
	Health(ctx context.Context) api.Health
	// Desktop returns the host of the desktop of a computer in use, which may serve the
	// computer's own source.
	Desktop(computer choir.ID) (*desktop.Host, error)
	// DialPort connects to a port in the sandbox of the Associate of a computer in use.
	DialPort(ctx context.Context, computer choir.ID, port int) (net.Conn, error)
}

// API serves the operations and returns the route of a request.
type API interface {
	http.Handler
	// Route returns the pattern of a request's route, out of a closed list.
	Route(r *http.Request) string
}

// Gateway routes requests by host name. It is an http.Handler.
type Gateway struct {
	cfg      Config
	mux      *http.ServeMux // of the shell
	shell    http.Handler
	desktop  http.Handler
	past     http.Handler
	previews http.Handler
	requests sessionRequests
	// transport holds the connections to servers inside sandboxes.
	transport *http.Transport
}

// New returns a gateway with the handlers of all its origins.
func New(cfg Config) *Gateway {
	g := &Gateway{cfg: cfg, requests: newSessionRequests(), transport: newTransport()}
	mux := http.NewServeMux()
	g.mux = mux
	mux.HandleFunc("GET /health", g.health)
	mux.HandleFunc("GET /metrics", g.metrics)
	mux.HandleFunc("GET /held.js", held)
	mux.HandleFunc("POST /auth/login", g.login)
	mux.HandleFunc("POST /auth/logout", g.logout)
	mux.Handle("GET /bus", g.known(http.HandlerFunc(g.socket)))
	mux.Handle("POST /api/computers/{computer}/ticket", g.known(http.HandlerFunc(g.newTicket)))
	mux.Handle("/api/", g.known(limitBody(cfg.API)))
	mux.Handle("GET /openapi.json", cfg.API)
	mux.Handle("GET /openapi.yaml", cfg.API)
	mux.HandleFunc("/auth/", notFound)
	mux.Handle("/", static(cfg.Shell, "shell"))
	g.shell = headers(g.ownOrigin(mux), g.policy())
	g.desktop, g.past, g.previews = g.newDesktop(), g.newPast(), g.newPreviews()
	return g
}

// Close closes idle connections to servers in sandboxes.
func (g *Gateway) Close() { g.transport.CloseIdleConnections() }

// Origin returns the shell's origin, as the browser sees it.
func (g *Gateway) Origin() string { return g.cfg.Site.Origin() }

// ServeHTTP routes a request by its host name. It answers unknown names with an error,
// so that a page whose own name resolves to this address gets nothing, and redirects
// loopback addresses to the shell's name.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := hostOf(r)
	switch {
	case host == g.cfg.Site.Shell:
		g.shell.ServeHTTP(w, r)
	case isLoopback(host) && (r.URL.Path == "/health" || r.URL.Path == "/metrics"):
		// Probes and Prometheus come by address.
		g.shell.ServeHTTP(w, r)
	case isLoopback(host) && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		// Not for ever: a browser would go on doing it when something else listens here.
		headers(http.RedirectHandler(g.Origin()+pathOf(r.URL), http.StatusTemporaryRedirect), "default-src 'none'").ServeHTTP(w, r)
	default:
		g.servePlace(w, r, host)
	}
}

// hostOf returns the host name of a request, without its port, in lower case.
func hostOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	return strings.ToLower(host)
}

// servePlace serves the hosts of desktops, their pasts and previews, and answers other
// hosts with status 421. It opens no computer: that is done for requests with a session.
func (g *Gateway) servePlace(w http.ResponseWriter, r *http.Request, host string) {
	place, ok := g.cfg.Site.placeOf(host)
	if ok {
		_, err := g.cfg.System.OwnerOf(place.Computer)
		ok = err == nil
	}
	if !ok {
		headers(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "This name is not served here.", http.StatusMisdirectedRequest)
		}), "default-src 'none'").ServeHTTP(w, r)
		return
	}
	r = r.WithContext(withPlace(r.Context(), place))
	switch {
	case place.Past:
		g.past.ServeHTTP(w, r)
	case place.Port > 0:
		g.previews.ServeHTTP(w, r)
	default:
		g.desktop.ServeHTTP(w, r)
	}
}

// pathOf returns the path and query of a request's address, with a leading slash. A
// request for x:@evil.example/ has no path, and its rest would otherwise become part of
// the host name before it.
func pathOf(u *url.URL) string {
	path := "/" + strings.TrimPrefix(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}

// isLoopback reports whether a host is localhost or a loopback address.
func isLoopback(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "[::1]" || host == "::1"
}

// policy returns the shell's content security policy.
func (g *Gateway) policy() string {
	return strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:", "font-src 'self'",
		"connect-src 'self' " + socketOf(g.Origin()), "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
		"frame-src " + g.cfg.Site.anyPlace(),
	}, "; ")
}

// headers sets the security headers of all origins, with a content security policy, and
// calls next.
func headers(next http.Handler, policy string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		next.ServeHTTP(w, r)
	})
}

// ownOrigin calls next unless the request changes something or opens a WebSocket and its
// Origin is not the requested host; then it answers code forbidden.
func (g *Gateway) ownOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutation := r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
		if (mutation || upgrades(r)) && !g.fromOwnPage(r) {
			api.WriteProblem(w, choir.Refuse("gateway", choir.ReasonOtherPage))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// upgrades reports whether a request opens a WebSocket.
func upgrades(r *http.Request) bool { return r.Header.Get("Upgrade") != "" }

// fromOwnPage reports whether a request's Origin is the requested host.
func (g *Gateway) fromOwnPage(r *http.Request) bool {
	u, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && u.Scheme == g.cfg.Site.Scheme && strings.EqualFold(u.Host, r.Host)
}

// who returns the session of a request, at the place of its host if that is one. Code
// not_found: the place's computer belongs to another user.
func (g *Gateway) who(r *http.Request) (auth.Principal, error) {
	if place, ok := placeIn(r.Context()); ok {
		p, err := g.cfg.Auth.CheckPlace(r, place)
		if err == nil {
			err = api.MustOwn(g.cfg.System, p, place.Computer)
		}
		return p, err
	}
	return g.cfg.Auth.Check(r)
}

// usePlace opens the computer of the place that a request is for, and keeps it open until
// release is called. It does nothing for a request to the shell. The caller has checked
// the session.
func (g *Gateway) usePlace(r *http.Request) (release func(), err error) {
	if place, ok := placeIn(r.Context()); ok {
		return g.cfg.System.Use(r.Context(), place.Computer)
	}
	return func() {}, nil
}

// known calls next for requests with a session. It refuses requests that a page of
// another origin makes the browser send, because a desktop's cookie may be sent with
// them. The request's context ends with its session.
func (g *Gateway) known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := g.who(r)
		if err == nil {
			if fromOtherPage(r) {
				err = choir.Refuse("gateway", choir.ReasonOtherPage)
			}
		}
		var release func()
		if err == nil {
			admitRequest(r.Context())
			release, err = g.usePlace(r)
		}
		if err != nil {
			api.WriteProblem(w, err)
			return
		}
		defer release()
		w.Header().Set("Cache-Control", "no-store")
		ctx, unbind, err := g.bindToSession(auth.With(r.Context(), p), p, upgrades(r))
		if err != nil {
			api.WriteProblem(w, err)
			return
		}
		defer unbind()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// fromOtherPage reports whether the browser says that a page of another origin makes it send
// a request.
func fromOtherPage(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	return true
}

// notFound answers code not_found for a path without an operation.
func notFound(w http.ResponseWriter, r *http.Request) {
	api.WriteProblem(w, choir.Refuse("gateway", choir.ReasonNoSuchRoute, choir.TextOf("method", r.Method), choir.TextOf("path", r.URL.Path)))
}

// limitBody limits every body to maxBody, except those of files, projects and imported
// computers, which are streams limited by their handlers.
func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if stream := r.Method == http.MethodPut || r.Method == http.MethodPost && r.URL.Path == "/api/computers"; !stream {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		}
		next.ServeHTTP(w, r)
	})
}

// health answers with the control plane's health, as status 503 if anything fails. Only
// a session of the machine's user gets the details; others, such as probes, get the
// status word.
func (g *Gateway) health(w http.ResponseWriter, r *http.Request) {
	h := g.cfg.System.Health(r.Context())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if h.Status != "ok" {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	var said any = h
	p, err := g.cfg.Auth.Check(r)
	if err != nil || api.MustOwnMachine(g.cfg.System, p) != nil {
		said = struct {
			Status string `json:"status"`
		}{h.Status}
	}
	// A client that went away does not need the answer.
	_ = json.NewEncoder(w).Encode(said)
}

// login exchanges a one-time token for a session cookie.
func (g *Gateway) login(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Token string `json:"token"`
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4096))
	if err == nil {
		err = choir.DecodeStrict(raw, &in)
	}
	if err != nil {
		api.WriteProblem(w, choir.Wrap("gateway.login", choir.CodeInvalid, err, "read the login"))
		return
	}
	cookie, err := g.cfg.Auth.Login(in.Token)
	if err != nil {
		api.WriteProblem(w, err)
		return
	}
	http.SetCookie(w, cookie)
	w.WriteHeader(http.StatusNoContent)
}

// logout ends the session of a request and the sessions opened through it, and cancels
// the requests in progress of these and of all other sessions that have ended.
func (g *Gateway) logout(w http.ResponseWriter, r *http.Request) {
	p, err := g.cfg.Auth.Check(r)
	if err == nil {
		err = g.cfg.Auth.Logout(p)
	}
	g.requests.cancelEnded(g.cfg.Auth.Alive)
	if err != nil {
		api.WriteProblem(w, err)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: auth.Cookie, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: -1})
	w.WriteHeader(http.StatusNoContent)
}
