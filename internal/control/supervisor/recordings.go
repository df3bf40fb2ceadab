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
	"choiros/internal/names"
)

// runLog is what recordings read of a computer's log.
type runLog interface {
	First(ctx context.Context, t choir.Type, subject ...string) (choir.Event, error)
	OpenRuns(ctx context.Context) ([]eventstore.Run, error)
	Run(ctx context.Context, run choir.ID) (eventstore.Run, error)
}

// recordings are what plays in the model's place in one computer. A recording is
// loaded from the blob that its run's prompt names, so that it is the same after a
// restart.
type recordings struct {
	log   runLog
	blobs blob.Store
	play  func(recording []byte, wait Wait) (map[string]modelgw.Route, error)

	starting sync.Mutex // held while a demo is started

	mu  sync.Mutex // guards all, and the routes in it
	all map[choir.ID]*playing
}

// playing is a run with a recording. It is remembered until the run has ended,
// because it knows how far the recording has played, and how fast.
type playing struct {
	pace   pace
	routes map[string]modelgw.Route // nil until the first call
}

func newPlaying() *playing { return &playing{pace: pace{hurried: make(chan struct{})}} }

func newRecordings(log runLog, blobs blob.Store, play func([]byte, Wait) (map[string]modelgw.Route, error)) *recordings {
	return &recordings{log: log, blobs: blobs, play: play, all: map[choir.ID]*playing{}}
}

// mustBeFree refuses a project on which a run works: code conflict.
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
		said := "a run works on workspace/" + project + ", which the demo would replace"
		if asked.Recording != "" {
			said = "the demo is playing already, on workspace/" + project
		}
		return choir.E("demo", choir.CodeConflict, "%s", said).
			WithRemedy("wait for its end or stop it: on its card, under "+names.Runs+", or with choir run %s --cancel", run.ID)
	}
	return nil
}

// promptOf is what began a run; empty when that was no prompt.
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

// routes lead a run that plays a recording to it; nil for any other run.
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

// loaded are the routes of a run that has made a call; nil for any other.
func (r *recordings) loaded(run choir.ID) map[string]modelgw.Route {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.all[run]; one != nil {
		return one.routes
	}
	return nil
}

// of is a run with a recording, the same until it has ended.
func (r *recordings) of(ctx context.Context, run choir.ID) *playing {
	r.forgetEnded(ctx, run)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all[run] == nil {
		r.all[run] = newPlaying()
	}
	return r.all[run]
}

// forgetEnded drops the runs that have ended, but for the one that is asked for. One
// whose state cannot be read stays.
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

// pace is slow until somebody hurries it. After a restart it is slow again.
type pace struct {
	once    sync.Once
	hurried chan struct{} // closed by hurry
}

func (p *pace) hurry() { p.once.Do(func() { close(p.hurried) }) }

// sleepUnlessHurried implements Wait: it returns after d, or at once when the run is hurried.
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
