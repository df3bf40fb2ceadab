package guest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/blob/fs"
	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// newKeeper keeps in memory.
func newKeeper(testing.TB) *snapshot.Keeper { return snapshot.NewKeeper(mem.New(mem.Config{})) }

// diskKeeper keeps in a real store, for measurements.
func diskKeeper(b *testing.B) *snapshot.Keeper {
	b.Helper()
	store, err := fs.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	return snapshot.NewKeeper(store)
}

func put(t testing.TB, root, path, content string) {
	t.Helper()
	full := filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// rootOf is the digest by a scanner of its own.
func rootOf(t testing.TB, dir string) choir.Digest {
	t.Helper()
	r, err := snapshot.NewScanner(dir, snapshot.ScanConfig{}).Scan(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Root
}

func TestScanAndRestoreOverTheWire(t *testing.T) {
	t.Parallel()
	in, k, ctx := serve(t, nil), newKeeper(t), within(t)
	for i := range 300 {
		put(t, in.workspace, fmt.Sprintf("d%d/f%d", i%7, i), strings.Repeat(fmt.Sprint(i), 1000))
	}
	big := bytes.Repeat([]byte("large"), 1<<19) // 2.5 MiB, in pieces
	put(t, in.workspace, "big", string(big))
	first, err := in.Scan(ctx, k)
	if err != nil {
		t.Fatal(err)
	}
	if first.Root != rootOf(t, in.workspace) || first.Files != 301 || first.Hashed == 0 {
		t.Fatalf("got %+v", first)
	}
	put(t, in.workspace, "d0/f0", "other")
	put(t, in.workspace, "big", "small now")
	if err := os.RemoveAll(filepath.Join(in.workspace, "d3")); err != nil {
		t.Fatal(err)
	}
	second, err := in.Scan(ctx, k)
	if err != nil || second.Root == first.Root {
		t.Fatalf("got %+v, %v", second, err)
	}
	r, err := in.Restore(ctx, first.Root, k, RestoreOptions{})
	if err != nil || r.Root != first.Root || rootOf(t, in.workspace) != first.Root {
		t.Fatalf("got %+v, %v", r, err)
	}
	changes, err := snapshot.Diff(ctx, k, first.Root, second.Root)
	if err != nil || len(snapshot.FileChanges(changes)) != 45 {
		t.Fatalf("%d changes, %v", len(snapshot.FileChanges(changes)), err)
	}
}

func TestANarrowRestore(t *testing.T) {
	t.Parallel()
	in, k, ctx := serve(t, nil), newKeeper(t), within(t)
	put(t, in.workspace, "a", "1")
	put(t, in.workspace, "b", "1")
	base, err := in.Scan(ctx, k)
	if err != nil {
		t.Fatal(err)
	}
	put(t, in.workspace, "a", "task")
	put(t, in.workspace, "b", "owner")
	if _, err := in.Restore(ctx, base.Root, k, RestoreOptions{Narrow: true, Only: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	a, _ := os.ReadFile(filepath.Join(in.workspace, "a"))
	b, _ := os.ReadFile(filepath.Join(in.workspace, "b"))
	if string(a) != "1" || string(b) != "owner" {
		t.Errorf("a is %q, b is %q", a, b)
	}
}

func TestAKeeperThatForgotGetsEverythingAgain(t *testing.T) {
	t.Parallel()
	in, ctx := serve(t, nil), within(t)
	put(t, in.workspace, "d/a", "1")
	first, err := in.Scan(ctx, newKeeper(t))
	if err != nil {
		t.Fatal(err)
	}
	other := newKeeper(t)
	second, err := in.Scan(ctx, other)
	if err != nil || second.Root != first.Root {
		t.Fatalf("got %+v, %v", second, err)
	}
	if files, _, err := other.Verify(ctx, second.Root); err != nil || files != 1 {
		t.Errorf("the other store has %d files, %v", files, err)
	}
}

func TestRestoreOfAnUnknownSnapshot(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	_, err := in.Restore(within(t), choir.DigestOf([]byte("nothing")), newKeeper(t), RestoreOptions{})
	wantCode(t, err, choir.CodeNotFound)
}

func TestNoWorkspaceNoSnapshot(t *testing.T) {
	t.Parallel()
	in := serve(t, func(c *Config) { c.Workspace = "" })
	_, err := in.Scan(within(t), newKeeper(t))
	wantCode(t, err, choir.CodeUnavailable)
}

func BenchmarkScanOverTheWire(b *testing.B) {
	spread := func(i int) string { return fmt.Sprintf("d%02d/e%02d/f%d", i/2500, i/50%50, i) }
	flat := func(i int) string { return fmt.Sprintf("all/f%d", i) }
	for _, bench := range []struct {
		name string
		n    int
		path func(int) string
	}{{"1000", 1000, spread}, {"10000", 10000, spread}, {"10000InOneFolder", 10000, flat}} {
		b.Run(bench.name, func(b *testing.B) {
			in, k, ctx := serve(b, nil), diskKeeper(b), context.Background()
			for i := range bench.n {
				put(b, in.workspace, bench.path(i), fmt.Sprint(i))
			}
			for range 2 {
				if _, err := in.Scan(ctx, k); err != nil {
					b.Fatal(err)
				}
			}
			i := 0
			for b.Loop() {
				b.StopTimer()
				i++
				put(b, in.workspace, bench.path(0), fmt.Sprint("change", i))
				b.StartTimer()
				if _, err := in.Scan(ctx, k); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRestore100Of1000(b *testing.B) {
	in, k, ctx := serve(b, nil), diskKeeper(b), context.Background()
	for i := range 1000 {
		put(b, in.workspace, fmt.Sprintf("d%02d/f%d", i%20, i), fmt.Sprint(i))
	}
	base, err := in.Scan(ctx, k)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		for i := range 100 {
			put(b, in.workspace, fmt.Sprintf("d%02d/f%d", i%20, i), "other")
		}
		b.StartTimer()
		if _, err := in.Restore(ctx, base.Root, k, RestoreOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
