package gateway

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/auth"
)

// previewEnter is the path at which a preview's ticket is redeemed. All other paths
// belong to the application.
const previewEnter = "/__choir/enter"

// newPreview answers a desktop with an address whose ticket opens a preview of its own
// computer.
func (g *Gateway) newPreview(w http.ResponseWriter, r *http.Request) {
	var in api.PreviewRequest
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4096))
	if err == nil {
		err = choir.DecodeStrict(raw, &in)
	}
	if err != nil {
		api.WriteProblem(w, choir.Wrap("gateway.preview", choir.CodeInvalid, err, "read what is to be previewed"))
		return
	}
	if in.Port < 1 || in.Port > 65535 {
		api.WriteProblem(w, choir.RefuseField("port", choir.ReasonFieldNoPort, choir.TextOf("given", in.Port)))
		return
	}
	g.giveTicket(w, r, auth.Place{Computer: choir.ID(r.PathValue("computer")), Port: in.Port})
}

// newPreviews returns the handler of the origins of previews: servers inside sandboxes.
// They are as untrusted as the desktop: each has its own origin, and restrictPreview
// limits its pages.
func (g *Gateway) newPreviews() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+previewEnter, g.redeemTicket)
	mux.HandleFunc("/", g.showPort)
	return noServiceWorker(mux)
}

// showPort forwards a request to the server at a port in the Associate's sandbox, if the
// session permits it.
func (g *Gateway) showPort(w http.ResponseWriter, r *http.Request) {
	place, _ := placeIn(r.Context())
	p, err := g.who(r)
	if err == nil && !g.fromOwnComputer(r, place) {
		err = choir.Refuse("gateway.preview", choir.ReasonPageOfOther)
	}
	if err != nil {
		refusePlainly(w, err)
		return
	}
	admitRequest(r.Context())
	release, err := g.usePlace(r)
	if err != nil {
		refusePlainly(w, err)
		return
	}
	defer release()
	ctx, unbind, err := g.bindToSession(r.Context(), p, upgrades(r))
	if err != nil {
		refusePlainly(w, err)
		return
	}
	defer unbind()
	proxy{
		to: "preview." + strconv.Itoa(place.Port) + "." + string(place.Computer),
		dial: func(ctx context.Context) (net.Conn, error) {
			return g.cfg.System.DialPort(ctx, place.Computer, place.Port)
		},
		site:     g.cfg.Site,
		answered: func(h http.Header) { g.restrictPreview(h, place) },
		failed: func(w http.ResponseWriter, _ *http.Request, err error) {
			if choir.CodeOf(err) == choir.CodeInternal { // the transport's own
				err = choir.Refuse("gateway.preview", choir.ReasonPortNoAnswer, choir.TextOf("port", place.Port))
			}
			refusePlainly(w, err)
		},

		transport: g.transport,
	}.ServeHTTP(w, r.WithContext(ctx))
}
