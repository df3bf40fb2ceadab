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
	// Changed reports whether the desktop's source differs from the shipped one.
	Changed(ctx context.Context) (bool, error)
	// NoteBroke records in the log that the source does not work.
	NoteBroke(ctx context.Context, p choir.DesktopBroke) error
}

// Sandbox is the computer's sandbox in which the development server runs.
type Sandbox interface {
	// Exec starts a command, which ends with ctx.
	Exec(ctx context.Context, spec guest.ExecSpec) (*guest.Process, error)
	// DialPort connects to a port inside the sandbox.
	DialPort(ctx context.Context, port int) (net.Conn, error)
}

// Mode tells what a desktop's origin serves.
type Mode string

// The modes.
const (
	// ModeShipped serves the bundle; no process runs.
	ModeShipped Mode = "shipped"
	// ModeLive serves the computer's own source by a development server.
	ModeLive Mode = "live"
	// ModeBroken serves the bundle because the changed source cannot be served.
	ModeBroken Mode = "broken"
)

// Status tells how a desktop is served, and what is wrong with its source.
type Status struct {
	Mode   Mode   `json:"mode" enum:"shipped,live,broken" doc:"What its origin serves: the shipped bundle, its own source, or the bundle because the source cannot be served."`
	Error  string `json:"error,omitempty" doc:"What the newest change of the source broke."`
	File   string `json:"file,omitempty" doc:"Where."`
	Remedy string `json:"remedy,omitempty" doc:"What to do about it."`
}

// Config configures a Host.
type Config struct {
	// Modules are the npm packages that the source needs.
	Modules *Modules
	// Idle is how long an unused development server is kept running; default 10 min.
	Idle time.Duration
	Now  func() time.Time
	Log  *slog.Logger
}

// retryAfter is the wait before a development server that did not start is started again.
const retryAfter = 5 * time.Second

// Host runs the development server of one computer's desktop. Its methods are safe for
// concurrent use.
type Host struct {
	cfg     Config
	source  Source
	sandbox Sandbox

	// turn locks starts and stops of the development server; it guards the fields below.
	turn   chan struct{}
	server *server
	failed error
	at     time.Time // when the server was last started
	closed bool
}

// New returns a Host, which the caller closes. Nothing runs before the source is changed.
func New(source Source, sandbox Sandbox, cfg Config) *Host {
	if cfg.Idle == 0 {
		cfg.Idle = 10 * time.Minute
	}
	return &Host{cfg: cfg, source: source, sandbox: sandbox, turn: make(chan struct{}, 1)}
}

// Close ends the development server for good; then the bundle is served.
func (h *Host) Close() {
	h.turn <- struct{}{}
	defer h.releaseTurn()
	h.closed = true
	h.stop()
}

// acquireTurn locks the turn; the caller calls releaseTurn. Code cancelled: ctx ended first.
func (h *Host) acquireTurn(ctx context.Context) error {
	select {
	case h.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return choir.Wrap("desktop", choir.CodeCancelled, ctx.Err(), "wait for the desktop")
	}
}

func (h *Host) releaseTurn() { <-h.turn }

// Status starts or stops the development server as the source demands, and returns how the
// desktop is served.
func (h *Host) Status(ctx context.Context) (Status, error) {
	s, err := h.reconcileServer(ctx)
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

// Live returns a connection to the development server; false if the bundle is served. For a
// page it first starts or stops the server as the source demands; other files come from the
// server that runs.
func (h *Host) Live(ctx context.Context, page bool) (*Live, bool) {
	if page {
		// Whatever failed, the bundle is there; Status says why.
		s, err := h.reconcileServer(ctx)
		return h.live(s), s != nil && err == nil
	}
	if h.acquireTurn(ctx) != nil {
		return nil, false
	}
	defer h.releaseTurn()
	s := h.running()
	return h.live(s), s != nil
}

// reconcileServer starts or stops the development server as the source demands and returns
// the running one. nil without an error: the bundle is served. Code unavailable: it cannot
// be started.
func (h *Host) reconcileServer(ctx context.Context) (*server, error) {
	if err := h.acquireTurn(ctx); err != nil {
		return nil, err
	}
	defer h.releaseTurn()
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

// running returns the running server, or nil. The caller holds the turn.
func (h *Host) running() *server {
	if h.server == nil || h.server.ended() {
		return nil
	}
	return h.server
}

// stop ends the server, if any, and waits for it. The caller holds the turn.
func (h *Host) stop() {
	if h.server != nil {
		h.server.stop()
		h.server = nil
	}
}
