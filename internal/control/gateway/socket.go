package gateway

import (
	"context"
	"net/http"
	"sync"

	"github.com/coder/websocket"

	"choiros/internal/choir"
	"choiros/internal/control/auth"
)

// maxSockets is the maximum of open WebSockets of one session: the bus, two while its
// credentials are renewed, terminals, and those of a development server.
const maxSockets = 64

// sockets are the open WebSockets by session.
type sockets struct {
	mu   sync.Mutex // guards open
	open map[string]map[context.Context]socket
}

// socket is one WebSocket: the shell session it depends on, and the function that ends
// it.
type socket struct {
	shell  string
	cancel context.CancelFunc
}

func newSockets() sockets { return sockets{open: map[string]map[context.Context]socket{}} }

// registerSocket adds a WebSocket of a session and returns its context, which is
// cancelled when the session ends. Code rate_limited: the session has maxSockets
// already.
func (s *sockets) registerSocket(ctx context.Context, p auth.Principal) (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[p.Session] == nil {
		s.open[p.Session] = map[context.Context]socket{}
	}
	if len(s.open[p.Session]) >= maxSockets {
		return nil, choir.Refuse("gateway.socket", choir.ReasonTooManySockets, choir.CountOf("n", maxSockets))
	}
	ctx, cancel := context.WithCancel(ctx)
	s.open[p.Session][ctx] = socket{p.Shell, cancel}
	return ctx, nil
}

// remove removes a WebSocket by its context and cancels it.
func (s *sockets) remove(p auth.Principal, ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[p.Session][ctx].cancel()
	delete(s.open[p.Session], ctx)
	if len(s.open[p.Session]) == 0 {
		delete(s.open, p.Session)
	}
}

// endSession cancels every WebSocket of a shell session, and of the sessions that it let
// into places.
func (s *sockets) endSession(shell string) {
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

// socket serves the WebSocket between a browser and the bus, which carries the NATS
// protocol. Logout of the session ends it. The bus credentials determine which subjects
// it may use.
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
