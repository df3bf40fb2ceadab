package fs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"choiros/internal/blob"
	"choiros/internal/blob/blobtest"
	"choiros/internal/blob/fs"
	"choiros/internal/choir"
)

// putDir makes this test binary put what it reads there and end: what strace sees.
const putDir = "CHOIR_BLOB_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(putDir); dir != "" {
		putOne(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

func putOne(dir string) {
	s, err := fs.Open(dir)
	if err == nil {
		_, _, err = s.Put(context.Background(), os.Stdin)
	}
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString("put returned\n")
	if err := s.Close(); err != nil {
		panic(err)
	}
}

func open(t *testing.T, dir string) *fs.Store {
	t.Helper()
	s, err := fs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// shut closes a store, after which all content lies in its files.
func shut(t *testing.T, s *fs.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) blob.Store { return open(t, t.TempDir()) })
}

// files lists what lies in a store besides its folders.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e iofs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			out = append(out, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAFileIsNamedByItsContentAndNothingElseStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	for range 2 {
		if _, _, err := s.Put(context.Background(), strings.NewReader("hello")); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, s)
	d := string(choir.DigestOf([]byte("hello")))
	if got := files(t, dir); len(got) != 1 || got[0] != d[:2]+"/"+d {
		t.Errorf("the folder holds %v", got)
	}
}

func TestDamageIsSeenWhenRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	d, _, err := s.Put(context.Background(), strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	s = open(t, dir)
	path := filepath.Join(dir, string(d[:2]), string(d))
	for _, content := range []string{"hellO", "hell", "hello!"} {
		os.Chmod(path, 0o600)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := blob.ReadAll(context.Background(), s, d, 100); choir.CodeOf(err) != choir.CodeCorrupt {
			t.Errorf("reading %q: %v, wanted corrupt", content, err)
		}
	}
	if _, _, err := s.Put(context.Background(), strings.NewReader("hello")); err != nil {
		t.Fatal(err)
	}
	if got, err := blob.ReadAll(context.Background(), s, d, 100); err != nil || string(got) != "hello" {
		t.Errorf("put again after it was cut: %q %v", got, err)
	}
}

func TestDamagedContentIsTakenAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	d, _, err := s.Put(t.Context(), strings.NewReader("whole"))
	if err == nil {
		err = s.Close()
	}
	path := filepath.Join(dir, string(d[:2]), string(d))
	if err = errors.Join(err, os.Chmod(path, 0o600), os.WriteFile(path, []byte("whale"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	if _, _, err := s.Put(t.Context(), strings.NewReader("whole")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if raw, err := blob.ReadAll(t.Context(), open(t, dir), d, 100); err != nil || string(raw) != "whole" {
		t.Errorf("got %q, %v", raw, err)
	}
}

func TestOpenRemovesWhatAnInterruptedPutLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shut(t, open(t, dir))
	left := filepath.Join(dir, "tmp", "7")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("the folder holds %v", got)
	}
}

func TestAFullDiskLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("mounting a small file system is not possible here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	s := open(t, filepath.Join(dir, "blobs"))
	_, _, err := s.Put(context.Background(), io.LimitReader(endless{}, 4<<20))
	if choir.CodeOf(err) != choir.CodeNoSpace {
		t.Errorf("got %v, wanted no_space", err)
	}
	b, err := s.Batch(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; err == nil; i++ {
		content := []byte(strings.Repeat(string(rune('a'+i)), 100_000))
		err = b.Add(choir.DigestOf(content), content)
	}
	if choir.CodeOf(err) != choir.CodeNoSpace {
		t.Errorf("got %v, wanted no_space", err)
	}
	b.Discard()
	if got := files(t, filepath.Join(dir, "blobs", "tmp")); len(got) != 0 {
		t.Errorf("the folder holds %v", got)
	}
	if _, _, err := s.Put(context.Background(), strings.NewReader("small")); err != nil {
		t.Errorf("with space again: %v", err)
	}
	shut(t, s)
	small := string(choir.DigestOf([]byte("small")))
	if got := files(t, dir); len(got) != 1 || got[0] != filepath.Join("blobs", small[:2], small) {
		t.Errorf("the folder holds %v", got)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// The order that makes a name a promise. Small content: synced in the log, and
// before that is thrown away, synced in its file, renamed, and the folder synced.
// Large content: the last three at once.
func TestContentIsSyncedBeforeItsNameAndTheNameBeforePutReturns(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed: the order of syncs cannot be seen")
	}
	for content, order := range map[string][]string{
		"small": {"pwrite64(", "/blobs/wal/0>", "fdatasync(", "/blobs/wal/0>", "put returned",
			"fsync(", "/blobs/tmp/", "mkdir", "FOLDER\"", "rename", "NAME", "fsync(", "FOLDER>", "fsync(", "BLOBS>", "unlink", "/blobs/wal/0"},
		strings.Repeat("large", 100_000): {"fsync(", "/blobs/wal>", "fsync(", "/blobs/tmp/", "mkdir", "FOLDER\"", "rename", "NAME", "fsync(", "FOLDER>", "fsync(", "BLOBS>", "put returned"},
	} {
		dir := t.TempDir()
		raw := trace(t, filepath.Join(dir, "blobs"), content)
		d := string(choir.DigestOf([]byte(content)))
		folder := filepath.Join(dir, "blobs", d[:2])
		at := 0
		for _, want := range order {
			want = strings.NewReplacer("NAME", folder+"/"+d, "FOLDER", folder, "BLOBS", filepath.Dir(folder)).Replace(want)
			i := strings.Index(raw[at:], want)
			if i < 0 {
				t.Fatalf("%q does not follow in\n%s", want, raw[at:])
			}
			at += i + len(want)
		}
	}
}

// trace puts content in a process of its own and lists its system calls.
func trace(t *testing.T, dir, content string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "trace")
	calls := "trace=mkdirat,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,write,pwrite64"
	cmd := exec.Command("strace", "-f", "-y", "-e", calls, "-o", out, os.Args[0])
	cmd.Env = append(os.Environ(), putDir+"="+dir)
	cmd.Stdin = strings.NewReader(content)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestASourceThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := errors.New("the line went dead")
	_, _, err := open(t, dir).Put(context.Background(), io.MultiReader(strings.NewReader("half"), failing{broken}))
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("the folder holds %v", got)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// A batch with much that the store has already, and a little that is new, once
// closed files that it wanted to sync.
func TestBatchOfMostlyKnownContent(t *testing.T) {
	s := open(t, t.TempDir())
	for _, n := range []int{100, 103} {
		b, err := s.Batch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			content := fmt.Appendf(nil, "content %d", i)
			if err := b.Add(choir.DigestOf(content), content); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Commit(); err != nil {
			t.Fatalf("a batch of %d: %v", n, err)
		}
	}
}
