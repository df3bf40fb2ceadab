package desktop

import (
	"context"
	"log/slog"
	"net"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
)

// Source is the desktop's source in the workspace of a computer.
type Source interface {
	// Changed reports whether the desktop's source is another than shipped.
	Changed(ctx context.Context) (bool, error)
	// NoteBroke records that the source does not work.
	NoteBroke(ctx context.Context, p choir.DesktopBroke) error
}

// Sandbox is the computer's sandbox in which the source's server runs.
type Sandbox interface {
	// Exec starts a command, which ends with ctx.
	Exec(ctx context.Context, spec guest.ExecSpec) (*guest.Process, error)
	// DialPort connects to a port inside it.
	DialPort(ctx context.Context, port int) (net.Conn, error)
}

// Mode is what a desktop's origin serves.
type Mode string

// The modes.
const (
	// ModeShipped: the bundle, and no process runs.
	ModeShipped Mode = "shipped"
	// ModeLive: the computer's own source, by a development server.
	ModeLive Mode = "live"
	// ModeBroken: the source was changed and cannot be served, so the bundle is.
	ModeBroken Mode = "broken"
)

// Status is how a desktop is served.
type Status struct {
	Mode   Mode   `json:"mode" enum:"shipped,live,broken" doc:"What its origin serves: the shipped bundle, its own source, or the bundle because the source cannot be served."`
	Error  string `json:"error,omitempty" doc:"What the newest change of the source broke."`
	File   string `json:"file,omitempty" doc:"Where."`
	Remedy string `json:"remedy,omitempty" doc:"What to do about it."`
}

// Config of a Host.
type Config struct {
	// Modules is where the packages are.
	Modules *Modules
	// Idle is how long a development server lives that nobody asks; default 10 min.
	Idle time.Duration
	Now  func() time.Time
	Log  *slog.Logger
}

// retryAfter is how long a development server that did not start is left alone.
const retryAfter = 5 * time.Second

// Host serves the desktop of one computer. Its methods may be called at once.
type Host struct {
	cfg     Config
	source  Source
	sandbox Sandbox

	// turn is held by whoever starts or stops the development server; it guards
	// what follows.
	turn   chan struct{}
	server *server
	failed error
	at     time.Time // of failed
	closed bool
}

// New makes a host; nothing runs before the source was changed. Close it.
func New(source Source, sandbox Sandbox, cfg Config) *Host {
	if cfg.Idle == 0 {
		cfg.Idle = 10 * time.Minute
	}
	return &Host{cfg: cfg, source: source, sandbox: sandbox, turn: make(chan struct{}, 1)}
}

// Close ends the development server.
func (h *Host) Close() {
	h.turn <- struct{}{}
	defer h.give()
	h.closed = true
	h.stop()
}

func (h *Host) take(ctx context.Context) error {
	select {
	case h.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return choir.Wrap("desktop", choir.CodeCancelled, ctx.Err(), "wait for the desktop")
	}
}

func (h *Host) give() { <-h.turn }

// Status brings the development server up or down as the source wants it, and
// says how it is.
func (h *Host) Status(ctx context.Context) (Status, error) {
	s, err := h.settle(ctx)
	switch {
	case err != nil && choir.CodeOf(err) == choir.CodeUnavailable:
		p := choir.ProblemOf(err)
		return Status{Mode: ModeBroken, Error: p.Message, Remedy: p.Remedy}, nil
	case err != nil:
		return Status{}, err
	case s == nil:
		return Status{Mode: ModeShipped}, nil
	}
	status := Status{Mode: ModeLive}
	if e := s.trouble.Load(); e != nil {
		status.Error, status.File = e.Error, e.File
		status.Remedy = "take the change back, or go back to the last good checkpoint"
	}
	return status, nil
}

// Live dials the development server that serves the desktop now; false when the
// bundle is served. A page settles first what it gets, what it loads follows.
func (h *Host) Live(ctx context.Context, page bool) (*Live, bool) {
	if page {
		// Whatever failed, the bundle is there; Status says why.
		s, err := h.settle(ctx)
		return h.live(s), s != nil && err == nil
	}
	if h.take(ctx) != nil {
		return nil, false
	}
	defer h.give()
	s := h.running()
	return h.live(s), s != nil
}

// settle starts or stops the development server. Nil without an error means that
// the bundle is served.
func (h *Host) settle(ctx context.Context) (*server, error) {
	if err := h.take(ctx); err != nil {
		return nil, err
	}
	defer h.give()
	changed, err := h.source.Changed(ctx)
	if err != nil {
		return nil, err
	}
	if !changed || h.closed {
		h.stop()
		h.failed = nil
		return nil, nil
	}
	if s := h.running(); s != nil {
		s.used(h.cfg.Now())
		return s, nil
	}
	if h.failed != nil && h.cfg.Now().Sub(h.at) < retryAfter {
		return nil, h.failed
	}
	h.server, h.failed = h.start(ctx)
	h.at = h.cfg.Now()
	return h.server, h.failed
}

// running is the server that runs, or nil. The caller has the turn.
func (h *Host) running() *server {
	if h.server == nil || h.server.ended() {
		return nil
	}
	return h.server
}

// stop ends the server, and waits for it. The caller has the turn.
func (h *Host) stop() {
	if h.server != nil {
		h.server.stop()
		h.server = nil
	}
}
