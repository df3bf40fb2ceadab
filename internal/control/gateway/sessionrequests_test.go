package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/auth"
	"choiros/internal/control/auth/linklogin"
)

// edge is a gateway in a bubble, with real sessions, one computer and a session of its
// owner.
type edge struct {
	t    *testing.T
	gate *Gateway
	l    *pipeListener
	tr   *http.Transport
	shell,
	desktop, preview *http.Cookie
	// uses receives each opening of the computer, which goes on when goOn closes.
	uses, goOn chan struct{}
}

var edgeOwner, edgeComputer = choir.DeriveID("", "owner"), choir.DeriveID("", "computer")

// edgeSystem is the control plane of an edge.
type edgeSystem struct {
	System
	*edge
	app *pipeListener
}

func (s edgeSystem) OwnerOf(choir.ID) (choir.ID, error) { return edgeOwner, nil }

func (s edgeSystem) Use(context.Context, choir.ID) (func(), error) {
	if s.uses != nil {
		s.uses <- struct{}{}
		<-s.goOn
	}
	return func() {}, nil
}

func (s edgeSystem) DialPort(ctx context.Context, _ choir.ID, _ int) (net.Conn, error) {
	return s.app.dial(ctx)
}

// edgeBus is a bus whose connections end with their context only.
type edgeBus struct{}

func (edgeBus) Bridge(ctx context.Context, _ net.Conn) error {
	<-ctx.Done()
	return ctx.Err()
}

// withEdge runs a test with an edge in a bubble.
func withEdge(t *testing.T, test func(*testing.T, *edge)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := &edge{t: t}
		app, stopApp := serveInBubble(8, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "data: x\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}))
		defer stopApp()
		sessions := must(linklogin.Open(filepath.Join(t.TempDir(), "sessions.json"), edgeOwner, time.Now))(t)
		e.gate = New(Config{
			Site: NewSite(config.Default().Listen, "80"), API: edgeAPI{}, System: edgeSystem{edge: e, app: app}, Auth: sessions, Bus: edgeBus{},
			Log: slog.New(slog.DiscardHandler),
		})
		defer e.gate.Close()
		var stop func()
		e.l, stop = serveInBubble(8, e.gate)
		defer stop()
		e.tr = e.l.transport()
		defer e.tr.CloseIdleConnections()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- e.gate.Serve(ctx) }()
		defer func() {
			cancel()
			if err := <-served; err != nil {
				t.Error(err)
			}
		}()
		e.login()
		test(t, e)
	})
}

// edgeAPI is an API that answers the length of each body.
type edgeAPI struct{ API }

func (edgeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) { readsBody(w, r) }

// login opens a session of the shell, and through it one of the desktop and one of a
// preview.
func (e *edge) login() {
	e.t.Helper()
	e.shell = e.newSession()
	r := httptest.NewRequest("GET", "/", nil)
	r.AddCookie(e.shell)
	p := must(e.gate.cfg.Auth.Check(r))(e.t)
	for place, cookie := range map[auth.Place]**http.Cookie{
		{Computer: edgeComputer}: &e.desktop, {Computer: edgeComputer, Port: 8080}: &e.preview,
	} {
		ticket := must(e.gate.cfg.Auth.NewTicket(p, place))(e.t)
		*cookie = must(e.gate.cfg.Auth.RedeemTicket(httptest.NewRequest("GET", "/", nil), ticket, place))(e.t)
	}
}

// newSession logs in once more.
func (e *edge) newSession() *http.Cookie {
	e.t.Helper()
	return must(e.gate.cfg.Auth.Login(must(e.gate.cfg.Auth.NewLink(edgeOwner))(e.t)))(e.t)
}

// request returns a request to an origin with the cookie of a session.
func (e *edge) request(method, origin, path string, cookie *http.Cookie) *http.Request {
	e.t.Helper()
	r := must(http.NewRequestWithContext(e.t.Context(), method, origin+path, nil))(e.t)
	r.Header.Set("Origin", origin)
	r.AddCookie(cookie)
	return r
}

// openSocket opens the WebSocket of the bus at an origin.
func (e *edge) openSocket(origin string, cookie *http.Cookie) (*websocket.Conn, *http.Response, error) {
	e.t.Helper()
	r := e.request("GET", origin, "/bus", cookie)
	return websocket.Dial(e.t.Context(), r.URL.String(), &websocket.DialOptions{HTTPClient: &http.Client{Transport: e.tr}, HTTPHeader: r.Header})
}

// origins returns the origins of the desktop and of the preview.
func (e *edge) origins() (desktop, preview string) {
	site := e.gate.cfg.Site
	return site.originOf(auth.Place{Computer: edgeComputer}), site.originOf(auth.Place{Computer: edgeComputer, Port: 8080})
}

// logout logs out with the cookie of the shell, and returns the answer's status.
func (e *edge) logout() int {
	e.t.Helper()
	res := must(e.tr.RoundTrip(e.request("POST", e.gate.Origin(), "/auth/logout", e.shell)))(e.t)
	res.Body.Close()
	return res.StatusCode
}

// TestASocketThatWaitsForItsComputerEndsWithItsSession: the owner logged out while a
// hibernated computer opened for a socket, and the socket opened after that.
func TestASocketThatWaitsForItsComputerEndsWithItsSession(t *testing.T) {
	withEdge(t, func(t *testing.T, e *edge) {
		desktop, preview := e.origins()
		e.uses, e.goOn = make(chan struct{}), make(chan struct{})
		answers := make(chan error, 2)
		go func() {
			ws, res, err := e.openSocket(desktop, e.desktop)
			if err == nil {
				ws.CloseNow()
				err = errors.New("a socket opens")
			} else if res != nil && res.StatusCode == http.StatusUnauthorized {
				err = nil
			}
			answers <- err
		}()
		go func() {
			res, err := e.tr.RoundTrip(e.request("GET", preview, "/", e.preview))
			if err == nil {
				res.Body.Close()
				if res.StatusCode != http.StatusUnauthorized {
					err = fmt.Errorf("a preview answers %s", res.Status)
				}
			}
			answers <- err
		}()
		<-e.uses
		<-e.uses
		if got := e.logout(); got != http.StatusNoContent {
			t.Fatalf("the logout is answered %d", got)
		}
		close(e.goOn)
		for range 2 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestStreamsEndWithTheirSession: open sockets and event streams went on after their
// session was too old, idle for too long, or dropped.
func TestStreamsEndWithTheirSession(t *testing.T) {
	for name, c := range map[string]struct {
		before func(*edge) // the session is alive after it
		end    func(*edge)
	}{
		"a week old": {
			func(e *edge) {
				for range 7 {
					time.Sleep(auth.SessionIdle - time.Hour) // of the bubble's clock
					r := e.request("GET", e.gate.Origin(), "/", e.shell)
					if _, err := e.gate.cfg.Auth.Check(r); err != nil {
						e.t.Fatal(err)
					}
				}
			},
			func(*edge) { time.Sleep(auth.SessionAge - 7*(auth.SessionIdle-time.Hour) + 2*sessionCheckEvery) },
		},
		"idle for a day": {
			func(*edge) { time.Sleep(auth.SessionIdle - time.Minute) },
			func(*edge) { time.Sleep(time.Minute + 2*sessionCheckEvery) },
		},
		"dropped for a new one": {
			func(e *edge) {
				for range 63 {
					time.Sleep(time.Second)
					e.newSession()
				}
			},
			func(e *edge) { e.newSession(); time.Sleep(2 * sessionCheckEvery) },
		},
		"logged out": {
			func(*edge) {},
			func(e *edge) {
				if got := e.logout(); got != http.StatusNoContent {
					e.t.Errorf("the logout is answered %d", got)
				}
			},
		},
		"logged out when it was gone": {
			func(*edge) {},
			func(e *edge) {
				r := e.request("GET", e.gate.Origin(), "/", e.shell)
				p := must(e.gate.cfg.Auth.Check(r))(e.t)
				if err := e.gate.cfg.Auth.Logout(p); err != nil {
					e.t.Fatal(err)
				}
				if got := e.logout(); got != http.StatusUnauthorized {
					e.t.Errorf("the logout is answered %d", got)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			withEdge(t, func(t *testing.T, e *edge) {
				desktop, preview := e.origins()
				streams := map[string]*stream{}
				for name, one := range map[string]struct {
					origin string
					cookie *http.Cookie
				}{"the shell's socket": {e.gate.Origin(), e.shell}, "the desktop's socket": {desktop, e.desktop}} {
					ws, _, err := e.openSocket(one.origin, one.cookie)
					if err != nil {
						t.Fatal(err)
					}
					defer ws.CloseNow()
					streams[name] = readStream(websocket.NetConn(t.Context(), ws, websocket.MessageBinary))
				}
				res := must(e.tr.RoundTrip(e.request("GET", preview, "/", e.preview)))(t)
				defer res.Body.Close()
				streams["the preview's stream"] = readStream(res.Body)
				c.before(e)
				for name, s := range streams {
					if s.hasEnded() {
						t.Errorf("%s ended early", name)
					}
				}
				c.end(e)
				for name, s := range streams {
					if !s.hasEnded() {
						t.Errorf("%s goes on", name)
					}
				}
			})
		})
	}
}

// stream is a stream that is read to its end, where ended closes.
type stream struct{ ended chan struct{} }

func readStream(from io.Reader) *stream {
	s := &stream{ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		_, _ = io.Copy(io.Discard, from)
	}()
	return s
}

func (s *stream) hasEnded() bool {
	synctest.Wait()
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// TestAnUploadWithASessionMayTakeLong, and the login's body may not.
func TestAnUploadWithASessionMayTakeLong(t *testing.T) {
	withEdge(t, func(t *testing.T, e *edge) {
		for path, want := range map[string]string{"/api/computers": "page of 4", "/auth/login": "i/o timeout"} {
			c := newClient(t, e.l, "POST "+path+" HTTP/1.1\r\nHost: "+e.gate.cfg.Site.Shell+"\r\nOrigin: "+e.gate.Origin()+
				"\r\nCookie: "+e.shell.Name+"="+e.shell.Value+"\r\nContent-Length: 4\r\n\r\n")
			defer c.Close()
			for range 4 {
				time.Sleep(bodyPatience - time.Second)
				if _, err := io.WriteString(c, "x"); err != nil {
					break
				}
			}
			if got := c.said(); !strings.Contains(got, want) {
				t.Errorf("%s: %q", path, got)
			}
		}
	})
}
