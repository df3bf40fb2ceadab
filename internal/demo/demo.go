// Package demo carries the recorded demo: a small real repository and recorded answers of the
// model. Everything else in a demo run is real.
package demo

import (
	"archive/tar"
	"bytes"
	"embed"
	"io/fs"
	"strings"
	"time"

	"choiros/internal/choir"
)

// Name is the demo's project under workspace/.
const Name = "tally"

// Prompt is the prompt of the demo.
const Prompt = "tally lists every word. Give it an option --top N that lists only the N most frequent ones, with a test and a line in the README."

//go:embed all:repo
var repo embed.FS

//go:embed recording.jsonl
var recording []byte

// Recording returns the recorded answers of the model.
func Recording() []byte { return recording }

// stamp is the modification time of every file, so that the demo is always the same.
var stamp = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// Stamp returns the time of the demo's first commit.
func Stamp() time.Time { return stamp }

// Tar returns the demo's repository as a tar.
func Tar() ([]byte, error) {
	sub, err := fs.Sub(repo, "repo")
	if err != nil {
		return nil, choir.Wrap("demo.tar", choir.CodeInternal, err, "find the demo's repository")
	}
	return Pack(sub)
}

// Pack returns a tree of files as a tar with fixed times. Files in bin and *.sh are
// executable.
func Pack(tree fs.FS) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		h := &tar.Header{Name: path, Mode: 0o644, ModTime: stamp, Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if d.IsDir() {
			h.Typeflag, h.Mode = tar.TypeDir, 0o755
			return w.WriteHeader(h)
		}
		content, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		if strings.HasPrefix(path, "bin/") || strings.HasSuffix(path, ".sh") {
			h.Mode = 0o755
		}
		h.Size = int64(len(content))
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), choir.Wrap("demo.tar", choir.CodeInternal, err, "pack the demo's repository")
}
