// Package conductor plans, supervises and answers the runs of one computer. Its only
// durable state is the log: an open run is executed again from its prompt, every effect
// has an id derived from the run, and earlier decisions are read from the log. So it may
// be killed after any event and does nothing twice.
package conductor

import (
	"context"
	"crypto/ed25519"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/thejerf/suture/v4"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Log is the computer's log as the Director uses it. Its methods are safe for concurrent
// use. Append is idempotent by the drafts' ids and retries after lost connections until
// ctx ends. Events reads the range from from to to, both included; to 0 means up to the
// newest. Follow calls fn for every event after seq, in order, until fn fails or ctx
// ends. ReadRun returns the prompt and the answer of an ended run, ReadFacts what lay in
// the workspace when a run was asked for, "" when that is not known. LookAtWorkspace
// shows a part of a snapshot of the workspace; code invalid: the request is wrong,
// not_found: there is no snapshot.
type Log interface {
	Append(ctx context.Context, drafts ...choir.Draft) ([]choir.Receipt, error)
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
	Follow(ctx context.Context, seq uint64, fn func(choir.Event) error) error
	ReadRun(ctx context.Context, run choir.ID) (choir.RunReadReply, error)
	ReadFacts(ctx context.Context, run choir.ID) (string, error)
	LookAtWorkspace(ctx context.Context, r choir.LookRequest) (string, error)
	PutBlob(ctx context.Context, content []byte) (choir.Digest, error)
	GetBlob(ctx context.Context, d choir.Digest) ([]byte, error)
}

// Models calls a model. The provider answers a call id with the same request once, and
// later ones are answered from the log.
type Models interface {
	Call(ctx context.Context, info model.CallInfo, req model.Request, on func(model.Delta)) (model.Response, error)
}

// Config is the configuration of a Conductor. Log, Models, Key and Now are required.
type Config struct {
	Log    Log
	Models Models
	// Key signs the answers. It is created at boot and never leaves the process.
	Key ed25519.PrivateKey
	// Limits are those of each run.
	Limits choir.RunLimits
	// After is the event after which reading the log starts; every run that is not over
	// began after it. Projects are the projects that existed then, in the order in which
	// they were added.
	After    uint64
	Projects []string
	// MaxActive is the maximum of runs working at once. Runs that wait for the user do
	// not count. Default 4.
	MaxActive int
	// Now returns the time for the time limit.
	Now func() choir.Time
	// Pause waits between tries of a failed model call. Default: a timer.
	Pause func(ctx context.Context, d time.Duration) error
	// Live receives the model's words as they are streamed. It may be nil.
	Live func(run choir.ID, text string)
	// Logger receives failures. Default: discards.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Limits = c.Limits.WithDefaults()
	if c.MaxActive <= 0 {
		c.MaxActive = 4
	}
	if c.Pause == nil {
		c.Pause = pause
	}
	if c.Live == nil {
		c.Live = func(choir.ID, string) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Conductor follows the log and runs a service for each open run.
type Conductor struct {
	cfg   Config
	slots chan struct{}
	runs  *suture.Supervisor

	mu      sync.Mutex // guards the fields below
	seq     uint64     // last applied event
	records map[choir.ID]*record
	repos   []string // projects in the order in which they came
	caught  bool     // the log has been read to its end once
}

// New returns a Conductor, which Serve runs.
func New(cfg Config) *Conductor {
	cfg = cfg.withDefaults()
	return &Conductor{
		cfg: cfg, slots: make(chan struct{}, cfg.MaxActive), records: map[choir.ID]*record{},
		seq: cfg.After, repos: slices.Clone(cfg.Projects),
	}
}

// Serve executes runs until ctx ends, and returns after everything it started has ended.
// Its supervisor restarts the follower of the log and the services of the runs.
func (c *Conductor) Serve(ctx context.Context) error {
	hook := func(e suture.Event) { c.cfg.Logger.Warn("supervisor", "said", e.String()) }
	root := suture.New("director", suture.Spec{EventHook: hook, FailureBackoff: time.Second, Timeout: shutdownTime})
	c.runs = suture.New("runs", suture.Spec{EventHook: hook, FailureBackoff: time.Second, Timeout: shutdownTime})
	root.Add(c.runs)
	root.Add(follower{c})
	return root.Serve(ctx)
}

// shutdownTime is the maximum time for a service to end. Every wait in this package ends
// with its context.
const shutdownTime = 5 * time.Second
