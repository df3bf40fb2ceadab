package packages

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

// TestAPageIsKeptAsLongAsItsRegistrySays asks for a page again and again while time passes.
func TestAPageIsKeptAsLongAsItsRegistrySays(t *testing.T) {
	version, whole, anew := 1, 0, false
	header := map[string]string{}
	w := newWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range header {
			w.Header().Set(name, value)
		}
		if tag := header["ETag"]; tag != "" && r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		whole++
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		zw := gzip.NewWriter(w)
		fmt.Fprintf(zw, "version %d", version)
		zw.Close()
	}))
	at := &clock{now: time.Now()}
	c := openCache(t, t.TempDir(), w, func(cfg *Config) { cfg.Now = at.Now })
	r, ok := c.PageOf("npm.test", "/greet", "application/json")
	if !ok {
		t.Fatal("it is no page")
	}
	see := func(what, body string, kept bool, downloads int) {
		t.Helper()
		content, err := c.Page(t.Context(), r, anew)
		if err != nil {
			t.Fatal(what, err)
		}
		defer content.Close()
		got, err := io.ReadAll(content)
		if err != nil || string(got) != body || content.Kept != kept || content.Type != "application/json" || content.Size != int64(len(body)) || whole != downloads {
			t.Fatalf("%s: %q, kept %v, %d downloads, %v", what, got, content.Kept, whole, err)
		}
	}
	see("nothing is said", "version 1", false, 1)
	see("nothing was said", "version 1", false, 2)
	header["Cache-Control"], header["ETag"] = "public, max-age=300", `"1"`
	see("five minutes", "version 1", false, 3)
	version = 2
	see("at once", "version 1", true, 3)
	anew = true
	see("as it is now", "version 1", false, 3)
	anew = false
	at.move(4 * time.Minute)
	see("four minutes later", "version 1", true, 3)
	at.move(2 * time.Minute)
	see("it says that nothing changed", "version 1", false, 3)
	see("and that counts", "version 1", true, 3)
	header["ETag"], header["Age"] = `"2"`, "200"
	at.move(6 * time.Minute)
	see("another one, of some age", "version 2", false, 4)
	at.move(time.Minute)
	see("it is young still", "version 2", true, 4)
	at.move(time.Minute)
	see("with its age it is old", "version 2", false, 4)
	header["Cache-Control"], header["Age"], header["ETag"] = "max-age=86400", "0", `"3"`
	at.move(time.Hour)
	see("a day", "version 2", false, 5)
	at.move(pageLife - time.Minute)
	see("below the most", "version 2", true, 5)
	at.move(2 * time.Minute)
	see("above the most", "version 2", false, 5)
	header["Cache-Control"] = "max-age=300, private"
	at.move(time.Hour)
	header["ETag"] = `"4"`
	see("for one alone", "version 2", false, 6)
	see("for one alone, again", "version 2", false, 6)
}

// TestPagesAreBounded asks for more than is kept, and for what is too large.
func TestPagesAreBounded(t *testing.T) {
	size := 7 << 20
	w := newWeb(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		_, _ = w.Write(make([]byte, size))
	}))
	c := openCache(t, t.TempDir(), w)
	for i := range 12 {
		content, err := c.Page(t.Context(), Request{Host: "npm.test", Path: fmt.Sprintf("/p%d", i), Accept: "application/json"}, false)
		if err != nil || content.Kept {
			t.Fatal(err)
		}
		c.pages.mu.Lock()
		if c.pages.size > maxPages || c.pages.size != int64(len(c.pages.of)*size) {
			t.Errorf("%d bytes of %d pages", c.pages.size, len(c.pages.of))
		}
		c.pages.mu.Unlock()
	}
	if content, err := c.Page(t.Context(), Request{Host: "npm.test", Path: "/p11", Accept: "application/json"}, false); err != nil || !content.Kept {
		t.Errorf("the newest is not kept: %v", err)
	}
	if content, err := c.Page(t.Context(), Request{Host: "npm.test", Path: "/p0", Accept: "application/json"}, false); err != nil || content.Kept {
		t.Errorf("the oldest is kept: %v", err)
	}
	for _, size = range []int{maxKept + 1, maxPage + 1} {
		if _, err := c.Page(t.Context(), Request{Host: "npm.test", Path: "/huge", Accept: "application/json"}, false); !errors.Is(err, ErrPass) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// TestPagesThatAreGivenAreBounded has programs not read what they asked for.
func TestPagesThatAreGivenAreBounded(t *testing.T) {
	w := newWeb(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, maxKept)) }))
	c := openCache(t, t.TempDir(), w)
	var open []*Content
	for i := range maxGiven / maxKept {
		content, err := c.Page(t.Context(), Request{Host: "npm.test", Path: fmt.Sprintf("/p%d", i), Accept: "application/json"}, false)
		if err != nil {
			t.Fatal(i, err)
		}
		open = append(open, content)
	}
	one := Request{Host: "npm.test", Path: "/one", Accept: "application/json"}
	if _, err := c.Page(t.Context(), one, false); !errors.Is(err, ErrPass) {
		t.Errorf("one more: %v", err)
	}
	open[0].Close()
	open[0].Close()
	if content, err := c.Page(t.Context(), one, false); err != nil {
		t.Errorf("after one was closed: %v", err)
	} else {
		content.Close()
	}
	for _, content := range open[1:] {
		content.Close()
	}
}
