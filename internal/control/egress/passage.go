package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"choiros/internal/choir"
)

// passage is a request or a tunnel that the policy or a grant let out.
type passage struct {
	task    choir.ID // "" for programs of none
	target  Target
	mode    choir.EgressMode
	grant   *Grant                     // nil if the policy alone let it out
	key     string                     // entry of the vault whose key it has; "" for none
	expiry  atomic.Pointer[time.Timer] // looks whether the grant has expired; nil if it does not
	address netip.Addr
	ctx     context.Context
	cancel  context.CancelCauseFunc
	began   time.Time
	status  int // of the answer to a request
	inject  Injector

	cached    bool // the package cache had the answer
	inspected bool // a tunnel whose requests are let out, and recorded, one by one

	answerable bool // nothing was written to the client
	passed     bool // the host, or the servers of its name, may have heard of the request
	whole      bool // the client has the whole answer, whatever ended the passage after it
	torn       bool // the client has a part of the answer and must not take it for the whole

	sent, received atomic.Int64
}

// cutError is the cause with which a passage is ended before its time.
type cutError string

func (e cutError) Error() string { return "egress: cut: " + string(e) }

// cut ends the passage; the first reason counts.
func (o *passage) cut(why string) { o.cancel(cutError(why)) }

// cutFor cuts the passage for an error of its connections: the end of a time limit is silence.
func (o *passage) cutFor(err error) {
	if silent(err) {
		o.cut("idle")
	}
	o.cut("error")
}

// silent reports whether an error is the end of a time limit.
func silent(err error) bool {
	var limit net.Error
	return errors.As(err, &limit) && limit.Timeout()
}

// record returns the event of the passage, which has ended.
func (o *passage) record(now time.Time) choir.EgressPassed {
	e := choir.EgressPassed{
		Host: o.target.Host, Port: o.target.Port, Cached: o.cached, Credential: o.key,
		Method: clip(o.target.Method, 40), Path: clip(o.target.Path, 2000), Status: o.status,
		Grant: o.grant.id(), Sent: o.sent.Load(), Received: o.received.Load(), Millis: max(0, now.Sub(o.began).Milliseconds()),
	}
	if o.address.IsValid() {
		e.Address = o.address.String()
	}
	var cut cutError
	switch {
	case o.whole:
	case errors.As(context.Cause(o.ctx), &cut):
		e.Cut = string(cut)
	case o.ctx.Err() != nil:
		e.Cut = "error" // the client's connection or the computer's session ended
	}
	return e
}

// clip shortens a text to max bytes and replaces what is no UTF-8.
func clip(s string, max int) string {
	if len(s) > max {
		s = s[:max]
	}
	return strings.ToValidUTF8(s, "?")
}

// piece is how many bytes are copied between two looks at the limits.
const piece = 4 << 20

// join copies between a client and a host in both directions until both have ended or the
// passage is cut. It closes neither.
func (o *passage) join(client, host net.Conn, limits Limits) {
	stop := context.AfterFunc(o.ctx, func() {
		past := time.Unix(1, 0)
		_ = client.SetDeadline(past)
		_ = host.SetDeadline(past)
	})
	defer stop()
	var both sync.WaitGroup
	both.Go(func() { o.oneWay(host, client, &o.sent, limits) })
	both.Go(func() { o.oneWay(client, host, &o.received, limits) })
	over, watch := make(chan struct{}), sync.WaitGroup{}
	watch.Go(func() { o.cutIdle(over, limits.Idle) })
	both.Wait()
	close(over)
	watch.Wait()
}

// cutIdle cuts the passage once no byte has passed in either direction for a while, whether nobody
// writes or nobody reads, until over is closed.
func (o *passage) cutIdle(over <-chan struct{}, idle time.Duration) {
	look := time.NewTicker(idle / 2)
	defer look.Stop()
	for quiet, seen := 0, int64(-1); quiet < 2; {
		select {
		case <-over:
			return
		case <-look.C:
		}
		if total := o.sent.Load() + o.received.Load(); total != seen {
			quiet, seen = 0, total
		} else {
			quiet++
		}
	}
	o.cut("idle")
}

// oneWay copies src to dst until its end, and passes the end on. It counts in n, of a slow copy too
// before a half of the idle time is over.
func (o *passage) oneWay(dst, src net.Conn, n *atomic.Int64, limits Limits) {
	for {
		left := limits.Bytes - n.Load()
		if left <= 0 {
			o.cut("limit")
			return
		}
		_ = src.SetReadDeadline(time.Now().Add(limits.Idle / 2))
		if o.ctx.Err() != nil {
			return // asked after the deadline was set, which the cut sets too
		}
		want := min(left, piece)
		copied, err := io.Copy(dst, &io.LimitedReader{R: src, N: want})
		n.Add(copied)
		switch {
		case err == nil && copied < want:
			if half, ok := dst.(interface{ CloseWrite() error }); ok {
				_ = half.CloseWrite()
			} else {
				o.cancel(nil)
			}
			return
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			o.cut("error")
			return
		}
	}
}
