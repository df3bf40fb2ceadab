package hub

import (
	"context"
	"os"
	"path/filepath"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"

	"choiros/internal/bus"
	"choiros/internal/choir"
)

// launch starts the NATS server on its store, on a new one if the old one does not open,
// and without a store on a full disk: then commands and live text work, and relays wait.
func (s *Server) launch(ctx context.Context) error {
	store := filepath.Join(s.cfg.Dir, "store")
	err := s.launchOn(ctx, store)
	if choir.CodeOf(err) == choir.CodeNoSpace {
		s.cfg.Log.Warn("the bus runs without its store", "error", err)
		return s.run(ctx, store, 0, err)
	}
	return err
}

// launchOn starts the NATS server on a store, or on a new one after moving the old one aside if that does
// not open. Code no_space: the disk is full.
func (s *Server) launchOn(ctx context.Context, store string) error {
	err := s.open(ctx, store)
	if err == nil || ctx.Err() != nil {
		return err
	}
	// A store is not broken because its disk is full.
	if _, full := s.room(store); choir.CodeOf(full) == choir.CodeNoSpace {
		return full
	}
	s.cfg.Log.Warn("the store of the bus does not come up and is made anew", "store", store, "error", err)
	if err := s.moveAside(store); err != nil {
		return err
	}
	return s.open(ctx, store)
}

// open starts the NATS server with a stream as large as the disk allows. Code no_space:
// the disk is full.
func (s *Server) open(ctx context.Context, store string) error {
	size, err := s.room(store)
	if err != nil {
		return err
	}
	return s.run(ctx, store, size, nil)
}

// run starts the NATS server with a stream of at most size bytes, or without a store if
// without, the reason, is not nil. After an error no server runs.
func (s *Server) run(ctx context.Context, store string, size int64, without error) error {
	t, err := newTrust(s.keys)
	if err != nil {
		return err
	}
	o := options(t, store)
	o.JetStream = without == nil
	ns, err := server.NewServer(o)
	if err != nil {
		return choir.Wrap("bus.start", choir.CodeUnavailable, err, "configure the bus")
	}
	ns.SetLoggerV2(&logger{s.cfg.Log}, false, false, false)
	ns.Start()
	switch {
	case !ns.ReadyForConnections(startLimit), o.JetStream && !ns.JetStreamEnabled():
		err = choir.Refuse("bus.start", choir.ReasonBusNotUp, choir.TextOf("path", store))
	case o.JetStream:
		err = s.ensureStream(ctx, ns, size)
	}
	if err != nil {
		stop(ns)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nats, s.without, s.refused = ns, without, nil
	return nil
}

// maxStore is the limit of the store given to the NATS server, larger than any disk,
// because a real limit would keep it from starting on a full disk. The stream has its own.
const maxStore = 1 << 50

// options returns the configuration of the NATS server.
func options(t *trust, store string) *server.Options {
	return &server.Options{
		ServerName: "choir", DontListen: true, NoSigs: true, DisableJetStreamBanner: true,
		TrustedOperators: []*jwt.OperatorClaims{t.operator}, AccountResolver: t.resolver, SystemAccount: t.system,
		StoreDir: store, JetStreamMaxStore: maxStore, MaxPayload: bus.MaxPayload, MaxPending: maxPending,
	}
}

// moveAside renames a store that does not open to store.broken, replacing an earlier one.
func (s *Server) moveAside(store string) error {
	aside := store + ".broken"
	err := os.RemoveAll(aside)
	if err == nil {
		err = os.Rename(store, aside)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aside = aside
	return choir.Wrap("bus.start", choir.CodeUnavailable, err, "move the broken store %s aside", store)
}
