package gateway

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/auth"
	"choiros/internal/names"
)

// The names of places: <computer>.localhost for a desktop,
// past--<computer>.localhost for it as it was, <port>--<computer>.localhost for
// what listens there.
const (
	placeSuffix = ".localhost"
	placeMark   = "--"
	pastName    = "past"
)

// placeOf reads the place that a host names.
func placeOf(host string) (auth.Place, bool) {
	name, ok := strings.CutSuffix(host, placeSuffix)
	if !ok {
		return auth.Place{}, false
	}
	port, computer, ok := strings.Cut(name, placeMark)
	switch {
	case !ok:
		return auth.Place{Computer: choir.ID(name)}, true
	case port == pastName:
		return auth.Place{Computer: choir.ID(computer), Past: true}, true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	// One spelling only: what is spelled otherwise would be another origin.
	return auth.Place{Computer: choir.ID(computer), Port: int(n)}, err == nil && n > 0 && strconv.FormatUint(n, 10) == port
}

// originOf is the origin of a place, as the browser sees it.
func (g *Gateway) originOf(p auth.Place) string {
	name := string(p.Computer)
	switch {
	case p.Past:
		name = pastName + placeMark + name
	case p.Port > 0:
		name = strconv.Itoa(p.Port) + placeMark + name
	}
	return "http://" + net.JoinHostPort(name+placeSuffix, g.cfg.Port)
}

type placeKey struct{}

func at(ctx context.Context, p auth.Place) context.Context {
	return context.WithValue(ctx, placeKey{}, p)
}

func placeIn(ctx context.Context) (auth.Place, bool) {
	p, ok := ctx.Value(placeKey{}).(auth.Place)
	return p, ok
}

// newDesktop serves a desktop's origin.
func (g *Gateway) newDesktop() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /enter", g.enter)
	mux.Handle("GET /bus", g.known(http.HandlerFunc(g.socket)))
	mux.Handle("/api/", g.known(limitBody(rights(g.cfg.API, desktopMay))))
	mux.Handle("POST "+ofComputer+"/previews", g.known(ownComputer(g.newPreview)))
	mux.Handle("/", g.entered(g.desktopPage(static(g.cfg.Desktop, "desktop"))))
	return g.place(mux)
}

// newPast serves a desktop's origin of the past. Its pages are always those that
// choir was built with: the workspace of then may hold anything, and the shell
// shows this beside pages of its own.
func (g *Gateway) newPast() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /enter", g.enter)
	mux.Handle("/api/", g.known(limitBody(rights(g.cfg.API, pastMay))))
	mux.Handle("/", g.entered(static(g.cfg.Desktop, "desktop")))
	return g.place(mux)
}

// place is what all that the shell frames has in common.
func (g *Gateway) place(mux *http.ServeMux) http.Handler {
	strict := noServiceWorker(ownOrigin(patient(mux)))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		place, _ := placeIn(r.Context())
		w.Header().Set(allowlistHeader, g.allowlist(place))
		headers(framed(strict), g.desktopPolicy(place)).ServeHTTP(w, r)
	})
}

// framed leaves it to frame-ancestors who may frame a page.
func framed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Del("X-Frame-Options")
		next.ServeHTTP(w, r)
	})
}

// desktopPolicy is the content security policy of a desktop. Other desktops and
// the shell refuse to be framed by it; this policy cannot name its previews
// only, as the allowlist does.
func (g *Gateway) desktopPolicy(p auth.Place) string {
	socket := "ws" + strings.TrimPrefix(g.originOf(p), "http")
	return strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data: blob:", "font-src 'self' data:",
		"media-src 'self' blob:", "worker-src 'self' blob:", "connect-src 'self' " + socket, "form-action 'self'", "base-uri 'none'",
		"frame-src blob: http://*.localhost:" + g.cfg.Port, "frame-ancestors " + g.Origin(),
	}, "; ")
}

// newTicket lets the shell into the desktop of a computer, or into its past.
func (g *Gateway) newTicket(w http.ResponseWriter, r *http.Request) {
	g.giveTicket(w, r, auth.Place{Computer: choir.ID(r.PathValue("computer")), Past: r.URL.Query().Get("past") == "true"})
}

func (g *Gateway) giveTicket(w http.ResponseWriter, r *http.Request, place auth.Place) {
	p, _ := auth.Of(r.Context())
	err := g.cfg.System.MustHave(place.Computer)
	var token string
	if err == nil {
		token, err = g.cfg.Auth.NewTicket(p, place)
	}
	if err != nil {
		api.WriteProblem(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	// A client that went away does not need the answer.
	_ = json.NewEncoder(w).Encode(api.Place{URL: g.originOf(place) + enterPath(place) + "?ticket=" + token})
}

func enterPath(place auth.Place) string {
	if place.Port > 0 {
		return previewEnter
	}
	return "/enter"
}

// enter trades a ticket for the place's cookie.
func (g *Gateway) enter(w http.ResponseWriter, r *http.Request) {
	place, _ := placeIn(r.Context())
	w.Header().Set("Cache-Control", "no-store")
	cookie, err := g.cfg.Auth.Enter(r, r.URL.Query().Get("ticket"), place)
	if err != nil {
		sayPlainly(w, http.StatusUnauthorized, "The desktop did not open", choir.ProblemOf(err))
		return
	}
	http.SetCookie(w, cookie)
	http.Redirect(w, r, "/?"+enteredMark, http.StatusSeeOther)
}

// enteredMark is in the address right after a ticket was traded, so that a
// browser that did not keep the cookie is told apart from one that has none.
const enteredMark = "entered"

// entered serves pages to those who have a session, and tells the others why
// there is nothing to see.
func (g *Gateway) entered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if upgrades(r) {
			g.known(next).ServeHTTP(w, r)
			return
		}
		p, err := g.who(r)
		if err == nil {
			next.ServeHTTP(w, r.WithContext(auth.With(r.Context(), p)))
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		if r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.URL.Query().Has(enteredMark) {
			err = choir.E("gateway.enter", choir.CodeUnauthenticated, "this browser did not keep the desktop's cookie, which is a partitioned one").
				WithRemedy("allow cookies for %s, use a browser that keeps partitioned cookies, as Firefox and Chromium do, or go on in "+names.Runs+" in the "+names.TopBar, r.Host)
		}
		sayPlainly(w, http.StatusUnauthorized, "The desktop is not open here", choir.ProblemOf(err))
	})
}
