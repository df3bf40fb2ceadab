package hub

import (
	"context"
	"os"
	"path/filepath"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"

	"choiros/internal/choir"
)

// launch starts the NATS server, on a new store if the old one does not come up.
func (s *Server) launch(ctx context.Context) error {
	store := filepath.Join(s.cfg.Dir, "store")
	err := s.run(ctx, store)
	if err == nil || ctx.Err() != nil {
		return err
	}
	s.cfg.Log.Warn("the store of the bus does not come up and is made anew", "store", store, "reason", err)
	if err := s.moveAside(store); err != nil {
		return err
	}
	return s.run(ctx, store)
}

// run starts the NATS server on a store and makes the stream; when either fails
// nothing is left running.
func (s *Server) run(ctx context.Context, store string) error {
	if err := os.MkdirAll(store, 0o700); err != nil {
		return choir.Wrap("bus.start", choir.CodeUnavailable, err, "make the store %s", store)
	}
	t, err := newTrust(s.keys)
	if err != nil {
		return err
	}
	ns, err := server.NewServer(options(t, store))
	if err != nil {
		return choir.Wrap("bus.start", choir.CodeUnavailable, err, "configure the bus")
	}
	ns.SetLoggerV2(&logger{s.cfg.Log}, false, false, false)
	ns.Start()
	if !ns.ReadyForConnections(startLimit) || !ns.JetStreamEnabled() {
		err = choir.E("bus.start", choir.CodeUnavailable, "the bus did not come up on %s", store)
	} else {
		err = s.ensureStream(ctx, ns)
	}
	if err != nil {
		stop(ns)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nats = ns
	return nil
}

func options(t *trust, store string) *server.Options {
	return &server.Options{
		ServerName: "choir", DontListen: true, NoSigs: true, DisableJetStreamBanner: true,
		TrustedOperators: []*jwt.OperatorClaims{t.operator}, AccountResolver: t.resolver, SystemAccount: t.system,
		JetStream: true, StoreDir: store, MaxPayload: MaxPayload, MaxPending: maxPending,
	}
}

// moveAside renames a store that does not come up; only the newest such store
// is kept, for whoever wants to know why.
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
