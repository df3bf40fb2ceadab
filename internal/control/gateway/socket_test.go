package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/nats-io/nats.go"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/control/controltest"
)

// dialer opens the bus's WebSocket as a browser does.
type dialer struct {
	t    *testing.T
	p    *controltest.Plane
	with http.Header
}

// Dial implements nats.CustomDialer; the address is the gateway's.
func (d dialer) Dial(string, string) (net.Conn, error) {
	ws, _, err := d.open()
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(2 << 20)
	return websocket.NetConn(context.WithoutCancel(d.t.Context()), ws, websocket.MessageBinary), nil
}

// SkipTLSHandshake says that there is none.
func (dialer) SkipTLSHandshake() bool { return true }

func (d dialer) open() (*websocket.Conn, *http.Response, error) { return d.openAt(d.p.Host) }

func (d dialer) openAt(host string) (*websocket.Conn, *http.Response, error) {
	h := http.Header{"Origin": {"http://" + d.p.Host}, "Cookie": {d.p.Cookie.Name + "=" + d.p.Cookie.Value}}
	for name, values := range d.with {
		h[name] = values
	}
	ctx, cancel := context.WithTimeout(d.t.Context(), controltest.Patience)
	defer cancel()
	return websocket.Dial(ctx, "ws://"+d.p.Address+"/bus", &websocket.DialOptions{HTTPHeader: h, Host: host})
}

func TestTheBusSocket(t *testing.T) {
	p := controltest.Start(t)
	for name, h := range map[string]http.Header{
		"without a session":     {"Cookie": nil},
		"with a made-up one":    {"Cookie": {p.Cookie.Name + "=x"}},
		"from another page":     {"Origin": {"http://evil.example"}},
		"from the desktop":      {"Origin": {"http://" + string(p.Computers()[0].ID()) + ".localhost"}},
		"from no page":          {"Origin": nil},
		"from a page of no one": {"Origin": {"null"}},
	} {
		if ws, res, err := (dialer{t, p, h}).open(); err == nil {
			ws.CloseNow()
			t.Errorf("%s it opens", name)
		} else if res == nil || res.StatusCode != 401 && res.StatusCode != 403 {
			t.Errorf("%s: %v", name, err)
		}
	}
	res, body := p.Do(req{Method: "POST", Path: p.Base() + "/bus"})
	var g api.Grant
	if err := json.Unmarshal(body, &g); err != nil || res.StatusCode != 201 {
		t.Fatalf("%s %s", res.Status, body)
	}
	closed := make(chan struct{})
	refused := make(chan error, 8)
	nc, err := nats.Connect("nats://gateway:1", nats.SetCustomDialer(dialer{t, p, nil}), nats.UserJWTAndSeed(g.JWT, g.Seed),
		nats.CustomInboxPrefix(g.Inbox), nats.NoReconnect(), nats.ClosedHandler(func(*nats.Conn) { close(closed) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	mine := must(nc.SubscribeSync("user." + string(g.User) + "." + string(g.Computer) + ".>"))(t)
	other := "01a1fc66-455c-725b-b446-026efbb4ef29"
	for _, subject := range []string{"user." + other + "." + other + ".>", "user.>", "agent.>", ">", "$JS.API.>", "_INBOX.>", "$SYS.>"} {
		must(nc.SubscribeSync(subject))(t)
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := <-refused; !errors.Is(err, nats.ErrPermissionViolation) && !strings.Contains(err.Error(), "ermissions") {
			t.Errorf("%s: %v", subject, err)
		}
	}
	p.Healthy()
	if res, body := p.Do(req{Method: "PUT", Path: p.Base() + "/files/x", Body: strings.NewReader("x"), Header: http.Header{"If-Match": {"*"}}}); res.StatusCode != 200 {
		t.Fatalf("%s %s", res.Status, body)
	}
	for {
		m := must(mine.NextMsg(controltest.Patience))(t)
		var e choir.Event
		if err := json.Unmarshal(m.Data, &e); err != nil {
			t.Fatal(err)
		}
		if e.Type == "file.written" {
			break
		}
	}
	if res, _ := p.Do(req{Method: "POST", Path: "/auth/logout"}); res.StatusCode != 204 {
		t.Fatal(res.Status)
	}
	<-closed // the logout ended it
}
