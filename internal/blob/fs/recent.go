package fs

import (
	"bytes"
	"io"
	"sync"
	"time"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

// recent is content that is durable in the write-ahead log and may have no file yet.
type recent struct {
	mu  sync.RWMutex // guards all
	put map[choir.Digest]recentBlob
}

type recentBlob struct {
	content []byte
	put     time.Time
}

func (r *recent) add(records []record) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.put == nil {
		r.put = map[choir.Digest]recentBlob{}
	}
	for _, one := range records {
		r.put[one.digest] = recentBlob{one.content, now}
	}
}

// forget removes records whose content now is in files.
func (r *recent) forget(records []record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range records {
		delete(r.put, one.digest)
	}
	if len(r.put) == 0 {
		r.put = nil // a map never becomes smaller
	}
}

func (r *recent) get(d choir.Digest) (recentBlob, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	b, ok := r.put[d]
	return b, ok
}

func (r *recent) has(d choir.Digest) bool {
	_, ok := r.get(d)
	return ok
}

// touch makes content as fresh as new content, and reports whether it is in the log.
func (r *recent) touch(d choir.Digest) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.put[d]
	if ok {
		b.put = time.Now()
		r.put[d] = b
	}
	return ok
}

// remove removes content that was last put before a time. kept reports that the content
// is there and fresher.
func (r *recent) remove(d choir.Digest, before time.Time) (removed, kept bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.put[d]
	if !ok || !b.put.Before(before) {
		return false, ok
	}
	delete(r.put, d)
	return true, false
}

func (r *recent) all() []record {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]record, 0, len(r.put))
	for d, b := range r.put {
		out = append(out, record{d, b.content})
	}
	return out
}

func (r *recent) list() map[choir.Digest]blob.Info {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make(map[choir.Digest]blob.Info, len(r.put))
	for d, b := range r.put {
		out[d] = blob.Info{Digest: d, Size: int64(len(b.content)), Put: b.put}
	}
	return out
}

func (b recentBlob) open() io.ReadCloser { return io.NopCloser(bytes.NewReader(b.content)) }
