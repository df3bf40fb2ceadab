package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/desktop"
)

// source registers what says how the desktop is served.
func (a *API) source(h huma.API) {
	huma.Register(h, op("getDesktopSource", http.MethodGet, "/api/computers/{computer}/desktop/source", "Say what the desktop's origin serves, and what the newest change of its source broke", 200),
		func(ctx context.Context, r *In) (*body[desktop.Status], error) {
			c, _, err := a.enter(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(a.sys.Source(ctx, c))
		})
}
