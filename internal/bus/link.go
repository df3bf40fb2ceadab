package bus

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"choiros/internal/choir"
)

const (
	dialLimit    = 5 * time.Second
	reconnectMin = 10 * time.Millisecond
	reconnectMax = time.Second
)

// link is a NATS connection with one set of credentials.
type link struct {
	nc *nats.Conn
	// calls counts the requests in flight; a link retires when none is left.
	calls sync.WaitGroup

	mu     sync.Mutex // guards up, down, closed and subs
	up     context.Context
	down   context.CancelFunc
	closed bool
	subs   map[*feed][]*nats.Subscription
}

// open connects with creds and returns the link. It reconnects by itself until it is
// closed; with expired credentials it keeps trying.
func (c *Client) open(ctx context.Context, creds Credentials) (*link, error) {
	if !validToken(creds.Connection) || creds.Inbox != InboxPrefix(creds.Connection) {
		return nil, choir.Invalid("credentials", "of connection %q with inbox %q do not hold", creds.Connection, creds.Inbox)
	}
	if ctx.Err() != nil {
		return nil, choir.Wrap("bus.dial", choir.CodeCancelled, ctx.Err(), "connect to the bus")
	}
	l := &link{subs: map[*feed][]*nats.Subscription{}}
	l.up, l.down = context.WithCancel(c.life)
	nc, err := nats.Connect("nats://127.0.0.1", // never reached: the dialer decides
		nats.SetCustomDialer(dialer{c}), nats.Timeout(dialLimit),
		nats.UserJWTAndSeed(creds.JWT, creds.Seed),
		nats.CustomInboxPrefix(creds.Inbox),
		nats.Name(creds.Connection),
		nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.IgnoreDiscoveredServers(),
		// Nothing waits for a reconnect inside: it may be another link that gets through.
		nats.ReconnectBufSize(-1),
		nats.CustomReconnectDelay(func(n int) time.Duration { return backoff(n, reconnectMin, reconnectMax) }),
		nats.PermissionErrOnSubscribe(true),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { l.lose(c.life) }),
		nats.ReconnectHandler(func(*nats.Conn) { c.pokeAll() }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) { c.pokeAll() }),
	)
	if err != nil {
		l.down()
		return nil, choir.Wrap("bus.dial", choir.CodeUnavailable, err, "connect to the bus as %s", c.cfg.Role)
	}
	l.nc = nc
	return l, nil
}

// dialer makes NATS connect through the client's Dial.
type dialer struct{ c *Client }

// Dial satisfies nats.CustomDialer.
func (d dialer) Dial(string, string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(d.c.life, dialLimit)
	defer cancel()
	return d.c.cfg.Dial(ctx)
}

// lose aborts the requests in flight after the connection was lost.
func (l *link) lose(life context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down()
	if !l.closed {
		l.up, l.down = context.WithCancel(life)
	}
}

// alive returns a context that ends when the link loses its current connection.
func (l *link) alive() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.up
}

// close closes the connection and aborts the requests in flight.
func (l *link) close() {
	l.nc.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.down()
}

// retire waits until no call is in flight on the link, or ctx or life ends, and closes
// it; aborted calls are retried on the new link. It must no longer be the client's link.
func (l *link) retire(ctx, life context.Context) {
	idle := make(chan struct{})
	go func() {
		l.calls.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-ctx.Done():
	case <-life.Done():
	}
	l.close()
	<-idle
}

// attach subscribes to the feed's subjects. If the link is down, this takes effect when it
// reconnects.
func (l *link) attach(f *feed) error {
	for _, s := range f.subjects {
		sub, err := l.nc.ChanSubscribe(s, f.messages)
		if err != nil {
			return choir.Wrap("bus.listen", choir.CodeUnavailable, err, "listen to %s", s)
		}
		l.mu.Lock()
		l.subs[f] = append(l.subs[f], sub)
		l.mu.Unlock()
	}
	return nil
}

// confirmSubscription waits until the server has processed the feed's subscriptions. Code
// busy: the link is down; forbidden: the server refuses a subject.
func (l *link) confirmSubscription(ctx context.Context, f *feed) error {
	limited, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	if err := l.nc.FlushWithContext(limited); err != nil {
		return choir.Wrap("bus.listen", choir.CodeBusy, err, "listen to %v", f.subjects)
	}
	return l.refusal(f)
}

// refusal returns an error with code forbidden if the server refused a subscription of the
// feed, else nil.
func (l *link) refusal(f *feed) error {
	err := l.nc.LastError()
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return nil
	}
	for _, s := range f.subjects {
		if strings.Contains(err.Error(), `"`+s+`"`) {
			return choir.E("bus.listen", choir.CodeForbidden, "this connection may not listen to %s", s)
		}
	}
	return nil
}

// detach ends the feed's subscriptions on this link.
func (l *link) detach(f *feed) {
	l.mu.Lock()
	subs := l.subs[f]
	delete(l.subs, f)
	l.mu.Unlock()
	for _, s := range subs {
		_ = s.Unsubscribe() // fails only when the connection, and so the subscription, is gone
	}
}

// dropped returns the number of the feed's messages dropped because its buffer was full.
func (l *link) dropped(f *feed) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	total := 0
	for _, s := range l.subs[f] {
		n, _ := s.Dropped() // fails only when the subscription is gone
		total += n
	}
	return total
}

// backoff returns the wait before attempt n: first, doubled each time, at most last.
func backoff(n int, first, last time.Duration) time.Duration {
	for ; n > 1 && first < last; n-- {
		first *= 2
	}
	return min(first, last)
}
