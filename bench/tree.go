package bench

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"choiros/internal/choir"
)

// filesEach is how many files lie in a folder of a measured tree, foldersEach
// how many of those in a folder above.
const (
	filesEach   = 50
	foldersEach = 50
)

// treeFile is file i of a measured tree: a few hundred bytes, all different.
func treeFile(i int) (name string, content []byte) {
	name = fmt.Sprintf("d%03d/e%02d/file%02d.go", i/(filesEach*foldersEach), i/filesEach%foldersEach, i%filesEach)
	return name, fmt.Appendf(nil, "package p%d\n%s", i, strings.Repeat(fmt.Sprintf("// line of file %d\n", i), 20))
}

// changedFile names the file that is written before every sample.
func changedFile(files int) string {
	name, _ := treeFile(files / 2)
	return name
}

// treeTar writes a tree as a tar stream.
func treeTar(w io.Writer, files int) error {
	t := tar.NewWriter(w)
	made := map[string]bool{}
	for i := range files {
		name, content := treeFile(i)
		for _, dir := range []string{path.Dir(path.Dir(name)), path.Dir(name)} {
			if made[dir] {
				continue
			}
			made[dir] = true
			if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: benchTime.Std()}); err != nil {
				return err
			}
		}
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: benchTime.Std()}); err != nil {
			return err
		}
		if _, err := t.Write(content); err != nil {
			return err
		}
	}
	return t.Close()
}

// tarOf is treeTar in memory.
func tarOf(files int) (*bytes.Reader, error) {
	var b bytes.Buffer
	if err := treeTar(&b, files); err != nil {
		return nil, choir.Wrap("bench", choir.CodeInternal, err, "write a tar stream")
	}
	return bytes.NewReader(b.Bytes()), nil
}

// gitPeer is an identical tree under git.
type gitPeer struct {
	dir      string
	files    int
	settings []string // name=value
}

const gitCommitPeer = "git add -A && git commit in an identical tree"

// newGitPeer makes the tree and its first commit, with settings for git's command line.
func newGitPeer(ctx context.Context, dir string, files int, settings ...string) (*gitPeer, error) {
	g := &gitPeer{dir, files, settings}
	for i := range files {
		name, content := treeFile(i)
		file := filepath.Join(dir, name)
		if i%filesEach == 0 {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return nil, choir.Wrap("bench", choir.CodeUnavailable, err, "make a tree")
			}
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return nil, choir.Wrap("bench", choir.CodeUnavailable, err, "make a tree")
		}
	}
	return g, errors.Join(g.git(ctx, "init", "-q", "-b", "main"), g.commit(ctx))
}

// git runs git as it is when nobody has configured it.
func (g *gitPeer) git(ctx context.Context, args ...string) error {
	argv := []string{"git", "-c", "user.name=bench", "-c", "user.email=bench@choir.invalid"}
	for _, s := range g.settings {
		argv = append(argv, "-c", s)
	}
	cmd := quiet(ctx, g.dir, append(argv, args...)...)
	out, err := cmd.CombinedOutput()
	return choir.Wrap("bench", choir.CodeUnavailable, err, "git %s: %s", args[0], bytes.TrimSpace(out))
}

func (g *gitPeer) commit(ctx context.Context) error {
	if err := g.git(ctx, "add", "-A"); err != nil {
		return err
	}
	return g.git(ctx, "commit", "-q", "-m", "change")
}

// sample changes one file and commits it.
func (g *gitPeer) sample(ctx context.Context) (float64, error) {
	if err := change(filepath.Join(g.dir, changedFile(g.files))); err != nil {
		return 0, err
	}
	began := time.Now()
	err := g.commit(ctx)
	return millis(time.Since(began)), err
}

// changes numbers the contents of changed files, so that none is written twice.
var changes atomic.Int64

// change writes a file anew with content it never had.
func change(file string) error {
	err := os.WriteFile(file, fmt.Appendf(nil, "package p\n// change %d\n", changes.Add(1)), 0o644)
	return choir.Wrap("bench", choir.CodeUnavailable, err, "change a file")
}

// treeSizes are the trees that are measured, and with how many samples.
func (l *lab) treeSizes() []treeSize {
	all := []treeSize{{1_000, 50}, {10_000, 50}, {100_000, 20}}
	if l.quick {
		return all[:1]
	}
	return all
}

type treeSize struct{ files, n int }

func (s treeSize) name() string { return thousands(s.files) + " files" }

// leftOut gives the rows that a quick run does not measure.
func (l *lab) leftOut(peer string, emit func(Row)) {
	if !l.quick {
		return
	}
	for _, files := range []int{10_000, 100_000} {
		emit(Row{Case: treeSize{files: files}.name(), Unit: "ms", Peer: peer, Skipped: "left out of a quick run"})
	}
}
