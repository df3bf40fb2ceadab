package snapshot

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
)

const testLimit = 1 << 16

// put writes a file of so many bytes.
func put(t *testing.T, root, path string, size int) {
	t.Helper()
	path = filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Repeat([]byte{'x'}, size), 0o644); err != nil {
		t.Fatal(err)
	}
}

func paths(t *testing.T, k *Keeper, root choir.Digest) (all []string) {
	t.Helper()
	if err := Walk(context.Background(), k, root, func(path string, _ *Entry) error { all = append(all, path); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestOnlyACacheOverTheLimitIsLeftOut(t *testing.T) {
	t.Parallel()
	root, k := t.TempDir(), newKeeper(t)
	s := NewScanner(root, ScanConfig{CacheLimit: testLimit})
	put(t, root, "a/node_modules/x/big", testLimit)
	put(t, root, "a/main.js", 3)
	put(t, root, "work/large", 4*testLimit) // large, and no cache
	put(t, root, "tagged/big", 2*testLimit)
	put(t, root, "claims/big", 2*testLimit)
	for dir, line := range map[string]string{"tagged": cacheSignature + "\n# made by a tool\n", "claims": "a cache, honestly\n"} {
		if err := os.WriteFile(filepath.Join(root, dir, cacheTag), []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	res := keep(t, s, k)
	all := paths(t, k, res.Root)
	if !slices.Equal(res.Left, []string{"tagged"}) || slices.Contains(all, "tagged") || !slices.Contains(all, "a/node_modules/x/big") || !slices.Contains(all, "work/large") || !slices.Contains(all, "claims/big") {
		t.Fatalf("left %v, kept %v", res.Left, all)
	}
	// One byte more, spread over files: the whole folder stays out.
	put(t, root, "a/node_modules/y", 1)
	res = keep(t, s, k)
	if want := []string{"a/node_modules", "tagged"}; !slices.Equal(res.Left, want) || slices.Contains(paths(t, k, res.Root), "a/node_modules") {
		t.Fatalf("left %v of %v", res.Left, paths(t, k, res.Root))
	}
	// A scanner that knows nothing gives the same, and reads none of it.
	if fresh := keep(t, NewScanner(root, ScanConfig{CacheLimit: testLimit}), k); fresh.Root != res.Root || !slices.Equal(fresh.Left, res.Left) || fresh.Hashed != 4 {
		t.Errorf("%+v", fresh)
	}
	// It is back when it is small again, and everything is without a limit.
	if err := os.Remove(filepath.Join(root, "a/node_modules/y")); err != nil {
		t.Fatal(err)
	}
	if res = keep(t, s, k); !slices.Equal(res.Left, []string{"tagged"}) || !slices.Contains(paths(t, k, res.Root), "a/node_modules/x/big") {
		t.Errorf("left %v", res.Left)
	}
	if all := keep(t, NewScanner(root, ScanConfig{}), k); len(all.Left) != 0 || !slices.Contains(paths(t, k, all.Root), "tagged/big") {
		t.Errorf("without a limit: %v", all.Left)
	}
}

// TestWhatIsLeftOutStaysWhereItIs goes to moments before and after there was a
// project with a large cache, and everything else is exact each time.
func TestWhatIsLeftOutStaysWhereItIs(t *testing.T) {
	t.Parallel()
	root, k := t.TempDir(), newKeeper(t)
	s := NewScanner(root, ScanConfig{CacheLimit: testLimit})
	put(t, root, "other/x", 5)
	moments := []Result{keep(t, s, k)}
	if err := os.MkdirAll(filepath.Join(root, "p/sub"), 0o750); err != nil {
		t.Fatal(err)
	}
	moments = append(moments, keep(t, s, k)) // an empty folder
	put(t, root, "p/sub/node_modules/a", 10)
	moments = append(moments, keep(t, s, k)) // the cache while it was kept
	put(t, root, "p/sub/code", 7)
	put(t, root, "p/sub/node_modules/b", 2*testLimit)
	moments = append(moments, keep(t, s, k))
	cache := filepath.Join(root, "p/sub/node_modules")
	held := treeHash(t, cache)
	for _, i := range []int{0, 3, 1, 0, 2, 3, 2, 0, 3} {
		want, err := Without(t.Context(), k, moments[i].Root, []string{"p/sub/node_modules"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Restore(t.Context(), moments[i].Root, k, RestoreOptions{})
		if err != nil || got.Root != want {
			t.Fatalf("moment %d: %v, %s and not %s", i, err, got.Root, want)
		}
		if treeHash(t, cache) != held {
			t.Fatalf("moment %d: the cache is not as it was", i)
		}
		if res := keep(t, NewScanner(root, ScanConfig{CacheLimit: testLimit}), k); res.Root != want || !slices.Equal(res.Left, []string{"p/sub/node_modules"}) {
			t.Fatalf("moment %d: %+v", i, res)
		}
		_, err = os.Stat(filepath.Join(root, "p/sub/code"))
		if there := err == nil; there != (i == 3) {
			t.Fatalf("moment %d: code is there: %v", i, there)
		}
	}
	// Narrow, as a task is rolled back.
	if _, err := s.Restore(t.Context(), moments[2].Root, k, RestoreOptions{Only: func(p string) bool { return strings.HasPrefix(p, "p") }}); err != nil || treeHash(t, cache) != held {
		t.Errorf("narrow: %v", err)
	}
	// Once it is gone everything is exact again.
	if err := os.RemoveAll(cache); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Restore(t.Context(), moments[2].Root, k, RestoreOptions{}); err != nil || got.Root != moments[2].Root {
		t.Errorf("%v %+v", err, got)
	}
}

func TestACacheIsNotOverwrittenByAFile(t *testing.T) {
	t.Parallel()
	root, k := t.TempDir(), newKeeper(t)
	s := NewScanner(root, ScanConfig{CacheLimit: testLimit})
	put(t, root, "p", 1)
	then := keep(t, s, k)
	if err := os.Remove(filepath.Join(root, "p")); err != nil {
		t.Fatal(err)
	}
	put(t, root, "p/.cache/big", 2*testLimit)
	if _, err := s.Restore(t.Context(), then.Root, k, RestoreOptions{}); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, "p/.cache/big")); err != nil {
		t.Error(err)
	}
}

func TestALargeCacheIsLeftOutWhereverItsBytesAre(t *testing.T) {
	t.Parallel()
	root, k := t.TempDir(), newKeeper(t)
	s := NewScanner(root, ScanConfig{CacheLimit: testLimit})
	// Enough folders that helpers scan some of them.
	for i := range 40 {
		for _, name := range strings.Fields("a b c d e f g h i j k l") {
			put(t, root, filepath.Join("n/__pycache__", string(rune('A'+i)), name), 100)
		}
	}
	if res := keep(t, s, k); len(res.Left) != 0 {
		t.Fatalf("left %v", res.Left)
	}
	put(t, root, "n/__pycache__/A/grown", testLimit)
	put(t, root, "n/src.py", 4)
	res := keep(t, s, k)
	if want := []string{"", "n", "n/src.py"}; !slices.Equal(paths(t, k, res.Root), want) || !slices.Equal(res.Left, []string{"n/__pycache__"}) {
		t.Errorf("left %v of %v", res.Left, paths(t, k, res.Root))
	}
	// A scan of one folder tells of it too.
	part, err := s.ScanBelow(t.Context(), []string{"n"}, nil)
	if err != nil || !slices.Equal(part.Left, res.Left) || part.Root != res.Root {
		t.Errorf("%v %+v", err, part)
	}
}
