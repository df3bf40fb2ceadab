package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/eventstore"
)

// DiffView is how the workspace differs between two moments.
type DiffView struct {
	From  choir.Digest        `json:"from" doc:"Snapshot."`
	To    choir.Digest        `json:"to" doc:"Snapshot."`
	Files []computer.FileDiff `json:"files" doc:"Changed paths, each with its text diff where it has one."`
	Cut   bool                `json:"cut,omitempty" doc:"There are more; the list was cut."`
}

// RewindRequest goes back to an earlier moment, as a step forward.
type RewindRequest struct {
	ToSeq      uint64   `json:"to_seq,omitempty" doc:"Event to go back to."`
	Checkpoint choir.ID `json:"checkpoint,omitempty" doc:"Checkpoint to go back to."`
	DryRun     bool     `json:"dry_run,omitempty" doc:"Only say what would change."`
}

// Rewound says what a rewind did.
type Rewound struct {
	DiffView
	Seq     uint64     `json:"seq,omitempty" doc:"Event of the rewind; go back to the one before it to undo."`
	ToSeq   uint64     `json:"to_seq"`
	DryRun  bool       `json:"dry_run,omitempty"`
	Stopped []choir.ID `json:"stopped,omitempty" doc:"Runs that are stopped first."`
}

// CheckpointRequest asks for a checkpoint by hand.
type CheckpointRequest struct {
	Subject string `json:"subject,omitempty" maxLength:"200" doc:"In your words."`
	Repo    string `json:"repo,omitempty" doc:"Project under workspace/; default the whole workspace."`
}

func (a *API) time(h huma.API) {
	const base = "/api/computers/{computer}"
	huma.Register(h, op("listCheckpoints", http.MethodGet, base+"/checkpoints", "List checkpoints, newest first", 200),
		func(ctx context.Context, r *paged) (*body[[]eventstore.Checkpoint], error) {
			c, _, err := a.enter(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return listed(c.Store().Checkpoints(ctx, r.Limit, r.Before))
		})
	huma.Register(h, op("makeCheckpoint", http.MethodPost, base+"/checkpoints", "Make a checkpoint by hand", 200),
		func(ctx context.Context, r *struct {
			In
			Body CheckpointRequest
		}) (*body[choir.AssociateResult], error) {
			c, p, err := a.enter(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Checkpoint(ctx, p.Role, r.Body.Repo, r.Body.Subject))
		})
	huma.Register(h, op("getDiff", http.MethodGet, base+"/diff", "Compare the computer at two moments: files, documents, desktop, and what happened between", 200), a.diff)
	huma.Register(h, op("verifyLog", http.MethodPost, base+"/verify", "Check both copies of the log, every hash and the chain", 200),
		func(ctx context.Context, r *In) (*body[eventstore.Report], error) {
			c, _, err := a.enter(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			report, err := c.Verify(ctx)
			// What was damaged while choir did not run was found when it started.
			report.Repaired = append(slices.Clone(c.Store().Repairs()), report.Repaired...)
			return answer(report, err)
		})
	huma.Register(h, op("rewind", http.MethodPost, base+"/rewind", "Go back to an earlier moment", 200), a.rewind)
	a.moments(h)
	a.undo(h)
	a.collect(h)
}

func viewDiff(ctx context.Context, c *computer.Computer, d computer.Difference) (DiffView, error) {
	files, cut, err := c.TextDiff(ctx, d)
	return DiffView{From: d.From, To: d.To, Files: files, Cut: cut}, err
}

func (a *API) rewind(ctx context.Context, r *struct {
	In
	Body RewindRequest
}) (*body[Rewound], error) {
	c, p, err := a.enter(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	seq := r.Body.ToSeq
	if (seq == 0) == (r.Body.Checkpoint == "") {
		return nil, ProblemOf(choir.Invalid("to_seq", "give exactly one of to_seq and checkpoint"))
	}
	if r.Body.Checkpoint != "" {
		cp, err := c.Store().Checkpoint(ctx, r.Body.Checkpoint)
		if err != nil {
			return nil, ProblemOf(err)
		}
		seq = cp.Seq
	}
	d, err := c.Rewind(ctx, p.Role, seq, r.Body.DryRun)
	if err != nil {
		return nil, ProblemOf(err)
	}
	v, err := viewDiff(ctx, c, d.Difference)
	return answer(Rewound{v, d.Receipt.Seq, d.ToSeq, r.Body.DryRun, d.Stopped}, err)
}
