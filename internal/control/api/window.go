package api

import (
	"sync"
	"time"

	"choiros/internal/choir"
)

// window limits how often something may be done: so many times in any span of
// time, for each key.
type window struct {
	burst int
	span  time.Duration
	now   func() time.Time

	mu   sync.Mutex // guards seen
	seen map[choir.ID][]time.Time
}

func newWindow(burst int, span time.Duration, now func() time.Time) *window {
	return &window{burst: burst, span: span, now: now, seen: map[choir.ID][]time.Time{}}
}

// take says how long to wait; zero means that it was taken.
func (w *window) take(key choir.ID) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	seen := w.seen[key]
	for len(seen) > 0 && now.Sub(seen[0]) >= w.span {
		seen = seen[1:]
	}
	if len(seen) >= w.burst {
		w.seen[key] = seen
		return w.span - now.Sub(seen[0])
	}
	w.seen[key] = append(seen, now)
	return 0
}
