package sprites

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

const testToken = "secret-token-9876"

// service is a service that answers as a test says.
func service(t *testing.T, serve http.HandlerFunc) *api {
	t.Helper()
	server := httptest.NewServer(serve)
	a := newAPI(Config{
		URL: server.URL + "/", CallTimeout: 5 * time.Second, Token: func(context.Context) (string, error) { return testToken, nil },
	}.withDefaults())
	t.Cleanup(func() {
		a.close()
		server.CloseClientConnections()
		server.Close()
	})
	return a
}

// says answers everything with a status and a body.
func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// TestRefusalsAreNamed: each error says what happened and what to do, and none repeats the
// token.
func TestRefusalsAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		body   string
		code   choir.Code
		want   []string // in the error
	}{
		{"a refused token", 401, `{"error":"unauthorized","message":"bad token ` + testToken + `"}`, choir.CodeUnavailable, []string{"Fly refuses the token", "(token)", "sprites.dev/account"}},
		{"no right", 403, `{"error":"forbidden"}`, choir.CodeUnavailable, []string{"does not let this account make", "forbidden", "the plan and the payment"}},
		{"no money", 402, ``, choir.CodeUnavailable, []string{"does not let this account", "payment"}},
		{"as many as there may be", 429, `{"error":"concurrent_sprite_limit_exceeded","message":"10 of 10"}`, choir.CodeBusy, []string{"as many sprites as it may", "10 of 10", "hibernate_after"}},
		{"too fast", 429, `{"error":"sprite_creation_rate_limited","retry_after_seconds":7}`, choir.CodeBusy, []string{"for now", "in 7 s"}},
		{"no capacity", 503, `{"message":"no capacity in fra"}`, choir.CodeBusy, []string{"cannot make a sprite for now", "no capacity in fra", "in 30 s"}},
		{"an error of its own", 500, `<html>`, choir.CodeUnavailable, []string{"an error of its own, 500", "later"}},
		{"no such sprite", 404, ``, choir.CodeNotFound, []string{"no such sprite"}},
		{"another refusal", 418, `{"message":"a\nteapot"}`, choir.CodeUnavailable, []string{"status 418", `"a teapot"`}},
		{"a way elsewhere", 302, ``, choir.CodeUnavailable, []string{"status 302"}},
		{"no JSON", 200, `<html>hello</html>`, choir.CodeUnavailable, []string{"does not answer as Fly Sprites does", "sprites.url"}},
		{"another sprite", 200, `{"name":"other"}`, choir.CodeUnavailable, []string{`"other"`}},
		{"a long refusal", 400, `{"message":"` + strings.Repeat("x", 10_000) + `"}`, choir.CodeUnavailable, []string{"xxx..."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := service(t, says(c.status, c.body))
			err := a.create(t.Context(), "choir-x", size{})
			if choir.CodeOf(err) != c.code {
				t.Fatalf("the code is %s: %v", choir.CodeOf(err), err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
			if strings.Contains(err.Error(), testToken) || len(err.Error()) > 1000 {
				t.Errorf("it says too much: %v", err)
			}
			_, err = a.run(t.Context(), "choir-x", leftBriefly, "true")
			if err == nil || strings.Contains(err.Error(), testToken) || c.status != 200 && choir.CodeOf(err) != c.code {
				t.Errorf("a program is run: %v", err)
			}
		})
	}
}

// TestNoTokenIsNamed: no request is made without a token that can be sent.
func TestNoTokenIsNamed(t *testing.T) {
	t.Parallel()
	a := service(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was made") })
	for name, token := range map[string]func(context.Context) (string, error){
		"none": nil, "empty": func(context.Context) (string, error) { return "", nil },
		"two lines": func(context.Context) (string, error) { return "a\r\nHost: b", nil },
		"no file":   func(context.Context) (string, error) { return "", errors.New("no file") },
	} {
		a.cfg.Token = token
		_, err := a.get(t.Context(), "x")
		_, again := a.run(t.Context(), "x", leftBriefly, "true")
		for _, err := range []error{err, again} {
			if choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "token for Fly Sprites") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestAnswersAreBounded: neither an endless answer, nor endless pages, nor an answer that
// never comes takes more than its share.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	endless := service(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	if _, err := endless.get(t.Context(), "x"); choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("endless: %v", err)
	}
	asked := 0
	pages := service(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		json.NewEncoder(w).Encode(page{Sprites: []sprite{{Name: "choir-1"}, {Name: "other"}}, More: true, Next: "again"})
	})
	if _, err := pages.list(t.Context(), "choir-"); choir.CodeOf(err) != choir.CodeUnavailable || asked != mostPages {
		t.Errorf("%d pages: %v", asked, err)
	}
	silent := service(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := silent.get(ctx, "x"); choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "does not answer") || strings.Contains(err.Error(), "/v1/") {
		t.Errorf("silent: %v", err)
	}
	if _, err := silent.run(ctx, "x", leftBriefly, "true"); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("a silent WebSocket: %v", err)
	}
}

// programs answers each WebSocket with what serve sends.
func programs(t *testing.T, serve func(ctx context.Context, ws *websocket.Conn)) *api {
	return service(t, func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return // the client is told
		}
		defer ws.CloseNow()
		serve(r.Context(), ws)
	})
}

// TestAProgramThatLies: messages without sense, without end or cut short end the program,
// by an error that says which.
func TestAProgramThatLies(t *testing.T) {
	t.Parallel()
	send := func(kind websocket.MessageType, messages ...string) func(context.Context, *websocket.Conn) {
		return func(ctx context.Context, ws *websocket.Conn) {
			for _, m := range messages {
				ws.Write(ctx, kind, []byte(m))
			}
		}
	}
	binary := func(messages ...string) func(context.Context, *websocket.Conn) {
		return send(websocket.MessageBinary, messages...)
	}
	for _, c := range []struct {
		name  string
		serve func(context.Context, *websocket.Conn)
		out   string
		want  string // in the error; empty for none
	}{
		{"it ends", binary("\x01hello ", "\x01world", "\x03\x00"), "hello world", ""},
		{"it ends without a code", binary("\x03"), "", ""},
		{"it fails", binary("\x02bad\nthings", "\x03\x07"), "", "ended with code 7, saying bad things"},
		{"cut", binary("\x01half"), "half", "was cut"},
		{"texts and unknown kinds", func(ctx context.Context, ws *websocket.Conn) {
			send(websocket.MessageText, `{"type":"port_opened"}`, "\x01no")(ctx, ws)
			binary("", "\x09no", "\x00no", "\x04", "\x01yes", "\x03\x00")(ctx, ws)
		}, "yes", ""},
		{"a message without end", func(ctx context.Context, ws *websocket.Conn) {
			w, err := ws.Writer(ctx, websocket.MessageBinary)
			for err == nil {
				_, err = w.Write(make([]byte, 64<<10))
			}
		}, "", "was cut"},
		{"errors without end", func(ctx context.Context, ws *websocket.Conn) {
			for range 100 {
				binary("\x02"+strings.Repeat("e", 10_000))(ctx, ws)
			}
			binary("\x03\x01")(ctx, ws)
		}, "", "eee..."},
		{"output without end", func(ctx context.Context, ws *websocket.Conn) {
			for ws.Write(ctx, websocket.MessageBinary, append([]byte{streamOutput}, make([]byte, 10_000)...)) == nil {
			}
		}, strings.Repeat("\x00", 1001), "says more than 1000 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, err := programs(t, c.serve).ask(t.Context(), "choir-x", 1000, "program")
			if out != c.out {
				t.Errorf("it said %q", out)
			}
			if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestAProgramIsGivenUp: one that reads nothing and says nothing does not keep its caller.
func TestAProgramIsGivenUp(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	a := programs(t, func(context.Context, *websocket.Conn) { <-over })
	t.Cleanup(func() { close(over) })
	p, err := a.run(t.Context(), "choir-x", leftBriefly, "program")
	if err != nil {
		t.Fatal(err)
	}
	p.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
	for err == nil {
		_, err = p.Write(make([]byte, 1<<20)) // until all buffers are full
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := a.ask(ctx, "choir-x", 10, "program"); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("a silent program: %v", err)
	}
}

// TestCutsAreNotAnsweredWithAFlood: a service that cuts every connection at once is asked
// after growing pauses.
func TestCutsAreNotAnsweredWithAFlood(t *testing.T) {
	t.Parallel()
	const times = 3
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked atomic.Int32
	a := programs(t, func(context.Context, *websocket.Conn) {
		if asked.Add(1) == times {
			cancel()
		}
	})
	d := New(a.cfg)
	defer d.Close()
	began := time.Now()
	d.newBox(state{Sprite: "choir-x"}).watch(ctx)
	if took, least := time.Since(began), (1+2+4)*firstPause; took < least {
		t.Errorf("it was asked %d times in %v, and not in %v", times, took, least)
	}
}

// TestASilentServiceKeepsNobody: a service that takes requests and never answers is given up
// by every call, each with an error that says so.
func TestASilentServiceKeepsNobody(t *testing.T) {
	t.Parallel()
	a := service(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	a.cfg.CallTimeout, a.cfg.BootTimeout = 50*time.Millisecond, 50*time.Millisecond
	d := New(a.cfg)
	defer d.Close()
	b := d.newBox(state{Sprite: "choir-x", Service: serviceOf(a.cfg.URL)})
	for name, call := range map[string]func() error{
		"dial":    func() error { _, err := b.Dial(t.Context()); return err },
		"usage":   func() error { _, err := b.Usage(t.Context()); return err },
		"destroy": func() error { return b.Destroy(t.Context()) },
		"recover": func() error { _, err := d.Recover(t.Context(), b.Handle()); return err },
		"create": func() error {
			_, err := d.Create(t.Context(), sandbox.Spec{Computer: "01a21a2b-69d3-790d-9e9c-d7b0e6c29f9d", Doors: "/doors", Guest: "/guest"})
			return err
		},
	} {
		if err := call(); choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "does not answer") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRefusals(f *testing.F) {
	f.Add(429, `{"error":"concurrent_sprite_limit_exceeded","retry_after_seconds":1e300}`)
	f.Add(500, "\xff\x00")
	f.Add(403, `{"message":"`+strings.Repeat(`\u0001`, 400)+`"}`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		err := refusalOf("make", status, http.Header{}, []byte(body), testToken)
		if err == nil || len(err.Error()) > 1000 || strings.Contains(err.Error(), testToken) {
			t.Errorf("%v", err)
		}
	})
}

func TestHandles(t *testing.T) {
	t.Parallel()
	s := state{Sprite: "choir-abc-1", Service: "api.sprites.dev", Sudo: true, Kernel: "6.12.1", Landlock: 5}
	if got, err := decodeHandle(encodeHandle(s)); err != nil || got != s {
		t.Errorf("%+v, %v", got, err)
	}
	foreign := s
	foreign.Sprite = "somebody-elses"
	if _, err := decodeHandle(encodeHandle(foreign)); choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("a sprite of somebody else's is taken: %v", err)
	}
}

// TestTheLevelSaysWhoseTheMachineIs, whatever its kernel can.
func TestTheLevelSaysWhoseTheMachineIs(t *testing.T) {
	t.Parallel()
	for landlock, tasks := range map[int]string{0: "", 2: "", 3: "landlock"} {
		l := levelOf("6.1.0", landlock)
		missing := strings.Join(l.Missing, " ")
		if l.Tasks != tasks || !strings.Contains(missing, "Fly can read and change") || !strings.Contains(missing, "No cgroup") || strings.Contains(missing, "Landlock") == (tasks != "") {
			t.Errorf("landlock %d: %+v", landlock, l)
		}
	}
}
