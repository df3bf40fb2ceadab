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
				if took := time.Since(from); took != c.within || !one.wasCut() {
					t.Errorf("it ended after %v, want %v: %v", took, c.within, context.Cause(one.ctx))
				}
			})
		})
	}
}
