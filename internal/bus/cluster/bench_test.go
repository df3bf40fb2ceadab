package cluster_test

import (
	"crypto/rand"
	"sync/atomic"
	"testing"
	"time"

	"choiros/internal/bus/bustest"
	"choiros/internal/bus/cluster"
	"choiros/internal/bus/cluster/clustertest"
	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// BenchmarkAppend is what an acknowledged append takes with 64 writers: on this
// disk alone, and with three nodes on this machine beside.
func BenchmarkAppend(b *testing.B) {
	b.Run("local", func(b *testing.B) { benchmarkAppend(b, nil) })
	b.Run("replicated", func(b *testing.B) {
		cfg := clustertest.Start(b, 3)
		benchmarkAppend(b, &cfg)
	})
}

func benchmarkAppend(b *testing.B, to *cluster.Config) {
	h := bustest.NewHome(b)
	cfg := eventstore.Config{Computer: h.Computer, User: h.User, Now: func() choir.Time { return choir.TimeOf(time.Now()) }}
	var r *cluster.Replica
	if to != nil {
		r = cluster.New(*to, h.Computer)
		cfg.Replica = r
	}
	s, err := eventstore.Open(b.Context(), b.TempDir(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if r != nil {
		r.Start(s)
		defer r.Close()
	}
	one := func() error {
		id, err := choir.NewID(choir.TimeOf(time.Now()), rand.Reader)
		if err != nil {
			return err
		}
		d, err := choir.NewDraft(id, choir.PromptSubmitted{Text: "write it twice"})
		if err == nil {
			_, err = s.Append(b.Context(), choir.RoleShell, d.ForRun(id, ""))
		}
		return err
	}
	if err := one(); err != nil { // the cluster has a leader then
		b.Fatal(err)
	}
	left := atomic.Int64{}
	left.Store(int64(b.N))
	done := make(chan error)
	b.ResetTimer()
	for range 64 {
		go func() {
			var err error
			for err == nil && left.Add(-1) >= 0 {
				err = one()
			}
			done <- err
		}()
	}
	for range 64 {
		if err := <-done; err != nil {
			b.Error(err)
		}
	}
}
