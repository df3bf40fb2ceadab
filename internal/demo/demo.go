// Package demo carries the recorded demo: a small real repository and the
// model's recorded words. Everything else in a demo run is real.
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

// Prompt is what the demo asks for.
const Prompt = "tally lists every word. Give it an option --top N that lists only the N most frequent ones, with a test and a line in the README."

// Notice is shown wherever the demo is.
const Notice = "This is a recording: the model's words were recorded earlier. Director, Associate, sandbox, verification and checkpoint are real."

//go:embed all:repo
var repo embed.FS

//go:embed recording.jsonl
var recording []byte

// Recording is the model's recorded words.
func Recording() []byte { return recording }

// stamp is the time of every file, so that the demo begins the same everywhere.
var stamp = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// Stamp is when the demo's first commit was made.
func Stamp() time.Time { return stamp }

// Tar packs the demo's repository.
func Tar() ([]byte, error) {
	sub, err := fs.Sub(repo, "repo")
	if err != nil {
		return nil, choir.Wrap("demo.tar", choir.CodeInternal, err, "find the demo's repository")
	}
	return Pack(sub)
}

// Pack writes a tree as a tar stream with fixed times; scripts are executable.
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
