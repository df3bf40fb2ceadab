package egress

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"choiros/internal/choir"
)

// stuckClient is a client that reads nothing. It tells of each write that began.
type stuckClient struct {
	*httptest.ResponseRecorder
	net.Conn // its end of a pipe
	writing  chan struct{}
}

func newStuckClient(t *testing.T) *stuckClient {
	ours, theirs := net.Pipe()
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return &stuckClient{httptest.NewRecorder(), ours, make(chan struct{}, 10)}
}

func (c *stuckClient) Write(p []byte) (int, error) {
	c.writing <- struct{}{}
	return c.Conn.Write(p)
}

// Read ends at once: the client has sent all.
func (*stuckClient) Read([]byte) (int, error) { return 0, io.EOF }

// halfConn ends in one direction alone.
type halfConn struct{ net.Conn }

func (halfConn) CloseWrite() error { return nil }

// newPassage returns a passage that began now.
func newPassage(t *testing.T) *passage {
	ctx, cancel := context.WithCancelCause(t.Context())
	return &passage{ctx: ctx, cancel: cancel, began: time.Now()}
}

// wantCut waits until done, and fails the test unless the passage was cut for a reason.
func (o *passage) wantCut(t *testing.T, done <-chan struct{}, why string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("it holds the passage")
	}
	if cut := o.record(time.Now()).Cut; cut != why {
		t.Errorf("it was cut for %q, want %q", cut, why)
	}
}

// TestAClientThatDoesNotReadHoldsNoPassage stops reading an answer and a tunnel whose other
// direction has ended.
func TestAClientThatDoesNotReadHoldsNoPassage(t *testing.T) {
	t.Parallel()
	answer := func(t *testing.T, idle time.Duration) (*stuckClient, *passage, <-chan struct{}) {
		client, one, done := newStuckClient(t), newPassage(t), make(chan struct{})
		go func() {
			defer close(done)
			if one.copyAnswer(client, strings.NewReader("answer"), Limits{Idle: idle}) == nil {
				t.Error("the answer was not read, and is taken for whole")
			}
		}()
		return client, one, done
	}
	t.Run("an answer", func(t *testing.T) {
		_, one, done := answer(t, 20*time.Millisecond)
		one.wantCut(t, done, "idle")
	})
	t.Run("an answer that is cut", func(t *testing.T) {
		client, one, done := answer(t, time.Hour)
		<-client.writing
		one.cut("policy")
		one.wantCut(t, done, "policy")
	})
	t.Run("a tunnel", func(t *testing.T) {
		client, one, done := newStuckClient(t), newPassage(t), make(chan struct{})
		host, far := net.Pipe()
		defer far.Close()
		go func() {
			defer close(done)
			one.join(client, halfConn{host}, Limits{Idle: 20 * time.Millisecond, Bytes: 1 << 20})
		}()
		if _, err := io.WriteString(far, "answer"); err != nil {
			t.Fatal(err)
		}
		one.wantCut(t, done, "idle")
	})
	t.Run("over the network", func(t *testing.T) {
		g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 80}), func(c *Config) { c.Limits.Idle = 50 * time.Millisecond })
		g.front.Config.ErrorLog = quiet
		endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for piece := make([]byte, 1<<20); ; {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		}))
		defer endless.Close()
		g.serve(good, 80, endless.URL)
		g.sendRaw("GET http://good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n")
		if e := g.nextPassage(); e.Cut != "idle" || e.Received == 0 {
			t.Errorf("recorded %+v", e)
		}
	})
}

// TestAClientThatSendsNoMoreHoldsNoPassage stops in the middle of an upload, whose host waits for the
// rest or ends the connection.
func TestAClientThatSendsNoMoreHoldsNoPassage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		idle      time.Duration
		hostWaits bool
		policy    bool // is replaced meanwhile
		cut       string
	}{
		"it is silent":          {200 * time.Millisecond, true, false, "idle"},
		"another policy":        {time.Hour, true, true, "policy"},
		"the host is gone":      {200 * time.Millisecond, false, false, "idle"},
		"gone, and no more let": {time.Hour, false, true, "policy"},
	} {
		t.Run(name, func(t *testing.T) {
			began := make(chan struct{})
			host := newHost(t, func(conn net.Conn) {
				close(began)
				if c.hostWaits {
					_, _ = io.Copy(io.Discard, conn)
				}
			})
			g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 80}), func(cfg *Config) { cfg.Limits.Idle = c.idle })
			g.serve(good, 80, host)
			conn, err := net.Dial("tcp", g.front.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			if _, err := io.WriteString(conn, "POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nContent-Length: 100\r\n\r\nhalf"); err != nil {
				t.Fatal(err)
			}
			<-began
			if c.policy {
				g.SetPolicy(policyOf(t))
			}
			if e := g.nextPassage(); e.Cut != c.cut || e.Sent == 0 {
				t.Errorf("recorded %+v", e)
			}
		})
	}
}

// TestAFailedUploadSpoilsNoLaterRequest ends the exchange of a whole upload without an answer: the next
// request of the same connection is answered, or the client was told to make another.
func TestAFailedUploadSpoilsNoLaterRequest(t *testing.T) {
	t.Parallel()
	g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 80}, choir.EgressHost{Host: "other.test", Port: 80}))
	g.serve(good, 80, newHost(t, func(net.Conn) {}))
	well := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "well") }))
	t.Cleanup(well.Close)
	g.serve(other, 80, well.URL)
	for range 20 {
		failed, in, conn := g.sendRaw("POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nContent-Length: 4\r\n\r\nbody")
		_, err := io.Copy(io.Discard, failed.Body)
		if err != nil || failed.StatusCode != http.StatusServiceUnavailable {
			t.Fatalf("%d, %v", failed.StatusCode, err)
		}
		if failed.Close {
			continue
		}
		if _, err := io.WriteString(conn, "GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		next, err := http.ReadResponse(in, nil)
		if err != nil || next.StatusCode != http.StatusOK {
			t.Fatalf("the next request: %+v, %v", next, err)
		}
	}
}

// TestASilentHostIsRecordedAsSilent has a host say no more at each place of an exchange.
func TestASilentHostIsRecordedAsSilent(t *testing.T) {
	t.Parallel()
	brief := time.Second // the test's own steps have it too
	for name, c := range map[string]struct {
		says   string
		change func(*Limits)
	}{
		"before its answer": {"", func(l *Limits) { l.Begin = brief }},
		"in its headers":    {"HTTP/1.1 200 OK\r\nContent-Le", func(l *Limits) { l.Idle = brief }},
		"in its answer":     {"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf", func(l *Limits) { l.Idle = brief }},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 80}), func(cfg *Config) { c.change(&cfg.Limits) })
			g.front.Config.ErrorLog = quiet
			g.serve(good, 80, newHost(t, func(conn net.Conn) {
				_, _ = io.WriteString(conn, c.says)
				_, _ = io.Copy(io.Discard, conn)
			}))
			g.sendRaw("GET http://good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n")
			if e := g.nextPassage(); e.Cut != "idle" || e.Sent == 0 {
				t.Errorf("recorded %+v", e)
			}
		})
	}
	t.Run("in its handshake", func(t *testing.T) {
		g, cfg, _ := newInspected(t, policyOf(t, choir.EgressHost{Host: "good.test", Paths: []string{"/pub"}}), nil)
		g.cfg.Limits.Begin = 3 * time.Second // the program's handshake has it, too
		g.serve(good, 443, newHost(t, nil))
		if statuses, _ := g.inside(cfg, getInside("/pub")); len(statuses) != 1 || statuses[0] != 503 {
			t.Fatal(statuses)
		}
		if e := g.nextPassage(); e.Cut != "idle" || e.Sent == 0 {
			t.Errorf("recorded %+v", e)
		}
	})
	t.Run("in the answer to an errand", func(t *testing.T) {
		g, front, _ := newErrands(t)
		g.cfg.Limits.Idle = brief
		r, err := http.Get(front + "/begins")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if _, err := io.ReadAll(r.Body); err == nil {
			t.Error("a part of the answer was taken for the whole")
		}
		if e := g.nextPassage(); e.Cut != "idle" || e.Status != 200 {
			t.Errorf("recorded %+v", e)
		}
	})
}

// leavingClient is a client that leaves at a moment of its answer.
type leavingClient struct {
	*httptest.ResponseRecorder
	atHead, atPiece func() // nil for none
}

func (c *leavingClient) WriteHeader(status int) {
	if c.atHead != nil {
		c.atHead()
	}
	c.ResponseRecorder.WriteHeader(status)
}

func (c *leavingClient) Flush() {
	if c.atPiece != nil {
		c.atPiece()
	}
}

// brokenUpload is a body that tells of its end.
type brokenUpload struct {
	*io.PipeReader
	closed chan struct{}
}

func (b brokenUpload) Close() error {
	close(b.closed)
	return b.PipeReader.Close()
}

// TestAClientThatLeavesIsRecorded leaves in an upload that the host has answered already, in an answer,
// and after a whole answer, which nothing ended before its time. A server that closes the body of a
// request is no client that left.
func TestAClientThatLeavesIsRecorded(t *testing.T) {
	t.Parallel()
	const whole, part = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole", "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\npart"
	ask := func(t *testing.T, r *http.Request, client *leavingClient, says string) (e choir.EgressPassed, torn bool) {
		g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 80}))
		g.serve(good, 80, newHost(t, func(conn net.Conn) {
			_, _ = io.WriteString(conn, says)
			_, _ = io.Copy(io.Discard, conn)
		}))
		func() {
			defer func() { torn = recover() != nil }()
			g.ServeHTTP(client, r)
		}()
		return g.nextPassage(), torn
	}
	for err, cut := range map[error]string{io.ErrUnexpectedEOF: "error", http.ErrBodyReadAfterClose: ""} {
		t.Run("in its upload: "+err.Error(), func(t *testing.T) {
			in, out := io.Pipe()
			body := brokenUpload{in, make(chan struct{})}
			client := &leavingClient{ResponseRecorder: httptest.NewRecorder(), atHead: func() {
				out.CloseWithError(err)
				<-body.closed // by the transport, which has seen it
			}}
			if e, torn := ask(t, httptest.NewRequest(http.MethodPost, "http://good.test/", body), client, whole); e.Cut != cut || e.Status != 200 || torn != (cut != "") {
				t.Errorf("torn %t, recorded %+v", torn, e)
			}
		})
	}
	for name, c := range map[string]struct {
		says, cut string
		torn      bool
	}{"in its answer": {part, "error", true}, "after its answer": {whole, "", false}} {
		t.Run(name, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			client := &leavingClient{ResponseRecorder: httptest.NewRecorder(), atPiece: leave}
			r := httptest.NewRequest(http.MethodGet, "http://good.test/", http.NoBody).WithContext(ctx)
			if e, torn := ask(t, r, client, c.says); e.Cut != c.cut || e.Status != 200 || torn != c.torn {
				t.Errorf("torn %t, recorded %+v", torn, e)
			}
		})
	}
}

// TestAGrantExpiresWhileTheMachineSleeps puts the clock forward, as a sleep does, which no timer
// notices, and back.
func TestAGrantExpiresWhileTheMachineSleeps(t *testing.T) {
	for name, c := range map[string]struct{ slept, within time.Duration }{
		"forward": {2 * time.Hour, lookAtClock}, "back": {-2 * time.Hour, time.Hour}, "not at all": {0, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				one, from := newPassage(t), time.Now()
				one.grant = &Grant{Expires: from.Add(time.Hour)}
				one.endWithGrant(func() time.Time {
					now := time.Now()
					if now.After(from) {
						now = now.Add(c.slept)
					}
					return now
				})
				<-one.ctx.Done()
				if took := time.Since(from); took != c.within || one.record(from).Cut != "grant" {
					t.Errorf("it ended after %v, want %v: %v", took, c.within, context.Cause(one.ctx))
				}
			})
		})
	}
}
