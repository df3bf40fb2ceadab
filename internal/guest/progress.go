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

// progress is the progress of a scan or a removal on the wire.
type progress struct {
	Entries int64 `json:"entries" choir:"range=0..9007199254740991"`
	Bytes   int64 `json:"bytes" choir:"range=0..9007199254740991"`
}

// progressEvery is the interval of progress frames, hangupEvery that of the checks
// whether a silent peer has disconnected.
const (
	progressEvery = 500 * time.Millisecond
	hangupEvery   = 250 * time.Millisecond
)

// repeated calls a function repeatedly until it is stopped. It uses a timer instead of a
// goroutine, because it mostly ends within milliseconds.
type repeated struct {
	fn    func()
	after time.Duration

	mu      sync.Mutex // held while fn runs, so that stop waits for it
	timer   *time.Timer
	stopped bool
}

// repeat calls fn again and again, each time a duration after its last return, until
// stop.
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

// stop ends the calls and waits for one in progress.
func (r *repeated) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	r.timer.Stop()
}

// reporting sends the progress of a scan or a removal until it is stopped.
type reporting struct {
	sending       sync.Mutex // guards what has several frames
	entries, read atomic.Int64
	scanner       *snapshot.Scanner // nil for a removal
	reports       *repeated
}

// reportProgress starts to send the scanner's progress at intervals. The caller must call
// stop.
func (w *wire) reportProgress(s *snapshot.Scanner) *reporting {
	r := w.startReports()
	r.scanner = s
	s.ReportTo(func(p snapshot.Progress) {
		r.entries.Store(p.Entries)
		r.read.Store(p.Bytes)
	})
	return r
}

// startReports starts to send the counts of the returned value at intervals. The caller
// must call stop.
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

// stop ends the reports and waits for one in progress.
func (r *reporting) stop() {
	if r.scanner != nil {
		r.scanner.ReportTo(nil)
	}
	r.reports.stop()
}

// untilHangup returns a context that ends when the peer closes its end. Data from the
// peer stays unread. The caller must call release.
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
