package hub_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/nats-io/nats.go"

	"choiros/internal/bus"
	"choiros/internal/bus/bustest"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

// webSocket serves the bus the way the gateway does, and returns a ws:// URL.
func webSocket(t *testing.T, s *hub.Server) string {
	t.Helper()
	var bridges sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		ws.SetReadLimit(2 * bus.MaxPayload) // the default is 32 KiB
		bridges.Add(1)
		defer bridges.Done()
		_ = s.Bridge(ctx, websocket.NetConn(ctx, ws, websocket.MessageBinary))
	}))
	t.Cleanup(func() { cancel(); bridges.Wait(); web.Close() })
	return "ws" + strings.TrimPrefix(web.URL, "http")
}

func TestAGoClientComesThroughAWebSocket(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	answerFrom(t, s, l)
	creds := bustest.Mint(t, s, choir.RoleDirector, l.Home)
	nc, err := nats.Connect(webSocket(t, s), nats.UserJWTAndSeed(creds.JWT, creds.Seed), nats.CustomInboxPrefix(creds.Inbox), nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	caller := choir.Caller{User: l.Home.User, Computer: l.Home.Computer, Role: choir.RoleDirector, Connection: creds.Connection}
	// A body far above what a WebSocket reads by default.
	body := []byte(`{"seq":0` + strings.Repeat(" ", 700_000) + `}`)
	m, err := nc.RequestWithContext(bustest.Within(t), bus.CommandSubject(caller, choir.VerbEventsAfter), body)
	if err != nil || !strings.HasPrefix(string(m.Data), `{"ok":`) {
		t.Fatalf("got %v, %v", m, err)
	}
}

// TestTheOfficialBrowserClient needs the packages of ui/shell (make deps).
func TestTheOfficialBrowserClient(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: ", err)
	}
	ui, err := filepath.Abs("../../../ui/shell")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(ui, "node_modules", "@nats-io", "nats-core")); err != nil {
		t.Skip("the packages of ui/shell are not installed: ", err)
	}
	s, l, other := bustest.Start(t), bustest.NewLog(bustest.NewHome(t)), bustest.NewLog(bustest.NewHome(t))
	l.Append(2)
	creds, err := json.Marshal(bustest.Mint(t, s, choir.RoleShell, l.Home))
	if err != nil {
		t.Fatal(err)
	}
	// What is asked for is answered only now that the page listens; then both computers speak.
	respond(t, s, l.Home, func(ctx context.Context, _ choir.Caller, _ choir.Verb, body []byte) (any, error) {
		relaying(t, s, other, filepath.Join(t.TempDir(), "relay.json"))
		relaying(t, s, l, filepath.Join(t.TempDir(), "relay.json"))
		other.Append(5)
		l.Append(3)
		return l.Answer(ctx, body)
	})
	cmd := exec.CommandContext(bustest.Within(t), node, "--experimental-websocket", "--no-warnings", "testdata/browser.mjs",
		ui, webSocket(t, s), string(creds), string(l.Home.User), string(l.Home.Computer), string(other.Home.User))
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaint.String())
	}
	var got struct {
		Events  int
		Heard   []uint64
		Foreign struct {
			Heard   int
			Refused string
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if got.Events != 5 || len(got.Heard) != 3 || got.Heard[0] != 1 || got.Heard[2] != 4 {
		t.Errorf("the page has %d events and heard %v", got.Events, got.Heard)
	}
	if got.Foreign.Heard != 0 || got.Foreign.Refused != "PermissionViolationError" {
		t.Errorf("of another user it heard %d messages, refused with %q", got.Foreign.Heard, got.Foreign.Refused)
	}
}
