package conductor

import (
	"context"
	"slices"

	"choiros/internal/choir"
)

// follower reads the log and applies its events to the records of the runs. A restarted
// follower continues where it was.
type follower struct{ *Conductor }

func (f follower) String() string { return "follower" }

// Serve first reads the log to its end, so that an executed run finds all its earlier
// effects, then starts the open runs and follows the log.
func (f follower) Serve(ctx context.Context) error {
	if err := f.catchUp(ctx); err != nil {
		return err
	}
	f.startRuns()
	return f.cfg.Log.Follow(ctx, f.position(), f.applyEvent)
}

// catchUp applies all events that are in the log.
func (f follower) catchUp(ctx context.Context) error {
	for e, err := range f.cfg.Log.Events(ctx, f.position()+1, 0) {
		if err == nil {
			err = f.applyEvent(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// position returns the number of the last applied event.
func (f follower) position() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seq
}

// startRuns starts the service of every open run.
func (f follower) startRuns() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.caught = true
	for _, rec := range f.records {
		f.startRun(rec)
	}
}

// startRun starts the service of a run, unless it is started or finished or the log is
// not yet read to its end. The caller holds the lock.
func (f follower) startRun(rec *record) {
	if f.caught && !rec.served && !rec.isFinished() {
		rec.served = true
		f.runs.Add(&runService{conductor: f.Conductor, rec: rec})
	}
}

// applyEvent applies one event to its run's record, unless it was applied before.
func (f follower) applyEvent(e choir.Event) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Seq <= f.seq {
		return nil
	}
	if err := f.applyToRun(e); err != nil {
		return err
	}
	f.seq = e.Seq
	return nil
}

// applyToRun applies an event to the record of its run, or to the list of projects. A
// new prompt starts its run.
func (f follower) applyToRun(e choir.Event) error {
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
			f.startRun(rec)
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

// interesting are the event types that affect runs. Others are skipped without decoding.
var interesting = map[choir.Type]bool{
	choir.TypePromptSubmitted: true, choir.TypeSteeringSubmitted: true, choir.TypeTaskSteered: true, choir.TypeRunCancelRequested: true, choir.TypeRunPaused: true, choir.TypeRunResumed: true, choir.TypeRunFinished: true,
	choir.TypePlanMade: true, choir.TypePlanChanged: true, choir.TypePlanRefused: true, choir.TypeDecisionRefused: true, choir.TypeTaskJudged: true, choir.TypeDocumentVersioned: true, choir.TypeTaskDispatched: true, choir.TypeTaskProgressed: true, choir.TypeTaskReturned: true, choir.TypeEffectHeld: true, choir.TypeEffectAnswered: true, choir.TypeQuestionAsked: true, choir.TypeQuestionAnswered: true,
	choir.TypeModelCalled: true, choir.TypeModelReturned: true, choir.TypeRepoAdded: true, choir.TypeSandboxStarted: true,
}
