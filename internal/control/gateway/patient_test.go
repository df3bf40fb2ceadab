package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// pipeListener is a listener inside a bubble, whose connections are pipes. A pipe keeps
// nothing on its way, so that the other side of each has a reader (dialPipe).
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// dial connects to the listener.
func (l *pipeListener) dial(context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// transport returns a transport whose connections all lead to the listener.
func (l *pipeListener) transport() *http.Transport {
	return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) }}
}

// client is a client of a server in a bubble. received has all bytes that came, and ended
// closes with the connection.
type client struct {
	net.Conn
	mu       sync.Mutex // guards received
	received bytes.Buffer
	ended    chan struct{}
}

// newClient connects, sends the beginning of a request and reads the answer.
func newClient(t *testing.T, l *pipeListener, says string) *client {
	t.Helper()
	c := &client{Conn: must(l.dial(t.Context()))(t), ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		buf := make([]byte, 4096)
		for {
			n, err := c.Read(buf)
			c.mu.Lock()
			c.received.Write(buf[:n])
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	// A server without room closes the connection at once.
	_, _ = io.WriteString(c, says)
	return c
}

// said returns all that the server sent so far.
func (c *client) said() string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.received.String()
}

// inBubble serves a handler with room for some connections in a bubble.
func inBubble(t *testing.T, most int, h http.Handler, test func(*testing.T, *pipeListener)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l, stop := serveInBubble(most, h)
		defer stop()
		test(t, l)
	})
}

// serveInBubble serves a handler until stop is called.
func serveInBubble(most int, h http.Handler) (l *pipeListener, stop func()) {
	l = newPipeListener()
	srv := NewServer(h)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(bounded(l, most, writePatience)) }()
	return l, func() {
		srv.Close()
		<-served
	}
}

// bigPage answers 10 kB, which net/http sends in the middle of the handler.
func bigPage(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("page ", 2000)) }

// readsBody answers the length of the body.
func readsBody(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		http.Error(w, "not whole", http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, "page of %d", n)
}

// TestBodiesThatNeverEndKeepNobodyOut: as many strangers as there is room for sent a
// request whose body lacked a byte, or came a byte at a time, and no further connection
// was answered, without end.
func TestBodiesThatNeverEndKeepNobodyOut(t *testing.T) {
	for _, c := range []struct {
		name, request string
		handler       http.HandlerFunc
		every         time.Duration // between two bytes of the body; 0 without any
	}{
		{"a byte is missing", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n", bigPage, 0},
		{"a chunk is missing", "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", bigPage, 0},
		{"and opens a WebSocket", "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 1\r\n\r\n", bigPage, 0},
		{"a body that drips", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4096\r\n\r\n", readsBody, 29 * time.Second},
		{"a discarded body that drips", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4096\r\n\r\n", bigPage, 29 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, 4, c.handler, func(t *testing.T, l *pipeListener) {
				ctx, cancel := context.WithCancel(t.Context())
				var drips sync.WaitGroup
				defer drips.Wait()
				defer cancel()
				var strangers []*client
				for range 4 {
					s := newClient(t, l, c.request)
					defer s.Close()
					strangers = append(strangers, s)
					if c.every > 0 {
						drips.Go(func() { dripBody(ctx, s, c.every) })
					}
				}
				synctest.Wait()
				if owner := newClient(t, l, request); owner.said() != "" {
					t.Fatal("the strangers do not hold all connections")
				}
				time.Sleep(strangerAge) // of the bubble's clock
				owner := newClient(t, l, request)
				defer owner.Close()
				if !strings.Contains(owner.said(), "page") {
					t.Errorf("the owner is answered %q", owner.said())
				}
				time.Sleep(2 * bodyPatience)
				for i, s := range strangers {
					select {
					case <-s.ended:
					default:
						t.Errorf("the stranger %d holds a connection still", i)
					}
				}
			})
		})
	}
}

// dripBody sends a byte at a time until ctx or the connection ends.
func dripBody(ctx context.Context, c *client, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.ended:
			return
		case <-tick.C:
			if _, err := io.WriteString(c, "x"); err != nil {
				return
			}
		}
	}
}

// TestARequestWithASessionIsNotClosedForANewOne, nor while its body moves.
func TestARequestWithASessionIsNotClosedForANewOne(t *testing.T) {
	inBubble(t, 2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") != "" {
			admitRequest(r.Context())
		}
		readsBody(w, r)
	}), func(t *testing.T, l *pipeListener) {
		const upload = "POST / HTTP/1.1\r\nHost: x\r\nCookie: session\r\nContent-Length: 20\r\n\r\n"
		moves, stands := newClient(t, l, upload), newClient(t, l, upload)
		defer moves.Close()
		defer stands.Close()
		synctest.Wait()
		for i := range 20 {
			time.Sleep(bodyPatience - time.Second)
			if i == 0 {
				further := newClient(t, l, request)
				<-further.ended
			}
			if _, err := io.WriteString(moves, "x"); err != nil {
				t.Fatalf("an upload that moves ended: %v", err)
			}
		}
		if got := moves.said(); !strings.Contains(got, "page of 20") {
			t.Errorf("an upload that moves is answered %q", got)
		}
		if got := stands.said(); !strings.Contains(got, "not whole") {
			t.Errorf("an upload that stands still is answered %q", got)
		}
	})
}

// TestTheDeadlineOfABodyEndsWithIt: streams outlive it, whether their request had a body
// or none, and whether the handler read the body.
func TestTheDeadlineOfABodyEndsWithIt(t *testing.T) {
	stream := func(w http.ResponseWriter, r *http.Request) {
		for range 10 {
			fmt.Fprint(w, "data: x\n\n")
			if err := http.NewResponseController(w).Flush(); err != nil {
				return
			}
			select {
			case <-time.After(bodyPatience):
			case <-r.Context().Done():
				return
			}
		}
		fmt.Fprint(w, "last")
	}
	reading := func(w http.ResponseWriter, r *http.Request) {
		admitRequest(r.Context())
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = r.Body.Read(make([]byte, 1)) // after its end
		stream(w, r)
	}
	for name, c := range map[string]struct {
		request string
		handler http.HandlerFunc
	}{
		"no body":              {request, stream},
		"a body that is read":  {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody", reading},
		"chunks that are read": {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", reading},
		"a body left unread":   {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody", stream},
		"chunks left unread":   {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", stream},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 2, c.handler, func(t *testing.T, l *pipeListener) {
				asks := newClient(t, l, c.request)
				defer asks.Close()
				for range 2 {
					asks.mu.Lock()
					asks.received.Reset()
					asks.mu.Unlock()
					time.Sleep(11 * bodyPatience)
					if got := asks.said(); !strings.Contains(got, "last") {
						t.Fatalf("the stream ended early: %q", got)
					}
					// The connection serves a further request.
					if _, err := io.WriteString(asks, c.request); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

// TestAWebSocketOutlivesTheDeadlineOfBodies.
func TestAWebSocketOutlivesTheDeadlineOfBodies(t *testing.T) {
	inBubble(t, 2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		admitRequest(r.Context())
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer ws.CloseNow()
		for {
			kind, said, err := ws.Read(r.Context())
			if err != nil || ws.Write(r.Context(), kind, said) != nil {
				return
			}
		}
	}), func(t *testing.T, l *pipeListener) {
		tr := l.transport()
		defer tr.CloseIdleConnections()
		ws, _, err := websocket.Dial(t.Context(), "ws://x/", &websocket.DialOptions{HTTPClient: &http.Client{Transport: tr}})
		if err != nil {
			t.Fatal(err)
		}
		defer ws.CloseNow()
		for range 3 {
			time.Sleep(10 * bodyPatience)
			if err := ws.Write(t.Context(), websocket.MessageText, []byte("x")); err != nil {
				t.Fatal(err)
			}
			if _, got, err := ws.Read(t.Context()); err != nil || string(got) != "x" {
				t.Fatalf("%q, %v", got, err)
			}
		}
	})
}
