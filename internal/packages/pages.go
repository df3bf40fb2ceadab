package packages

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// pageLife is the longest time that a page is kept, whatever its registry says: for so long a
// version that was published just now may not be seen.
const pageLife = 10 * time.Minute

// Bounds of pages, in bytes, beside that of how many are read at once (atOnce), so that tasks that ask for many
// large ones cannot fill the memory.
const (
	maxPage  = 32 << 20  // of a page that is read
	maxKept  = 8 << 20   // of a page that is kept, or given to programs
	maxPages = 64 << 20  // of all pages that are kept
	maxGiven = 128 << 20 // of all pages that are being given to programs
)

// pages keeps pages of registries in memory: lists of versions, with their digests. They are what
// the registry gave over TLS to a question of the cache's own, which has no digest.
type pages struct {
	from    Fetcher
	now     func() time.Time
	reading *places             // one for each page that is read
	given   *semaphore.Weighted // bytes

	mu   sync.Mutex // guards the rest; held for no asking
	of   map[Request]*page
	size int64
}

// page is a page, which is never changed.
type page struct {
	body       []byte
	kind, etag string
	address    netip.Addr // that was dialled for it
	until      time.Time
	used       time.Time // guarded by pages.mu
}

// newPages returns no pages.
func newPages(from Fetcher, now func() time.Time) *pages {
	return &pages{from: from, now: now, of: map[Request]*page{}, reading: newPlaces(), given: semaphore.NewWeighted(maxGiven)}
}

// pageReader returns a page of a registry. It returns ErrPass, wrapped, if there is no such page.
type pageReader func(context.Context, Request) ([]byte, error)

// read implements pageReader.
func (s *pages) read(ctx context.Context, r Request) ([]byte, error) {
	p, _, err := s.get(ctx, r, false)
	if err != nil {
		return nil, err
	}
	return p.body, nil
}

// get returns a page, and whether the registry was not asked for it. With anew it always is.
func (s *pages) get(ctx context.Context, r Request, anew bool) (p *page, kept bool, err error) {
	if p, fresh := s.findPage(r); fresh && !anew {
		return p, true, nil
	}
	leave, err := s.reading.takePlace(ctx, r.Host)
	if err != nil {
		return nil, false, err
	}
	defer leave()
	p, fresh := s.findPage(r)
	if fresh && !anew { // somebody else has asked meanwhile
		return p, true, nil
	}
	now := s.now()
	ask := r
	ask.Gzip = true
	if p != nil {
		ask.ETag = p.etag
	}
	a, err := s.from.Fetch(ctx, ask)
	if err != nil {
		return nil, false, err
	}
	defer a.Body.Close()
	if a.Status == http.StatusNotModified && p != nil {
		p = &page{body: p.body, kind: p.kind, etag: p.etag, address: a.Address}
	} else if p, err = readPage(r, a); err != nil {
		return nil, false, err
	}
	p.used, p.until = now, now.Add(freshFor(a.Header))
	s.keepPage(r, p)
	return p, false, nil
}

// findPage returns a page that is kept, nil for none, and whether it may be given without asking again.
func (s *pages) findPage(r Request) (p *page, fresh bool) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if p = s.of[r]; p != nil {
		p.used = now
	}
	return p, p != nil && now.Before(p.until)
}

// readPage returns the page of an answer.
func readPage(r Request, a Answer) (*page, error) {
	packed := slices.Equal(a.Header["Content-Encoding"], []string{"gzip"})
	if a.Status != http.StatusOK || encoded(a.Header) && !packed {
		return nil, fmt.Errorf("%s%s: status %d: %w", r.Host, r.Path, a.Status, ErrPass)
	}
	var from io.Reader = a.Body
	if packed {
		unpacked, err := gzip.NewReader(a.Body)
		if err != nil {
			return nil, err
		}
		from = unpacked
	}
	body, err := io.ReadAll(io.LimitReader(from, maxPage+1))
	if err == nil && len(body) > maxPage {
		err = fmt.Errorf("%s%s: more than %d bytes: %w", r.Host, r.Path, maxPage, ErrPass)
	}
	return &page{body: body, kind: a.Header.Get("Content-Type"), etag: a.Header.Get("ETag"), address: a.Address}, err
}

// freshFor returns for how long an answer may be given to others without asking again: as its
// registry says, and no longer than pageLife.
func freshFor(h http.Header) time.Duration {
	var seconds int
	for word := range strings.SplitSeq(strings.Join(h["Cache-Control"], ","), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(word)), "=")
		switch name {
		case "no-store", "no-cache", "private":
			return 0
		case "max-age":
			seconds, _ = strconv.Atoi(value)
		}
	}
	if age, err := strconv.Atoi(h.Get("Age")); err == nil {
		seconds -= age
	}
	return min(time.Duration(max(0, min(seconds, 1<<20)))*time.Second, pageLife)
}

// keepPage keeps a page, in place of the pages that were not used for longest. A page that would
// have to be asked for as a whole again is not kept.
func (s *pages) keepPage(r Request, p *page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.of[r]; was != nil {
		s.drop(r)
	}
	if len(p.body) > maxKept || p.etag == "" && !p.until.After(p.used) {
		return
	}
	s.of[r] = p
	s.size += int64(len(p.body))
	if s.size <= maxPages {
		return
	}
	all := make([]Request, 0, len(s.of))
	for r := range s.of {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Request) int { return cmp.Compare(s.of[a].used.UnixNano(), s.of[b].used.UnixNano()) })
	for _, r := range all {
		if s.size <= maxPages {
			return
		}
		s.drop(r)
	}
}

// forget has pages asked for anew, as wholes.
func (s *pages) forget(all []Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range all {
		if s.of[r] != nil {
			s.drop(r)
		}
	}
}

// drop forgets a page. The caller holds mu.
func (s *pages) drop(r Request) {
	s.size -= int64(len(s.of[r].body))
	delete(s.of, r)
}

// Page returns a page of a registry, as it was at most pageLife ago, or as it is now if anew is set.
// It returns ErrPass, wrapped, for a page that the host has to answer itself.
func (c *Cache) Page(ctx context.Context, r Request, anew bool) (*Content, error) {
	p, kept, err := c.pages.get(ctx, r, anew)
	if err == nil && (len(p.body) > maxKept || !c.pages.given.TryAcquire(int64(len(p.body)))) {
		err = ErrPass
	}
	if err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", ErrPass, err)
		}
		return nil, err
	}
	size := int64(len(p.body))
	out := &Content{Type: p.kind, ETag: p.etag, Size: size, Kept: kept, page: bytes.NewReader(p.body)}
	out.release = sync.OnceFunc(func() { c.pages.given.Release(size) })
	if !kept {
		out.Address = p.address
	}
	return out, nil
}

// PageOf returns the cache's own question for a page that a program asks for with a header Accept;
// ok is false for all that is no page of a registry.
func (c *Cache) PageOf(host, path, accept string) (r Request, ok bool) {
	registry := c.hosts[host]
	if registry == nil {
		return Request{}, false
	}
	kind, ok := registry.Page(host, path, accept)
	return Request{Host: host, Path: path, Accept: kind}, ok
}
