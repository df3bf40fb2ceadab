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

// Limits of the server.
const (
	// MaxPayload bounds one message, in bytes. Larger content goes in chunks.
	MaxPayload = 1 << 20
	// maxPending bounds what the server holds for a slow connection, in bytes;
	// beyond it the connection is ended, and its client catches up.
	maxPending = 16 << 20
	startLimit = 20 * time.Second
)

// Config of the embedded server.
type Config struct {
	// Dir is the bus folder (0700); JetStream's store lies in it.
	Dir string
	// Keys is the folder (0700) of the operator's and the accounts' keys.
	// Default Dir/keys.
	Keys string
	// StoreMax bounds the stream on disk, in bytes; a disk with less room than
	// that gives less. Default 256 MiB.
	StoreMax int64
	// WatchEvery is how often Serve looks whether NATS serves. Default 5 s.
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

// Server is the embedded bus. Its methods may be called from many goroutines.
type Server struct {
	cfg  Config
	keys *keyring
	// turn is held by whoever starts or stops the NATS server, which is slow;
	// it is a channel so that waiting for it can be given up.
	turn chan struct{}
	// pumps counts the running bridges; Close waits for them.
	pumps sync.WaitGroup

	mu      sync.Mutex // guards what follows
	nats    *server.Server
	without error // why it runs without a store, or nil
	refused error // what the stream said when it took no more, or nil
	aside   string
	closed  bool
}

// Start starts the bus, making keys and store when they are missing. The stream
// only delivers, so a store that does not come up is moved aside (see MovedAside)
// and made anew; the relays fill it again from the logs. On a full disk the bus
// runs without one until there is room again, and Healthy says so.
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

// Restart ends the NATS server with all its connections and starts another on
// the same store. Clients come back by themselves; relays resume.
func (s *Server) Restart(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return choir.Wrap("bus.restart", choir.CodeCancelled, ctx.Err(), "restart the bus")
	}
	if s.current() == nil {
		return errClosed
	}
	stop(s.current())
	return s.launch(ctx)
}

// Serve watches the NATS server until ctx ends and restarts it when it stopped
// serving: its stream refuses everything after the disk was full once.
// One that runs without a store is let be until there is room for it.
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

// Close ends every connection and the server, and waits for both.
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

func stop(ns *server.Server) {
	ns.Shutdown()
	ns.WaitForShutdown()
}

// MovedAside is where a store that did not come up was moved, or empty.
func (s *Server) MovedAside() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.aside
}

// Healthy says why the bus does not serve, or nil.
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

// distrust notes that the stream refused an event. After one failed write it
// refuses all that come, and only a restart changes that.
func (s *Server) distrust(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = err
}

// mustWait says that the bus runs, without a store, and that there is still no
// room for one: a restart would only cut its connections.
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

// current is the running NATS server; nil once closed.
func (s *Server) current() *server.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nats
}

// enter counts a bridge that begins; false once the server is closed.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.pumps.Add(1)
	}
	return !s.closed
}

var errClosed = choir.E("bus", choir.CodeUnavailable, "the bus is closed")
