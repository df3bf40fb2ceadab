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

// Limits on stored answers.
const (
	maxReplays    = 512
	maxReplayBody = 256 << 10 // bytes of one answer
	maxReplayed   = 64 << 20  // bytes of one request that has a key
	maxReplayKey  = 200       // characters of a key
)

// replays answers a repeated POST with the same Idempotency-Key with the first answer.
// It keeps the newest answers in memory. A repeated prompt is recognized even after
// that, because the run's id is derived from the key.
type replays struct {
	mu    sync.Mutex // guards the fields below
	all   map[replayKey]*replay
	order []replayKey // oldest first
}

type replayKey struct {
	user      choir.ID
	role      choir.Role
	path, key string
}

// replay is a request with a key, and its stored answer.
type replay struct {
	request choir.Digest  // of the body
	done    chan struct{} // closed when the rest is there, or never will be
	kept    bool
	status  int
	header  http.Header
	answer  []byte
}

// serve answers a POST with an Idempotency-Key once, and passes all other requests to
// next.
func (rs *replays) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	p, known := auth.Of(r.Context())
	key := r.Header.Get("Idempotency-Key")
	if r.Method != http.MethodPost || key == "" || !known {
		next.ServeHTTP(w, r)
		return
	}
	if len(key) > maxReplayKey {
		WriteProblem(w, choir.RefuseField("Idempotency-Key", choir.ReasonFieldOver, choir.CountOf("most", maxReplayKey)))
		return
	}
	body, err := readBody(r)
	if err != nil {
		WriteProblem(w, err)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	rs.once(w, r, next, replayKey{p.User, p.Role, r.URL.Path, key}, choir.DigestOf(body))
}

// readBody reads a body of at most maxReplayed bytes. Code too_large: it has more.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxReplayed+1))
	var large *http.MaxBytesError
	if errors.As(err, &large) || len(body) > maxReplayed {
		return nil, choir.Refuse("api", choir.ReasonBodyTooLarge)
	}
	return body, choir.Wrap("api", choir.CodeInvalid, err, "read the body")
}

// once runs next for the first of equal requests, and answers the others with its stored
// answer. Code invalid: the key was used for another request.
func (rs *replays) once(w http.ResponseWriter, r *http.Request, next http.Handler, key replayKey, request choir.Digest) {
	for {
		first, mine := rs.reserve(key, request)
		if mine {
			rs.run(w, r, next, key, first)
			return
		}
		if first.request != request {
			WriteProblem(w, choir.RefuseField("Idempotency-Key", choir.ReasonReplayKeyUsed))
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

// reserve returns the first request with a key. mine reports that this is it, so that
// the caller must run it.
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

// evict drops the oldest finished request. Requests in progress are kept, or they could
// run twice; there are at most as many as connections.
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

// run serves the first request and stores its answer. It drops the key if a repetition
// may succeed: after status 409, 429 or 5xx, or a too large answer.
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

// forget drops a request whose answer is not stored.
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

// write sends the stored answer, marked as replayed.
func (f *replay) write(w http.ResponseWriter) {
	for name, values := range f.header {
		w.Header()[name] = values
	}
	w.Header().Set("Idempotency-Replayed", "true")
	w.WriteHeader(f.status)
	// A client that went away does not need the answer.
	_, _ = w.Write(f.answer)
}

// tee is an http.ResponseWriter that also stores the answer.
type tee struct {
	http.ResponseWriter
	status int
	answer bytes.Buffer
	over   bool // the answer exceeds maxReplayBody and is not stored
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

// Unwrap returns the underlying writer, for http.ResponseController.
func (t *tee) Unwrap() http.ResponseWriter { return t.ResponseWriter }
