package packages

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The fight is for a cache that has room for a part of what is asked for.
const (
	fightItems = 24
	fightLimit = 3 << 20
)

// fightName returns the name of an item, and its content of up to 600 KB.
func fightName(i int) (name string, body []byte) {
	name = fmt.Sprintf("item%d", i)
	return name, bytes.Repeat([]byte(name+"\n"), 1+i*i*150)
}

// wild serves the items as no registry should: it lies, cuts, stalls, and answers otherwise each time.
func wild(w http.ResponseWriter, r *http.Request) {
	var i int
	if _, err := fmt.Sscanf(strings.TrimPrefix(r.URL.Path, "/"), "item%d/", &i); err != nil {
		http.NotFound(w, r)
		return
	}
	name, body := fightName(i)
	path, how := "/"+name+"/-/"+name+"-1.0.0.tgz", rand.IntN(24)
	if r.URL.Path != path {
		switch how {
		case 0:
			body = nil // the digest of another content
		case 1:
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		case 2:
			w.Header().Set("Cache-Control", "max-age=300")
		case 3:
			<-r.Context().Done()
			return
		}
		sum := sha512.Sum512(body)
		fmt.Fprintf(w, `{"dist":{"tarball":"https://npm.test%s","integrity":"sha512-%s"}}`, path, base64.StdEncoding.EncodeToString(sum[:]))
		return
	}
	half := len(body) / 2
	switch how {
	case 0: // false from its beginning
		_, _ = w.Write(bytes.ToUpper(body))
	case 1: // false at its end
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body[:half])
		_ = http.NewResponseController(w).Flush()
		_, _ = w.Write(append(bytes.Clone(body[half:len(body)-1]), '!'))
	case 2: // cut
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body[:half])
	case 3: // without an end
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body[:half])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case 4: // short, in order
		_, _ = w.Write(body[:half])
	case 5: // of a size beyond all
		w.Header().Set("Content-Length", "9000000000000000000")
		_, _ = w.Write(body)
	case 6: // of another size
		w.Header().Set("Content-Length", fmt.Sprint(len(body)+7))
		_, _ = w.Write(body)
	case 7:
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(body)
	case 8:
		http.Redirect(w, r, "/item0/-/item0-1.0.0.tgz", http.StatusFound)
	case 9, 10, 11, 12: // right, in pieces of unknown size
		_, _ = w.Write(body[:half])
		_ = http.NewResponseController(w).Flush()
		_, _ = w.Write(body[half:])
	default:
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body)
	}
}

// askWildly asks for an item as programs do that leave at any moment. It returns an error if what
// is whole is not the content, and whether there was any.
func askWildly(c *Cache) (whole bool, err error) {
	name, want := fightName(rand.IntN(fightItems))
	item, _ := c.Item("npm.test", "/"+name+"/-/"+name+"-1.0.0.tgz")
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(20)*rand.IntN(100))*time.Millisecond)
	defer cancel()
	content, err := c.Open(ctx, item)
	if err != nil {
		if errors.Is(err, ErrPass) || errors.Is(err, ErrFalse) || errors.Is(err, context.DeadlineExceeded) {
			return false, nil
		}
		return false, err
	}
	defer content.Close()
	if rand.IntN(8) == 0 {
		_, _ = io.CopyN(io.Discard, content, rand.Int64N(content.Size+1))
		return false, nil
	}
	got, err := io.ReadAll(content)
	if err == nil && !bytes.Equal(got, want) {
		return false, fmt.Errorf("%s: %d bytes as the whole of %d, kept %v", name, len(got), len(want), content.Kept)
	}
	if err != nil && len(got) >= len(want) {
		return false, fmt.Errorf("%s: %d bytes of %d and then %w", name, len(got), len(want), err)
	}
	return err == nil, nil
}

// spoil changes a file of the cache in its place, or removes it.
func spoil(dir string) {
	all, err := os.ReadDir(dir)
	if err != nil || len(all) == 0 {
		return
	}
	path := filepath.Join(dir, all[rand.IntN(len(all))].Name())
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return
	}
	switch rand.IntN(3) {
	case 0:
		_, _ = f.WriteAt([]byte("?"), rand.Int64N(info.Size()))
	case 1:
		_ = f.Truncate(rand.Int64N(info.Size()))
	case 2:
		_ = os.Remove(path)
	}
}

// TestAFightForContent has many ask at once for more than fits, and leave at any moment, while the
// registry answers wildly and the files are changed. All that is whole is right; nothing is left over.
func TestAFightForContent(t *testing.T) {
	dir := t.TempDir()
	w := newWeb(t, http.HandlerFunc(wild))
	small := func(cfg *Config) { cfg.Limit, cfg.Patience = fightLimit, 2*time.Millisecond }
	c := openCache(t, dir, w, small)
	var all sync.WaitGroup
	var whole atomic.Int64
	for range 24 {
		all.Go(func() {
			for range 25 {
				ok, err := askWildly(c)
				if err != nil {
					t.Error(err)
				}
				if ok {
					whole.Add(1)
				}
				if _, bytes, limit := c.Usage(); bytes > limit {
					t.Errorf("%d bytes of at most %d", bytes, limit)
				}
				if rand.IntN(8) == 0 {
					spoil(dir)
				}
			}
		})
	}
	all.Wait()
	c.Close()
	mustBeInOrder(t, c, dir)
	t.Logf("%d whole", whole.Load())
	if whole.Load() == 0 {
		t.Error("nobody got anything")
	}
	c = openCache(t, dir, w, small)
	mustBeInOrder(t, c, dir)
}

// mustBeInOrder demands that nobody fetches or reads, and that the folder has what is counted.
func mustBeInOrder(t testing.TB, c *Cache, dir string) {
	t.Helper()
	for _, name := range stored(t, dir) {
		if strings.HasPrefix(name, unfinished) {
			t.Errorf("it left %s", name)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(c.fetches) > 0 || s.reserved != 0 {
		t.Errorf("%d fetches, %d bytes reserved", len(c.fetches), s.reserved)
	}
	var sum int64
	for _, k := range s.files {
		sum += k.size
	}
	if s.size != sum || s.size > s.limit {
		t.Errorf("%d bytes are counted, there are %d of at most %d", s.size, sum, s.limit)
	}
}

// fightUntilKilled asks wildly, and prints a dot for all that is whole.
func fightUntilKilled(dir, address string) {
	w := &web{client: &http.Transport{}, address: address}
	c, err := Open(Config{Dir: dir, Limit: fightLimit, Registries: []Registry{NPM{Names: []string{"npm.test"}}}, From: w, Now: time.Now, Patience: 2 * time.Millisecond})
	if err != nil {
		panic(err)
	}
	for range 24 {
		go func() {
			for {
				ok, err := askWildly(c)
				if err != nil {
					panic(err)
				}
				if ok {
					os.Stdout.WriteString(".")
				}
			}
		}()
	}
	select {}
}

// TestKillsInAFightLeaveNothing kills processes in the middle of a fight, each of which begins with
// what the one before it left.
func TestKillsInAFightLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	w := newWeb(t, http.HandlerFunc(wild))
	for range 4 {
		child := exec.Command(os.Args[0], "-test.run=^$")
		child.Env = append(os.Environ(), "CHOIR_TEST_FIGHT="+dir, "CHOIR_TEST_WEB="+w.server.Listener.Addr().String())
		var told bytes.Buffer
		child.Stderr = &told
		said, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		_, early := io.ReadFull(said, make([]byte, 1+rand.IntN(200)))
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait()
		if early != nil {
			t.Fatalf("it ended by itself: %.2000s", told.Bytes())
		}
		spoil(dir)
		c := openCache(t, dir, w, func(cfg *Config) { cfg.Limit = fightLimit })
		mustBeInOrder(t, c, dir)
		for range 5 {
			if _, err := askWildly(c); err != nil {
				t.Error(err)
			}
		}
		c.Close()
	}
}
