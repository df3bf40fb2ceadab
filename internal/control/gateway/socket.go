package gateway

import (
	"context"
	"net/http"
	"sync"

	"github.com/coder/websocket"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
)

// maxSockets bounds the sockets of one session: the bus's, two while its
// credentials are renewed, terminals, and what a development server needs.
const maxSockets = 64

// sockets are the open WebSockets, by session.
type sockets struct {
	mu   sync.Mutex // guards open
	open map[string]map[context.Context]socket
}

// socket is one WebSocket: the shell session it ends with, and how.
type socket struct {
	shell  string
	cancel context.CancelFunc
}

func newSockets() sockets { return sockets{open: map[string]map[context.Context]socket{}} }

// begin counts a socket, whose context ends with its session; code rate_limited
// when the session has too many.
func (s *sockets) begin(ctx context.Context, p auth.Principal) (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[p.Session] == nil {
		s.open[p.Session] = map[context.Context]socket{}
	}
	if len(s.open[p.Session]) >= maxSockets {
		return nil, choir.E("gateway.socket", choir.CodeRateLimited, "this session has %d open connections already", maxSockets).WithRemedy("close some tabs")
	}
	ctx, cancel := context.WithCancel(ctx)
	s.open[p.Session][ctx] = socket{p.Shell, cancel}
	return ctx, nil
}

// ended forgets a socket.
func (s *sockets) ended(p auth.Principal, ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[p.Session][ctx].cancel()
	delete(s.open[p.Session], ctx)
	if len(s.open[p.Session]) == 0 {
		delete(s.open, p.Session)
	}
}

// end ends every socket of a shell session, and of those it let in elsewhere.
func (s *sockets) end(shell string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, all := range s.open {
		for _, one := range all {
			if one.shell == shell {
				one.cancel()
			}
		}
	}
}

// socket carries the NATS protocol between a browser and the bus. The session
// lets the socket in, and its logout ends it; what it may hear is decided by its
// credentials.
func (g *Gateway) socket(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered
	}
	ws.SetReadLimit(2 << 20)
	conn := websocket.NetConn(r.Context(), ws, websocket.MessageBinary)
	defer conn.Close()
	if err := g.cfg.Bus.Bridge(r.Context(), conn); err != nil {
		g.cfg.Log.Debug("bus socket ended", "error", err)
	}
}
