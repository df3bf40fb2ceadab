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

// previewEnter is where a preview's ticket goes; an application has any other
// path to itself.
const previewEnter = "/__choir/enter"

// newPreview lets a desktop into a preview of its own computer.
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
		api.WriteProblem(w, choir.Invalid("port", "is 1 to 65535, not %d", in.Port))
		return
	}
	g.giveTicket(w, r, auth.Place{Computer: choir.ID(r.PathValue("computer")), Port: in.Port})
}

// newPreviews serves the origins of what listens inside sandboxes. Such an
// application is as little trusted as the desktop: it has an origin of its own,
// and holdPreview bounds what its pages may ask for.
func (g *Gateway) newPreviews() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+previewEnter, g.enter)
	mux.HandleFunc("/", g.showPort)
	return noServiceWorker(patient(mux))
}

func (g *Gateway) showPort(w http.ResponseWriter, r *http.Request) {
	place, _ := placeIn(r.Context())
	p, err := g.cfg.Auth.CheckPlace(r, place)
	if err == nil && !g.fromOwnComputer(r, place) {
		err = choir.E("gateway.preview", choir.CodeForbidden, "the request comes from a page of another computer")
	}
	if err != nil {
		refusePlainly(w, err)
		return
	}
	if err := g.cfg.System.MustHave(place.Computer); err != nil {
		refusePlainly(w, err)
		return
	}
	ctx := r.Context()
	if upgrades(r) {
		if ctx, err = g.sockets.begin(ctx, p); err != nil {
			refusePlainly(w, err)
			return
		}
		defer g.sockets.ended(p, ctx)
	}
	proxy{
		to: "preview." + strconv.Itoa(place.Port) + "." + string(place.Computer),
		dial: func(ctx context.Context) (net.Conn, error) {
			return g.cfg.System.DialPort(ctx, place.Computer, place.Port)
		},
		answered: func(h http.Header) { g.holdPreview(h, place) },
		failed:   func(w http.ResponseWriter, _ *http.Request, err error) { refusePlainly(w, err) },

		transport: g.transport,
	}.ServeHTTP(w, r.WithContext(ctx))
}
