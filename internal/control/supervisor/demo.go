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
	"choiros/internal/model"
	"choiros/internal/model/replay"
)

// DemoConfig is what the recorded demo needs.
type DemoConfig struct {
	Name, Prompt, Notice string
	At                   time.Time // when the project's first commit was made
	Recording            []byte    // the model's words
	Repo                 []byte    // the project, a tar stream
}

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
	if _, err := replay.Load(bytes.NewReader(d.Recording)); err != nil {
		return api.Demo{}, err
	}
	recording, _, err := c.Blobs().Put(ctx, bytes.NewReader(d.Recording))
	if err != nil {
		return api.Demo{}, err
	}
	repo := computer.NewRepo{Name: d.Name, Replace: true, Commit: &computer.FirstCommit{Message: "Begin " + d.Name, At: d.At}}
	if _, err := c.AddRepo(ctx, role, repo, bytes.NewReader(d.Repo)); err != nil {
		return api.Demo{}, err
	}
	run, _, err := c.Prompt(ctx, role, choir.PromptSubmitted{Text: d.Prompt, Repo: d.Name, Recording: string(recording)}, "")
	return api.Demo{Run: run, Repo: d.Name, Notice: d.Notice}, err
}

// recordings are the recordings that play in the model's place, by run. They
// are loaded from the blob that the run's prompt names, so that they are the
// same after a restart.
type recordings struct {
	c *computer.Computer

	mu  sync.Mutex // guards all
	all map[choir.ID]model.Provider
}

// route leads a run that plays a recording to it; ok is false for any other.
func (r *recordings) route(ctx context.Context, info model.CallInfo) (route modelgw.Route, ok bool, err error) {
	if info.Run == "" {
		return route, false, nil
	}
	r.mu.Lock()
	p, known := r.all[info.Run]
	r.mu.Unlock()
	if !known {
		if p, err = r.load(ctx, info.Run); err != nil {
			return route, false, err
		}
		r.mu.Lock()
		if first, raced := r.all[info.Run]; raced {
			p = first
		} else {
			r.all[info.Run] = p
		}
		r.mu.Unlock()
	}
	return modelgw.Route{Provider: p, Model: "recorded"}, p != nil, nil
}

// load is nil for a run without a recording.
func (r *recordings) load(ctx context.Context, run choir.ID) (model.Provider, error) {
	events, err := r.c.Store().EventsOfRun(ctx, run, 0, 1)
	if err != nil || len(events) == 0 || events[0].Type != "prompt.submitted" {
		return nil, err
	}
	p, err := choir.DecodePayload(events[0].Type, events[0].Payload)
	if err != nil {
		return nil, err
	}
	digest := choir.Digest(p.(*choir.PromptSubmitted).Recording)
	if digest == "" {
		return nil, nil
	}
	raw, err := blob.ReadAll(ctx, r.c.Blobs(), digest, maxRecording)
	if err != nil {
		return nil, err
	}
	recording, err := replay.Load(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return replay.New(recording), nil
}
