package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"choiros/internal/choir"
	"choiros/internal/computer/moments"
	"choiros/internal/computer/rewind"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
)

// DiffView is the difference of the workspace between two snapshots.
type DiffView struct {
	From  choir.Digest       `json:"from" doc:"Snapshot."`
	To    choir.Digest       `json:"to" doc:"Snapshot."`
	Files []moments.FileDiff `json:"files" doc:"Changed paths, each with its text diff where it has one."`
	Cut   bool               `json:"cut,omitempty" doc:"There are more; the list was cut."`
}

// RewindRequest is the request to rewind to an earlier moment.
type RewindRequest struct {
	ToSeq      uint64   `json:"to_seq,omitempty" doc:"Event to go back to."`
	Checkpoint choir.ID `json:"checkpoint,omitempty" doc:"Checkpoint to go back to."`
	DryRun     bool     `json:"dry_run,omitempty" doc:"Only say what would change."`
}

// Rewound is the result of a rewind, or of its dry run.
type Rewound struct {
	DiffView
	Seq     uint64     `json:"seq,omitempty" doc:"Event of the rewind; go back to the one before it to undo."`
	ToSeq   uint64     `json:"to_seq"`
	DryRun  bool       `json:"dry_run,omitempty"`
	Stopped []choir.ID `json:"stopped,omitempty" doc:"Runs that are stopped first."`
	// Pending is set if the rewind takes longer than rewindPatience.
	Pending bool              `json:"pending,omitempty" doc:"The rewind goes on: GET says how far it is, DELETE stops it."`
	Left    []choir.LeftPath  `json:"left,omitempty" doc:"Paths that no snapshot holds, with the reason: they stay as they are."`
	Aside   []workspace.Aside `json:"aside,omitempty" doc:"Paths that no snapshot holds and that were in the way: they were moved to the trash, and going back to before the rewind gives them back."`
	Back    []workspace.Aside `json:"back,omitempty" doc:"Paths that lay in the trash and were given back."`
	Ends
}

// RewindState is the state of the most recent rewind.
type RewindState struct {
	Pending bool            `json:"pending" doc:"It is under way."`
	Work    *workspace.Work `json:"work,omitempty" doc:"What is done to the workspace now, and how far that is."`
	Done    *Rewound        `json:"done,omitempty" doc:"What it did."`
	Failed  *Problem        `json:"failed,omitempty" doc:"Why it did nothing."`
}

// CheckpointRequest is the request to make a checkpoint manually.
type CheckpointRequest struct {
	Subject string `json:"subject,omitempty" maxLength:"200" doc:"In your words."`
	Repo    string `json:"repo,omitempty" doc:"Project under workspace/; default the whole workspace."`
}

// time registers the routes of checkpoints, differences, verification, rewinds, undo and
// collection.
func (a *API) time(h huma.API) {
	const base = "/api/computers/{computer}"
	huma.Register(h, op("listCheckpoints", http.MethodGet, base+"/checkpoints", "List checkpoints, newest first", 200),
		func(ctx context.Context, r *paged) (*body[[]eventstore.Checkpoint], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Log.Checkpoints(ctx, r.Limit, r.Before))
		})
	huma.Register(h, op("makeCheckpoint", http.MethodPost, base+"/checkpoints", "Make a checkpoint by hand", 200),
		func(ctx context.Context, r *struct {
			In
			Body CheckpointRequest
		}) (*body[choir.AssociateResult], error) {
			c, p, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			return answer(c.Tasks.Checkpoint(ctx, p.Role, r.Body.Repo, r.Body.Subject))
		})
	huma.Register(h, op("getDiff", http.MethodGet, base+"/diff", "Compare the computer at two moments: files, documents, desktop, and what happened between", 200), a.diff)
	huma.Register(h, op("verifyLog", http.MethodPost, base+"/verify", "Check both copies of the log, every hash and the chain", 200),
		func(ctx context.Context, r *In) (*body[eventstore.Report], error) {
			c, _, err := a.findComputer(ctx, r.Computer)
			if err != nil {
				return nil, err
			}
			report, err := c.Verifier.Verify(ctx)
			// What was damaged while choir did not run was found when it started.
			report.Repaired = append(slices.Clone(c.Log.Repairs()), report.Repaired...)
			return answer(report, err)
		})
	huma.Register(h, op("rewind", http.MethodPost, base+"/rewind", "Go back to an earlier moment", 200), a.rewind)
	huma.Register(h, op("getRewind", http.MethodGet, base+"/rewind", "How far the last rewind is", 200), a.rewindState)
	huma.Register(h, op("cancelRewind", http.MethodDelete, base+"/rewind", "Stop the rewind that is under way; the workspace is as before", 200), a.cancelRewind)
	a.moments(h)
	a.undo(h)
	a.collect(h)
}

// viewDiff returns a difference with its text diffs.
func viewDiff(ctx context.Context, c Computer, d workspace.Difference) (DiffView, error) {
	files, cut, err := c.Moments.TextDiff(ctx, d)
	return DiffView{From: d.From, To: d.To, Files: files, Cut: cut}, err
}

// rewind goes back to an event or a checkpoint. It answers after rewindPatience at the
// latest, then with Pending.
func (a *API) rewind(ctx context.Context, r *struct {
	In
	Body RewindRequest
}) (*body[Rewound], error) {
	c, p, err := a.findComputer(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	seq := r.Body.ToSeq
	if (seq == 0) == (r.Body.Checkpoint == "") {
		return nil, ProblemOf(choir.RefuseField("to_seq", choir.ReasonSeqOrCheckpoint))
	}
	if r.Body.Checkpoint != "" {
		cp, err := c.Log.Checkpoint(ctx, r.Body.Checkpoint)
		if err != nil {
			return nil, ProblemOf(err)
		}
		seq = cp.Seq
	}
	if r.Body.DryRun {
		d, err := c.Rewinder.Rewind(ctx, p.Role, seq, true)
		if err != nil {
			return nil, ProblemOf(err)
		}
		return answer(viewRewound(ctx, c, d, true))
	}
	job, err := c.Rewinder.Start(ctx, p.Role, seq)
	if err != nil {
		return nil, ProblemOf(err)
	}
	waiting := time.NewTimer(rewindPatience)
	defer waiting.Stop()
	select {
	case <-job.Done():
	case <-waiting.C:
		return answer(Rewound{DiffView: DiffView{Files: []moments.FileDiff{}}, ToSeq: seq, Pending: true}, nil)
	}
	d, err := job.Result()
	if err != nil {
		return nil, ProblemOf(err)
	}
	return answer(viewRewound(ctx, c, d, false))
}

// rewindPatience is the time for which a rewind's request waits for its end.
const rewindPatience = 1500 * time.Millisecond

// viewRewound converts the result of a rewind into its answer.
func viewRewound(ctx context.Context, c Computer, d rewind.Rewound, dry bool) (Rewound, error) {
	v, err := viewDiff(ctx, c, d.Difference)
	return Rewound{DiffView: v, Seq: d.Receipt.Seq, ToSeq: d.ToSeq, DryRun: dry, Stopped: d.Stopped, Left: d.Left, Aside: d.Aside, Back: d.Back, Ends: Ends{d.Terminals}}, err
}

func (a *API) rewindState(ctx context.Context, r *In) (*body[RewindState], error) {
	c, _, err := a.findComputer(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	return answer(stateOfRewind(ctx, c))
}

// stateOfRewind returns the state of the computer's most recent rewind; only Work
// without one.
func stateOfRewind(ctx context.Context, c Computer) (RewindState, error) {
	s := RewindState{Work: c.Workspace.Work()}
	job := c.Rewinder.Last()
	switch {
	case job == nil:
		return s, nil
	case !job.Ended():
		s.Pending = true
		return s, nil
	}
	d, err := job.Result()
	if err != nil {
		s.Failed = ProblemOf(err)
		return s, nil
	}
	v, err := viewRewound(ctx, c, d, false)
	s.Done = &v
	return s, err
}

func (a *API) cancelRewind(ctx context.Context, r *In) (*body[RewindState], error) {
	c, _, err := a.findComputer(ctx, r.Computer)
	if err != nil {
		return nil, err
	}
	if err := c.Rewinder.Cancel(ctx); err != nil {
		return nil, ProblemOf(err)
	}
	return answer(stateOfRewind(ctx, c))
}
