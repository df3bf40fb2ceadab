package api

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
)

// Bounds of what is kept to be answered again.
const (
	maxReplays    = 512
	maxReplayBody = 256 << 10 // bytes of one answer
	maxReplayed   = 64 << 20  // bytes of one request that has a key
	maxReplayKey  = 200       // characters of a key
)

// replays answer a POST that comes again with the same Idempotency-Key as the
// first time. The newest are kept in memory; what a prompt began is known for
// ever, because its id follows from the key.
type replays struct {
	mu    sync.Mutex // guards what follows
	all   map[replayKey]*replay
	order []replayKey // oldest first
}

type replayKey struct {
	role      choir.Role
	path, key string
}

type replay struct {
	request choir.Digest  // of the body
	done    chan struct{} // closed when the rest is there, or never will be
	kept    bool
	status  int
	header  http.Header
	answer  []byte
}

func (rs *replays) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	p, known := auth.Of(r.Context())
	key := r.Header.Get("Idempotency-Key")
	if r.Method != http.MethodPost || key == "" || !known {
		next.ServeHTTP(w, r)
		return
	}
	if len(key) > maxReplayKey {
		WriteProblem(w, choir.Invalid("Idempotency-Key", "has more than %d characters", maxReplayKey))
		return
	}
	body, err := readBody(r)
	if err != nil {
		WriteProblem(w, err)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	rs.once(w, r, next, replayKey{p.Role, r.URL.Path, key}, choir.DigestOf(body))
}

func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxReplayed+1))
	var large *http.MaxBytesError
	if errors.As(err, &large) || len(body) > maxReplayed {
		return nil, choir.E("api", choir.CodeTooLarge, "the body is too large")
	}
	return body, choir.Wrap("api", choir.CodeInvalid, err, "read the body")
}

// once lets the first of equal requests through, and answers the others with
// what it was answered.
func (rs *replays) once(w http.ResponseWriter, r *http.Request, next http.Handler, key replayKey, request choir.Digest) {
	for {
		first, mine := rs.reserve(key, request)
		if mine {
			rs.run(w, r, next, key, first)
			return
		}
		if first.request != request {
			WriteProblem(w, choir.Invalid("Idempotency-Key", "was used for another request already"))
			return
		}
		select {
		case <-first.done:
		case <-r.Context().Done():
			return
		}
		if first.kept {
			first.write(w)
			return
		}
	}
}

func (rs *replays) reserve(key replayKey, request choir.Digest) (first *replay, mine bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if first, ok := rs.all[key]; ok {
		return first, false
	}
	if rs.all == nil {
		rs.all = map[replayKey]*replay{}
	}
	if len(rs.order) >= maxReplays {
		rs.evict()
	}
	first = &replay{request: request, done: make(chan struct{})}
	rs.all[key] = first
	rs.order = append(rs.order, key)
	return first, true
}

// evict forgets the oldest call that has ended. One under way is remembered, or it
// would run a second time; there are at most as many as connections.
func (rs *replays) evict() {
	for i, key := range rs.order {
		select {
		case <-rs.all[key].done:
			delete(rs.all, key)
			rs.order = slices.Delete(rs.order, i, i+1)
			return
		default:
		}
	}
}

// run serves the first request and keeps its answer, unless the same request may
// fare better the next time.
func (rs *replays) run(w http.ResponseWriter, r *http.Request, next http.Handler, key replayKey, first *replay) {
	t := &tee{ResponseWriter: w, status: http.StatusOK}
	defer func() {
		if first.kept {
			first.status, first.header, first.answer = t.status, w.Header().Clone(), t.answer.Bytes()
		} else {
			rs.forget(key, first)
		}
		close(first.done)
	}()
	next.ServeHTTP(t, r)
	first.kept = t.status < 500 && t.status != http.StatusTooManyRequests && t.status != http.StatusConflict && !t.over
}

func (rs *replays) forget(key replayKey, first *replay) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.all[key] != first {
		return // it was the oldest
	}
	delete(rs.all, key)
	for i, k := range rs.order {
		if k == key {
			rs.order = append(rs.order[:i:i], rs.order[i+1:]...)
			return
		}
	}
}

func (f *replay) write(w http.ResponseWriter) {
	for name, values := range f.header {
		w.Header()[name] = values
	}
	w.Header().Set("Idempotency-Replayed", "true")
	w.WriteHeader(f.status)
	// A client that went away does not need the answer.
	_, _ = w.Write(f.answer)
}

// tee keeps what is answered.
type tee struct {
	http.ResponseWriter
	status int
	answer bytes.Buffer
	over   bool // it is too large to be kept
}

func (t *tee) WriteHeader(status int) {
	t.status = status
	t.ResponseWriter.WriteHeader(status)
}

func (t *tee) Write(b []byte) (int, error) {
	if t.over = t.over || t.answer.Len()+len(b) > maxReplayBody; !t.over {
		t.answer.Write(b)
	}
	return t.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController find the connection.
func (t *tee) Unwrap() http.ResponseWriter { return t.ResponseWriter }
