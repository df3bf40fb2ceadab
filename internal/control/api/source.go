package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer/selfsource"
	"choiros/internal/desktop"
)

// SourceView is the state of a desktop's source: what serves it, whether choir carries a
// newer one, and what broke.
type SourceView struct {
	desktop.Status
	Outdated bool `json:"outdated,omitempty" doc:"This choir carries a newer source than the workspace's was made of; the owner may upgrade it."`
	// Broke is read from the log; Status.Error comes from the development server that
	// runs now.
	Broke *selfsource.Broke `json:"broke,omitempty" doc:"What broke of the source as it is, and whose change that was; untrusted words."`
}

// BrokeRequest reports an error of the desktop's page.
type BrokeRequest struct {
	Message string `json:"message" minLength:"1" maxLength:"8000" doc:"What the page says; what is longer than 2,000 bytes is cut."`
	File    string `json:"file,omitempty" maxLength:"4096" doc:"Where, below the source's folder."`
	Line    int    `json:"line,omitempty" minimum:"0" doc:"Line of the file."`
}

// UpgradeRequest is the request to upgrade the desktop's source.
type UpgradeRequest struct {
	DryRun bool `json:"dry_run,omitempty" doc:"Only say what would change."`
}

// UpgradeView is the result of an upgrade of the desktop's source, or of a dry run.
type UpgradeView struct {
	Files   []selfsource.SourceFile `json:"files" doc:"By path, without those that nobody changed."`
	Seq     uint64                  `json:"seq,omitempty" doc:"Event of the upgrade."`
	BackSeq uint64                  `json:"back_seq,omitempty" doc:"Go back to this event to have it as it was."`
	DryRun  bool                    `json:"dry_run,omitempty"`
	Ends
}

// viewUpgrade converts the result of an upgrade into its answer.
func viewUpgrade(u selfsource.Upgraded, dryRun bool) UpgradeView {
	return UpgradeView{Files: u.Files, Seq: u.Receipt.Seq, BackSeq: u.BackSeq, DryRun: dryRun, Ends: Ends{u.Terminals}}
}

// source registers the routes that report the desktop's source, upgrade it and record
// its errors.
func (a *API) source(h huma.API) {
	huma.Register(h, op("getDesktopSource", http.MethodGet, "/api/computers/{computer}/desktop/source", "Say what the desktop's origin serves, and what the newest change of its source broke", 200),
		func(ctx context.Context, r *In) (*body[SourceView], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			var v SourceView
			if v.Status, err = a.sys.Source(ctx, c.ID); err == nil {
				v.Outdated, err = c.Source.Outdated(ctx)
			}
			if err == nil {
				v.Broke, err = c.Source.Broke(ctx)
			}
			return answer(v, err)
		})
	huma.Register(h, op("upgradeDesktopSource", http.MethodPost, "/api/computers/{computer}/desktop/upgrade", "Merge what a newer shipped desktop changed into the desktop's source; what both changed in the same place stays and is named", 200),
		func(ctx context.Context, r *struct {
			In
			Body UpgradeRequest
		}) (*body[UpgradeView], error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			u, err := c.Source.Upgrade(ctx, p.Role, r.Body.DryRun)
			return answer(viewUpgrade(u, r.Body.DryRun), err)
		})
	huma.Register(h, op("reportDesktopBroke", http.MethodPost, "/api/computers/{computer}/desktop/broke", "Say that the desktop's page, whose source was changed, does not work; recorded once for the same words", 200),
		func(ctx context.Context, r *struct {
			In
			Body BrokeRequest
		}) (*body[selfsource.Broke], error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Source.ReportBroke(ctx, p.Role, choir.DesktopBroke{Origin: choir.BrokePage, Message: r.Body.Message, File: r.Body.File, Line: r.Body.Line}))
		})
}
