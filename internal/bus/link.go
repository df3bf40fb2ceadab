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

// link is one connection with one set of credentials.
type link struct {
	nc *nats.Conn
	// calls counts the requests in flight; a link retires when none is left.
	calls sync.WaitGroup

	mu     sync.Mutex // guards what follows
	up     context.Context
	down   context.CancelFunc
	closed bool
	subs   map[*feed][]*nats.Subscription
}

// open connects. The link reconnects by itself until it is closed; when its
// credentials have expired it keeps trying, until a take-over replaces it.
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

// dialer lets NATS dial the way the client was told to.
type dialer struct{ c *Client }

// Dial satisfies nats.CustomDialer.
func (d dialer) Dial(string, string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(d.c.life, dialLimit)
	defer cancel()
	return d.c.cfg.Dial(ctx)
}

// lose tells the requests in flight that their replies will not come.
func (l *link) lose(life context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down()
	if !l.closed {
		l.up, l.down = context.WithCancel(life)
	}
}

// alive is a context that ends when the link loses its connection.
func (l *link) alive() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.up
}

func (l *link) close() {
	l.nc.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.down()
}

// retire closes the link once no call is in flight on it. When ctx or life ends
// first, those calls are asked again elsewhere. The link must be out of use.
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

// attach subscribes a feed. A link that is down does so once it is back.
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

// settle returns once the server listens for a feed; busy when the link is down.
func (l *link) settle(ctx context.Context, f *feed) error {
	limited, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	if err := l.nc.FlushWithContext(limited); err != nil {
		return choir.Wrap("bus.listen", choir.CodeBusy, err, "listen to %v", f.subjects)
	}
	return l.refusal(f)
}

// refusal says that the server lets this link not hear a feed: otherwise it
// would only stay silent.
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

func (l *link) detach(f *feed) {
	l.mu.Lock()
	subs := l.subs[f]
	delete(l.subs, f)
	l.mu.Unlock()
	for _, s := range subs {
		_ = s.Unsubscribe() // fails only when the connection, and so the subscription, is gone
	}
}

// dropped counts the messages of a feed that found its buffer full.
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

// backoff doubles from first to last.
func backoff(n int, first, last time.Duration) time.Duration {
	for ; n > 1 && first < last; n-- {
		first *= 2
	}
	return min(first, last)
}
