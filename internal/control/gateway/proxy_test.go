package gateway

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"choiros/internal/choir"
)

// inside is a server as a sandbox may have one: it answers each request with
// the raw bytes that stand for its path.
type inside struct {
	address string
	dialled atomic.Int32
}

func startInside(t *testing.T, answers map[string]string) *inside {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	in := &inside{address: ln.Addr().String()}
	go func() {
		defer close(ended)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			in.dialled.Add(1)
			in.answer(conn, answers)
		}
	}()
	t.Cleanup(func() {
		ln.Close()
		<-ended
	})
	return in
}

// answer answers the requests of one connection until it is closed.
func (in *inside) answer(conn net.Conn, answers map[string]string) {
	defer conn.Close()
	requests := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(requests)
		if err != nil {
			return
		}
		if _, err := io.WriteString(conn, answers[r.URL.Path]); err != nil {
			return
		}
	}
}

// through serves what is inside through a proxy, behind a policy of the gateway's.
func (in *inside) through(t *testing.T) *httptest.Server {
	t.Helper()
	transport := newTransport()
	t.Cleanup(transport.CloseIdleConnections)
	p := proxy{
		to: "inside", site: Site{Scheme: "http", Shell: "choir.localhost", Domain: "localhost", Port: "80"}, transport: transport,
		dial: func(ctx context.Context) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", in.address)
		},
		answered: func(http.Header) {},
		failed:   func(w http.ResponseWriter, _ *http.Request, err error) { refusePlainly(w, err) },
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'")
		p.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv
}

// get asks a server for a path; what comes before the answer is counted.
func get(t *testing.T, srv *httptest.Server, path string) (*http.Response, string) {
	t.Helper()
	res, err := srv.Client().Transport.RoundTrip(must(http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+path, nil))(t))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestAnEarlyAnswerTakesNoPolicyAway: the headers of an answer with status 103
// reached the browser as they were, and the gateway's policy was dropped.
func TestAnEarlyAnswerTakesNoPolicyAway(t *testing.T) {
	in := startInside(t, map[string]string{
		"/": "HTTP/1.1 103 Early Hints\r\nLink: <http://evil.example/x>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage",
	})
	address := strings.TrimPrefix(in.through(t).URL, "http://")
	conn := must(net.Dial("tcp", address))(t)
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", address); err != nil {
		t.Fatal(err)
	}
	raw := string(must(io.ReadAll(conn))(t))
	if !strings.HasPrefix(raw, "HTTP/1.1 200") || strings.Contains(raw, "evil.example") || !strings.Contains(raw, "Content-Security-Policy: default-src 'none'") {
		t.Errorf("the browser got %q", raw)
	}
}

// TestConnectionsAreUsedAgain, and those that wait end with the gateway.
func TestConnectionsAreUsedAgain(t *testing.T) {
	in := startInside(t, map[string]string{"/": "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage"})
	srv := in.through(t)
	for range 20 {
		if res, body := get(t, srv, "/"); res.StatusCode != http.StatusOK || body != "page" {
			t.Fatalf("%s %s", res.Status, body)
		}
	}
	if n := in.dialled.Load(); n != 1 {
		t.Errorf("20 requests took %d connections", n)
	}
}

func TestNoAnswerLeadsElsewhere(t *testing.T) {
	answer := func(to string) string {
		return "HTTP/1.1 302 Found\r\nLocation: " + to + "\r\nContent-Length: 0\r\n\r\n"
	}
	in := startInside(t, map[string]string{
		"/none": "HTTP/1.1 304 Not Modified\r\n\r\n", "/path": answer("/x"), "/relative": answer("x?y"), "/other": answer("http://evil.example/x"),
		"/scheme": answer("//evil.example/x"), "/backslash": answer(`/\evil.example/x`), "/https": answer("https://inside/x"), "/data": answer("data:text/html,x"),
		"/user": answer("http://evil@127.0.0.1/"), "/port": answer("http://127.0.0.1:1/"), "/bad": answer("http://[::1"), "/slashes": answer("///evil.example/x"), "/opaque": answer("http:evil.example"),
	})
	srv := in.through(t)
	for path, want := range map[string]string{
		"/path": "/x", "/relative": "/x?y", "/backslash": "/%5Cevil.example/x", "/slashes": "///evil.example/x",
		"/other": "", "/scheme": "", "/https": "", "/data": "", "/user": "", "/port": "", "/bad": "", "/opaque": "",
	} {
		res, body := get(t, srv, path)
		to := res.Header.Get("Location")
		if want != "" && (res.StatusCode != http.StatusFound || to != srv.URL+want) {
			t.Errorf("%s: %s to %q", path, res.Status, to)
		}
		if want == "" && (res.StatusCode != http.StatusForbidden || to != "" || !strings.Contains(body, "outside of the sandbox")) {
			t.Errorf("%s: %s to %q: %s", path, res.Status, to, body)
		}
	}
	if res, _ := get(t, srv, "/none"); res.StatusCode != http.StatusNotModified {
		t.Errorf("without a place to go: %s", res.Status)
	}
}

func TestARequestWithoutAServerIsRefused(t *testing.T) {
	_, err := newTransport().DialContext(t.Context(), "tcp", "127.0.0.1:1")
	if choir.CodeOf(err) != choir.CodeInternal {
		t.Errorf("got %v", err)
	}
}
