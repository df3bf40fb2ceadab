package gateway

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
	"choiros/internal/desktop"
)

// liveHeaders are the headers that a desktop's development server may set on its
// answers.
var liveHeaders = []string{
	"Content-Type", "Content-Length", "Content-Encoding", "Content-Range", "Accept-Ranges", "Etag", "Last-Modified", "Vary", "Location",
	"Connection", "Upgrade", "Sec-Websocket-Accept", "Sec-Websocket-Protocol", "Sec-Websocket-Extensions",
}

// desktopPage serves a desktop's pages: from the development server if the workspace's
// source was changed, else from the bundle.
func (g *Gateway) desktopPage(bundle http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		place, _ := placeIn(r.Context())
		live, ok := g.liveDesktop(r, place)
		if !ok {
			bundle.ServeHTTP(w, r)
			return
		}
		// The preamble of hot replacement is an inline script.
		w.Header().Set("Content-Security-Policy", strings.Replace(g.desktopPolicy(place), "script-src 'self'", "script-src 'self' 'unsafe-inline'", 1))
		proxy{
			to:       "live." + strconv.Itoa(live.Port()) + "." + string(place.Computer),
			dial:     live.Dial,
			site:     g.cfg.Site,
			answered: onlyLive,
			failed: func(w http.ResponseWriter, _ *http.Request, err error) {
				sayPlainly(w, http.StatusBadGateway, "The desktop did not answer", choir.ProblemOf(choir.Wrap("gateway.desktop", choir.CodeUnavailable, err, "ask the desktop's development server")))
			},
			transport: g.transport,
		}.ServeHTTP(w, r)
	})
}

// liveDesktop returns the development server of a desktop; false if the bundle is to be
// served.
func (g *Gateway) liveDesktop(r *http.Request, place auth.Place) (*desktop.Live, bool) {
	host, err := g.cfg.System.Desktop(place.Computer)
	if err != nil {
		return nil, false
	}
	page := r.Header.Get("Sec-Fetch-Dest") == "iframe" || r.Header.Get("Sec-Fetch-Dest") == "document"
	return host.Live(r.Context(), page)
}

// onlyLive removes all headers but liveHeaders and sets no-cache, so that the browser
// asks again and gets a later bundle.
func onlyLive(h http.Header) {
	for name := range h {
		if !slices.Contains(liveHeaders, name) {
			h.Del(name)
		}
	}
	h.Set("Cache-Control", "no-cache")
}
