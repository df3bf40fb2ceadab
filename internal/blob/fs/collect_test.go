package fs

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

func TestWhatIsOldIsListedAndRemoved(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	put := func(content string) choir.Digest {
		d, _, err := s.Put(ctx, strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	old, fresh := put("old"), put("fresh")
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(s.path(old), long, long); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "ab"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "ab", "not ours"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	seen := map[choir.Digest]int64{}
	if err := s.Each(ctx, func(i blob.Info) error { seen[i.Digest] = i.Size; return nil }); err != nil || len(seen) != 2 || seen[old] != 3 || seen[fresh] != 5 {
		t.Errorf("it lists %v: %v", seen, err)
	}
	limit := time.Now().Add(-time.Minute)
	for d, want := range map[choir.Digest]bool{fresh: false, old: true, choir.DigestOf([]byte("none")): false} {
		if gone, err := s.Remove(ctx, d, limit); gone != want || err != nil {
			t.Errorf("%s: removed %v, %v", d, gone, err)
		}
	}
	if _, err := s.Size(ctx, old); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("it is still there: %v", err)
	}
	// Whoever puts again what is there makes it fresh.
	if err := os.Chtimes(s.path(fresh), long, long); err != nil {
		t.Fatal(err)
	}
	put("fresh")
	if gone, err := s.Remove(ctx, fresh, limit); gone || err != nil {
		t.Errorf("what was put again is removed: %v", err)
	}
	if _, err := s.Remove(ctx, "x", limit); choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("no digest: %v", err)
	}
	if err := s.Touch(ctx, old); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("a touch of nothing: %v", err)
	}
}

// What has no file yet is listed, kept while it is fresh, and removed.
func TestWhatIsInTheLogIsCollectedToo(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := opened(t, t.TempDir())
	t.Cleanup(func() { s.Close() })
	commit(t, s, "settled")
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	commit(t, s, "stays", "goes")
	seen := map[choir.Digest]int{}
	if err := s.Each(ctx, func(i blob.Info) error { seen[i.Digest]++; return nil }); err != nil || len(seen) != 3 {
		t.Errorf("it lists %v: %v", seen, err)
	}
	goes := choir.DigestOf([]byte("goes"))
	if gone, err := s.Remove(ctx, goes, time.Now().Add(-time.Hour)); gone || err != nil {
		t.Errorf("what is fresh: removed %v, %v", gone, err)
	}
	if gone, err := s.Remove(ctx, goes, time.Now().Add(time.Hour)); !gone || err != nil {
		t.Errorf("what is old: removed %v, %v", gone, err)
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Size(ctx, goes); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("it is back: %v", err)
	}
	wantRead(t, s, "settled", "stays")
}

// TestWhatIsPutBesideACollectionStays puts content that is there, and old, while a
// collection removes what is old: once it is acknowledged it stays.
func TestWhatIsPutBesideACollectionStays(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := opened(t, t.TempDir())
	long, limit := time.Now().Add(-time.Hour), time.Now().Add(-time.Minute)
	for i := range 1000 {
		content := "content " + strconv.Itoa(i%10)
		d, _, err := s.Put(ctx, strings.NewReader(content))
		if err == nil {
			err = s.Flush()
		}
		if err == nil {
			err = os.Chtimes(s.path(d), long, long)
		}
		if err != nil {
			t.Fatal(err)
		}
		var removing sync.WaitGroup
		removing.Go(func() {
			if _, err := s.Remove(ctx, d, limit); err != nil {
				t.Error(err)
			}
		})
		_, _, err = s.Put(ctx, strings.NewReader(content))
		removing.Wait()
		if size, serr := s.Size(ctx, d); err != nil || serr != nil || size != int64(len(content)) {
			t.Fatalf("round %d: put %v, then %d bytes, %v", i, err, size, serr)
		}
	}
}
