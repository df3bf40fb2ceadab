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

// maxRecording bounds a recording, in bytes.
const maxRecording = 16 << 20

// demos are the recordings that play in each computer.
type demos struct {
	mu sync.Mutex // guards of
	of map[choir.ID]*recordings
}

// recordings are those that play in a computer. There is one for each computer, so
// that none waits for another's.
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

// demoBrought are who a project of the demo's came from: the control plane, or it for
// a desktop, which can bring no other.
var demoBrought = []choir.Source{choir.SourceSystem, choir.SourceDesktop}

// StartDemo brings the demo's project in, anew, and prompts with a recording in
// the model's place. Everything but the model's words is real. Code conflict while a
// run works on the project, and when the owner has something of their own at its
// place; whatever is refused has changed nothing.
func (s *System) StartDemo(ctx context.Context, c *computer.Computer, role choir.Role, other api.DemoParts) (api.Demo, error) {
	playing := s.recordings(c)
	if !playing.starting.TryLock() {
		return api.Demo{}, choir.E("demo", choir.CodeBusy, "a demo is being started already")
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
	brings := choir.RoleControl
	if role == choir.RoleDesktop {
		brings = role
	}
	repo := projects.NewProject{Name: d.Name, Replace: true, Of: demoBrought, Commit: &projects.FirstCommit{Message: "Begin " + d.Name, At: d.At}}
	if _, err := c.Projects().Add(ctx, brings, repo, bytes.NewReader(d.Repo)); err != nil {
		return api.Demo{}, err
	}
	run, _, err := c.Runs().Prompt(ctx, role, prompt, "")
	return api.Demo{Run: run, Repo: d.Name, Notice: d.Notice}, err
}

// HurryRun plays the rest of a paced run at full speed.
func (s *System) HurryRun(ctx context.Context, c *computer.Computer, run choir.ID) error {
	known, err := c.Store().Run(ctx, run)
	if err == nil && known.Paced && known.State.Open() {
		s.recordings(c).of(ctx, run).pace.hurry()
	}
	return err
}
