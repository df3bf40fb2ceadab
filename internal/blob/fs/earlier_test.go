package fs

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"choiros/internal/choir"
)

// earlierContents is what test/fixtures/*/make_parts.py had a choir keep before it
// was killed.
func earlierContents() (all [][]byte) {
	for i := range 8 {
		all = append(all, bytes.Repeat(fmt.Appendf(nil, "content %d of the blob log\n", i), i*3+1))
	}
	return all
}

// TestTheLogOfAnEarlierChoirIsRead opens the logs of blob stores that were killed,
// whole and with a byte of one content flipped.
func TestTheLogOfAnEarlierChoirIsRead(t *testing.T) {
	t.Parallel()
	packed, err := filepath.Glob("../../../test/fixtures/*/blobwal.tar.xz")
	if err != nil || len(packed) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, path := range packed {
		logs := unpacked(t, path)
		for damaged := -1; damaged < len(earlierContents()); damaged++ {
			readsAll(t, logs, damaged)
		}
	}
}

// readsAll opens a store whose log has all earlier contents but the damaged one.
func readsAll(t *testing.T, logs map[string][]byte, damaged int) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, walDir), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, raw := range logs {
		if damaged >= 0 {
			raw = flipped(raw, earlierContents()[damaged])
		}
		if err := os.WriteFile(filepath.Join(dir, walDir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, want := range earlierContents() {
		r, err := s.Open(t.Context(), choir.DigestOf(want))
		if i == damaged {
			if choir.CodeOf(err) != choir.CodeNotFound {
				t.Errorf("content %d with a flipped byte: %v", i, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("content %d, with %d damaged: %v", i, damaged, err)
			continue
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
			t.Errorf("content %d, with %d damaged: %q, %v", i, damaged, got, err)
		}
		r.Close()
	}
}

// flipped is a log with one bit of each copy of a content flipped.
func flipped(raw, content []byte) []byte {
	raw = bytes.Clone(raw)
	for at := 0; ; {
		i := bytes.Index(raw[at:], content)
		if i < 0 {
			return raw
		}
		at += i
		raw[at+len(content)/2] ^= 1
	}
}

// unpacked are the files of a packed fixture.
func unpacked(t *testing.T, path string) map[string][]byte {
	t.Helper()
	raw, err := exec.Command("xz", "-dc", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(raw)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err == nil {
			all[h.Name], err = io.ReadAll(r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
