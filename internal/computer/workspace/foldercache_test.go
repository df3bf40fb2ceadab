package workspace

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// manyFiles is a folder of n files, and a page of it as it would be listed now.
func manyFiles(n, page int) (m snapshot.Manifest, listed []choir.FileState) {
	for i := range n {
		e := snapshot.Entry{Name: fmt.Sprintf("file %06d", i), Kind: snapshot.File, Mode: 0o644, Size: int64(i) + 1, Sum: snapshot.Sum{byte(i), byte(i >> 8), 1}}
		m.Entries = append(m.Entries, e)
	}
	for _, e := range m.Entries[n-page:] {
		s := e.State("big/" + snapshot.EscapePath([]byte(e.Name)))
		s.Digest = ""
		listed = append(listed, s)
	}
	return m, listed
}

// keepFolder puts a folder into a new store.
func keepFolder(t testing.TB, m snapshot.Manifest) (*tree, choir.Digest) {
	t.Helper()
	store := mem.New(mem.Config{})
	raw := m.Encode()
	digest := choir.DigestOf(raw)
	if _, _, err := store.Put(context.Background(), bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	return &tree{keeper: snapshot.NewKeeper(store)}, digest
}

func TestFilesGetTheDigestsOfTheLastSnapshot(t *testing.T) {
	t.Parallel()
	m, listed := manyFiles(300, 100)
	tr, digest := keepFolder(t, m)
	listed[3].Size++ // written since
	listed[4].Path = "big/new"
	for range 2 { // read, then remembered
		known, err := tr.Entries(t.Context(), digest)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Clone(listed)
		fillDigests(known, got)
		for i, f := range got {
			want := m.Entries[200+i].Digest()
			if i == 3 || i == 4 {
				want = ""
			}
			if f.Digest != want {
				t.Fatalf("%s has %q, want %q", f.Path, f.Digest, want)
			}
		}
	}
}

func TestTheFolderCacheIsBounded(t *testing.T) {
	t.Parallel()
	var f folderCache
	name := func(i int) choir.Digest { return choir.Digest(fmt.Sprint(i)) }
	const n = cachedFolders + 12
	for i := range n {
		f.put(name(i), make([]snapshot.Entry, 10))
	}
	if _, ok := f.get(name(n - cachedFolders)); !ok || len(f.kept) != cachedFolders {
		t.Fatalf("%d folders are kept", len(f.kept))
	}
	// It was used last, so the one before it is let go of.
	f.put(name(n), nil)
	if _, ok := f.get(name(n - cachedFolders)); !ok {
		t.Error("what was used last is gone")
	}
	if _, ok := f.get(name(n + 1 - cachedFolders)); ok {
		t.Error("what was not used is kept")
	}
	f.put(name(n+79), make([]snapshot.Entry, cachedEntries+1))
	if _, ok := f.get(name(n + 79)); !ok || len(f.kept) != 1 {
		t.Errorf("a very large folder is kept with %d others", len(f.kept)-1)
	}
}

// BenchmarkFolderPage is a page of 1,000 of a folder of 50,000 files, with what
// is kept of it and without.
func BenchmarkFolderPage(b *testing.B) {
	m, listed := manyFiles(50_000, 1000)
	tr, digest := keepFolder(b, m)
	for _, kept := range []bool{false, true} {
		b.Run(fmt.Sprintf("kept=%v", kept), func(b *testing.B) {
			for b.Loop() {
				if !kept {
					tr.folders = folderCache{}
				}
				known, err := tr.Entries(b.Context(), digest)
				if err != nil {
					b.Fatal(err)
				}
				fillDigests(known, listed)
			}
		})
	}
}

// BenchmarkLookup finds one path in folders of different sizes: one that was read
// before takes the same time whatever its size.
func BenchmarkLookup(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n, " entries"), func(b *testing.B) {
			m, _ := manyFiles(n, 1)
			tr, digest := keepFolder(b, m)
			name := m.Entries[n/2].Name
			for b.Loop() {
				if e, err := tr.Lookup(b.Context(), digest, name); e == nil || err != nil {
					b.Fatal(e, err)
				}
			}
		})
	}
}

func TestLookupFindsEveryEntryAndNoOther(t *testing.T) {
	t.Parallel()
	m, _ := manyFiles(300, 1)
	tr, digest := keepFolder(t, m)
	for i, want := range m.Entries {
		e, err := tr.Lookup(t.Context(), digest, want.Name)
		if err != nil || e == nil || e.Name != want.Name || e.Size != want.Size {
			t.Fatalf("entry %d: %v, %v", i, e, err)
		}
		e.Size = -1 // a caller's change reaches nobody else
	}
	if e, err := tr.Lookup(t.Context(), digest, m.Entries[7].Name); err != nil || e.Size < 0 {
		t.Errorf("an entry that a caller changed is %v, %v for the next", e, err)
	}
	for _, name := range []string{"a", "file 000000x", "zzz", m.Entries[3].Name + "/below"} {
		if e, err := tr.Lookup(t.Context(), digest, name); e != nil || err != nil {
			t.Errorf("%q: %v, %v", name, e, err)
		}
	}
}
