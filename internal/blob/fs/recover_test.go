package fs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

func opened(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// crash leaves a store as the end of its process does.
func (s *Store) crash() {
	s.wal.writeMu.Lock()
	defer s.wal.writeMu.Unlock()
	if s.wal.timer != nil {
		s.wal.timer.Stop()
	}
	for _, seg := range []*segment{s.wal.active, s.wal.settling, s.wal.spare} {
		if seg != nil && seg.file != nil {
			seg.file.Close()
		}
	}
	if s.wal.lock != nil {
		s.wal.lock.Close()
	}
}

func commit(t *testing.T, s *Store, contents ...string) {
	t.Helper()
	b, err := s.Batch(context.Background())
	for _, c := range contents {
		if err == nil {
			err = b.Add(choir.DigestOf([]byte(c)), []byte(c))
		}
	}
	if err == nil {
		err = b.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func wantRead(t *testing.T, s *Store, contents ...string) {
	t.Helper()
	for _, c := range contents {
		got, err := blob.ReadAll(context.Background(), s, choir.DigestOf([]byte(c)), 1<<20)
		if err != nil || string(got) != c {
			t.Errorf("%.20q: %d bytes, %v", c, len(got), err)
		}
	}
}

// wantFiles looks past the store: all is in its files and the log is gone.
func wantFiles(t *testing.T, s *Store, contents ...string) {
	t.Helper()
	for _, c := range contents {
		if raw, err := os.ReadFile(s.path(choir.DigestOf([]byte(c)))); err != nil || string(raw) != c {
			t.Errorf("the file of %.20q: %d bytes, %v", c, len(raw), err)
		}
	}
	if left, err := os.ReadDir(s.wal.dir); err != nil || len(left) > 0 {
		t.Errorf("of the log is left: %v, %v", left, err)
	}
}

// A power cut may leave anything under names that were not synced.
func TestOpenPutsRightWhatOnlyTheLogHas(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"no file":             func(string) error { return nil },
		"an empty file":       func(p string) error { return os.WriteFile(p, nil, 0o400) },
		"zeros":               func(p string) error { return os.WriteFile(p, make([]byte, 5), 0o400) },
		"half":                func(p string) error { return os.WriteFile(p, []byte("sec"), 0o400) },
		"more than all of it": func(p string) error { return os.WriteFile(p, []byte("second!"), 0o400) },
		"what is right":       func(p string) error { return os.WriteFile(p, []byte("second"), 0o400) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := opened(t, t.TempDir())
			commit(t, s, "first", "second")
			commit(t, s, "third", "")
			s.crash()
			second := choir.DigestOf([]byte("second"))
			if err := os.MkdirAll(s.folder(second), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := spoil(s.path(second)); err != nil {
				t.Fatal(err)
			}
			s = opened(t, s.dir)
			wantRead(t, s, "first", "second", "third", "")
			wantFiles(t, s, "first", "second", "third", "")
		})
	}
}

// What is promised in parallel is there after a crash, and what is read at once.
func TestManyCommitsAtOnceSurviveACrash(t *testing.T) {
	t.Parallel()
	s := opened(t, t.TempDir())
	var all []string
	done := make(chan []string)
	for i := range 16 {
		go func() {
			var mine []string
			defer func() { done <- mine }()
			for n := range 20 {
				contents := []string{fmt.Sprintf("%d %d", i, n), fmt.Sprintf("the same for all %d", n), strings.Repeat(fmt.Sprint(i, n), 5000)}
				commit(t, s, contents...)
				wantRead(t, s, contents...)
				mine = append(mine, contents...)
			}
		}()
	}
	for range 16 {
		all = append(all, <-done...)
	}
	s.settleMu.Lock() // one that runs ends before the crash
	s.crash()
	s.settleMu.Unlock()
	s = opened(t, s.dir)
	wantFiles(t, s, all...)
}

// More than the log has room for goes to its files in the meantime.
func TestMoreThanTheLogHoldsIsKept(t *testing.T) {
	t.Parallel()
	s := opened(t, t.TempDir())
	var all []string
	for i := range 60 {
		c := strings.Repeat(string(rune('A'+i)), 150_000)
		commit(t, s, c)
		all = append(all, c)
	}
	wantRead(t, s, all...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, s, all...)
	wantRead(t, s, all...)
}

// What is large has its file at once, and leaves what is small to the log.
func TestSmallContentBesideLargeGoesToTheLog(t *testing.T) {
	t.Parallel()
	s := opened(t, t.TempDir())
	large := strings.Repeat("large", maxRecord/4)
	commit(t, s, "small", large, "small too")
	if raw, err := os.ReadFile(s.path(choir.DigestOf([]byte(large)))); err != nil || string(raw) != large {
		t.Errorf("the file of what is large: %d bytes, %v", len(raw), err)
	}
	for _, c := range []string{"small", "small too"} {
		if _, err := os.Stat(s.path(choir.DigestOf([]byte(c)))); err == nil {
			t.Errorf("%q has a file already", c)
		}
	}
	wantRead(t, s, "small", large, "small too")
	s.crash()
	s = opened(t, s.dir)
	wantFiles(t, s, "small", large, "small too")
}

func TestAnIdleStoreEmptiesItsLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := opened(t, dir)
		commit(t, s, "a", "b")
		if _, err := os.Stat(s.path(choir.DigestOf([]byte("a")))); err == nil {
			t.Error("it has a file at once: nothing is saved")
		}
		time.Sleep(idle)
		synctest.Wait()
		s.settleMu.Lock() // until a settling that has begun is over
		defer s.settleMu.Unlock()
		if got := s.recent.all(); len(got) > 0 {
			t.Errorf("%d are still in memory", len(got))
		}
		wantRead(t, s, "a", "b")
		s.crash()
	})
	s := opened(t, dir)
	wantFiles(t, s, "a", "b")
}

// A full log does not wait for the store to be idle.
func TestAFullLogIsEmptiedAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := opened(t, dir)
		for i := range segmentBytes/100_000 + 1 {
			commit(t, s, strings.Repeat(string(rune('A'+i)), 100_000))
		}
		time.Sleep(idle / 2)
		s.settleMu.Lock() // until a settling that has begun is over
		defer s.settleMu.Unlock()
		if got := len(s.recent.all()); got != 1 {
			t.Errorf("%d are still in memory", got)
		}
		s.crash()
	})
}

func TestWhoOpensBesideAWriterReadsAndDoesNotWrite(t *testing.T) {
	t.Parallel()
	s := opened(t, t.TempDir())
	commit(t, s, "in the log")
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	commit(t, s, "later")
	beside := opened(t, s.dir)
	wantRead(t, beside, "in the log")
	if _, _, err := beside.Put(context.Background(), strings.NewReader("x")); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("a second writer: %v", err)
	}
	if err := beside.Close(); err != nil {
		t.Error(err)
	}
	s.crash()
	s = opened(t, s.dir)
	wantFiles(t, s, "in the log", "later")
}

func TestAClosedStoreTakesNothing(t *testing.T) {
	t.Parallel()
	s := opened(t, t.TempDir())
	commit(t, s, "before")
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, content := range []string{"after", strings.Repeat("after", maxRecord)} {
		if _, _, err := s.Put(context.Background(), strings.NewReader(content)); choir.CodeOf(err) != choir.CodeUnavailable {
			t.Errorf("after Close: %v", err)
		}
	}
	wantRead(t, s, "before")
	wantFiles(t, s, "before")
}

// Nobody knows what a failed write left, so the log is not written to again.
func TestAfterAFailedWriteContentGoesToItsFiles(t *testing.T) {
	t.Parallel()
	s := opened(t, t.TempDir())
	commit(t, s, "before")
	good := s.wal.active.file
	s.wal.active.file, _ = os.Open(good.Name()) // cannot be written to
	if _, _, err := s.Put(context.Background(), strings.NewReader("lost")); choir.CodeOf(err) != choir.CodeInternal {
		t.Errorf("a write that fails: %v", err)
	}
	if _, err := s.Size(context.Background(), choir.DigestOf([]byte("lost"))); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("what was refused is there: %v", err)
	}
	large := strings.Repeat("large", maxRecord/4)
	commit(t, s, "after")
	commit(t, s, "beside", large)
	for _, c := range []string{"after", "beside", large} {
		if raw, err := os.ReadFile(s.path(choir.DigestOf([]byte(c)))); err != nil || string(raw) != c {
			t.Errorf("the file of %.20q: %d bytes, %v", c, len(raw), err)
		}
	}
	if left, err := os.ReadDir(filepath.Join(s.dir, tempDir)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	good.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, s, "before", "after", "beside", large)
}

// A disk that was filled before the log was emptied can be read, and nothing is
// lost when there is room again.
func TestAFullDiskAfterACrash(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=6m"); err != nil {
		t.Skipf("mounting a small file system is not possible here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(disk, 0) })
	s := opened(t, filepath.Join(disk, "blobs"))
	long := strings.Repeat("x", 100_000)
	commit(t, s, "first", long)
	s.crash()
	filler := filepath.Join(disk, "filler")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	f.Close()
	for range 2 { // and again without room
		s = opened(t, s.dir)
		wantRead(t, s, "first", long)
		if _, _, err := s.Put(context.Background(), bytes.NewReader([]byte("new"))); choir.CodeOf(err) != choir.CodeNoSpace {
			t.Errorf("on a full disk: %v", err)
		}
		if err := s.Close(); choir.CodeOf(err) != choir.CodeNoSpace {
			t.Errorf("close on a full disk: %v", err)
		}
	}
	s = opened(t, s.dir)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	commit(t, s, "new")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, s, "first", long, "new")
}
