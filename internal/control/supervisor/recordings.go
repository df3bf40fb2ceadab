package supervisor

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/eventstore"
)

// runLog is the part of a computer's log that recordings read.
type runLog interface {
	First(ctx context.Context, t choir.Type, subject ...string) (choir.Event, error)
	OpenRuns(ctx context.Context) ([]eventstore.Run, error)
	Run(ctx context.Context, run choir.ID) (eventstore.Run, error)
}

// recordings answer model calls of runs in one computer in the model's place. A
// recording is loaded from the blob that its run's prompt names, so that it is the same
// after a restart.
type recordings struct {
	log   runLog
	blobs blob.Store
	play  func(recording []byte, wait Wait) (map[string]modelgw.Route, error)

	starting sync.Mutex // held while a demo is started

	mu  sync.Mutex // guards all, and the routes in it
	all map[choir.ID]*playing
}

// playing is the state of a run with a recording: its speed, and routes that remember
// the position. It is kept until the run has ended.
type playing struct {
	pace   pace
	routes map[string]modelgw.Route // nil until the first call
}

func newPlaying() *playing { return &playing{pace: pace{hurried: make(chan struct{})}} }

func newRecordings(log runLog, blobs blob.Store, play func([]byte, Wait) (map[string]modelgw.Route, error)) *recordings {
	return &recordings{log: log, blobs: blobs, play: play, all: map[choir.ID]*playing{}}
}

// mustBeFree returns code conflict if an open run works on a project.
func (r *recordings) mustBeFree(ctx context.Context, project string) error {
	open, err := r.log.OpenRuns(ctx)
	if err != nil {
		return err
	}
	for _, run := range open {
		if run.Repo != project {
			continue
		}
		asked, err := r.promptOf(ctx, run.ID)
		if err != nil {
			return err
		}
		reason := choir.ReasonDemoWouldReplace
		if asked.Recording != "" {
			reason = choir.ReasonDemoPlaying
		}
		return choir.Refuse("demo", reason, choir.TextOf("name", project), choir.TextOf("run", run.ID))
	}
	return nil
}

// promptOf returns the prompt that started a run; empty if there is none.
func (r *recordings) promptOf(ctx context.Context, run choir.ID) (choir.PromptSubmitted, error) {
	e, err := r.log.First(ctx, choir.TypePromptSubmitted, string(run))
	if choir.CodeOf(err) == choir.CodeNotFound {
		return choir.PromptSubmitted{}, nil
	}
	if err != nil {
		return choir.PromptSubmitted{}, err
	}
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return choir.PromptSubmitted{}, err
	}
	return *p.(*choir.PromptSubmitted), nil
}

// routes returns the routes of a run that plays a recording; nil for any other run.
func (r *recordings) routes(ctx context.Context, run choir.ID) (map[string]modelgw.Route, error) {
	if known := r.loaded(run); known != nil {
		return known, nil
	}
	asked, err := r.promptOf(ctx, run)
	if err != nil || asked.Recording == "" {
		return nil, err
	}
	raw, err := blob.ReadAll(ctx, r.blobs, choir.Digest(asked.Recording), maxRecording)
	if err != nil {
		return nil, err
	}
	one := r.of(ctx, run)
	var wait Wait
	if asked.Paced {
		wait = one.pace.sleepUnlessHurried
	}
	routes, err := r.play(raw, wait)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if one.routes == nil { // else another call of the run was first
		one.routes = routes
	}
	return one.routes, nil
}

// loaded returns the routes of a run that made a call before; nil for any other.
func (r *recordings) loaded(run choir.ID) map[string]modelgw.Route {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.all[run]; one != nil {
		return one.routes
	}
	return nil
}

// of returns the state of a run with a recording, and creates it if there is none.
func (r *recordings) of(ctx context.Context, run choir.ID) *playing {
	r.forgetEnded(ctx, run)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all[run] == nil {
		r.all[run] = newPlaying()
	}
	return r.all[run]
}

// forgetEnded drops the ended runs, except the given one. A run whose state cannot be
// read is kept.
func (r *recordings) forgetEnded(ctx context.Context, but choir.ID) {
	r.mu.Lock()
	runs := slices.Collect(maps.Keys(r.all))
	r.mu.Unlock()
	for _, run := range runs {
		if run == but {
			continue
		}
		if known, err := r.log.Run(ctx, run); err == nil && !known.State.Open() {
			r.mu.Lock()
			delete(r.all, run)
			r.mu.Unlock()
		}
	}
}

// pace is the speed of a recording: slow until hurry is called, and slow again after a
// restart.
type pace struct {
	once    sync.Once
	hurried chan struct{} // closed by hurry
}

// hurry ends current and future waits at once.
func (p *pace) hurry() { p.once.Do(func() { close(p.hurried) }) }

// sleepUnlessHurried implements Wait: it returns after d, or at once if the run is
// hurried.
func (p *pace) sleepUnlessHurried(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.hurried:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
