package supervisor

import (
	"bytes"
	"context"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/projects"
	"choiros/internal/control/api"
	"choiros/internal/control/modelgw"
)

// DemoConfig is the content of the recorded demo.
type DemoConfig struct {
	Name, Prompt string
	At           time.Time // when the project's first commit was made
	Recording    []byte    // the model's words
	Repo         []byte    // the project, a tar stream
	// Play returns the routes of a recording. Calls over them use wait for the time that
	// a model would take; nil means no wait. Code corrupt: the recording is damaged.
	Play func(recording []byte, wait Wait) (map[string]modelgw.Route, error)
}

// Wait returns after d, or earlier if the pace is hurried. Its error is that of the
// context.
type Wait func(ctx context.Context, d time.Duration) error

// maxRecording is the maximum size of a recording, in bytes.
const maxRecording = 16 << 20

// demos are the recordings of each computer.
type demos struct {
	cfg    DemoConfig
	models func() api.ModelState // in force

	mu sync.Mutex // guards of
	of map[choir.ID]*recordings
}

// recordings returns the recordings of a computer. Each computer has its own, so that no
// computer waits for another.
func (d *demos) recordings(c *computer.Computer) *recordings {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, ok := d.of[c.ID()]; ok {
		return known
	}
	if d.of == nil {
		d.of = map[choir.ID]*recordings{}
	}
	r := newRecordings(c.Store(), c.Blobs(), d.cfg.Play)
	d.of[c.ID()] = r
	return r
}

// drop forgets the recordings of a computer that is closed.
func (d *demos) drop(id choir.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.of, id)
}

// demoBrought are the sources of a project that the demo may replace: the control plane,
// also on behalf of a desktop.
var demoBrought = []choir.Source{choir.SourceSystem, choir.SourceDesktop}

// start adds the demo's project again and starts a run whose model calls are
// answered by a recording; everything else is real. Code conflict: a run works on the
// project, or the owner has a project of their own there. An error before the project is
// added changes nothing.
func (d *demos) start(ctx context.Context, c *computer.Computer, role choir.Role, other api.DemoParts) (api.Demo, error) {
	playing := d.recordings(c)
	if !playing.starting.TryLock() {
		return api.Demo{}, choir.Refuse("demo", choir.ReasonDemoUnderWay)
	}
	defer playing.starting.Unlock()
	demo := d.cfg
	if err := playing.mustBeFree(ctx, demo.Name); err != nil {
		return api.Demo{}, err
	}
	if err := c.Runs().MayPrompt(ctx, role); err != nil {
		return api.Demo{}, err
	}
	if other.Recording != nil {
		demo.Recording = other.Recording
	}
	if other.Repo != nil {
		demo.Repo = other.Repo
	}
	prompt := choir.PromptSubmitted{Text: demo.Prompt, Repo: demo.Name}
	var models *api.ModelState
	if other.Live {
		now := d.models()
		models = &now
	} else {
		if _, err := demo.Play(demo.Recording, nil); err != nil {
			return api.Demo{}, err
		}
		recording, _, err := c.Blobs().Put(ctx, bytes.NewReader(demo.Recording))
		if err != nil {
			return api.Demo{}, err
		}
		prompt.Recording, prompt.Paced = string(recording), other.Paced
	}
	brings := choir.RoleControl
	if role == choir.RoleDesktop {
		brings = role
	}
	repo := projects.NewProject{Name: demo.Name, Replace: true, Of: demoBrought, Commit: &projects.FirstCommit{Message: "Begin " + demo.Name, At: demo.At}}
	if _, err := c.Projects().Add(ctx, brings, repo, bytes.NewReader(demo.Repo)); err != nil {
		return api.Demo{}, err
	}
	run, _, err := c.Runs().Prompt(ctx, role, prompt, "")
	return api.Demo{Run: run, Repo: demo.Name, Models: models}, err
}

// hurry plays the rest of a paced open run at full speed. Other runs are unaffected.
// Code not_found: there is no such run.
func (d *demos) hurry(ctx context.Context, c *computer.Computer, run choir.ID) error {
	known, err := c.Store().Run(ctx, run)
	if err == nil && known.Paced && known.State.Open() {
		d.recordings(c).of(ctx, run).pace.hurry()
	}
	return err
}

// StartDemo starts the recorded demo, see demos.start.
func (s *System) StartDemo(ctx context.Context, c *computer.Computer, role choir.Role, other api.DemoParts) (api.Demo, error) {
	return s.demos.start(ctx, c, role, other)
}

// HurryRun plays the rest of a paced open run at full speed, see demos.hurry.
func (s *System) HurryRun(ctx context.Context, c *computer.Computer, run choir.ID) error {
	return s.demos.hurry(ctx, c, run)
}
