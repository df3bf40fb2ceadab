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

// reporting sends how far a scanner, or a removal, is until it is stopped.
type reporting struct {
	sending       sync.Mutex // guards what has several frames
	entries, read atomic.Int64
	scanner       *snapshot.Scanner // nil for a removal
	ended         chan struct{}
	running       sync.WaitGroup
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
	r := &reporting{ended: make(chan struct{})}
	r.running.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-r.ended:
				return
			case <-tick.C:
			}
			r.sending.Lock()
			// A peer that is gone is noticed by what is sent next.
			_ = w.writeJSON(frameAt, &progress{Entries: r.entries.Load(), Bytes: r.read.Load()})
			r.sending.Unlock()
		}
	})
	return r
}

// stop ends the reports and waits for the last.
func (r *reporting) stop() {
	if r.scanner != nil {
		r.scanner.ReportTo(nil)
	}
	close(r.ended)
	r.running.Wait()
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
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(hangupEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if hungUp(raw) {
					cancel()
				}
			}
		}
	})
	return ctx, func() {
		cancel()
		watching.Wait()
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
