package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/computer"
	"choiros/internal/desktop"
)

// SourceView is how a desktop is served, and whether a newer one came with choir.
type SourceView struct {
	desktop.Status
	Outdated bool `json:"outdated,omitempty" doc:"This choir carries a newer source than the workspace's was made of; the owner may upgrade it."`
}

// UpgradeRequest upgrades the desktop's source.
type UpgradeRequest struct {
	DryRun bool `json:"dry_run,omitempty" doc:"Only say what would change."`
}

// UpgradeView says what an upgrade of the desktop's source did, or would do.
type UpgradeView struct {
	Files   []computer.SourceFile `json:"files" doc:"By path, without those that nobody changed."`
	Seq     uint64                `json:"seq,omitempty" doc:"Event of the upgrade."`
	BackSeq uint64                `json:"back_seq,omitempty" doc:"Go back to this event to have it as it was."`
	DryRun  bool                  `json:"dry_run,omitempty"`
}

// source registers what says how the desktop is served, and what upgrades it.
func (a *API) source(h huma.API) {
	huma.Register(h, op("getDesktopSource", http.MethodGet, "/api/computers/{computer}/desktop/source", "Say what the desktop's origin serves, and what the newest change of its source broke", 200),
		func(ctx context.Context, r *In) (*body[SourceView], error) {
			c, _, err := a.enter(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			var v SourceView
			if v.Status, err = a.sys.Source(ctx, c); err == nil {
				v.Outdated, err = c.SourceOutdated(ctx)
			}
			return answer(v, err)
		})
	huma.Register(h, op("upgradeDesktopSource", http.MethodPost, "/api/computers/{computer}/desktop/upgrade", "Merge what a newer shipped desktop changed into the desktop's source; what both changed in the same place stays and is named", 200),
		func(ctx context.Context, r *struct {
			In
			Body UpgradeRequest
		}) (*body[UpgradeView], error) {
			c, p, err := a.enter(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			u, err := c.UpgradeSource(ctx, p.Role, r.Body.DryRun)
			return answer(UpgradeView{orEmpty(u.Files), u.Receipt.Seq, u.BackSeq, r.Body.DryRun}, err)
		})
}
