package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/auth"
)

type placeKey struct{}

// withPlace returns a context that carries the requested place.
func withPlace(ctx context.Context, p auth.Place) context.Context {
	return context.WithValue(ctx, placeKey{}, p)
}

// placeIn returns the place of a request's context; false if its host is no place.
func placeIn(ctx context.Context) (auth.Place, bool) {
	p, ok := ctx.Value(placeKey{}).(auth.Place)
	return p, ok
}

// newDesktop returns the handler of the origins of desktops.
func (g *Gateway) newDesktop() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /enter", g.redeemTicket)
	mux.Handle("GET /bus", g.known(http.HandlerFunc(g.socket)))
	mux.Handle("/api/", g.known(limitBody(rights(g.cfg.API, desktopMay))))
	mux.Handle("POST "+ofComputer+"/previews", g.known(ownComputer(g.newPreview)))
	mux.Handle("/", g.entered(g.desktopPage(static(g.cfg.Desktop, "desktop"))))
	return g.place(mux)
}

// newPast returns the handler of the origins of desktops of the past. Their pages are
// always the built-in ones, because the workspace of then may contain anything, and the
// shell displays them beside its own.
func (g *Gateway) newPast() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /enter", g.redeemTicket)
	mux.Handle("/api/", g.known(limitBody(rights(g.cfg.API, pastMay))))
	mux.Handle("/", g.entered(static(g.cfg.Desktop, "desktop")))
	return g.place(mux)
}

// place wraps mux in the checks and headers that all origins framed by the shell share.
func (g *Gateway) place(mux *http.ServeMux) http.Handler {
	strict := noServiceWorker(g.ownOrigin(mux))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		place, _ := placeIn(r.Context())
		w.Header().Set(allowlistHeader, g.allowlist(place))
		headers(framed(strict), g.desktopPolicy(place)).ServeHTTP(w, r)
	})
}

// framed removes X-Frame-Options, so that the policy's frame-ancestors alone decides who
// may frame a page.
func framed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Del("X-Frame-Options")
		next.ServeHTTP(w, r)
	})
}

// desktopPolicy returns the content security policy of a desktop's origin. It cannot
// restrict frames to the previews of its own computer; the allowlist does, and other
// desktops and the shell refuse to be framed.
func (g *Gateway) desktopPolicy(p auth.Place) string {
	return strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data: blob:", "font-src 'self' data:",
		"media-src 'self' blob:", "worker-src 'self' blob:", "connect-src 'self' " + socketOf(g.cfg.Site.originOf(p)), "form-action 'self'", "base-uri 'none'",
		"frame-src blob: " + g.cfg.Site.anyPlace(), "frame-ancestors " + g.Origin(),
	}, "; ")
}

// newTicket answers the shell with an address whose ticket opens the desktop of a
// computer, or its past.
func (g *Gateway) newTicket(w http.ResponseWriter, r *http.Request) {
	g.giveTicket(w, r, auth.Place{Computer: choir.ID(r.PathValue("computer")), Past: r.URL.Query().Get("past") == "true"})
}

// giveTicket answers with the address of a place with a new ticket, if the caller owns
// the place's computer.
func (g *Gateway) giveTicket(w http.ResponseWriter, r *http.Request, place auth.Place) {
	p, _ := auth.Of(r.Context())
	err := api.MustOwn(g.cfg.System, p, place.Computer)
	var release func()
	if err == nil {
		release, err = g.cfg.System.Use(r.Context(), place.Computer)
	}
	var token string
	if err == nil {
		defer release()
		token, err = g.cfg.Auth.NewTicket(p, place)
	}
	if err != nil {
		api.WriteProblem(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	// A client that went away does not need the answer.
	_ = json.NewEncoder(w).Encode(api.Place{URL: g.cfg.Site.originOf(place) + enterPath(place) + "?ticket=" + token})
}

// enterPath returns the path at which a place's ticket is redeemed.
func enterPath(place auth.Place) string {
	if place.Port > 0 {
		return previewEnter
	}
	return "/enter"
}

// redeemTicket exchanges a ticket for the place's session cookie and redirects to the
// page.
func (g *Gateway) redeemTicket(w http.ResponseWriter, r *http.Request) {
	place, _ := placeIn(r.Context())
	w.Header().Set("Cache-Control", "no-store")
	cookie, err := g.cfg.Auth.RedeemTicket(r, r.URL.Query().Get("ticket"), place)
	if err != nil {
		sayPlainly(w, http.StatusUnauthorized, "The desktop did not open", choir.ProblemOf(err))
		return
	}
	http.SetCookie(w, cookie)
	http.Redirect(w, r, "/?"+enteredMark, http.StatusSeeOther)
}

// enteredMark is the query parameter set after a ticket was redeemed. A request with it
// and without a session comes from a browser that rejected the cookie.
const enteredMark = "entered"

// entered calls next for requests with a session, and answers others with a page that
// explains what is missing. Of the requests of other origins' pages, with which the browser
// may send the cookie, it lets navigations pass, because the shell frames the desktop; the
// header frame-ancestors stops other pages that frame it.
func (g *Gateway) entered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if upgrades(r) {
			g.known(next).ServeHTTP(w, r)
			return
		}
		p, err := g.who(r)
		if err == nil && fromOtherPage(r) && (r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate") {
			refusePlainly(w, choir.Refuse("gateway", choir.ReasonOtherPage))
			return
		}
		if err == nil {
			admitRequest(r.Context())
			release, err := g.usePlace(r)
			if err != nil {
				refusePlainly(w, err)
				return
			}
			defer release()
			ctx, unbind, err := g.bindToSession(auth.With(r.Context(), p), p, false)
			if err != nil {
				refusePlainly(w, err)
				return
			}
			defer unbind()
			next.ServeHTTP(w, r.WithContext(ctx))
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		if choir.CodeOf(err) == choir.CodeNotFound {
			refusePlainly(w, err)
			return
		}
		if r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.URL.Query().Has(enteredMark) {
			err = choir.Refuse("gateway.enter", choir.ReasonCookieNotKept, choir.TextOf("host", r.Host))
		}
		sayPlainly(w, http.StatusUnauthorized, "The desktop is not open here", choir.ProblemOf(err))
	})
}
