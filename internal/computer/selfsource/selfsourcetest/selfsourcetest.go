// Package selfsourcetest makes sources of a desktop for tests.
package selfsourcetest

import (
	"archive/tar"
	"bytes"
	"io"
	"maps"
	"path"
	"slices"
	"testing"
	"time"
)

// Pack packs files as tools/packdesktop does, folders before what is in them.
func Pack(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	stamp := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	folders := map[string]bool{}
	put := func(h tar.Header, content string) {
		h.ModTime, h.Size = stamp, int64(len(content))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if dir := path.Dir(name); !folders[dir] {
			folders[dir] = true
			put(tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755}, "")
		}
		put(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}, files[name])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
