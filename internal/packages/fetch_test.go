package packages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// slow serves a tarball of which the rest comes when it is let go.
type slow struct {
	body  []byte
	first int           // bytes that come at once
	begun chan struct{} // closed when these were sent
	rest  chan struct{} // closed for the rest
	gone  chan struct{} // closed when the cache has broken off
	false bool          // the last byte is another than the digest's
	once  sync.Once
}

func newSlow(size, first int) *slow {
	return &slow{body: bytes.Repeat([]byte("slow"), size/4), first: first, begun: make(chan struct{}), rest: make(chan struct{}), gone: make(chan struct{})}
}

// mux serves the digest and the tarball greet.
func (s *slow) mux() *http.ServeMux {
	pages, mux := http.NewServeMux(), http.NewServeMux()
	tarballs(pages, map[string][]byte{"greet": s.body})
	mux.Handle("npm.test/", pages)
	mux.HandleFunc("npm.test/greet/-/greet-1.0.0.tgz", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(s.body)))
		_, _ = w.Write(s.body[:s.first])
		_ = http.NewResponseController(w).Flush()
		s.once.Do(func() { close(s.begun) })
		select {
		case <-s.rest:
			last := bytes.Clone(s.body[s.first:])
			if s.false {
				last[len(last)-1]++
			}
			_, _ = w.Write(last)
		case <-r.Context().Done():
			close(s.gone)
		}
	})
	return mux
}

// until waits until a fetch of an item that has begun is in some state.
func until(ctx context.Context, c *Cache, item Item, is func(*fetch) bool) error {
	c.mu.Lock()
	f := c.fetches[keyOf(item.Host, item.Path)]
	c.mu.Unlock()
	for {
		f.mu.Lock()
		ok, news := is(f), f.news
		f.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TestOneFetchServesAllWhoWait has several ask at once, of whom some go away before the content is
// there, the first among them.
func TestOneFetchServesAllWhoWait(t *testing.T) {
	s := newSlow(1<<20, 1000)
	w := newWeb(t, s.mux())
	c := openCache(t, t.TempDir(), w)
	item := tarball(t, c, "greet")
	first, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := c.Open(first, item)
		left <- err
	}()
	<-s.begun
	const more = 20
	var all sync.WaitGroup
	for range more {
		all.Go(func() {
			if body, kept, err := get(t, c, item); err != nil || !kept || !bytes.Equal(body, s.body) {
				t.Errorf("%d bytes, kept %v, %v", len(body), kept, err)
			}
		})
	}
	within, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := until(within, c, item, func(f *fetch) bool { return f.waiting == more+1 }); err != nil {
		t.Fatal(err)
	}
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("it left with %v", err)
	}
	close(s.rest)
	all.Wait()
	if n := w.asked("npm.test" + item.Path); n != 1 {
		t.Errorf("the registry was asked %d times", n)
	}
}

// TestAFetchEndsWithTheLastWhoWaits leaves a fetch, and asks again.
func TestAFetchEndsWithTheLastWhoWaits(t *testing.T) {
	s := newSlow(1<<20, 1000)
	w, dir := newWeb(t, s.mux()), t.TempDir()
	c := openCache(t, dir, w)
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := c.Open(ctx, tarball(t, c, "greet"))
		left <- err
	}()
	<-s.begun
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("it left with %v", err)
	}
	<-s.gone
	close(s.rest)
	mustGet(t, c, tarball(t, c, "greet"), s.body, false)
	c.Close()
	if names := stored(t, dir); len(names) != 1 || strings.HasPrefix(names[0], unfinished) {
		t.Errorf("it holds %q", names)
	}
}

// TestSlowContentIsGivenOutBeforeItsEnd reads content that is still being fetched. Its end is given
// out when the digest was found right, and never when it was found false.
func TestSlowContentIsGivenOutBeforeItsEnd(t *testing.T) {
	for name, lies := range map[string]bool{"right": false, "false": true} {
		t.Run(name, func(t *testing.T) {
			s := newSlow(1<<20, 1<<20-1)
			s.false = lies
			dir := t.TempDir()
			c := openCache(t, dir, newWeb(t, s.mux()), func(cfg *Config) { cfg.Patience = time.Nanosecond })
			within, stop := context.WithTimeout(t.Context(), 30*time.Second)
			defer stop()
			content, err := c.Open(within, tarball(t, c, "greet"))
			if err != nil {
				t.Fatal(err)
			}
			defer content.Close()
			// All but the last byte was sent, and all but the end is given out.
			before := make([]byte, len(s.body)-held)
			if _, err := io.ReadFull(content, before); err != nil || !bytes.Equal(before, s.body[:len(before)]) || content.Size != int64(len(s.body)) {
				t.Fatal(content.Size, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			content.ctx = ctx
			if n, err := content.Read(make([]byte, 1)); n != 0 || !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("before its digest was compared: %d bytes of the end, %v", n, err)
			}
			cancel()
			content.ctx = within
			close(s.rest)
			end, err := io.ReadAll(content)
			if lies {
				if !errors.Is(err, ErrFalse) || len(end) > 0 {
					t.Errorf("%d bytes of the end, %v", len(end), err)
				}
				c.Close()
				if names := stored(t, dir); len(names) > 0 {
					t.Errorf("it holds %q", names)
				}
				return
			}
			if err != nil || !bytes.Equal(end, s.body[len(before):]) {
				t.Errorf("%d bytes of the end, %v", len(end), err)
			}
		})
	}
}

// TestCloseEndsFetches closes a cache while content is fetched.
func TestCloseEndsFetches(t *testing.T) {
	s := newSlow(1<<20, 1000)
	dir := t.TempDir()
	c := openCache(t, dir, newWeb(t, s.mux()))
	failed := make(chan error)
	go func() {
		_, err := c.Open(t.Context(), tarball(t, c, "greet"))
		failed <- err
	}()
	<-s.begun
	c.Close()
	if err := <-failed; !errors.Is(err, ErrPass) {
		t.Errorf("it ended with %v", err)
	}
	if _, _, err := get(t, c, tarball(t, c, "greet")); !errors.Is(err, ErrPass) {
		t.Errorf("after the close: %v", err)
	}
	if names := stored(t, dir); len(names) > 0 {
		t.Errorf("it holds %q", names)
	}
}

// smallDisk mounts a disk of some MiB until the end of the test, and returns its folder.
func smallDisk(t *testing.T, size int) (dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	dir = t.TempDir()
	if err := syscall.Mount("choir-test", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", size)); err != nil {
		t.Skipf("this machine does not let root mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// freeOn returns how many bytes are free on the disk of a folder.
func freeOn(t testing.TB, dir string) int64 {
	t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return int64(st.Bavail) * st.Bsize
}

// TestAFullDiskKeepsNothing fills a small disk up to what is left free.
func TestAFullDiskKeepsNothing(t *testing.T) {
	dir := smallDisk(t, 10)
	mux := http.NewServeMux()
	content := map[string][]byte{"small": bytes.Repeat([]byte("s"), 1<<20), "other": bytes.Repeat([]byte("o"), 1<<20), "large": bytes.Repeat([]byte("l"), 12<<20)}
	tarballs(mux, content)
	c := openCache(t, dir, newWeb(t, mux))
	mustGet(t, c, tarball(t, c, "small"), content["small"], false)
	if _, _, err := get(t, c, tarball(t, c, "large")); !errors.Is(err, ErrPass) {
		t.Errorf("more than the disk has: %v", err)
	}
	if err := os.WriteFile(dir+"/.new-others", make([]byte, 8<<20+512<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := get(t, c, tarball(t, c, "other")); !errors.Is(err, ErrPass) {
		t.Errorf("on a disk that others filled: %v", err)
	}
	if free := freeOn(t, dir); free < 1<<20 {
		t.Errorf("%d bytes are left", free)
	}
	c.Close()
	c = openCache(t, dir, newWeb(t, mux))
	mustGet(t, c, tarball(t, c, "small"), content["small"], false)
}

// TestAKillLeavesNoHalfContent kills a process in the middle of a fetch, and opens its cache.
func TestAKillLeavesNoHalfContent(t *testing.T) {
	s := newSlow(1<<20, 512<<10)
	w, dir := newWeb(t, s.mux()), t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^$")
	child.Env = append(os.Environ(), "CHOIR_TEST_KILLED="+dir, "CHOIR_TEST_WEB="+w.server.Listener.Addr().String())
	said, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := said.Read(make([]byte, 1)); err != nil { // it has a part of the content
		t.Fatal(err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	if names := stored(t, dir); len(names) != 1 || !strings.HasPrefix(names[0], unfinished) {
		t.Fatalf("it left %q", names)
	}
	// A half file under the name of a whole one is what a power cut can leave besides.
	half := keyOf("npm.test", "/greet/-/greet-1.0.0.tgz") + "." + strings.Repeat("0", 64)
	if err := os.WriteFile(dir+"/"+half, s.body[:1000], 0o600); err != nil {
		t.Fatal(err)
	}
	close(s.rest)
	c := openCache(t, dir, w)
	mustGet(t, c, tarball(t, c, "greet"), s.body, false)
	mustGet(t, c, tarball(t, c, "greet"), s.body, true)
	if names := stored(t, dir); len(names) != 1 {
		t.Errorf("it holds %q", names)
	}
}
