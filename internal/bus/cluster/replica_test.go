package cluster_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/bus/bustest"
	"choiros/internal/bus/cluster"
	"choiros/internal/bus/cluster/clustertest"
	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

func TestAReplica(t *testing.T) {
	t.Parallel()
	cfg := clustertest.Start(t, 3)
	t.Run("has what the log had before", func(t *testing.T) { testEarlierEvents(t, cfg) })
	t.Run("is waited for under the same id", func(t *testing.T) { testAskingAgain(t, cfg) })
	t.Run("is never overwritten by another log", func(t *testing.T) { testAnotherLog(t, cfg) })
}

// testEarlierEvents copies a log that began without a cluster and was opened
// several times since.
func testEarlierEvents(t *testing.T, cfg cluster.Config) {
	h, dir := bustest.NewHome(t), t.TempDir()
	s, err := eventstore.Open(t.Context(), dir, eventstore.Config{Computer: h.Computer, User: h.User, Now: func() choir.Time { return 1 }})
	if err != nil {
		t.Fatal(err)
	}
	appendSome(t, s, 700)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	w := &writers{t: t, computer: h.Computer, acked: map[uint64]choir.Receipt{}}
	for range 3 {
		w.store, w.replica = openLog(t, dir, h, cfg)
		for range 40 {
			w.one(t.Context())
		}
		if err := w.replica.Healthy(); err != nil {
			t.Error(err)
		}
		head, _ := w.store.Head()
		if n, err := w.replica.Compare(t.Context()); err != nil || n != head {
			t.Errorf("%d of %d events are the same: %v", n, head, err)
		}
		w.replica.Close()
		if err := w.store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	reader, err := eventstore.OpenReadOnly(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	w.store = reader
	u := strings.Replace(cfg.Servers[0], "nats://", "nats://"+clustertest.User+":"+clustertest.Password+"@", 1)
	if w.check(t, u); w.told.Load() != 120 {
		t.Errorf("%d of 120 appends were acknowledged", w.told.Load())
	}
}

func appendSome(t *testing.T, s *eventstore.Store, n int) {
	t.Helper()
	for range n {
		if _, err := s.Append(t.Context(), choir.RoleShell, newDraft(t)); err != nil {
			t.Fatal(err)
		}
	}
}

// testAskingAgain has a cluster that cannot be reached at first, because others
// could read the credentials.
func testAskingAgain(t *testing.T, cfg cluster.Config) {
	mine := filepath.Join(t.TempDir(), "credentials")
	raw, err := os.ReadFile(cfg.Credentials)
	if err == nil {
		err = os.WriteFile(mine, raw, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	cfg.Credentials, cfg.Timeout = mine, 100*time.Millisecond
	s, r := openLog(t, t.TempDir(), bustest.NewHome(t), cfg)
	defer func() { r.Close(); s.Close() }()
	d := newDraft(t)
	_, err = s.Append(t.Context(), choir.RoleShell, d)
	if !errors.Is(err, eventstore.ErrNotReplicated) || choir.CodeOf(err) != choir.CodeUnavailable {
		t.Fatalf("without the cluster: %v", err)
	}
	for _, part := range []string{"event 1 is durable here", "not known to be replicated", "same id", "chmod 600"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if strings.Contains(err.Error(), clustertest.Password) {
		t.Errorf("%q tells the password", err)
	}
	if e, err := s.Event(t.Context(), d.ID); err != nil || e.Seq != 1 {
		t.Errorf("the event is not in the log: %v", err)
	}
	own, err := choir.NewDraft(bustest.NewID(t), choir.SessionEnded{Reason: "nobody is told of this"})
	if err == nil {
		_, err = s.Append(t.Context(), choir.RoleControl, own)
	}
	if err != nil {
		t.Errorf("the control plane waits for the cluster: %v", err)
	}
	if err := r.Healthy(); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("the replica says %v of itself", err)
	}
	if err := os.Chmod(mine, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "the same id is acknowledged", func() bool {
		receipts, err := s.Append(t.Context(), choir.RoleShell, d)
		return err == nil && receipts[0].Seq == 1 && receipts[0].Duplicate
	})
	until(t, "the copy has what nobody was told of", func() bool { return r.Acked() == 2 })
	if err := r.Healthy(); err != nil {
		t.Error(err)
	}
}

// testAnotherLog appends to two other logs of a computer that has a copy: one
// that is shorter, one that is longer.
func testAnotherLog(t *testing.T, cfg cluster.Config) {
	h := bustest.NewHome(t)
	s, r := openLog(t, t.TempDir(), h, cfg)
	appendSome(t, s, 20)
	_, last := s.Head()
	r.Close()
	s.Close()
	for _, before := range []int{3, 40} {
		dir := t.TempDir()
		other, err := eventstore.Open(t.Context(), dir, eventstore.Config{Computer: h.Computer, User: h.User, Now: func() choir.Time { return 2 }})
		if err != nil {
			t.Fatal(err)
		}
		appendSome(t, other, before)
		other.Close()
		s, r := openLog(t, dir, h, cfg)
		_, err = s.Append(t.Context(), choir.RoleShell, newDraft(t))
		if choir.CodeOf(err) != choir.CodeConflict || !errors.Is(err, eventstore.ErrNotReplicated) {
			t.Errorf("another log with %d events: %v", before, err)
		}
		if n, err := r.Compare(t.Context()); choir.CodeOf(err) != choir.CodeCorrupt || n != 0 {
			t.Errorf("another log is the same up to event %d: %v", n, err)
		}
		r.Close()
		s.Close()
	}
	var n int
	var kept choir.Digest
	err := cfg.Read(t.Context(), h.Computer, func(_ uint64, raw []byte) error {
		e, err := choir.DecodeEvent(raw)
		n, kept = n+1, e.Hash
		return err
	})
	if err != nil || n != 20 || kept != last {
		t.Errorf("the copy has %d events and ends with %s, not 20 and %s: %v", n, kept, last, err)
	}
}

func TestOneServerIsNoCluster(t *testing.T) {
	t.Parallel()
	cfg := clustertest.Start(t, 1)
	cfg.Timeout = 2 * time.Second
	s, r := openLog(t, t.TempDir(), bustest.NewHome(t), cfg)
	defer func() { r.Close(); s.Close() }()
	_, err := s.Append(t.Context(), choir.RoleShell, newDraft(t))
	if !errors.Is(err, eventstore.ErrNotReplicated) || !strings.Contains(err.Error(), "replicas") {
		t.Errorf("got %v", err)
	}
}

func TestCredentialsAreHeldBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, server string
		mode         os.FileMode
		code         choir.Code
	}{
		"others can read it":   {"u:hidden", "nats://127.0.0.1:1", 0o640, choir.CodeRefused},
		"neither of the forms": {"hidden", "nats://127.0.0.1:1", 0o600, choir.CodeInvalid},
		"two lines":            {"u:hidden\nx", "nats://127.0.0.1:1", 0o600, choir.CodeInvalid},
		"in the clear":         {"u:hidden", "nats://192.0.2.1:1", 0o600, choir.CodeRefused},
		"nobody there":         {"u:hidden", "nats://127.0.0.1:1", 0o600, choir.CodeUnavailable},
	} {
		cfg := cluster.Config{Servers: []string{c.server}, Credentials: filepath.Join(t.TempDir(), "f")}
		err := errors.Join(os.WriteFile(cfg.Credentials, []byte(c.text), c.mode), os.Chmod(cfg.Credentials, c.mode))
		if err != nil {
			t.Fatal(err)
		}
		err = cfg.Probe(context.Background())
		if choir.CodeOf(err) != c.code || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
