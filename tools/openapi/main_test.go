package main

import (
	"os"
	"path/filepath"
	"testing"
)

const repository = "../.."

func TestTypesFollowFromTheDocument(t *testing.T) {
	t.Parallel()
	if err := check(repository); err != nil {
		t.Error(err)
	}
}

func TestChangedTypesAndAChangedWriterAreStale(t *testing.T) {
	t.Parallel()
	for _, changed := range []string{typesFile, writer, lock} {
		root := t.TempDir()
		for _, path := range []string{typesFile, writer, lock} {
			content, err := os.ReadFile(filepath.Join(repository, path))
			if err != nil {
				t.Fatal(err)
			}
			if path == changed {
				content[len(content)-2] ^= 1
			}
			if err := os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, path), content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if check(root) == nil {
			t.Errorf("%s was changed, and the types count as fresh", changed)
		}
	}
}
