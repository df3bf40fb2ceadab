package snapshot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// growTree makes n small files, 50 in a folder.
func growTree(tb testing.TB, n int) string {
	tb.Helper()
	root := tb.TempDir()
	for i := range n {
		dir := filepath.Join(root, fmt.Sprintf("d%03d", i/2500), fmt.Sprintf("e%02d", i/50%50))
		if i%50 == 0 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				tb.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%02d.go", i%50)), fmt.Appendf(nil, "content %d\n", i), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return root
}

func BenchmarkScanOneChanged(b *testing.B) {
	for _, n := range []int{1000, 10000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			root := growTree(b, n)
			s := NewScanner(root, ScanConfig{})
			ctx := context.Background()
			for range 2 { // the second reading settles what was racy in the first
				if _, err := s.Scan(ctx, nil); err != nil {
					b.Fatal(err)
				}
			}
			i := 0
			for b.Loop() {
				b.StopTimer()
				i++
				if err := os.WriteFile(filepath.Join(root, "d000/e00/file00.go"), fmt.Appendf(nil, "change %d\n", i), 0o644); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				r, err := s.Scan(ctx, func(Object) error { return nil })
				if err != nil {
					b.Fatal(err)
				}
				if r.Hashed < 1 || r.Files != int64(n) {
					b.Fatalf("%+v", r)
				}
			}
		})
	}
}

func BenchmarkScanCold(b *testing.B) {
	root := growTree(b, 10000)
	for b.Loop() {
		if _, err := NewScanner(root, ScanConfig{}).Scan(context.Background(), nil); err != nil {
			b.Fatal(err)
		}
	}
}
