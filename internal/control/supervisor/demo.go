package supervisor

import (
	"bytes"
	"context"
	"sync"
	"time"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/control/api"
	"choiros/internal/control/modelgw"
)

// DemoConfig is what the recorded demo needs.
type DemoConfig struct {
	Name, Prompt, Notice string
	At                   time.Time // when the project's first commit was made
	Recording            []byte    // the model's words
	Repo                 []byte    // the project, a tar stream
	// Play makes the routes of a recording, which calls wait for the time that a
	// model would take, unless it is nil; code corrupt when it is damaged.
	Play func(recording []byte, wait Wait) (map[string]modelgw.Route, error)
}

// Wait returns after so long, or sooner when nobody wants to wait any more. Its
// error is that of the context.
type Wait func(ctx context.Context, d time.Duration) error

// maxPlayed bounds the runs whose recording, or having none, is remembered.
const maxPlayed = 256

// maxRecording bounds a recording, in bytes.
const maxRecording = 16 << 20

// StartDemo brings the demo's project in, anew, and prompts with a recording in
// the model's place. Everything but the model's words is real.
func (s *System) StartDemo(ctx context.Context, c *computer.Computer, role choir.Role, other api.DemoParts) (api.Demo, error) {
	if !s.demos.TryLock() {
		return api.Demo{}, choir.E("demo", choir.CodeBusy, "a demo is being started already")
	}
	defer s.demos.Unlock()
	d := s.cfg.Demo
	if other.Recording != nil {
		d.Recording = other.Recording
	}
	if other.Repo != nil {
		d.Repo = other.Repo
	}
	prompt := choir.PromptSubmitted{Text: d.Prompt, Repo: d.Name}
	if other.Live {
		d.Notice = "The words come from the configured model: " + s.cfg.Connections.Models().Message
	} else {
		if _, err := d.Play(d.Recording, nil); err != nil {
			return api.Demo{}, err
		}
		recording, _, err := c.Blobs().Put(ctx, bytes.NewReader(d.Recording))
		if err != nil {
			return api.Demo{}, err
		}
		prompt.Recording, prompt.Paced = string(recording), other.Paced
	}
	repo := computer.NewRepo{Name: d.Name, Replace: true, Commit: &computer.FirstCommit{Message: "Begin " + d.Name, At: d.At}}
	if _, err := c.AddRepo(ctx, choir.RoleControl, repo, bytes.NewReader(d.Repo)); err != nil {
		return api.Demo{}, err
	}
	run, _, err := c.Prompt(ctx, role, prompt, "")
	return api.Demo{Run: run, Repo: d.Name, Notice: d.Notice}, err
}

// recordings are the recordings that play in the model's place, by run. They
// are loaded from the blob that the run's prompt names, so that they are the
// same after a restart.
type recordings struct {
	c     *computer.Computer
	play  func(recording []byte, wait Wait) (map[string]modelgw.Route, error)
	paces *paces

	mu  sync.Mutex // guards all
	all map[choir.ID]map[string]modelgw.Route
}

// routes lead a run that plays a recording to it; nil for any other run.
func (r *recordings) routes(ctx context.Context, run choir.ID) (map[string]modelgw.Route, error) {
	r.mu.Lock()
	routes, known := r.all[run]
	r.mu.Unlock()
	if known {
		return routes, nil
	}
	routes, err := r.load(ctx, run)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if first, raced := r.all[run]; raced {
		return first, nil
	}
	if len(r.all) >= maxPlayed {
		clear(r.all) // what still plays is loaded again
	}
	r.all[run] = routes
	return routes, nil
}

// load is nil for a run without a recording.
func (r *recordings) load(ctx context.Context, run choir.ID) (map[string]modelgw.Route, error) {
	events, err := r.c.Store().EventsOfRun(ctx, run, 0, 1)
	if err != nil || len(events) == 0 || events[0].Type != "prompt.submitted" {
		return nil, err
	}
	p, err := choir.ReadPayload(events[0].Type, events[0].Payload)
	if err != nil {
		return nil, err
	}
	asked := p.(*choir.PromptSubmitted)
	digest := choir.Digest(asked.Recording)
	if digest == "" {
		return nil, nil
	}
	raw, err := blob.ReadAll(ctx, r.c.Blobs(), digest, maxRecording)
	if err != nil {
		return nil, err
	}
	if !asked.Paced {
		return r.play(raw, nil)
	}
	return r.play(raw, r.paces.of(run).sleepUnlessHurried)
}

// HurryRun plays the rest of a paced run at full speed.
func (s *System) HurryRun(ctx context.Context, c *computer.Computer, run choir.ID) error {
	known, err := c.Store().Run(ctx, run)
	if err == nil && known.Paced {
		s.paces.of(run).hurry()
	}
	return err
}

// paces are the paces of runs that play a recording. After a restart each is slow
// again.
type paces struct {
	mu  sync.Mutex // guards all
	all map[choir.ID]*pace
}

// of is the pace of a run, the same each time.
func (p *paces) of(run choir.ID) *pace {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.all[run]; ok {
		return known
	}
	if len(p.all) >= maxPlayed || p.all == nil {
		p.all = map[choir.ID]*pace{} // what still plays stays as it is
	}
	p.all[run] = &pace{hurried: make(chan struct{})}
	return p.all[run]
}

// pace is slow until somebody hurries it.
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
