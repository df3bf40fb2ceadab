package fs_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/blob"
	"choiros/internal/blob/fs"
	"choiros/internal/choir"
)

// TestSharedContentOutlivesEitherStore shares content, and removes it from one.
func TestSharedContentOutlivesEitherStore(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	top := t.TempDir()
	from, to := open(t, filepath.Join(top, "a")), open(t, filepath.Join(top, "b"))
	var all []choir.Digest
	for i := range 100 {
		d, _, err := from.Put(ctx, strings.NewReader(strings.Repeat("x", i)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	shut(t, from)
	from = open(t, filepath.Join(top, "a"))
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(top, "a", string(all[7][:2]), string(all[7])), old, old); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what is there already is no error
		if err := blob.Transfer(ctx, from, to, all); err != nil {
			t.Fatal(err)
		}
	}
	path := func(store string, d choir.Digest) string { return filepath.Join(top, store, string(d[:2]), string(d)) }
	a, errA := os.Stat(path("a", all[7]))
	b, errB := os.Stat(path("b", all[7]))
	if errA != nil || errB != nil || !os.SameFile(a, b) {
		t.Errorf("it was copied: %v %v", errA, errB)
	}
	if time.Since(b.ModTime()) > time.Hour {
		t.Errorf("a collection would take it for old: %s", b.ModTime())
	}
	if err := os.Remove(path("a", all[7])); err != nil {
		t.Fatal(err)
	}
	if got, err := blob.ReadAll(ctx, to, all[7], 100); err != nil || len(got) != 7 {
		t.Errorf("after it was removed from the first: %q, %v", got, err)
	}
	missing := choir.DigestOf([]byte("missing"))
	if err := blob.Transfer(ctx, from, to, []choir.Digest{missing}); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("what is not there: %v", err)
	}
}

// What is only in the log of a store is in its file before that is shared.
func TestWhatWasJustPutIsShared(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	from, to := open(t, filepath.Join(top, "a")), open(t, filepath.Join(top, "b"))
	d, _, err := from.Put(t.Context(), strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	if left, err := to.Link(t.Context(), from, []choir.Digest{d}); err != nil || len(left) > 0 {
		t.Fatalf("left %v, %v", left, err)
	}
	if got, err := blob.ReadAll(t.Context(), to, d, 100); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
}

// plain is a store without the power to share.
type plain struct{ blob.Store }

func TestContentOfAnotherKindOfStoreIsCopied(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	from, to := open(t, t.TempDir()), open(t, t.TempDir())
	d, _, err := from.Put(ctx, strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	if err := blob.Transfer(ctx, plain{from}, to, []choir.Digest{d}); err != nil {
		t.Fatal(err)
	}
	if got, err := blob.ReadAll(ctx, to, d, 100); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
}

var _ blob.Linker = (*fs.Store)(nil)
