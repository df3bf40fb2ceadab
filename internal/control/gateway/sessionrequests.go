package gateway

import (
	"context"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
)

// maxSockets is the maximum of open WebSockets of one session: the bus, two while its
// credentials are renewed, terminals, and those of a development server.
const maxSockets = 64

// sessionCheckEvery is the interval at which Serve looks for sessions that ended.
const sessionCheckEvery = time.Minute

// sessionRequests are the requests in progress of all sessions. Each may be a WebSocket
// or another stream, and ends with its session.
type sessionRequests struct {
	mu   sync.Mutex // guards open
	open map[*sessionRequest]struct{}
}

// sessionRequest is one request in progress: its session, whether it opens a WebSocket,
// and the function that cancels it.
type sessionRequest struct {
	of     auth.Principal
	socket bool
	cancel context.CancelFunc
}

func newSessionRequests() sessionRequests {
	return sessionRequests{open: map[*sessionRequest]struct{}{}}
}

// addRequest adds a request of a session. It returns a context for the request, and the
// function that removes the request and cancels the context. Code rate_limited: the
// session has maxSockets WebSockets already.
func (s *sessionRequests) addRequest(ctx context.Context, p auth.Principal, socket bool) (context.Context, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if socket && s.countSockets(p) >= maxSockets {
		return nil, nil, choir.Refuse("gateway.socket", choir.ReasonTooManySockets, choir.CountOf("n", maxSockets))
	}
	ctx, cancel := context.WithCancel(ctx)
	one := &sessionRequest{of: p, socket: socket, cancel: cancel}
	s.open[one] = struct{}{}
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, one)
	}, nil
}

// countSockets returns the number of open WebSockets of a session. The caller holds mu.
func (s *sessionRequests) countSockets(p auth.Principal) (n int) {
	for one := range s.open {
		if one.socket && one.of.Session == p.Session {
			n++
		}
	}
	return n
}

// cancelEnded cancels every request whose session is not alive.
func (s *sessionRequests) cancelEnded(alive func(auth.Principal) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.open {
		if !alive(one.of) {
			one.cancel()
		}
	}
}

// bindToSession returns a context for a request of a session, which is cancelled when the
// session ends, and the function that releases it. Code rate_limited: the session has
// maxSockets WebSockets already. Code unauthenticated: the session has ended.
func (g *Gateway) bindToSession(ctx context.Context, p auth.Principal, socket bool) (context.Context, func(), error) {
	ctx, release, err := g.requests.addRequest(ctx, p, socket)
	if err != nil {
		return nil, nil, err
	}
	// After the request is added: a logout ends the session before it cancels requests.
	if !g.cfg.Auth.Alive(p) {
		release()
		return nil, nil, choir.Refuse("gateway", choir.ReasonSessionEnded)
	}
	return ctx, release, nil
}

// Serve cancels the requests of sessions that became too old, idle for too long or were
// dropped, every minute until ctx ends.
func (g *Gateway) Serve(ctx context.Context) error {
	tick := time.NewTicker(sessionCheckEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			g.requests.cancelEnded(g.cfg.Auth.Alive)
		}
	}
}
