package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// packed is what an archive of the source holds: content by name, and of links
// where they lead.
func packed(t *testing.T, from string) map[string]string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "source.tar")
	if err := packSource(from, to); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(raw)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[h.Name] = string(content)
		if h.Typeflag == tar.TypeSymlink {
			out[h.Name] = "-> " + h.Linkname
		}
	}
}

func TestBaseIsPackedAsAFolderOfTheDesktop(t *testing.T) {
	ui := t.TempDir()
	for name, content := range map[string]string{
		"base/kit/a.ts": "a", "base/node_modules/x.js": "x", "desktop/src/main.ts": "m", "desktop/node_modules/react.js": "r",
	} {
		path := filepath.Join(ui, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"base": "../base", "src/again.ts": "main.ts"} {
		if err := os.Symlink(target, filepath.Join(ui, "desktop", name)); err != nil {
			t.Fatal(err)
		}
	}
	got := packed(t, filepath.Join(ui, "desktop"))
	want := map[string]string{
		"./": "", "base/": "", "base/kit/": "", "base/kit/a.ts": "a", "src/": "", "src/main.ts": "m", "src/again.ts": "-> main.ts",
	}
	if !maps.Equal(got, want) {
		t.Errorf("packed are %q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

// A workspace has nothing beside the desktop's source, so all that it imports
// travels with it.
func TestTheDesktopIsPackedWhole(t *testing.T) {
	got := packed(t, "../../ui/desktop")
	for _, name := range []string{"package.json", "src/main.tsx", "base/domain/contracts.ts", "base/kit/Button.tsx", "base/styles/tokens.css"} {
		if got[name] == "" {
			t.Errorf("the archive lacks %s", name)
		}
	}
	for name, content := range got {
		if target, link := strings.CutPrefix(content, "-> "); link {
			t.Errorf("%s is a link to %s", name, target)
		}
		if strings.Contains(name, "node_modules") {
			t.Errorf("the archive has %s", name)
		}
	}
}
