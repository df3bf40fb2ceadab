package bench

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/coder/websocket"

	"choiros/internal/choir"
)

// TestTheJetStreamPeerDelivers connects as the page does and hears an event that was
// published for it, and none of another computer.
func TestTheJetStreamPeerDelivers(t *testing.T) {
	j, err := startJetStream(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	w := j.wire()
	ws, _, err := websocket.Dial(t.Context(), w.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	var said []byte
	await := func(what string) {
		t.Helper()
		for !bytes.Contains(said, []byte(what)) {
			_, more, err := ws.Read(t.Context())
			if err != nil {
				t.Fatalf("no %q in %q: %v", what, said, err)
			}
			said = append(said, more...)
		}
	}
	send := func(text string) {
		t.Helper()
		if err := ws.Write(t.Context(), websocket.MessageBinary, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	await("INFO ")
	send(fmt.Sprintf("CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true,\"user\":%q,\"pass\":%q}\r\nSUB %s 1\r\nSUB user.other.> 2\r\nPING\r\n", w.User, w.Pass, w.Subject))
	await("Permissions Violation for Subscription to \"user.other.>\"")
	await("PONG")
	e := choir.Event{ID: numbered(1, "ev"), Type: choir.TypeWindowOpened, User: benchUser, Computer: benchComputer}
	if _, err := j.send(e, []byte(`{"mark":"bench-000001"}`), 1); err != nil {
		t.Fatal(err)
	}
	await("bench-000001")
}
