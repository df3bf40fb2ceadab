package snapshot

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// testLimits are small enough for a test to be over them.
var testLimits = Limits{FileBytes: 1 << 20, TreeBytes: 8 << 20, Entries: 2000}

// boundedScan is a context in which no scan of these tests may still be at work.
func boundedScan(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// reasons lists what a scan left out besides caches, as path=reason.
func reasons(res Result) []string {
	var out []string
	for _, l := range res.Over {
		out = append(out, l.Path+"="+string(l.Reason))
	}
	return out
}

// makeDeep makes a chain of so many folders, which no path can name as a whole.
func makeDeep(t *testing.T, root string, depth int) {
	t.Helper()
	fd, err := unix.Open(root, openDir, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range depth {
		if err := unix.Mkdirat(fd, "d", 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Openat(fd, "d", openDir, 0)
		unix.Close(fd)
		if err != nil {
			t.Fatal(err)
		}
		fd = next
	}
	unix.Close(fd)
}

// removeDeep removes what makeDeep made, which os.RemoveAll is slow at.
func removeDeep(t *testing.T, root string) {
	t.Helper()
	fd, err := unix.Open(root, openDir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := RemoveTree(context.Background(), fd, "d", nil); err != nil {
		t.Fatal(err)
	}
}

func TestASparseFileOfEightTerabytesIsLeftOut(t *testing.T) {
	t.Parallel()
	root, k := t.TempDir(), newKeeper(t)
	put(t, root, "code", 7)
	if err := os.WriteFile(filepath.Join(root, "a"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(root, "a"), 8<<40); err != nil {
		t.Skipf("this file system holds no file of 8 TB: %v", err)
	}
	s := NewScanner(root, ScanConfig{Limits: testLimits})
	began := time.Now()
	res, err := s.Scan(boundedScan(t), nil)
	if err != nil || !slices.Equal(reasons(res), []string{"a=file_too_large"}) || !slices.Equal(res.Left, []string{"a"}) || res.Hashed != 1 {
		t.Fatalf("%v %+v", err, res)
	}
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("it took %s", d)
	}
	// It stays where it is, and the rest goes back.
	res = keep(t, s, k)
	put(t, root, "code", 9)
	got, err := s.Restore(boundedScan(t), res.Root, k, RestoreOptions{})
	if err != nil || got.Root != res.Root {
		t.Fatalf("%v %+v", err, got)
	}
	if st, err := os.Stat(filepath.Join(root, "a")); err != nil || st.Size() != 8<<40 {
		t.Errorf("%v %v", st, err)
	}
	// Small again, it is held again.
	if err := os.Truncate(filepath.Join(root, "a"), 10); err != nil {
		t.Fatal(err)
	}
	if res = keep(t, s, k); len(res.Left) != 0 || !slices.Contains(paths(t, k, res.Root), "a") {
		t.Errorf("%+v", res)
	}
}

func TestFoldersTwentyThousandDeepAreLeftOutAndRemoved(t *testing.T) {
	t.Parallel()
	root, k := t.TempDir(), newKeeper(t)
	put(t, root, "code", 7)
	s := NewScanner(root, ScanConfig{})
	before := keep(t, s, k)
	makeDeep(t, root, 20_000)
	t.Cleanup(func() { removeDeep(t, root) })
	res, err := s.Scan(boundedScan(t), nil)
	if err != nil || len(res.Over) != 1 || res.Over[0].Reason != choir.LeftTooDeep || len(res.Over[0].Path) > 4*MaxDepth {
		t.Fatalf("%v %v", err, clipped(reasons(res)))
	}
	if res.Root != before.Root {
		// The root's own time moved; nothing else of the chain is in the snapshot.
		keep(t, s, k)
		if all := paths(t, k, res.Root); !slices.Equal(all, []string{"", "code"}) {
			t.Errorf("%v", clipped(all))
		}
	}
	put(t, root, "code", 9)
	if _, err := s.Restore(boundedScan(t), before.Root, k, RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	removeDeep(t, root)
	if names, err := os.ReadDir(root); err != nil || len(names) != 1 {
		t.Errorf("%v %v", names, err)
	}
	makeDeep(t, root, 1) // for the cleanup
}

func clipped(list []string) []string {
	if len(list) > 3 {
		list = list[:3]
	}
	for i := range list {
		list[i] = list[i][:min(len(list[i]), 80)]
	}
	return list
}

// TestALongPathIsLeftOut: no path of a snapshot is longer than the system's calls
// take, whatever the depth.
func TestALongPathIsLeftOut(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	name := strings.Repeat("n", 250)
	fd, err := unix.Open(root, openDir, 0)
	for range 30 {
		if err == nil {
			err = unix.Mkdirat(fd, name, 0o755)
		}
		if err == nil {
			fd, err = unix.Openat(fd, name, openDir, 0)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	res, err := NewScanner(root, ScanConfig{}).Scan(boundedScan(t), nil)
	if err != nil || len(res.Over) != 1 || res.Over[0].Reason != choir.LeftTooDeep || len(res.Over[0].Path) > MaxPath {
		t.Errorf("%v %v", err, clipped(reasons(res)))
	}
}

// TestTooManyFilesAreLeftOut fills one folder, and then many, beside a project
// that must be held whatever they are called.
func TestTooManyFilesAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"one", "many"} {
		root, k := t.TempDir(), newKeeper(t)
		for i := range 300 {
			put(t, root, "p/code/"+strconv.Itoa(i), 1)
		}
		for i := range 2 * int(testLimits.Entries) {
			dir := "p/flood/"
			if in == "many" {
				dir += strconv.Itoa(i%100) + "/"
			}
			put(t, root, dir+strconv.Itoa(i), 0)
		}
		s := NewScanner(root, ScanConfig{Limits: testLimits})
		res := keep(t, s, k)
		if !slices.Equal(reasons(res), []string{"p/flood=too_many"}) || res.Files != 300 {
			t.Errorf("%s: %v, %d files", in, reasons(res), res.Files)
		}
		put(t, root, "p/code/0", 2)
		if got, err := s.Restore(t.Context(), res.Root, k, RestoreOptions{}); err != nil || got.Root != res.Root {
			t.Errorf("%s: %v %+v", in, err, got)
		}
		if names, err := os.ReadDir(filepath.Join(root, "p/flood")); err != nil || len(names) < 100 {
			t.Errorf("%s: %d %v", in, len(names), err)
		}
	}
}

// TestTooManyBytesLeaveTheLargestFilesOut has more in many files than a snapshot
// holds.
func TestTooManyBytesLeaveTheLargestFilesOut(t *testing.T) {
	t.Parallel()
	root, k := t.TempDir(), newKeeper(t)
	limits := testLimits
	limits.FileBytes = 100 << 20
	for i := range 50 {
		put(t, root, "p/src/"+strconv.Itoa(i), 100)
	}
	for i := range 3 {
		put(t, root, "p/data/"+strconv.Itoa(i), 4<<20)
	}
	s := NewScanner(root, ScanConfig{Limits: limits})
	res := keep(t, s, k)
	if len(res.Over) != 3 || res.Over[0].Reason != choir.LeftTreeTooLarge || res.Files != 50 {
		t.Errorf("%v, %d files", reasons(res), res.Files)
	}
	if again := keep(t, NewScanner(root, ScanConfig{Limits: limits}), k); again.Root != res.Root {
		t.Error("another scanner leaves something else")
	}
}

// TestAFileThatGrowsIsHeldAsFarAsItWasRead appends to a large file for as long as
// it is scanned.
func TestAFileThatGrowsIsHeldAsFarAsItWasRead(t *testing.T) {
	t.Parallel()
	root, k := t.TempDir(), newKeeper(t)
	put(t, root, "log", 8<<20)
	f, err := os.OpenFile(filepath.Join(root, "log"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		line := []byte(strings.Repeat("y", 100) + "\n")
		for {
			select {
			case <-done:
				return
			default:
				if _, err := f.Write(line); err != nil {
					t.Error(err)
					return
				}
			}
		}
	}()
	s := NewScanner(root, ScanConfig{})
	for range 3 {
		res := keep(t, s, k)
		if len(res.Over) > 0 || !slices.Contains(paths(t, k, res.Root), "log") {
			t.Errorf("%v of %v", reasons(res), paths(t, k, res.Root))
		}
	}
	close(done)
	<-stopped
}

// TestHolesAreNotRead scans and restores a file with data at its two ends.
func TestHolesAreNotRead(t *testing.T) {
	t.Parallel()
	root, k := t.TempDir(), diskKeeper(t)
	path := filepath.Join(root, "s")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 64 << 20
	for _, at := range []int64{0, size - 5, 20<<20 + 3} {
		if _, err := f.WriteAt([]byte("data!"), at); err != nil {
			t.Fatal(err)
		}
	}
	before := blocksOf(t, path)
	if before*512 > size/4 {
		t.Skip("this file system has no holes")
	}
	s := NewScanner(root, ScanConfig{})
	res := keep(t, s, k)
	held := treeHash(t, root)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Restore(t.Context(), res.Root, k, RestoreOptions{}); err != nil || got.Root != res.Root || treeHash(t, root) != held {
		t.Fatalf("%v %+v", err, got)
	}
	if after := blocksOf(t, path); after > 2*before+4096 {
		t.Errorf("%d blocks became %d", before, after)
	}
}

func blocksOf(t *testing.T, path string) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks
}

// TestAScanEndsWithItsContext stops a scan in the middle of a large file.
func TestAScanEndsWithItsContext(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(root, "a"), 1<<40); err != nil {
		t.Skipf("this file system holds no file of 1 TB: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := NewScanner(root, ScanConfig{}).Scan(ctx, nil)
	if choir.CodeOf(err) != choir.CodeTimeout || time.Since(began) > 20*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
}

// TestARootFolderWithTooManyNamesIsHeldInPart floods the root folder itself: what was
// known and the folders are held, and go back; the flood stays and is named.
func TestARootFolderWithTooManyNamesIsHeldInPart(t *testing.T) {
	t.Parallel()
	root, k := t.TempDir(), newKeeper(t)
	for i := range 100 {
		put(t, root, "p/code/"+strconv.Itoa(i), 1)
	}
	put(t, root, "readme", 3)
	s := NewScanner(root, ScanConfig{Limits: testLimits})
	before := keep(t, s, k)
	flood := 2 * int(testLimits.Entries)
	for i := range flood {
		put(t, root, "flood-"+strconv.Itoa(i), 0)
	}
	put(t, root, "readme", 4)
	for _, scanner := range []*Scanner{s, NewScanner(root, ScanConfig{Limits: testLimits})} {
		res := keep(t, scanner, k)
		all := paths(t, k, res.Root)
		if len(res.Over) == 0 || res.Over[0].Reason != choir.LeftTooMany || !strings.HasPrefix(res.Over[0].Path, "flood-") || !slices.Contains(all, "p/code/99") {
			t.Errorf("left %v of %d paths", clipped(reasons(res)), len(all))
		}
		if again := keep(t, scanner, k); again.Root != res.Root || len(again.Over) != len(res.Over) {
			t.Errorf("a second look differs: %v", clipped(reasons(again)))
		}
	}
	now := keep(t, s, k)
	if !slices.Contains(paths(t, k, now.Root), "readme") {
		t.Error("a file that was known is left out")
	}
	put(t, root, "p/code/0", 9)
	for _, target := range []Result{before, now} {
		if _, err := s.Restore(boundedScan(t), target.Root, k, RestoreOptions{}); err != nil {
			t.Fatal(err)
		}
		if st, err := os.Stat(filepath.Join(root, "p/code/0")); err != nil || st.Size() != 1 {
			t.Errorf("%v %v", st, err)
		}
	}
	there, err := os.ReadDir(root)
	if held := len(paths(t, k, now.Root)); err != nil || len(there) < flood {
		t.Errorf("%d of %d names are there, %d paths held: %v", len(there), flood, held, err)
	}
}
