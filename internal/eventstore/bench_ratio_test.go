package eventstore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkOneWriterBesideFdatasync takes one append and one bare write and
// fdatasync of as many bytes in turn, so that both see the same machine.
func BenchmarkOneWriterBesideFdatasync(b *testing.B) {
	dir := b.TempDir()
	s := open(b, filepath.Join(dir, "store"))
	bare, err := os.Create(filepath.Join(dir, "bare"))
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	record := []byte(strings.Repeat("r", 620))
	load := workload(b, b.N)
	var ours, peer []time.Duration
	for i, p := range load {
		start := time.Now()
		if _, err := s.Append(context.Background(), p.role, p.d); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(start))
		start = time.Now()
		if _, err := bare.WriteAt(record, int64(i*len(record))); err != nil {
			b.Fatal(err)
		}
		if err := unix.Fdatasync(int(bare.Fd())); err != nil {
			b.Fatal(err)
		}
		peer = append(peer, time.Since(start))
	}
	report(b, ours, peer)
}

// BenchmarkManyWritersBesideTransactions takes rounds of 64 writers and of one
// transaction per event in turn; the times are per event.
func BenchmarkManyWritersBesideTransactions(b *testing.B) {
	const writers, each, single = 64, 40, 256
	dir := b.TempDir()
	s := open(b, filepath.Join(dir, "store"))
	peer, err := OpenPlain(filepath.Join(dir, "peer.sqlite"), testConfig(), true)
	if err != nil {
		b.Fatal(err)
	}
	defer peer.Close()
	var ours, theirs []time.Duration
	for range b.N {
		load := workload(b, writers*each)
		start := time.Now()
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for _, p := range load[w*each : (w+1)*each] {
					if _, err := s.Append(context.Background(), p.role, p.d); err != nil {
						b.Error(err)
					}
				}
			})
		}
		wg.Wait()
		head, _ := s.Head()
		if err := s.applier.waitFor(context.Background(), head); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(start)/(writers*each))
		start = time.Now()
		for _, p := range workload(b, single) {
			if err := peer.Append(context.Background(), PlainDraft{p.role, p.d}); err != nil {
				b.Fatal(err)
			}
		}
		theirs = append(theirs, time.Since(start)/single)
	}
	report(b, ours, theirs)
}

func report(b *testing.B, ours, peer []time.Duration) {
	slices.Sort(ours)
	slices.Sort(peer)
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
	mid, tail := len(ours)/2, len(ours)*99/100
	b.ReportMetric(us(ours[mid]), "us")
	b.ReportMetric(us(ours[tail]), "us-p99")
	b.ReportMetric(us(peer[mid]), "peer-us")
	b.ReportMetric(float64(ours[mid])/float64(peer[mid]), "ours/peer")
	b.ReportMetric(0, "ns/op")
}
