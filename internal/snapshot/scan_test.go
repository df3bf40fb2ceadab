package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// scanning is a scanner with a clock in the test's hand and a record of what
// was emitted.
type scanning struct {
	*Scanner
	t    *testing.T
	root string
	late int64 // seconds that the clock is ahead
	got  []Object
}

func newScanning(t *testing.T) *scanning {
	s := &scanning{t: t, root: t.TempDir()}
	s.Scanner = NewScanner(s.root, ScanConfig{Now: func() Stamp {
		now := coarseNow()
		now.Sec += s.late
		return now
	}})
	return s
}

func (s *scanning) scan() Result {
	s.t.Helper()
	s.got = nil
	r, err := s.Scan(context.Background(), func(o Object) error {
		s.got = append(s.got, o)
		return nil
	})
	must(s.t, err)
	return r
}

func TestAWarmScanReadsNothing(t *testing.T) {
	s := newScanning(t)
	s.late = 10 // nothing is racy
	for i := range 1000 {
		write(t, s.root, fmt.Sprintf("d%d/f%d", i%9, i), fmt.Sprint(i))
	}
	cold := s.scan()
	if cold.Hashed != 1000 || len(s.got) != 1000+9+1 {
		t.Fatalf("cold: %+v, %d objects", cold, len(s.got))
	}
	if warm := s.scan(); warm.Hashed != 0 || len(s.got) != 0 || warm.Root != cold.Root {
		t.Errorf("warm: %+v, %d objects", warm, len(s.got))
	}
	write(t, s.root, "d3/f3", "changed")
	if one := s.scan(); one.Hashed != 1 || len(s.got) != 3 || one.Root == cold.Root {
		t.Errorf("one changed: %+v, %d objects", one, len(s.got))
	}
	must(t, os.Chmod(filepath.Join(s.root, "d3/f3"), 0o600))
	if r := s.scan(); len(s.got) != 2 {
		t.Errorf("a new mode: %+v, %d objects", r, len(s.got))
	}
}

// A write within the file system's tick, of the same length and with the time
// put back, shows in no stamp; only that the entry is racy makes it seen.
func TestAChangeWithinTheTickIsSeen(t *testing.T) {
	s := newScanning(t)
	path := filepath.Join(s.root, "f")
	write(t, s.root, "f", "aaaa")
	first := s.scan()
	var st unix.Stat_t
	must(t, unix.Stat(path, &st))
	must(t, os.WriteFile(path, []byte("bbbb"), 0o644))
	// The cache is made to hold the new stamps with the old content: what a
	// kernel with a coarse clock would have shown.
	must(t, unix.Stat(path, &st))
	s.Scanner.root.nodes[0].accept(&st)
	if second := s.scan(); second.Root == first.Root || second.Hashed != 1 {
		t.Errorf("the change was not seen: %+v", second)
	}
}

func TestATimeThatWasPutBackDoesNotHideAChange(t *testing.T) {
	s := newScanning(t)
	s.late = 10
	path := filepath.Join(s.root, "f")
	write(t, s.root, "f", "aaaa")
	first := s.scan()
	info, err := os.Stat(path)
	must(t, err)
	must(t, os.WriteFile(path, []byte("bbbb"), 0o644))
	must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	if second := s.scan(); second.Root == first.Root {
		t.Error("the change was not seen")
	}
}

func TestALargeFileIsStreamed(t *testing.T) {
	s, k := newScanning(t), diskKeeper(t)
	path := filepath.Join(s.root, "big")
	f, err := os.Create(path)
	must(t, err)
	const size = 128 << 20
	must(t, f.Truncate(size))
	must(t, f.Close())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := keep(t, s.Scanner, k)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
		t.Errorf("%d MiB were allocated for a file of 128 MiB", grown>>20)
	}
	if r.Bytes != size {
		t.Errorf("got %+v", r)
	}
}

func TestAnEmitThatFailsLosesNothing(t *testing.T) {
	s, k := newScanning(t), newKeeper(t)
	write(t, s.root, "d/a", "1")
	write(t, s.root, "d/b", "2")
	broken := errors.New("broken")
	n := 0
	_, err := s.Scan(context.Background(), func(Object) error {
		if n++; n == 2 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) {
		t.Fatalf("got %v", err)
	}
	if r := keep(t, s.Scanner, k); r.Files != 2 {
		t.Errorf("got %+v", r)
	}
}

func TestAFileThatChangesWhileItIsRead(t *testing.T) {
	s := newScanning(t)
	path := filepath.Join(s.root, "log")
	write(t, s.root, "log", strings.Repeat("x", 512<<10))
	ctx, stop := context.WithCancel(context.Background())
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return
		}
		defer f.Close()
		for ctx.Err() == nil {
			f.WriteString("x")
		}
	}()
	k := newKeeper(t)
	in, err := k.NewIntake(ctx)
	must(t, err)
	defer in.Discard()
	r, err := s.Scan(ctx, func(o Object) error { return in.Add(ctx, o) })
	stop()
	<-wrote
	must(t, err)
	// Whatever was read, the manifest says the truth about it.
	if _, _, err := in.Commit(context.Background(), r.Root); err != nil {
		t.Errorf("%+v: %v", r, err)
	}
	if settled := keep(t, s.Scanner, newKeeper(t)); len(settled.Unstable) != 0 || settled.Root == r.Root && len(r.Unstable) != 0 {
		t.Errorf("got %+v, then %+v", r, settled)
	}
}

// TestFoldersThatGoWhileTheyAreLookedAt removes folders that a scan has open, as a
// collection of git's or a user's rm does.
func TestFoldersThatGoWhileTheyAreLookedAt(t *testing.T) {
	s := newScanning(t)
	write(t, s.root, "kept/file", "x")
	s.scan()
	ctx, stop := context.WithCancel(t.Context())
	var removed atomic.Int64
	ended := make(chan error)
	go func() {
		var err error
		for ; ctx.Err() == nil && err == nil; removed.Add(1) {
			dir := filepath.Join(s.root, "kept", fmt.Sprint("goes", removed.Load()%64))
			if err = os.MkdirAll(filepath.Join(dir, "deep"), 0o755); err == nil {
				err = os.RemoveAll(dir)
			}
		}
		stop() // whoever scans need not wait for more
		ended <- err
	}()
	var err error
	for n := 0; err == nil && (n < 2000 || removed.Load() < 64); n++ {
		if n%2 == 0 {
			_, err = s.Scan(ctx, nil)
		} else {
			_, err = s.ScanBelow(ctx, []string{fmt.Sprint("kept/goes", n%64)}, nil)
		}
	}
	stop()
	if err = errors.Join(err, <-ended); err != nil {
		t.Fatalf("after %d folders: %v", removed.Load(), err)
	}
	must(t, os.RemoveAll(filepath.Join(s.root, "kept")))
	write(t, s.root, "kept/file", "x")
	if r := s.scan(); r.Files != 1 || r.Root != keep(t, NewScanner(s.root, ScanConfig{}), newKeeper(t)).Root {
		t.Errorf("got %+v", r)
	}
}

// TestARootThatGoes says so with its words.
func TestARootThatGoes(t *testing.T) {
	s := newScanning(t)
	fd, err := openRoot(s.root)
	must(t, err)
	defer unix.Close(fd)
	must(t, os.Remove(s.root))
	if _, err := s.run(t.Context(), fd, nil, nil); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("got %v", err)
	}
}

func TestFetchOfWhatIsGone(t *testing.T) {
	s := newScanning(t)
	write(t, s.root, "a", "1")
	write(t, s.root, "b", "2")
	s.scan()
	must(t, os.Remove(filepath.Join(s.root, "a")))
	want := []choir.Digest{choir.DigestOf([]byte("1")), choir.DigestOf([]byte("2")), choir.DigestOf([]byte("never"))}
	var got []choir.Digest
	missing, err := s.Fetch(context.Background(), want, func(o Object) error { got = append(got, o.Digest); return nil })
	must(t, err)
	if len(got) != 1 || got[0] != want[1] || len(missing) != 2 {
		t.Errorf("got %v, missing %v", got, missing)
	}
}

// asNobody runs the calling test in a process of a user without capabilities,
// when this one has them. It reports whether the caller should go on.
func asNobody(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return true
	}
	dir, err := os.MkdirTemp("", "nobody")
	must(t, err)
	defer os.RemoveAll(dir)
	must(t, os.Chmod(dir, 0o777))
	self := filepath.Join(dir, "test")
	must(t, copyFile(os.Args[0], self))
	cmd := exec.Command(self, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = dir, []string{"TMPDIR=" + dir, "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

// TestPlainUserKeepsWhatIsClosed scans files and folders whose modes keep their
// owner out: they are in the snapshot as they are, and their modes stay.
func TestPlainUserKeepsWhatIsClosed(t *testing.T) {
	if !asNobody(t) {
		return
	}
	root, k := t.TempDir(), newKeeper(t)
	write(t, root, "closed", "1")
	write(t, root, "large", strings.Repeat("x", smallFile+1))
	write(t, root, "d/in", "2")
	write(t, root, "listed/in", "3")
	write(t, root, "listed/sub/deep", "4")
	modes := map[string]os.FileMode{"closed": 0, "large": 0, "d/in": 0o200, "d": 0, "listed/sub": 0o100, "listed": 0o400, "": 0o300}
	closeAll := func() {
		for _, path := range []string{"closed", "large", "d/in", "d", "listed/sub", "listed", ""} {
			must(t, os.Chmod(filepath.Join(root, path), modes[path]))
		}
	}
	openAll := func() {
		for _, path := range []string{"", "listed", "listed/sub", "d", "d/in", "large", "closed"} {
			st, err := os.Stat(filepath.Join(root, path))
			if must(t, err); st.Mode().Perm() != modes[path] {
				t.Errorf("%q has mode %v, not %v", path, st.Mode().Perm(), modes[path])
			}
			must(t, os.Chmod(filepath.Join(root, path), 0o755))
		}
	}
	closeAll()
	s := NewScanner(root, ScanConfig{})
	held := keep(t, s, k)
	if want := []string{"", "closed", "d", "d/in", "large", "listed", "listed/in", "listed/sub", "listed/sub/deep"}; !slices.Equal(paths(t, k, held.Root), want) || len(held.Left) > 0 {
		t.Errorf("%v, left %v", paths(t, k, held.Root), held.Left)
	}
	if fresh := keep(t, NewScanner(root, ScanConfig{}), k); fresh.Root != held.Root {
		t.Error("another scan gives another snapshot")
	}
	openAll()
	write(t, root, "d/in", "other")
	must(t, os.Remove(filepath.Join(root, "closed")))
	got, err := s.Restore(t.Context(), held.Root, k, RestoreOptions{})
	if err != nil || got.Root != held.Root {
		t.Fatalf("%v %+v", err, got)
	}
	openAll()
	if in, err := os.ReadFile(filepath.Join(root, "d/in")); err != nil || string(in) != "2" {
		t.Errorf("%q %v", in, err)
	}
}

func TestPlainUserRestoresWhatIsClosed(t *testing.T) {
	if !asNobody(t) {
		return
	}
	root, k := t.TempDir(), newKeeper(t)
	write(t, root, "d/e/f", "1")
	write(t, root, "d/g", "2")
	write(t, root, "ro/kept", "3")
	must(t, os.Chmod(filepath.Join(root, "ro"), 0o555))
	s := NewScanner(root, ScanConfig{})
	before := keep(t, s, k)
	hash := treeHash(t, root)
	write(t, root, "d/e/f", "changed")
	must(t, os.Chmod(filepath.Join(root, "d/e"), 0))
	must(t, os.Chmod(filepath.Join(root, "d/g"), 0))
	must(t, os.Chmod(filepath.Join(root, "ro"), 0o755))
	write(t, root, "ro/extra/deep", "4")
	must(t, os.Chmod(filepath.Join(root, "ro/extra"), 0o100))
	must(t, os.Remove(filepath.Join(root, "ro/kept")))
	must(t, os.Chmod(filepath.Join(root, "ro"), 0o555))
	_, err := s.Restore(context.Background(), before.Root, k, RestoreOptions{})
	must(t, err)
	if treeHash(t, root) != hash {
		t.Error("the tree is another one")
	}
	must(t, os.Chmod(filepath.Join(root, "ro"), 0o755))
}
