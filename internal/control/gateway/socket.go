package gateway

import (
	"context"
	"net/http"
	"sync"

	"github.com/coder/websocket"

	"choiros/internal/choir"
	"choiros/internal/control/api"
)

// maxSockets bounds the sockets of one session; a page has one, and two while
// its credentials are renewed.
const maxSockets = 64

// sockets are the open WebSockets, by session.
type sockets struct {
	mu   sync.Mutex // guards open
	open map[string]map[*context.CancelFunc]struct{}
}

// begin counts a socket; false when its session has too many.
func (s *sockets) begin(session string, cancel *context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[session] == nil {
		s.open[session] = map[*context.CancelFunc]struct{}{}
	}
	if len(s.open[session]) >= maxSockets {
		return false
	}
	s.open[session][cancel] = struct{}{}
	return true
}

func (s *sockets) ended(session string, cancel *context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open[session], cancel)
	if len(s.open[session]) == 0 {
		delete(s.open, session)
	}
}

// end ends every socket of a session.
func (s *sockets) end(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for cancel := range s.open[session] {
		(*cancel)()
	}
}

// socket carries the NATS protocol between a browser and the bus. The session
// lets the socket in, and its logout ends it; what it may hear is decided by its
// credentials.
func (g *Gateway) socket(w http.ResponseWriter, r *http.Request) {
	p, err := g.cfg.Auth.Check(r)
	if err != nil {
		api.WriteProblem(w, err)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if !g.sockets.begin(p.Session, &cancel) {
		api.WriteProblem(w, choir.E("gateway.bus", choir.CodeRateLimited, "this session has %d connections to the bus already", maxSockets).WithRemedy("close some tabs"))
		return
	}
	defer g.sockets.ended(p.Session, &cancel)
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered
	}
	ws.SetReadLimit(2 << 20)
	conn := websocket.NetConn(ctx, ws, websocket.MessageBinary)
	defer conn.Close()
	if err := g.cfg.Bus.Bridge(ctx, conn); err != nil {
		g.cfg.Log.Debug("bus socket ended", "error", err)
	}
}
