// Package gateway is the HTTP edge: one port, the names of the shell and the
// desktops, who may come in, and what every answer carries.
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

	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/auth"
	"choiros/internal/desktop"
)

// maxBody bounds the body of a request that is not a stream, in bytes.
const maxBody = 1 << 20

// Config of the gateway.
type Config struct {
	// Host is the shell's name, Port where the browser reaches it.
	Host, Port string
	Shell      fs.FS // the built shell, or nil
	Desktop    fs.FS // the built desktop, or nil
	API        API
	System     System
	Auth       *auth.Local
	// Metrics gives the figures to who has the token of Scrape; nil for nobody.
	Metrics http.Handler
	Scrape  *auth.ScrapeToken
	Bus     *hub.Server
	Log     *slog.Logger
}

// System is what the gateway needs of the control plane.
type System interface {
	Health(ctx context.Context) api.Health
	// MustHave refuses the id of a computer that is not there.
	MustHave(computer choir.ID) error
	// Desktop is what the desktop's origin of a computer serves.
	Desktop(computer choir.ID) (*desktop.Host, error)
	// DialPort connects to what listens on a port in the sandbox of a computer's
	// Associate.
	DialPort(ctx context.Context, computer choir.ID, port int) (net.Conn, error)
}

// API serves the operations, and names the one that a request asks for.
type API interface {
	http.Handler
	// Route returns a pattern of a closed list.
	Route(r *http.Request) string
}

// Gateway routes by host name. It is an http.Handler.
type Gateway struct {
	cfg      Config
	mux      *http.ServeMux // of the shell
	shell    http.Handler
	desktop  http.Handler
	past     http.Handler
	previews http.Handler
	sockets  sockets
	// transport has the connections to what listens in sandboxes.
	transport *http.Transport
}

// New makes a gateway.
func New(cfg Config) *Gateway {
	g := &Gateway{cfg: cfg, sockets: newSockets(), transport: newTransport()}
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
	mux.HandleFunc("/auth/", notHere)
	mux.Handle("/", static(cfg.Shell, "shell"))
	g.shell = headers(ownOrigin(patient(mux)), g.policy())
	g.desktop, g.past, g.previews = g.newDesktop(), g.newPast(), g.newPreviews()
	return g
}

// Close ends the connections that wait for a next request.
func (g *Gateway) Close() { g.transport.CloseIdleConnections() }

// Origin is the shell's origin as the browser sees it.
func (g *Gateway) Origin() string { return "http://" + net.JoinHostPort(g.cfg.Host, g.cfg.Port) }

// ServeHTTP sends a request to the name it asks for, and refuses names that are
// not ours: a page that points its own name at this address gets nothing.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := hostOf(r)
	switch {
	case host == g.cfg.Host:
		g.shell.ServeHTTP(w, r)
	case isLoopback(host) && (r.URL.Path == "/health" || r.URL.Path == "/metrics"):
		// Probes and Prometheus come by address.
		g.shell.ServeHTTP(w, r)
	case isLoopback(host) && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		// Not for ever: a browser would go on doing it when something else listens here.
		headers(http.RedirectHandler(g.Origin()+pathOf(r.URL), http.StatusTemporaryRedirect), "default-src 'none'").ServeHTTP(w, r)
	default:
		g.elsewhere(w, r, host)
	}
}

// hostOf is the name that a request asks for, without its port.
func hostOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	return strings.ToLower(host)
}

// elsewhere serves the names of places, and refuses all others.
func (g *Gateway) elsewhere(w http.ResponseWriter, r *http.Request, host string) {
	place, ok := placeOf(host)
	if ok {
		ok = g.cfg.System.MustHave(place.Computer) == nil
	}
	if !ok {
		headers(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "This name is not served here.", http.StatusMisdirectedRequest)
		}), "default-src 'none'").ServeHTTP(w, r)
		return
	}
	r = r.WithContext(at(r.Context(), place))
	switch {
	case place.Past:
		g.past.ServeHTTP(w, r)
	case place.Port > 0:
		g.previews.ServeHTTP(w, r)
	default:
		g.desktop.ServeHTTP(w, r)
	}
}

// pathOf is the path and query of a request's address, whatever else it has. A
// request for x:@evil.example/ has no path, and what stands there would become a
// part of the name that it is put behind.
func pathOf(u *url.URL) string {
	path := "/" + strings.TrimPrefix(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}

func isLoopback(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "[::1]" || host == "::1"
}

// policy is the shell's content security policy.
func (g *Gateway) policy() string {
	return strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:", "font-src 'self'",
		"connect-src 'self' ws://" + net.JoinHostPort(g.cfg.Host, g.cfg.Port), "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
		"frame-src http://*.localhost:" + g.cfg.Port,
	}, "; ")
}

// headers are on every answer of the shell's origin.
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

// ownOrigin refuses mutations and sockets that do not come from pages of the
// host that is asked.
func ownOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutation := r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
		if (mutation || upgrades(r)) && !fromOwnPage(r) {
			api.WriteProblem(w, choir.E("gateway", choir.CodeForbidden, "the request does not come from this address's own page"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func upgrades(r *http.Request) bool { return r.Header.Get("Upgrade") != "" }

func fromOwnPage(r *http.Request) bool {
	u, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && u.Scheme == "http" && strings.EqualFold(u.Host, r.Host)
}

// who finds the session of a request, at the place that it asks for.
func (g *Gateway) who(r *http.Request) (auth.Principal, error) {
	if place, ok := placeIn(r.Context()); ok {
		return g.cfg.Auth.CheckPlace(r, place)
	}
	return g.cfg.Auth.Check(r)
}

// known lets only requests with a session through, and none that another
// origin's page makes the browser send: a desktop's cookie may be sent with
// those. A socket ends with its session.
func (g *Gateway) known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := g.who(r)
		if err == nil {
			if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
				err = choir.E("gateway", choir.CodeForbidden, "the request does not come from this address's own page")
			}
		}
		if err != nil {
			api.WriteProblem(w, err)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		ctx := auth.With(r.Context(), p)
		if upgrades(r) {
			socket, err := g.sockets.begin(ctx, p)
			if err != nil {
				api.WriteProblem(w, err)
				return
			}
			defer g.sockets.ended(p, socket)
			ctx = socket
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// notHere answers what is no operation below a prefix of ours.
func notHere(w http.ResponseWriter, r *http.Request) {
	api.WriteProblem(w, choir.E("gateway", choir.CodeNotFound, "there is no %s %s", r.Method, r.URL.Path))
}

// limitBody bounds every body but those of projects, files and computers, which
// are streams that are bounded where they go.
func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if stream := r.Method == http.MethodPut || r.Method == http.MethodPost && r.URL.Path == "/api/computers"; !stream {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		}
		next.ServeHTTP(w, r)
	})
}

// health answers 503 when something fails, and names it to those who are logged
// in. To others, such as probes, it says no more than that.
func (g *Gateway) health(w http.ResponseWriter, r *http.Request) {
	h := g.cfg.System.Health(r.Context())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if h.Status != "ok" {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	var said any = h
	if _, err := g.cfg.Auth.Check(r); err != nil {
		said = struct {
			Status string `json:"status"`
		}{h.Status}
	}
	// A client that went away does not need the answer.
	_ = json.NewEncoder(w).Encode(said)
}

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

func (g *Gateway) logout(w http.ResponseWriter, r *http.Request) {
	p, err := g.cfg.Auth.Check(r)
	if err == nil {
		err = g.cfg.Auth.Logout(p)
		g.sockets.end(p.Session)
	}
	if err != nil {
		api.WriteProblem(w, err)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: auth.Cookie, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: -1})
	w.WriteHeader(http.StatusNoContent)
}
