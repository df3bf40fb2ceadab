package metrics_test

import (
	"crypto/rand"
	"sync"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/metrics"
	"choiros/internal/eventstore"
)

// BenchmarkObserver is what one append of one event costs in figures.
func BenchmarkObserver(b *testing.B) {
	o := metrics.New("v1").Computer(id)
	p := &choir.PromptSubmitted{Text: "x"}
	e := &choir.Event{Type: p.EventType()}
	for b.Loop() {
		began := time.Now()
		o.Committed(e, p, 600)
		o.Appended(time.Since(began), nil)
	}
}

// BenchmarkAppend appends to a log on the disk, with figures and without.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []struct {
		name string
		n    int
	}{{"1", 1}, {"16", 16}} {
		b.Run(writers.name+"/bare", func(b *testing.B) { benchAppend(b, writers.n, nil) })
		b.Run(writers.name+"/observed", func(b *testing.B) { benchAppend(b, writers.n, metrics.New("v1").Computer(id)) })
	}
}

func benchAppend(b *testing.B, writers int, o eventstore.Observer) {
	s, err := eventstore.Open(b.Context(), b.TempDir(), eventstore.Config{Computer: id, User: id, Observer: o, Now: func() choir.Time { return choir.TimeOf(time.Now()) }})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	load := make(chan choir.Draft, b.N)
	for range b.N {
		run, err := choir.NewID(choir.TimeOf(time.Now()), rand.Reader)
		if err != nil {
			b.Fatal(err)
		}
		d, err := choir.NewDraft(run, choir.PromptSubmitted{Text: "make the tests pass in the parser"})
		if err != nil {
			b.Fatal(err)
		}
		load <- d.ForRun(run, "")
	}
	close(load)
	b.ResetTimer()
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for d := range load {
				if _, err := s.Append(b.Context(), choir.RoleShell, d); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
