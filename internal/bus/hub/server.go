package hub

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"choiros/internal/choir"
)

// Limits of the NATS server.
const (
	// maxPending limits the bytes buffered for a slow connection; beyond it the server closes
	// the connection, and its client catches up.
	maxPending = 16 << 20
	startLimit = 20 * time.Second
)

// Config configures the embedded server.
type Config struct {
	// Dir is the folder of the bus (mode 0700), with JetStream's store in it.
	Dir string
	// Keys is the folder (mode 0700) with the keys of operator and accounts. Default Dir/keys.
	Keys string
	// StoreMax limits the stream on disk, in bytes; less on a small disk. Default 256 MiB.
	StoreMax int64
	// WatchEvery is how often Serve checks the NATS server. Default 5 s.
	WatchEvery time.Duration
	// Log gets the server's warnings and errors. Default none.
	Log *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Keys == "" {
		c.Keys = filepath.Join(c.Dir, "keys")
	}
	if c.StoreMax == 0 {
		c.StoreMax = 256 << 20
	}
	if c.WatchEvery == 0 {
		c.WatchEvery = 5 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Server is the embedded NATS server. Its methods are safe for concurrent use.
type Server struct {
	cfg  Config
	keys *keyring
	// turn locks starts and stops of the NATS server, which are slow. It is a
	// channel, so that a waiting caller may give up when its context ends.
	turn chan struct{}
	// pumps counts the running bridges; Close waits for them.
	pumps sync.WaitGroup

	mu      sync.Mutex // guards nats, without, refused, aside and closed
	nats    *server.Server
	without error // why it runs without a store; nil with one
	refused error // the stream's last refusal of an event, or nil
	aside   string
	closed  bool
}

// Start starts the bus and creates missing keys and store. A store that does not open is
// moved aside (see MovedAside) and replaced; the relays fill it from the logs. On a full
// disk the bus runs without a store until there is space, and Healthy returns the reason.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	s := &Server{cfg: cfg.withDefaults(), turn: make(chan struct{}, 1)}
	var err error
	if s.keys, err = openKeys(s.cfg.Keys); err != nil {
		return nil, err
	}
	if err := s.launch(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Restart stops the NATS server, which closes all connections, and starts it on the same
// store. Clients reconnect by themselves.
func (s *Server) Restart(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return choir.Wrap("bus.restart", choir.CodeCancelled, ctx.Err(), "restart the bus")
	}
	if s.current() == nil {
		return ErrClosed
	}
	stop(s.current())
	return s.launch(ctx)
}

// Serve checks the NATS server regularly until ctx ends and restarts it when it is
// unhealthy: after a full disk, a stream refuses everything until a restart. It does not
// restart a server without a store while there is no space for one.
func (s *Server) Serve(ctx context.Context) error {
	tick := time.NewTicker(s.cfg.WatchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if err := s.Healthy(); err != nil && !s.mustWait() {
			s.cfg.Log.Warn("the bus is restarted", "error", err)
			if err := s.Restart(ctx); err != nil {
				s.cfg.Log.Error("the bus does not come back; tried again soon", "error", err)
			}
		}
	}
}

// Close closes every connection and the server, and waits for both.
func (s *Server) Close() {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.mu.Lock()
	ns := s.nats
	s.closed, s.nats = true, nil
	s.mu.Unlock()
	if ns != nil {
		stop(ns)
	}
	s.pumps.Wait()
}

// stop shuts a NATS server down and waits for it.
func stop(ns *server.Server) {
	ns.Shutdown()
	ns.WaitForShutdown()
}

// MovedAside returns the path to which a store that did not open was moved, "" for none.
func (s *Server) MovedAside() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.aside
}

// Healthy returns nil if the bus works, else an error with the reason.
func (s *Server) Healthy() error {
	ns := s.current()
	if ns == nil || !ns.Running() {
		return choir.E("bus.health", choir.CodeUnavailable, "the bus does not run")
	}
	s.mu.Lock()
	without, refused := s.without, s.refused
	s.mu.Unlock()
	if without == nil && (refused != nil || !ns.JetStreamEnabled()) {
		stopped := choir.E("bus.health", choir.CodeUnavailable, "the store of the bus in %s has stopped and is started again", s.cfg.Dir).
			WithRemedy("free space on its disk")
		stopped.Err = refused
		return stopped
	}
	return without
}

// distrust records that the stream refused an event, which makes Healthy fail: it refuses
// all later ones until a restart.
func (s *Server) distrust(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = err
}

// mustWait reports whether the server runs without a store and there is still no space for
// one, so that a restart would be useless.
func (s *Server) mustWait() bool {
	s.mu.Lock()
	ns, without := s.nats, s.without
	s.mu.Unlock()
	if ns == nil || !ns.Running() || without == nil {
		return false
	}
	_, err := s.room(filepath.Join(s.cfg.Dir, "store"))
	return err != nil
}

// current returns the running NATS server, nil once closed.
func (s *Server) current() *server.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nats
}

// beginBridge counts a new bridge. It returns false once the server is closed.
func (s *Server) beginBridge() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.pumps.Add(1)
	}
	return !s.closed
}

// ErrClosed is returned by the methods of a closed Server.
var ErrClosed = choir.E("bus", choir.CodeUnavailable, "the bus is closed")
