package conductor

import (
	"context"
	"slices"

	"choiros/internal/choir"
)

// follower reads the log and sorts its events into the records of the runs. It
// goes on where it was when its supervisor starts it again.
type follower struct{ *Conductor }

func (f follower) String() string { return "follower" }

// Serve catches up first, so that a run that is executed again finds everything
// it did before, and only then starts the runs that are open.
func (f follower) Serve(ctx context.Context) error {
	if err := f.catchUp(ctx); err != nil {
		return err
	}
	f.start()
	return f.cfg.Log.Follow(ctx, f.position(), f.take)
}

func (f follower) catchUp(ctx context.Context) error {
	for e, err := range f.cfg.Log.Events(ctx, f.position()+1, 0) {
		if err == nil {
			err = f.take(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f follower) position() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seq
}

// start gives every run that was found open its service.
func (f follower) start() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.caught = true
	for _, rec := range f.records {
		f.serve(rec)
	}
}

// serve must be called with the lock held.
func (f follower) serve(rec *record) {
	if f.caught && !rec.served && !rec.isFinished() {
		rec.served = true
		f.runs.Add(&runService{conductor: f.Conductor, rec: rec})
	}
}

// take sorts one event in.
func (f follower) take(e choir.Event) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Seq <= f.seq {
		return nil
	}
	if err := f.sort(e); err != nil {
		return err
	}
	f.seq = e.Seq
	return nil
}

func (f follower) sort(e choir.Event) error {
	if !interesting[e.Type] {
		return nil
	}
	payload, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return choir.Wrap("director.follow", "", err, "event %d", e.Seq)
	}
	switch p := payload.(type) {
	case *choir.RepoAdded:
		if !slices.Contains(f.repos, p.Name) {
			f.repos = append(f.repos, p.Name)
		}
		return nil
	case *choir.SandboxStarted:
		if p.Role == choir.RoleDirector {
			for _, rec := range f.records {
				rec.wake(e.Time)
			}
		}
		return nil
	case *choir.PromptSubmitted:
		if f.records[e.Run] == nil {
			rec := newRecord(e, *p, f.repos)
			f.records[e.Run] = rec
			f.serve(rec)
		}
		return nil
	}
	if rec := f.records[e.Run]; rec != nil {
		rec.apply(e, payload)
		if e.Type == choir.TypeRunFinished {
			delete(f.records, e.Run)
		}
	}
	return nil
}

// interesting are the types a run is decided by; all others are passed over
// without being decoded.
var interesting = map[choir.Type]bool{
	choir.TypePromptSubmitted: true, choir.TypeSteeringSubmitted: true, choir.TypeRunCancelRequested: true, choir.TypeRunFinished: true,
	choir.TypePlanMade: true, choir.TypePlanRefused: true, choir.TypeTaskJudged: true, choir.TypeDocumentVersioned: true, choir.TypeTaskDispatched: true, choir.TypeTaskProgressed: true, choir.TypeTaskReturned: true, choir.TypeQuestionAsked: true, choir.TypeQuestionAnswered: true,
	choir.TypeModelCalled: true, choir.TypeModelReturned: true, choir.TypeRepoAdded: true, choir.TypeSandboxStarted: true,
}
