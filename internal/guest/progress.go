package guest

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/snapshot"
)

// progress is how far a scan is, on the wire.
type progress struct {
	Entries int64 `json:"entries" choir:"range=0..9007199254740991"`
	Bytes   int64 `json:"bytes" choir:"range=0..9007199254740991"`
}

// How often progress is sent, and a peer that only waits is looked at.
const (
	progressEvery = 500 * time.Millisecond
	hangupEvery   = 250 * time.Millisecond
)

// repeated calls a function again and again until it is stopped. It is a timer and
// no goroutine, which would have to be woken to end what mostly takes milliseconds.
type repeated struct {
	fn    func()
	after time.Duration

	mu      sync.Mutex // held while fn runs, so that stop waits for it
	timer   *time.Timer
	stopped bool
}

// repeat calls fn each time so long has passed since it last returned.
func repeat(after time.Duration, fn func()) *repeated {
	r := &repeated{fn: fn, after: after}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = time.AfterFunc(after, r.fire)
	return r
}

func (r *repeated) fire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return
	}
	r.fn()
	r.timer.Reset(r.after)
}

// stop waits for a call under way; none follows.
func (r *repeated) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	r.timer.Stop()
}

// reporting sends how far a scanner, or a removal, is until it is stopped.
type reporting struct {
	sending       sync.Mutex // guards what has several frames
	entries, read atomic.Int64
	scanner       *snapshot.Scanner // nil for a removal
	reports       *repeated
}

// reportProgress sends how far the scanner is, now and then.
func (w *wire) reportProgress(s *snapshot.Scanner) *reporting {
	r := w.startReports()
	r.scanner = s
	s.ReportTo(func(p snapshot.Progress) {
		r.entries.Store(p.Entries)
		r.read.Store(p.Bytes)
	})
	return r
}

// startReports sends now and then what is counted in the reporting.
func (w *wire) startReports() *reporting {
	r := &reporting{}
	r.reports = repeat(progressEvery, func() {
		r.sending.Lock()
		defer r.sending.Unlock()
		// A peer that is gone is noticed by what is sent next.
		_ = w.writeJSON(frameAt, &progress{Entries: r.entries.Load(), Bytes: r.read.Load()})
	})
	return r
}

// stop ends the reports and waits for the last.
func (r *reporting) stop() {
	if r.scanner != nil {
		r.scanner.ReportTo(nil)
	}
	r.reports.stop()
}

// untilHangup is a context that ends when the peer closes its end. What the peer
// sends stays unread. The caller calls release.
func (w *wire) untilHangup(ctx context.Context) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancel(ctx)
	conn, ok := w.conn.(syscall.Conn)
	if !ok {
		return ctx, cancel
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return ctx, cancel
	}
	watch := repeat(hangupEvery, func() {
		if hungUp(raw) {
			cancel()
		}
	})
	return ctx, func() {
		watch.stop()
		cancel()
	}
}

// hungUp reports whether the peer of a socket has closed its end.
func hungUp(raw syscall.RawConn) bool {
	gone := false
	err := raw.Control(func(fd uintptr) {
		polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(polled, 0)
		gone = err == nil && n > 0 && polled[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
	})
	return gone || err != nil
}
