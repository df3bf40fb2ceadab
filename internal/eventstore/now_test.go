package eventstore

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"choiros/internal/choir"
)

// changedOften is a log in which a few windows, settings and documents, and one
// of many files, have been changed so many times.
func changedOften(t testing.TB, changes int) *Store {
	t.Helper()
	s := open(t, t.TempDir())
	window, doc := newID(), newID()
	add(t, s, "", "", choir.WindowOpened{Window: window, App: "files", Bounds: choir.Rect{Width: 400, Height: 300}})
	add(t, s, "", "", choir.DocumentCreated{Document: doc, Title: "t", Content: "x"})
	tree := choir.DigestOf([]byte("tree"))
	file := func(path string, n int) choir.FileState {
		return choir.FileState{Path: path, Kind: "file", Size: int64(n), Digest: choir.DigestOf([]byte(path))}
	}
	for from := 0; from < 1000; from += 100 {
		var files []choir.FileState
		for i := range 100 {
			files = append(files, file(fmt.Sprintf("d%02d/f%04d", from/100, from+i), 1))
		}
		add(t, s, "", "", choir.FileWritten{Files: files, Snapshot: tree})
	}
	for n := 0; n < changes; {
		var drafts []choir.Draft
		for range min(250, changes/4) {
			drafts = append(drafts,
				draft(t, choir.WindowMoved{Window: window, Bounds: choir.Rect{X: n % 5000, Width: 400, Height: 300}}, "", ""),
				draft(t, choir.SettingChanged{Key: "k", Value: fmt.Sprint(n)}, "", ""),
				draft(t, choir.DocumentVersioned{Document: doc, Version: n/4 + 1, Content: "x"}, "", ""),
				draft(t, choir.FileWritten{Files: []choir.FileState{file("d05/f0500", n)}, Snapshot: tree}, "", ""))
			n += 4
		}
		must[[]choir.Receipt](t)(s.Append(context.Background(), choir.RoleShell, drafts...))
	}
	return s
}

// BenchmarkNow reads what holds now from a new log and from one in which all of
// it was changed 60,000 times: the two must cost the same.
func BenchmarkNow(b *testing.B) {
	ctx := context.Background()
	for _, changes := range []int{4, 60_000} {
		s := changedOften(b, changes)
		for name, read := range map[string]func() error{
			"windows":   func() error { _, err := s.Windows(ctx, 0); return err },
			"settings":  func() error { _, err := s.Settings(ctx, 0); return err },
			"documents": func() error { _, err := s.Documents(ctx, 0); return err },
			"folder":    func() error { _, err := s.Files(ctx, 0, "d05/", 1000, ""); return err },
			"no-folder": func() error { _, err := s.Files(ctx, 0, "c/", 1000, ""); return err },
		} {
			b.Run(fmt.Sprintf("%s/after-%d", name, changes), func(b *testing.B) {
				for b.Loop() {
					if err := read(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestFilesOfAPrefixAreThose: the bounds of the search are those of the prefix,
// now and then.
func TestFilesOfAPrefixAreThose(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t, t.TempDir())
	all := []string{"a", "a/b", "a/c", "a0", "b", "z\u007f", "\u00bf", "\u00bf/x", "\u00c0"}
	var files []choir.FileState
	for _, path := range all {
		files = append(files, choir.FileState{Path: path, Kind: "file", Size: 1, Digest: choir.DigestOf([]byte(path))})
	}
	tree := choir.DigestOf([]byte("tree"))
	written := add(t, s, "", "", choir.FileWritten{Files: files, Snapshot: tree}).Seq
	add(t, s, "", "", choir.FileRemoved{Paths: []string{"a/c"}, Snapshot: tree})
	paths := func(asOf uint64, prefix, after string) (out []string) {
		for _, f := range must[[]choir.FileState](t)(s.Files(ctx, asOf, prefix, 0, after)) {
			out = append(out, f.Path)
		}
		return out
	}
	for _, prefix := range append(slices.Clone(all), "", "a/", "c", "\u00bf/") {
		for _, after := range []string{"", "a", "a/b", "z"} {
			var now, then []string
			for _, path := range all {
				if len(path) < len(prefix) || path[:len(prefix)] != prefix || path <= after {
					continue
				}
				then = append(then, path)
				if path != "a/c" {
					now = append(now, path)
				}
			}
			if got := paths(0, prefix, after); !slices.Equal(got, now) {
				t.Errorf("now %q after %q: %q, wanted %q", prefix, after, got, now)
			}
			if got := paths(written, prefix, after); !slices.Equal(got, then) {
				t.Errorf("then %q after %q: %q, wanted %q", prefix, after, got, then)
			}
		}
	}
}
