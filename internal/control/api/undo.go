package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer/collection"
	"choiros/internal/computer/moments"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// UndoRequest is the request to undo one run, task or tool call.
type UndoRequest struct {
	Of     choir.ID `json:"of" doc:"The run, the task or the tool call."`
	DryRun bool     `json:"dry_run,omitempty" doc:"Only say what would change."`
}

// Undone is the result of an undo. Without a change it has no event.
type Undone struct {
	DiffView
	Of      choir.ID `json:"of"`
	Seq     uint64   `json:"seq,omitempty" doc:"Event of the undo."`
	BackSeq uint64   `json:"back_seq,omitempty" doc:"Go back to this event to have it again."`
	DryRun  bool     `json:"dry_run,omitempty"`
	Ends
}

// Ends is the number of terminals that a change of the whole workspace closes, because
// their programs have the old workspace open.
type Ends struct {
	Terminals int `json:"terminals,omitempty" doc:"Terminals that are open and end with it."`
}

// PathConflict is a path changed on both sides. A side is nil if the path does not exist
// there.
type PathConflict struct {
	Path   string           `json:"path"`
	Base   *choir.FileState `json:"base,omitempty" doc:"As the action left it, or as both sides had it."`
	Theirs *choir.FileState `json:"theirs,omitempty" doc:"As it was to become."`
	Ours   *choir.FileState `json:"ours,omitempty" doc:"As it is."`
}

func (a *API) undo(h huma.API) {
	huma.Register(h, op("undo", http.MethodPost, "/api/computers/{computer}/undo", "Undo what one run, task or tool call changed; 409 with the paths when something later depends on it", 200),
		func(ctx context.Context, r *struct {
			In
			Body UndoRequest
		}) (*body[Undone], error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			u, err := c.Rewinder.Undo(ctx, p.Role, r.Body.Of, r.Body.DryRun)
			if err != nil {
				return nil, conflictProblem(err, u.Conflicts)
			}
			out := Undone{Of: r.Body.Of, Seq: u.Receipt.Seq, BackSeq: u.BackSeq, DryRun: r.Body.DryRun, Ends: Ends{u.Terminals}}
			out.DiffView, err = viewDiff(ctx, c, u.Difference)
			return answer(out, err)
		})
}

// CollectRequest is the request to remove unreachable content.
type CollectRequest struct {
	KeepDays int  `json:"keep_days" minimum:"1" maximum:"36500" doc:"Snapshots of tool calls older than this are let go."`
	DryRun   bool `json:"dry_run,omitempty" doc:"Only say what would be removed."`
}

func (a *API) collect(h huma.API) {
	huma.Register(h, op("collect", http.MethodPost, "/api/computers/{computer}/collect", "Remove content that nothing leads to any more; for the CLI", 200),
		func(ctx context.Context, r *struct {
			In
			Body CollectRequest
		}) (*body[collection.Collected], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err == nil {
				err = onlyCLI(ctx)
			}
			if err != nil {
				return nil, err
			}
			return answer(c.Collector.Collect(ctx, time.Duration(r.Body.KeepDays)*24*time.Hour, r.Body.DryRun))
		})
}

// conflictProblem returns the problem of an error with the conflicting paths.
func conflictProblem(err error, conflicts []timeline.Conflict) *Problem {
	p := ProblemOf(err)
	for _, c := range conflicts {
		p.Conflicts = append(p.Conflicts, PathConflict{c.Path, sideOf(c.Path, c.Base), sideOf(c.Path, c.Theirs), sideOf(c.Path, c.Ours)})
	}
	return p
}

// sideOf returns an entry as a file state; nil for nil.
func sideOf(path string, e *snapshot.Entry) *choir.FileState {
	if e == nil {
		return nil
	}
	s := e.State(path)
	return &s
}

// MomentsView is the difference between two moments of a computer, with its files.
type MomentsView struct {
	DiffView
	moments.MomentsDiff
}

// diff answers with the difference between two moments of a computer.
func (a *API) diff(ctx context.Context, r *struct {
	In
	From uint64 `query:"from" required:"true" doc:"Event."`
	To   uint64 `query:"to" doc:"Event; 0 for now."`
}) (*body[MomentsView], error) {
	c, _, err := a.findComputer(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	d, err := c.Moments.DiffFiles(ctx, r.From, r.To)
	if err != nil {
		return nil, ProblemOf(err)
	}
	var v MomentsView
	if v.DiffView, err = viewDiff(ctx, c, d); err == nil {
		v.MomentsDiff, err = c.Moments.Diff(ctx, r.From, r.To)
	}
	return answer(v, err)
}
