package api

import (
	"sync"
	"time"

	"choiros/internal/choir"
)

// rateLimit allows each computer at most burst actions within any period of length span.
// golang.org/x/time/rate would allow nearly twice as many: nine prompts where five are
// promised.
type rateLimit struct {
	burst int
	span  time.Duration
	now   func() time.Time

	mu    sync.Mutex // guards the fields below
	done  map[choir.ID][]time.Time
	swept time.Time // when computers that did nothing for a span were last dropped
}

// newRateLimit returns a limit of burst actions per span for each computer.
func newRateLimit(burst int, span time.Duration, now func() time.Time) *rateLimit {
	return &rateLimit{burst: burst, span: span, now: now, done: map[choir.ID][]time.Time{}, swept: now()}
}

// allow counts an action of a computer and returns zero, or counts nothing and returns
// the time to wait.
func (l *rateLimit) allow(computer choir.ID) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.sweep(now)
	done := l.recent(computer, now)
	if len(done) >= l.burst {
		return l.span - now.Sub(done[0])
	}
	l.done[computer] = append(done, now)
	return 0
}

// sweep drops computers without actions within the last span, at most once per span. The
// caller holds mu.
func (l *rateLimit) sweep(now time.Time) {
	if now.Sub(l.swept) < l.span {
		return
	}
	l.swept = now
	for computer := range l.done {
		if len(l.recent(computer, now)) == 0 {
			delete(l.done, computer)
		}
	}
}

// recent returns the times of a computer's actions within the last span, oldest first.
// The caller holds mu.
func (l *rateLimit) recent(computer choir.ID, now time.Time) []time.Time {
	done := l.done[computer]
	for len(done) > 0 && now.Sub(done[0]) >= l.span {
		done = done[1:]
	}
	return done
}
