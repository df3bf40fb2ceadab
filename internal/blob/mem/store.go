// Package mem is a content-addressed store in memory, for tests that need a
// blob.Store only as a place for content. Nothing in it outlives the process, so
// it says nothing about durability: tests of crashes, of disks and of what a
// restart finds use fs. tools/imports refuses it outside of tests.
package mem

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

// Config of a store; the zero value is a store without a limit.
type Config struct {
	// Limit is how many bytes of content the store takes before it is full; 0 is
	// no limit.
	Limit int64
	// Now is the clock of Collector; nil is time.Now.
	Now func() time.Time
}

// Store keeps content in a map. It implements blob.Store and the optional powers
// Batcher, Collector, Linker, Piecer and Roomer.
type Store struct {
	cfg Config

	mu    sync.RWMutex // guards what follows
	blobs map[choir.Digest]kept
	bytes int64 // sum of the lengths
}

// kept is one blob. Its content is never written to.
type kept struct {
	content []byte
	put     time.Time // when it was last put
	damaged bool      // by Damage; else the content is what its digest says
}

var (
	_ blob.Store     = (*Store)(nil)
	_ blob.Batcher   = (*Store)(nil)
	_ blob.Collector = (*Store)(nil)
	_ blob.Linker    = (*Store)(nil)
	_ blob.Piecer    = (*Store)(nil)
	_ blob.Roomer    = (*Store)(nil)
)

// New makes an empty store.
func New(cfg Config) *Store {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Store{cfg: cfg, blobs: map[choir.Digest]kept{}}
}

// Put implements blob.Store.
func (s *Store) Put(ctx context.Context, content io.Reader) (choir.Digest, int64, error) {
	raw, err := io.ReadAll(blob.ContextReader(ctx, content))
	if err != nil {
		return "", 0, readError(err)
	}
	d := choir.DigestOf(raw)
	return d, int64(len(raw)), s.add(map[choir.Digest][]byte{d: raw})
}

// add stores all the given content, or none of it if it does not fit.
func (s *Store) add(content map[choir.Digest][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	more := int64(0)
	for d, raw := range content {
		more += int64(len(raw) - len(s.blobs[d].content))
	}
	if err := s.roomFor(more); err != nil {
		return err
	}
	now := s.cfg.Now()
	for d, raw := range content {
		s.blobs[d] = kept{content: raw, put: now}
	}
	s.bytes += more
	return nil
}

// RoomFor implements blob.Roomer.
func (s *Store) RoomFor(size int64) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.roomFor(size)
}

// roomFor is RoomFor for callers that hold the lock.
func (s *Store) roomFor(size int64) error {
	if s.cfg.Limit == 0 || size <= s.cfg.Limit-s.bytes {
		return nil
	}
	return choir.E("blob.put", choir.CodeNoSpace, "the store takes %d bytes and has %d; %d more do not fit", s.cfg.Limit, s.bytes, size).
		WithRemedy("free some space and try again; nothing was left behind")
}

// find returns the content of a digest. Code invalid: the digest is malformed;
// not_found: there is none.
func (s *Store) find(d choir.Digest) (kept, error) {
	if !d.Valid() {
		return kept{}, choir.Invalid("digest", "%q is not a SHA-256", d)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	k, ok := s.blobs[d]
	if !ok {
		return kept{}, &choir.Error{Op: "blob.open", Code: choir.CodeNotFound, Path: string(d), Msg: "is not in the blob store"}
	}
	return k, nil
}

// Open implements blob.Store.
func (s *Store) Open(_ context.Context, d choir.Digest) (io.ReadCloser, error) {
	k, err := s.find(d)
	if err != nil {
		return nil, err
	}
	if k.damaged {
		return &damaged{bytes.NewReader(k.content), d}, nil
	}
	return io.NopCloser(bytes.NewReader(k.content)), nil
}

// OpenAt implements blob.Piecer.
func (s *Store) OpenAt(_ context.Context, d choir.Digest, offset int64) (io.ReadCloser, error) {
	k, err := s.find(d)
	if err != nil {
		return nil, err
	}
	offset = min(max(0, offset), int64(len(k.content)))
	return io.NopCloser(bytes.NewReader(k.content[offset:])), nil
}

// Size implements blob.Store.
func (s *Store) Size(_ context.Context, d choir.Digest) (int64, error) {
	k, err := s.find(d)
	return int64(len(k.content)), err
}

// Damage flips stored bytes, as a failing disk does; code not_found if there is no such
// content. Putting the content again repairs it.
func (s *Store) Damage(d choir.Digest) error {
	k, err := s.find(d)
	if err != nil {
		return err
	}
	broken := append(bytes.Clone(k.content), 0) // also of what was empty
	broken[0] ^= 1
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += int64(len(broken) - len(k.content))
	s.blobs[d] = kept{broken, k.put, true}
	return nil
}

// damaged reads content whose bytes differ from its digest.
type damaged struct {
	content *bytes.Reader
	want    choir.Digest
}

// Read implements io.Reader; the end of the content is code corrupt.
func (r *damaged) Read(p []byte) (int, error) {
	n, err := r.content.Read(p)
	if err == io.EOF {
		err = choir.E("blob.read", choir.CodeCorrupt, "blob %s is damaged", r.want)
	}
	return n, err
}

// Close implements io.Closer.
func (r *damaged) Close() error { return nil }

// readError turns an error of the content's source into a *choir.Error with a code; an
// *Error stays unchanged.
func readError(err error) error {
	var own *choir.Error
	switch {
	case errors.As(err, &own):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return choir.Wrap("blob.put", choir.CodeCancelled, err, "stopped")
	}
	return choir.Wrap("blob.put", choir.CodeInternal, err, "the source failed")
}
