package snapshot

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"choiros/internal/choir"
)

// names that a tree is made of; few, so that kinds meet each other.
var names = []string{"a", "b", "c.go", "caf\xc3\xa9", "bad\xff\xfe", "line\nbreak", "100%", ".git", "HEAD", "-x", " ", strings.Repeat("n", 255)}

// mutate does something at random to the tree below root.
func mutate(t *rapid.T, root string) {
	dirs := []string{root}
	filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	dir := rapid.SampledFrom(dirs).Draw(t, "dir")
	if len(dir) > 1500 { // path names, not the package, end at 4096
		return
	}
	path := filepath.Join(dir, rapid.SampledFrom(names).Draw(t, "name"))
	if strings.HasSuffix(path, " ") {
		path = dir + "/ "
	}
	info, err := os.Lstat(path)
	there := err == nil
	stamp := time.Unix(rapid.Int64Range(-1e9, 4e9).Draw(t, "sec"), rapid.Int64Range(0, 999999999).Draw(t, "nsec"))
	mode := os.FileMode(rapid.Uint32Range(0, 0o777).Draw(t, "mode"))
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0, 1, 2: // a file with content, or other content
		if there {
			os.RemoveAll(path)
		}
		os.WriteFile(path, []byte(rapid.StringN(0, 50, 200).Draw(t, "content")), 0o644)
	case 3:
		if there {
			os.RemoveAll(path)
		}
		os.Mkdir(path, 0o755)
	case 4:
		if there {
			os.RemoveAll(path)
		}
		os.Symlink(rapid.SampledFrom([]string{"a", "../b", "/etc/passwd", "dangling\xff", "."}).Draw(t, "target"), path)
	case 5:
		if there {
			os.RemoveAll(path)
		}
		unix.Mkfifo(path, 0o644)
	case 6:
		os.RemoveAll(path)
	case 7: // in place
		if there && info.Mode().IsRegular() {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				f.WriteString("more")
				f.Close()
			}
		}
	case 8:
		if there && info.Mode()&os.ModeSymlink == 0 {
			os.Chmod(path, mode|os.FileMode(rapid.SampledFrom([]uint32{0, uint32(os.ModeSticky), uint32(os.ModeSetuid), uint32(os.ModeSetgid)}).Draw(t, "special")))
		}
	case 9:
		other := filepath.Join(rapid.SampledFrom(dirs).Draw(t, "to"), rapid.SampledFrom(names).Draw(t, "newname"))
		if !strings.HasPrefix(other+"/", path+"/") {
			os.Rename(path, other)
		}
	}
	if there && info.Mode()&os.ModeSymlink == 0 && rapid.Bool().Draw(t, "touch") {
		os.Chtimes(path, stamp, stamp)
	}
}

func TestRestoreGivesTheExactTreeBack(t *testing.T) {
	ctx := context.Background()
	base := memoryDir(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		root := filepath.Join(base, fmt.Sprint(n))
		must(t, os.Mkdir(root, 0o755))
		defer os.RemoveAll(root)
		k := newKeeper(t)
		s := NewScanner(root, ScanConfig{})
		for range rapid.IntRange(0, 30).Draw(rt, "grow") {
			mutate(rt, root)
		}
		a := keep(t, s, k)
		hashA := treeHash(t, root)
		for range rapid.IntRange(0, 20).Draw(rt, "change") {
			mutate(rt, root)
		}
		b := keep(t, s, k)
		hashB := treeHash(t, root)
		if (a.Root == b.Root) != (hashA == hashB) {
			rt.Fatalf("digests say %v, the trees %v", a.Root == b.Root, hashA == hashB)
		}
		for _, want := range []struct {
			root choir.Digest
			hash string
		}{{a.Root, hashA}, {b.Root, hashB}, {a.Root, hashA}} {
			r, err := s.Restore(ctx, want.root, k, RestoreOptions{})
			if err != nil || r.Root != want.root {
				rt.Fatalf("restore gave %v, %v", r, err)
			}
			if got := treeHash(t, root); got != want.hash {
				rt.Fatal("the tree is another one")
			}
			fresh, err := NewScanner(root, ScanConfig{}).Scan(ctx, nil)
			if err != nil || fresh.Root != want.root {
				rt.Fatalf("a fresh scan gives %s, not %s: %v", fresh.Root, want.root, err)
			}
		}
	})
}

func TestRestoreWritesOnlyWhatDiffers(t *testing.T) {
	root, k := t.TempDir(), newKeeper(t)
	for i := range 50 {
		write(t, root, fmt.Sprintf("d%d/f%d", i%5, i), fmt.Sprint(i))
	}
	s := NewScanner(root, ScanConfig{})
	before := keep(t, s, k)
	var untouched unix.Stat_t
	must(t, unix.Stat(filepath.Join(root, "d1/f1"), &untouched))
	write(t, root, "d0/f0", "other")
	write(t, root, "d1/extra", "extra")
	must(t, os.Chmod(filepath.Join(root, "d2/f2"), 0o600))
	r, err := s.Restore(context.Background(), before.Root, k, RestoreOptions{})
	must(t, err)
	if r.Written != 1 || r.Removed != 1 || r.Changed != 2 { // d1's time and d2/f2's mode
		t.Errorf("got %+v", r)
	}
	var now unix.Stat_t
	must(t, unix.Stat(filepath.Join(root, "d1/f1"), &now))
	if now.Ino != untouched.Ino || now.Ctim != untouched.Ctim {
		t.Error("an untouched file was touched")
	}
	if again, err := s.Restore(context.Background(), before.Root, k, RestoreOptions{}); err != nil || again.Written+again.Changed+again.Removed != 0 {
		t.Errorf("restoring again did %+v, %v", again, err)
	}
}

func TestRestoreFollowsNoLinks(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, "dir/keep", "outside")
	hash := treeHash(t, outside)
	root, k := t.TempDir(), newKeeper(t)
	write(t, root, "dir/keep", "inside")
	write(t, root, "file", "inside")
	s := NewScanner(root, ScanConfig{})
	before := keep(t, s, k)
	inside := treeHash(t, root)
	must(t, os.RemoveAll(filepath.Join(root, "dir")))
	must(t, os.Remove(filepath.Join(root, "file")))
	must(t, os.Symlink(filepath.Join(outside, "dir"), filepath.Join(root, "dir")))
	must(t, os.Symlink(filepath.Join(outside, "dir/keep"), filepath.Join(root, "file")))
	must(t, os.Symlink(outside, filepath.Join(root, "extra")))
	_, err := s.Restore(context.Background(), before.Root, k, RestoreOptions{})
	must(t, err)
	if treeHash(t, root) != inside || treeHash(t, outside) != hash {
		t.Error("a link was followed")
	}
}

func TestRestoreBreaksHardLinksThatChangeEachOther(t *testing.T) {
	root, k := t.TempDir(), newKeeper(t)
	write(t, root, "a", "same")
	write(t, root, "b", "same")
	must(t, os.Chmod(filepath.Join(root, "b"), 0o755))
	s := NewScanner(root, ScanConfig{})
	before := keep(t, s, k)
	hash := treeHash(t, root)
	must(t, os.Remove(filepath.Join(root, "b")))
	must(t, os.Link(filepath.Join(root, "a"), filepath.Join(root, "b")))
	_, err := s.Restore(context.Background(), before.Root, k, RestoreOptions{})
	must(t, err)
	if treeHash(t, root) != hash {
		t.Error("the tree is another one")
	}
}

func TestSocketsAreSkippedAndReported(t *testing.T) {
	root, k := t.TempDir(), newKeeper(t)
	write(t, root, "a", "x")
	l, err := net.Listen("unix", filepath.Join(root, "sock"))
	must(t, err)
	defer l.Close()
	s := NewScanner(root, ScanConfig{})
	for range 2 {
		r := keep(t, s, k)
		if len(r.Skipped) != 1 || r.Skipped[0] != "sock" || r.Files != 1 {
			t.Errorf("got %+v", r)
		}
		if _, err := s.Restore(context.Background(), r.Root, k, RestoreOptions{}); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(filepath.Join(root, "sock")); err != nil {
		t.Error("the socket is gone")
	}
}

func TestRestoreRefusesWhatIsNotThere(t *testing.T) {
	root, k := t.TempDir(), newKeeper(t)
	write(t, root, "a", "x")
	hash := treeHash(t, root)
	s := NewScanner(root, ScanConfig{})
	_, err := s.Restore(context.Background(), choir.DigestOf([]byte("nothing")), k, RestoreOptions{})
	wantCode(t, err, choir.CodeNotFound)
	_, err = s.Restore(context.Background(), "zz", k, RestoreOptions{})
	wantCode(t, err, choir.CodeInvalid)
	if treeHash(t, root) != hash {
		t.Error("something was changed")
	}
}

func TestRestoreOfAFullDiskLeavesEachPathWhole(t *testing.T) {
	small := t.TempDir()
	if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	defer unix.Unmount(small, unix.MNT_DETACH)
	k := newKeeper(t)
	big := t.TempDir()
	write(t, big, "one", strings.Repeat("1", 100<<10))
	write(t, big, "two", strings.Repeat("2", 300<<10))
	target := keep(t, NewScanner(big, ScanConfig{}), k)
	write(t, small, "two", "as it was")
	s := NewScanner(small, ScanConfig{})
	_, err := s.Restore(context.Background(), target.Root, k, RestoreOptions{})
	wantCode(t, err, choir.CodeNoSpace)
	if got, _ := os.ReadFile(filepath.Join(small, "two")); string(got) != "as it was" {
		t.Errorf("a path is half written: %d bytes", len(got))
	}
	left, _ := os.ReadDir(small)
	if len(left) != 2 {
		t.Errorf("something was left behind: %v", left)
	}
}
