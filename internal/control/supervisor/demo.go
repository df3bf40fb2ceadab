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
	mu sync.Mutex // guards of
	of map[choir.ID]*recordings
}

// recordings returns the recordings of a computer. Each computer has its own, so that no
// computer waits for another.
func (s *System) recordings(c *computer.Computer) *recordings {
	s.demos.mu.Lock()
	defer s.demos.mu.Unlock()
	if known, ok := s.demos.of[c.ID()]; ok {
		return known
	}
	if s.demos.of == nil {
		s.demos.of = map[choir.ID]*recordings{}
	}
	r := newRecordings(c.Store(), c.Blobs(), s.cfg.Demo.Play)
	s.demos.of[c.ID()] = r
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

// StartDemo adds the demo's project again and starts a run whose model calls are
// answered by a recording; everything else is real. Code conflict: a run works on the
// project, or the owner has a project of their own there. An error before the project is
// added changes nothing.
func (s *System) StartDemo(ctx context.Context, c *computer.Computer, role choir.Role, other api.DemoParts) (api.Demo, error) {
	playing := s.recordings(c)
	if !playing.starting.TryLock() {
		return api.Demo{}, choir.Refuse("demo", choir.ReasonDemoUnderWay)
	}
	defer playing.starting.Unlock()
	d := s.cfg.Demo
	if err := playing.mustBeFree(ctx, d.Name); err != nil {
		return api.Demo{}, err
	}
	if err := c.Runs().MayPrompt(ctx, role); err != nil {
		return api.Demo{}, err
	}
	if other.Recording != nil {
		d.Recording = other.Recording
	}
	if other.Repo != nil {
		d.Repo = other.Repo
	}
	prompt := choir.PromptSubmitted{Text: d.Prompt, Repo: d.Name}
	var models *api.ModelState
	if other.Live {
		now := s.Models()
		models = &now
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
	brings := choir.RoleControl
	if role == choir.RoleDesktop {
		brings = role
	}
	repo := projects.NewProject{Name: d.Name, Replace: true, Of: demoBrought, Commit: &projects.FirstCommit{Message: "Begin " + d.Name, At: d.At}}
	if _, err := c.Projects().Add(ctx, brings, repo, bytes.NewReader(d.Repo)); err != nil {
		return api.Demo{}, err
	}
	run, _, err := c.Runs().Prompt(ctx, role, prompt, "")
	return api.Demo{Run: run, Repo: d.Name, Models: models}, err
}

// HurryRun plays the rest of a paced open run at full speed. Other runs are unaffected.
// Code not_found: there is no such run.
func (s *System) HurryRun(ctx context.Context, c *computer.Computer, run choir.ID) error {
	known, err := c.Store().Run(ctx, run)
	if err == nil && known.Paced && known.State.Open() {
		s.recordings(c).of(ctx, run).pace.hurry()
	}
	return err
}
