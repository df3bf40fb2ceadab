package packages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestWhatIsReadStillTakesItsRoom has programs read slowly, so that other content would take the
// place of what they read. No more than the limit is on the disk, removed files that are read on included.
func TestWhatIsReadStillTakesItsRoom(t *testing.T) {
	mux := http.NewServeMux()
	content := map[string][]byte{}
	for i := range 6 {
		name := fmt.Sprintf("item%d", i)
		content[name] = bytes.Repeat([]byte(name[4:]), 1<<20)
	}
	tarballs(mux, content)
	for _, fetched := range []bool{true, false} {
		t.Run(fmt.Sprintf("just fetched %v", fetched), func(t *testing.T) {
			dir := t.TempDir()
			c := openCache(t, dir, newWeb(t, mux), func(cfg *Config) { cfg.Limit = 3<<20 + 1000 })
			reading := map[string]*Content{}
			for name := range content {
				if !fetched {
					_, _, _ = get(t, c, tarball(t, c, name))
				}
				one, err := c.Open(t.Context(), tarball(t, c, name))
				if errors.Is(err, ErrPass) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				defer one.Close()
				reading[name] = one
				if _, err := io.ReadFull(one, make([]byte, 10)); err != nil {
					t.Fatal(err)
				}
			}
			if len(reading) != 3 {
				t.Errorf("%d items of 1 MiB are read, where 3 have room", len(reading))
			}
			for name, one := range reading {
				if rest, err := io.ReadAll(one); err != nil || !bytes.Equal(rest, content[name][10:]) {
					t.Errorf("%d bytes after the first 10, %v", len(rest), err)
				}
				one.Close()
			}
			for name, body := range content {
				if _, was := reading[name]; !was {
					mustGet(t, c, tarball(t, c, name), body, false)
					mustGet(t, c, tarball(t, c, name), body, true)
				}
			}
			c.Close()
			mustBeInOrder(t, c, dir)
		})
	}
}

// TestContentThatChangesWhileItIsReadIsNotWhole changes a file after its digest was found right, and
// while it is read: in its middle, in its end, and in its length.
func TestContentThatChangesWhileItIsReadIsNotWhole(t *testing.T) {
	mux := http.NewServeMux()
	body := bytes.Repeat([]byte("content "), 50_000)
	tarballs(mux, map[string][]byte{"greet": body})
	for name, change := range map[string]func(*os.File) error{
		"in its middle": func(f *os.File) error { _, err := f.WriteAt([]byte("!"), 100_000); return err },
		"in its end":    func(f *os.File) error { _, err := f.WriteAt([]byte("!"), int64(len(body)-1)); return err },
		"cut":           func(f *os.File) error { return f.Truncate(100_000) },
		"cut by a byte": func(f *os.File) error { return f.Truncate(int64(len(body) - 1)) },
	} {
		for _, kept := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, kept %v", name, kept), func(t *testing.T) {
				dir := t.TempDir()
				c := openCache(t, dir, newWeb(t, mux))
				if kept {
					mustGet(t, c, tarball(t, c, "greet"), body, false)
				}
				content, err := c.Open(t.Context(), tarball(t, c, "greet"))
				if err != nil || content.Kept != kept {
					t.Fatal(err)
				}
				defer content.Close()
				f, err := os.OpenFile(filepath.Join(dir, stored(t, dir)[0]), os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if err := change(f); err != nil {
					t.Fatal(err)
				}
				if got, err := io.ReadAll(content); !errors.Is(err, ErrFalse) || len(got) == len(body) {
					t.Errorf("%d bytes of %d, %v", len(got), len(body), err)
				}
				if !kept { // its goroutine may not have come to its end yet
					item := tarball(t, c, "greet")
					c.mu.Lock()
					c.fetches[keyOf(item.Host, item.Path)] = content.fetch
					c.mu.Unlock()
				}
				mustGet(t, c, tarball(t, c, "greet"), body, false)
			})
		}
	}
}

// TestASlowRegistryHoldsUpNoOther has one registry never answer, for more pages and digests than are
// asked for at once, while another one is used.
func TestASlowRegistryHoldsUpNoOther(t *testing.T) {
	mux := http.NewServeMux()
	body := []byte("content")
	tarballs(mux, map[string][]byte{"greet": body})
	mux.HandleFunc("npm.test/greet", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	begun := make(chan struct{}, 1000)
	mux.HandleFunc("index.test/", func(_ http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
	})
	mux.HandleFunc("crates.test/", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
	for _, what := range []string{"pages", "digests"} {
		t.Run(what, func(t *testing.T) {
			c := openCache(t, t.TempDir(), newWeb(t, mux), func(cfg *Config) {
				cfg.Registries = append(cfg.Registries, Cargo{Index: "index.test", Files: "crates.test"})
			})
			ctx, stop := context.WithCancel(t.Context())
			var all sync.WaitGroup
			defer all.Wait()
			defer stop()
			for i := range 2 * atOnce {
				all.Go(func() {
					var err error
					if what == "pages" {
						r, _ := c.PageOf("index.test", crateIndex(fmt.Sprintf("crate%d", i)), "")
						_, err = c.Page(ctx, r, false)
					} else {
						item, _ := c.Item("crates.test", fmt.Sprintf("/crates/crate%d/1.0.0/download", i))
						_, err = c.Open(ctx, item)
					}
					if !errors.Is(err, context.Canceled) {
						t.Errorf("a registry that does not answer: %v", err)
					}
				})
			}
			<-begun
			within, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			for range atOnceOf - 1 { // no more come
				select {
				case <-begun:
				case <-within.Done():
				}
			}
			within, cancel = context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			r, _ := c.PageOf("npm.test", "/greet", "application/json")
			page, err := c.Page(within, r, false)
			if err != nil {
				t.Fatal("a page of another registry:", err)
			}
			page.Close()
			content, err := c.Open(within, tarball(t, c, "greet"))
			if err != nil {
				t.Fatal("content of another registry:", err)
			}
			content.Close()
		})
	}
}

// TestAPageIsAskedForOnceByManyWhoWait has more ask for one page than pages are read at once.
func TestAPageIsAskedForOnceByManyWhoWait(t *testing.T) {
	let := make(chan struct{})
	var asked atomic.Int64
	w := newWeb(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		<-let
		w.Header().Set("Cache-Control", "max-age=300")
		_, _ = io.WriteString(w, "{}")
	}))
	c := openCache(t, t.TempDir(), w)
	r, _ := c.PageOf("npm.test", "/greet", "application/json")
	var all sync.WaitGroup
	for range 10 * atOnce {
		all.Go(func() {
			page, err := c.Page(t.Context(), r, false)
			if err != nil {
				t.Error(err)
				return
			}
			page.Close()
		})
	}
	close(let)
	all.Wait()
	if n := asked.Load(); n > atOnceOf {
		t.Errorf("it was asked for %d times", n)
	}
}

// TestLittleContentOfUnknownSizeTakesLittleRoom fetches a little, of which the host does not say the
// size, into a cache that is full.
func TestLittleContentOfUnknownSizeTakesLittleRoom(t *testing.T) {
	mux := http.NewServeMux()
	content := map[string][]byte{"a": bytes.Repeat([]byte("a"), 1<<20), "b": bytes.Repeat([]byte("b"), 1<<20), "c": bytes.Repeat([]byte("c"), 1<<20), "d": bytes.Repeat([]byte("d"), 1<<20), "e": bytes.Repeat([]byte("e"), 1<<20)}
	tarballs(mux, content)
	pages := http.NewServeMux()
	tarballs(pages, map[string][]byte{"little": []byte("little")})
	mux.Handle("npm.test/little/1.0.0", pages)
	mux.HandleFunc("npm.test/little/-/little-1.0.0.tgz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "lit")
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, "tle")
	})
	c := openCache(t, t.TempDir(), newWeb(t, mux), func(cfg *Config) { cfg.Limit = 5<<20 + 1<<19 })
	for name, body := range content {
		mustGet(t, c, tarball(t, c, name), body, false)
	}
	mustGet(t, c, tarball(t, c, "little"), []byte("little"), false)
	if items, _, _ := c.Usage(); items != 6 {
		t.Errorf("%d items are kept of 6", items)
	}
}

// TestWhatIsReservedIsNotGivenTwice has content of unknown size begin at once on a small disk, of
// which each has room and all together have not.
func TestWhatIsReservedIsNotGivenTwice(t *testing.T) {
	dir := smallDisk(t, 40)
	const items, size = 20, 4 << 20
	mux, pages := http.NewServeMux(), http.NewServeMux()
	content := map[string][]byte{}
	begun, let := make(chan struct{}, items), make(chan struct{})
	for i := range items {
		content[fmt.Sprintf("item%d", i)] = bytes.Repeat([]byte{byte('a' + i)}, size)
	}
	tarballs(pages, content)
	mux.Handle("npm.test/", pages)
	for name, body := range content {
		mux.HandleFunc("npm.test/"+name+"/-/", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(body[:1<<20])
			_ = http.NewResponseController(w).Flush()
			begun <- struct{}{}
			<-let
			_, _ = w.Write(body[1<<20:])
		})
	}
	c := openCache(t, dir, newWeb(t, mux))
	var all sync.WaitGroup
	var whole, least atomic.Int64
	least.Store(1 << 40)
	for name, body := range content {
		all.Go(func() {
			got, _, err := get(t, c, tarball(t, c, name))
			switch {
			case err == nil && bytes.Equal(got, body):
				whole.Add(1)
			case !errors.Is(err, ErrPass):
				t.Errorf("%d bytes, %v", len(got), err)
			}
			for free := freeOn(t, dir); ; {
				was := least.Load()
				if free >= was || least.CompareAndSwap(was, free) {
					break
				}
			}
		})
	}
	for range items {
		<-begun
	}
	close(let)
	all.Wait()
	if whole.Load() == 0 || least.Load() < 4<<20-1<<18 {
		t.Errorf("%d items were whole; %d bytes were left on the disk, where 4 MiB have to be", whole.Load(), least.Load())
	}
	if n := strings.Count(strings.Join(stored(t, dir), " "), unfinished); n > 0 {
		t.Errorf("it left %d unfinished files", n)
	}
}

// TestAFalsePageIsNotBelievedTwice has a registry say a false digest once, on a page that may be kept.
func TestAFalsePageIsNotBelievedTwice(t *testing.T) {
	right := http.NewServeMux()
	body := []byte("content")
	tarballs(right, map[string][]byte{"greet": body})
	other := http.NewServeMux()
	tarballs(other, map[string][]byte{"greet": []byte("other")})
	var lied atomic.Bool
	w := newWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=300")
		w.Header().Set("ETag", `"1"`)
		switch {
		case r.Header.Get("If-None-Match") != "":
			w.WriteHeader(http.StatusNotModified)
		case r.URL.Path == "/greet/1.0.0" && lied.CompareAndSwap(false, true):
			other.ServeHTTP(w, r)
		default:
			right.ServeHTTP(w, r)
		}
	}))
	c := openCache(t, t.TempDir(), w)
	if _, _, err := get(t, c, tarball(t, c, "greet")); !errors.Is(err, ErrFalse) {
		t.Errorf("with a false digest: %v", err)
	}
	mustGet(t, c, tarball(t, c, "greet"), body, false)
}
