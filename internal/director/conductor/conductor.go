// Package conductor plans, supervises and answers the runs of one computer. Its
// durable state is the log and nothing else: a run that is open is executed
// again from its prompt, every effect carries an id that follows from the run,
// and whatever was decided before is read from the log. So it may be killed
// after any event and does nothing twice.
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

// Log is the computer's log as the Director reaches it. All methods may be
// called from many goroutines. Append is idempotent by the drafts' ids and
// repeats itself over lost connections until ctx ends. Events reads a range in
// order, both ends included; to 0 means all. Follow calls fn for
// every event after seq, in order, until fn or ctx ends it. ReadRun reads what was
// asked and answered in a run that has ended, wherever in the log that is.
type Log interface {
	Append(ctx context.Context, drafts ...choir.Draft) ([]choir.Receipt, error)
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
	Follow(ctx context.Context, seq uint64, fn func(choir.Event) error) error
	ReadRun(ctx context.Context, run choir.ID) (choir.RunReadReply, error)
	PutBlob(ctx context.Context, content []byte) (choir.Digest, error)
	GetBlob(ctx context.Context, d choir.Digest) ([]byte, error)
}

// Models calls a model. The same call id with the same request is answered by
// the provider once and from the log ever after.
type Models interface {
	Call(ctx context.Context, info model.CallInfo, req model.Request, on func(model.Delta)) (model.Response, error)
}

// Config says with what a Conductor works. Log, Models, Key and Now are required.
type Config struct {
	Log    Log
	Models Models
	// Key signs the answers; it is made at boot and never leaves the process.
	Key ed25519.PrivateKey
	// Limits bound each run.
	Limits choir.RunLimits
	// After is where reading the log begins: every run that is not over began
	// after this event. Projects are those there were then, in the order in which
	// they came.
	After    uint64
	Projects []string
	// MaxActive bounds the runs that work at the same time; a run that waits for
	// the user does not count. Default 4.
	MaxActive int
	// Now is the clock of the time limit.
	Now func() choir.Time
	// Pause waits between tries of a failed model call. Default: a timer.
	Pause func(ctx context.Context, d time.Duration) error
	// Live streams the model's words to whoever watches. It may be nil.
	Live func(run choir.ID, text string)
	// Logger tells about what went wrong. Default: discards.
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

// Conductor follows the log and gives every open run a service of its own.
type Conductor struct {
	cfg   Config
	slots chan struct{}
	runs  *suture.Supervisor

	mu      sync.Mutex // guards the fields below
	seq     uint64     // last event taken up
	records map[choir.ID]*record
	repos   []string // projects in the order in which they came
	caught  bool     // the log has been read to its end once
}

// New makes a Conductor. Serve makes it work.
func New(cfg Config) *Conductor {
	cfg = cfg.withDefaults()
	return &Conductor{
		cfg: cfg, slots: make(chan struct{}, cfg.MaxActive), records: map[choir.ID]*record{},
		seq: cfg.After, repos: slices.Clone(cfg.Projects),
	}
}

// Serve works until ctx ends: the supervision tree of the Director is one
// supervisor over the follower of the log and over the supervisor of the runs.
// It returns after everything that it started has ended.
func (c *Conductor) Serve(ctx context.Context) error {
	hook := func(e suture.Event) { c.cfg.Logger.Warn("supervisor", "said", e.String()) }
	root := suture.New("director", suture.Spec{EventHook: hook, FailureBackoff: time.Second, Timeout: shutdownTime})
	c.runs = suture.New("runs", suture.Spec{EventHook: hook, FailureBackoff: time.Second, Timeout: shutdownTime})
	root.Add(c.runs)
	root.Add(follower{c})
	return root.Serve(ctx)
}

// shutdownTime is how long a service may take to end; every wait in this
// package ends with its context.
const shutdownTime = 5 * time.Second
