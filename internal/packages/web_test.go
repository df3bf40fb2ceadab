package packages

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// web is a network of a test: one server for all hosts, which is asked over HTTP.
type web struct {
	server  *httptest.Server
	client  *http.Transport
	address string

	mu    sync.Mutex
	heard []string // hosts and paths
}

// newWeb starts a server whose handler sees hosts as the cache names them.
func newWeb(t testing.TB, h http.Handler) *web {
	t.Helper()
	w := &web{client: &http.Transport{DisableCompression: true}}
	w.server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.heard = append(w.heard, r.Host+r.URL.Path)
		w.mu.Unlock()
		h.ServeHTTP(out, r)
	}))
	w.address = w.server.Listener.Addr().String()
	t.Cleanup(func() { w.client.CloseIdleConnections(); w.server.Close() })
	return w
}

// Fetch implements Fetcher.
func (w *web) Fetch(ctx context.Context, r Request) (Answer, error) {
	out := (&http.Request{
		Method: http.MethodGet, Host: r.Host, URL: &url.URL{Scheme: "http", Host: w.address, Path: r.Path, RawPath: r.Path},
		Header: http.Header{"Accept": {r.Accept}},
	}).WithContext(ctx)
	if r.Gzip {
		out.Header.Set("Accept-Encoding", "gzip")
	}
	if r.ETag != "" {
		out.Header.Set("If-None-Match", r.ETag)
	}
	a, err := w.client.RoundTrip(out)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Status: a.StatusCode, Header: a.Header, Size: a.ContentLength, Body: a.Body}, nil
}

// asked returns how often a host was asked for a path.
func (w *web) asked(where string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.heard {
		if h == where {
			n++
		}
	}
	return n
}

// clock is a clock that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond) // no two uses at once
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// openCache opens a cache of npm.test in a folder.
func openCache(t testing.TB, dir string, from Fetcher, change ...func(*Config)) *Cache {
	t.Helper()
	at := &clock{now: time.Now()}
	cfg := Config{Dir: dir, Limit: 64 << 20, Registries: []Registry{NPM{Names: []string{"npm.test"}}}, From: from, Now: at.Now, Patience: time.Hour}
	for _, c := range change {
		c(&cfg)
	}
	c, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// tarballs serves the content of tarballs of npm with their digests.
func tarballs(mux *http.ServeMux, content map[string][]byte) {
	for name, body := range content {
		sum := sha512.Sum512(body)
		path := "/" + name + "/-/" + name + "-1.0.0.tgz"
		mux.HandleFunc("npm.test/"+name+"/1.0.0", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"dist":{"tarball":"https://npm.test%s","integrity":"sha512-%s"}}`, path, base64.StdEncoding.EncodeToString(sum[:]))
		})
		mux.HandleFunc("npm.test"+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			_, _ = w.Write(body)
		})
	}
}

// tarball returns the item of a tarball of npm.test.
func tarball(t testing.TB, c *Cache, name string) Item {
	t.Helper()
	item, ok := c.Item("npm.test", "/"+name+"/-/"+name+"-1.0.0.tgz")
	if !ok {
		t.Fatalf("%s is no item", name)
	}
	return item
}

// get returns the content of an item and whether it was there.
func get(t testing.TB, c *Cache, item Item) (body []byte, kept bool, err error) {
	t.Helper()
	content, err := c.Open(t.Context(), item)
	if err != nil {
		return nil, false, err
	}
	defer content.Close()
	body, err = io.ReadAll(content)
	if err == nil && int64(len(body)) != content.Size {
		t.Errorf("%d bytes of %d", len(body), content.Size)
	}
	return body, content.Kept, err
}

// mustGet demands content.
func mustGet(t testing.TB, c *Cache, item Item, want []byte, wantKept bool) {
	t.Helper()
	body, kept, err := get(t, c, item)
	if err != nil || !bytes.Equal(body, want) || kept != wantKept {
		t.Fatalf("%s: %d bytes, kept %v, %v; wanted %d, %v", item.Path, len(body), kept, err, len(want), wantKept)
	}
}

// stored returns the names of the files of a cache.
func stored(t testing.TB, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// TestContentIsKeptAcrossStarts fetches a tarball, and has it from a cache that is opened again.
func TestContentIsKeptAcrossStarts(t *testing.T) {
	mux := http.NewServeMux()
	body := []byte(strings.Repeat("content ", 50_000))
	tarballs(mux, map[string][]byte{"greet": body})
	w, dir := newWeb(t, mux), t.TempDir()
	c := openCache(t, dir, w)
	mustGet(t, c, tarball(t, c, "greet"), body, false)
	mustGet(t, c, tarball(t, c, "greet"), body, true)
	c.Close()
	w.server.Close()
	c = openCache(t, dir, w)
	mustGet(t, c, tarball(t, c, "greet"), body, true)
	if names := stored(t, dir); len(names) != 1 {
		t.Errorf("it holds %q", names)
	}
	info, err := os.Stat(filepath.Join(dir, stored(t, dir)[0]))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// TestContentThatIsNotPromisedIsNotKept has a registry give all kinds of wrong answers, the digest
// included. The right answer to the same question is kept, in the same cache.
func TestContentThatIsNotPromisedIsNotKept(t *testing.T) {
	body := []byte(strings.Repeat("right ", 1000))
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   error
	}{
		"another content":     {func(w http.ResponseWriter) { _, _ = w.Write(bytes.ToUpper(body)) }, ErrFalse},
		"cut short, in order": {func(w http.ResponseWriter) { _, _ = w.Write(body[:len(body)-1]) }, ErrFalse},
		"cut short": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			_, _ = w.Write(body[:100])
		}, ErrPass},
		"cut short, in pieces": {func(w http.ResponseWriter) {
			_, _ = w.Write(body[:100])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, ErrPass},
		"a part of it": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-99/%d", len(body)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(body[:100])
		}, ErrPass},
		"all of it as a part": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusPartialContent); _, _ = w.Write(body) }, ErrPass},
		"another encoding":    {func(w http.ResponseWriter) { w.Header().Set("Content-Encoding", "gzip"); _, _ = w.Write(body) }, ErrPass},
		"a redirect": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "https://evil.test/greet.tgz")
			w.WriteHeader(http.StatusFound)
			_, _ = w.Write(body)
		}, ErrPass},
		"none":    {func(w http.ResponseWriter) { http.Error(w, string(body), http.StatusNotFound) }, ErrPass},
		"nothing": {func(w http.ResponseWriter) {}, ErrFalse},
	} {
		t.Run(name, func(t *testing.T) {
			right := http.NewServeMux()
			tarballs(right, map[string][]byte{"greet": body})
			var lies atomic.Bool
			lies.Store(true)
			w := newWeb(t, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				if lies.Load() && strings.HasSuffix(r.URL.Path, ".tgz") {
					c.answer(out)
					return
				}
				right.ServeHTTP(out, r)
			}))
			dir := t.TempDir()
			cache := openCache(t, dir, w)
			if body, _, err := get(t, cache, tarball(t, cache, "greet")); !errors.Is(err, c.want) || len(body) > 0 {
				t.Errorf("%d bytes, %v", len(body), err)
			}
			if names := stored(t, dir); len(names) > 0 || w.asked("evil.test/greet.tgz") > 0 {
				t.Errorf("it holds %q, or followed", names)
			}
			lies.Store(false)
			mustGet(t, cache, tarball(t, cache, "greet"), body, false)
		})
	}
}

// TestContentWithoutADigestIsNotKept has a registry say none, or one of another tarball.
func TestContentWithoutADigestIsNotKept(t *testing.T) {
	for name, page := range map[string]string{
		"no digest":              `{"dist":{"tarball":"https://npm.test/greet/-/greet-1.0.0.tgz"}}`,
		"another tarball":        `{"dist":{"tarball":"https://npm.test/other/-/other-1.0.0.tgz","shasum":"0a4d55a8d778e5022fab701977c5d840bbc486d0"}}`,
		"an unknown kind":        `{"dist":{"tarball":"https://npm.test/greet/-/greet-1.0.0.tgz","integrity":"md5-XrY7u+Ae7tCTyyK7j1rNww=="}}`,
		"a digest that is short": `{"dist":{"tarball":"https://npm.test/greet/-/greet-1.0.0.tgz","integrity":"sha512-AAAA","shasum":"00"}}`,
		"no page":                `<html>`,
	} {
		mux := http.NewServeMux()
		mux.HandleFunc("npm.test/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) })
		mux.HandleFunc("npm.test/greet/-/greet-1.0.0.tgz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello world") })
		dir := t.TempDir()
		c := openCache(t, dir, newWeb(t, mux))
		if _, _, err := get(t, c, tarball(t, c, "greet")); !errors.Is(err, ErrPass) {
			t.Errorf("%s: %v", name, err)
		}
		c.Close()
		if names := stored(t, dir); len(names) > 0 {
			t.Errorf("%s: it holds %q", name, names)
		}
	}
}

// TestAFlippedBitIsAMiss changes a file of the store in each place of some, and its length.
func TestAFlippedBitIsAMiss(t *testing.T) {
	mux := http.NewServeMux()
	body := []byte(strings.Repeat("content ", 1000))
	tarballs(mux, map[string][]byte{"greet": body})
	w, dir := newWeb(t, mux), t.TempDir()
	c := openCache(t, dir, w)
	mustGet(t, c, tarball(t, c, "greet"), body, false)
	path := filepath.Join(dir, stored(t, dir)[0])
	for _, change := range []func([]byte) []byte{
		func(b []byte) []byte { b[0] ^= 1; return b },
		func(b []byte) []byte { b[len(b)-1] ^= 0x80; return b },
		func(b []byte) []byte { return b[:len(b)-1] },
		func(b []byte) []byte { return append(b, 0) },
		func([]byte) []byte { return nil },
	} {
		if err := os.WriteFile(path, change(bytes.Clone(body)), 0o600); err != nil {
			t.Fatal(err)
		}
		mustGet(t, c, tarball(t, c, "greet"), body, false)
		mustGet(t, c, tarball(t, c, "greet"), body, true)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	mustGet(t, c, tarball(t, c, "greet"), body, false)
	if items, bytes, _ := c.Usage(); items != 1 || bytes != int64(len(body)) {
		t.Errorf("it counts %d items of %d bytes", items, bytes)
	}
}

// TestWhatWasNotUsedForLongestGoesFirst keeps more than fits.
func TestWhatWasNotUsedForLongestGoesFirst(t *testing.T) {
	mux := http.NewServeMux()
	content := map[string][]byte{}
	for _, name := range []string{"a", "b", "c", "d"} {
		content[name] = bytes.Repeat([]byte(name), 1<<20)
	}
	content["large"] = bytes.Repeat([]byte("l"), 4<<20)
	tarballs(mux, content)
	w, dir := newWeb(t, mux), t.TempDir()
	c := openCache(t, dir, w, func(cfg *Config) { cfg.Limit = 3<<20 + 1000 })
	for _, one := range []struct {
		name string
		kept bool
	}{{"a", false}, {"b", false}, {"c", false}, {"a", true}, {"d", false}, {"a", true}, {"c", true}, {"b", false}, {"d", false}} {
		mustGet(t, c, tarball(t, c, one.name), content[one.name], one.kept)
	}
	if _, _, err := get(t, c, tarball(t, c, "large")); !errors.Is(err, ErrPass) {
		t.Errorf("what never fits: %v", err)
	}
	if items, bytes, limit := c.Usage(); items != 3 || bytes > limit || len(stored(t, dir)) != 3 {
		t.Errorf("%d items of %d bytes, %q", items, bytes, stored(t, dir))
	}
	c.Close()
	c = openCache(t, dir, w, func(cfg *Config) { cfg.Limit = 1<<20 + 1000 })
	if items, _, _ := c.Usage(); items != 1 {
		t.Errorf("%d items after a start with a smaller limit", items)
	}
	mustGet(t, c, tarball(t, c, "d"), content["d"], true)
}
