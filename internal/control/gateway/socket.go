package gateway

import (
	"net/http"

	"github.com/coder/websocket"
)

// socket serves the WebSocket between a browser and the bus, which carries the NATS
// protocol. It ends with the session. The bus credentials determine which subjects
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
