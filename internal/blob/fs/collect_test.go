package fs

import (
	"context"
	"os"
	"path/filepath"
	"strings"
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
	put := func(content string) choir.Digest {
		d, _, err := s.Put(ctx, strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	old, fresh := put("old"), put("fresh")
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(s.path(old), long, long); err != nil {
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
