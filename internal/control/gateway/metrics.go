package gateway

import (
	"net/http"
	"strings"

	"choiros/internal/control/api"
)

// metrics serves the figures to requests with the metrics token. A session is not
// enough, so that no page can read them.
func (g *Gateway) metrics(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if g.cfg.Metrics == nil {
		notFound(w, r)
		return
	}
	if err := g.cfg.Scrape.Check(r); err != nil {
		w.Header().Set("WWW-Authenticate", `Bearer realm="metrics of choir"`)
		api.WriteProblem(w, err)
		return
	}
	g.cfg.Metrics.ServeHTTP(w, r)
}

// Route returns the route of a request out of a closed list: the pattern of an
// operation, or the kind of origin, such as "preview".
func (g *Gateway) Route(r *http.Request) string {
	host := hostOf(r)
	place, ok := g.cfg.Site.placeOf(host)
	switch {
	case host == g.cfg.Site.Shell, isLoopback(host):
		return g.routeOfShell(r)
	case !ok:
		return "refused"
	case place.Port > 0:
		return "preview"
	case strings.HasPrefix(r.URL.Path, "/api/"):
		return g.cfg.API.Route(r)
	case place.Past:
		return "past"
	}
	return "desktop"
}

// routeOfShell returns the route of a request to the shell's host.
func (g *Gateway) routeOfShell(r *http.Request) string {
	switch _, pattern := g.mux.Handler(r); pattern {
	case "/api/", "GET /openapi.json", "GET /openapi.yaml":
		return g.cfg.API.Route(r)
	case "/", "":
		return "shell"
	default:
		return pattern
	}
}
