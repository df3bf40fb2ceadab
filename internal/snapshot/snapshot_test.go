package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"choiros/internal/blob/fs"
	"choiros/internal/blob/mem"
	"choiros/internal/choir"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// treeHash is a hash over everything that "exact" means, by a walk that shares
// nothing with the package: lstat and readlink by path.
func treeHash(tb testing.TB, root string) string {
	tb.Helper()
	h := sha256.New()
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		st := new(unix.Stat_t)
		if err := unix.Lstat(path, st); err != nil {
			return err
		}
		if st.Mode&unix.S_IFMT == unix.S_IFSOCK {
			return nil
		}
		rel, _ := filepath.Rel(root, path)
		fmt.Fprintf(h, "%q %o %d.%d", rel, st.Mode, st.Mtim.Sec, st.Mtim.Nsec)
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(h, " %x", sha256.Sum256(content))
		case unix.S_IFLNK:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(h, " %q", target)
		}
		fmt.Fprintln(h)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// newKeeper keeps in memory.
func newKeeper(testing.TB) *Keeper { return NewKeeper(mem.New(mem.Config{})) }

// diskKeeper keeps in a real store, for tests of what is large.
func diskKeeper(tb testing.TB) *Keeper {
	tb.Helper()
	store, err := fs.Open(memoryDir(tb))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { store.Close() })
	return NewKeeper(store)
}

// keep scans and stores, asking for what lacks, as the control protocol does.
func keep(tb testing.TB, s *Scanner, k *Keeper) Result {
	tb.Helper()
	ctx := context.Background()
	in, err := k.NewIntake(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	defer in.Discard()
	add := func(o Object) error { return in.Add(ctx, o) }
	result, err := s.Scan(ctx, add)
	if err != nil {
		tb.Fatal(err)
	}
	for {
		need, err := in.Need(ctx, result.Root, 100)
		if err != nil {
			tb.Fatal(err)
		}
		if len(need) == 0 {
			break
		}
		missing, err := s.Fetch(ctx, need, add)
		if err != nil || len(missing) > 0 {
			tb.Fatalf("missing %v, %v", missing, err)
		}
	}
	files, bytes, err := in.Commit(ctx, result.Root)
	if err != nil {
		tb.Fatal(err)
	}
	if files != result.Files || bytes != result.Bytes {
		tb.Fatalf("the keeper counts %d files and %d bytes, the scanner %d and %d", files, bytes, result.Files, result.Bytes)
	}
	return result
}

// memoryDir is a folder in memory where that can be had.
func memoryDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "choir-test-")
	if err != nil {
		return tb.TempDir()
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func write(tb testing.TB, root, path, content string) {
	tb.Helper()
	full := filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		tb.Fatal(err)
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func wantCode(tb testing.TB, err error, code choir.Code) {
	tb.Helper()
	if choir.CodeOf(err) != code {
		tb.Fatalf("got %v (code %q), want %q", err, choir.CodeOf(err), code)
	}
}
