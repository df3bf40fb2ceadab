package fs_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"choiros/internal/blob/fs"
	"choiros/internal/choir"
)

// content is 4,000 bytes that no other number gives.
func content(n uint64) []byte {
	b := bytes.Repeat([]byte("0123456789"), 400)
	binary.BigEndian.PutUint64(b, n)
	return b
}

// bare writes and syncs one file under a new name: what nobody can go below
// twice, once for content and once for its name.
func bare(b *testing.B, dir string, n uint64) time.Duration {
	start := time.Now()
	f, err := os.Create(filepath.Join(dir, fmt.Sprint(n)))
	if err == nil {
		_, err = f.Write(content(n))
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		b.Fatal(err)
	}
	f.Close()
	return time.Since(start)
}

// BenchmarkBatch commits batches of new content, in turn with one bare file and
// its sync. "x-sync" is how many of those a batch takes at the median.
func BenchmarkBatch(b *testing.B) {
	for _, size := range []int{1, 4, 16, 64, 512} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			dir := b.TempDir()
			s, err := fs.Open(filepath.Join(dir, "blobs"))
			if err != nil {
				b.Fatal(err)
			}
			var ours, peer []time.Duration
			for n := uint64(0); b.Loop(); {
				peer = append(peer, bare(b, dir, n))
				start := time.Now()
				batch, err := s.Batch(context.Background())
				for range size {
					n++
					if c := content(n); err == nil {
						err = batch.Add(choir.DigestOf(c), c)
					}
				}
				if err == nil {
					err = batch.Commit()
				}
				if err != nil {
					b.Fatal(err)
				}
				ours = append(ours, time.Since(start))
			}
			report(b, ours, peer)
		})
	}
}

// BenchmarkPut is the same for one Put.
func BenchmarkPut(b *testing.B) {
	dir := b.TempDir()
	s, err := fs.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		b.Fatal(err)
	}
	var ours, peer []time.Duration
	for n := uint64(0); b.Loop(); n++ {
		peer = append(peer, bare(b, dir, n))
		start := time.Now()
		if _, _, err := s.Put(context.Background(), bytes.NewReader(content(n))); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(start))
	}
	report(b, ours, peer)
}

func report(b *testing.B, ours, peer []time.Duration) {
	slices.Sort(ours)
	slices.Sort(peer)
	p50, sync := ours[len(ours)/2], peer[len(peer)/2]
	b.ReportMetric(float64(p50.Microseconds()), "p50-us")
	b.ReportMetric(float64(ours[len(ours)*95/100].Microseconds()), "p95-us")
	b.ReportMetric(float64(p50)/float64(sync), "x-sync")
	b.ReportMetric(0, "ns/op")
}
