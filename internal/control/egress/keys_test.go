package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
)

// newErrands starts a proxy that adds the key of the entry that a request's query names, and a host
// good.test that says a word of its answer and then waits for the end of the test, or of the request.
func newErrands(t *testing.T) (g *rig, front string, asked chan string) {
	t.Helper()
	theirs, err := OpenAuthority(t.TempDir(), "theirs", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := theirs.leaf("good.test")
	if err != nil {
		t.Fatal(err)
	}
	asked = make(chan string, 8)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/begins" {
			_, _ = io.WriteString(w, "begun")
			_ = http.NewResponseController(w).Flush()
		}
		asked <- r.URL.Path
		if r.URL.Path != "/quick" {
			<-r.Context().Done()
		}
	}))
	server.TLS, server.Config.ErrorLog = &tls.Config{Certificates: []tls.Certificate{*leaf}}, quiet
	server.StartTLS()
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(theirs.PEM())
	g = newRig(t, policyOf(t, choir.EgressHost{Host: "good.test"}), func(c *Config) { c.Outside.Roots = roots })
	g.serve(good, 443, server.URL)
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.ServeErrand(w, r, g.cfg.Answer, func(context.Context, Work) (Errand, error) {
			if r.URL.Path == "/late" {
				g.EndKey("mine") // after its key was read
			}
			return Errand{
				Target: Target{Host: "good.test", Port: 443, Method: r.Method, Path: r.URL.Path}, Header: http.Header{}, Credential: r.URL.RawQuery,
				Answer: func(*http.Response) error { return nil },
			}, nil
		})
	}))
	t.Cleanup(gate.Close)
	return g, gate.URL, asked
}

// TestTheEndOfAKeyCutsItsRequests removes a key under requests that wait for an answer, get one, and
// are about to begin. One with another key goes on.
func TestTheEndOfAKeyCutsItsRequests(t *testing.T) {
	g, front, asked := newErrands(t)
	type end struct {
		status int
		body   string
		err    error
	}
	begun := make(chan struct{}, 8) // an answer has
	ask := func(path string) chan end {
		done := make(chan end, 1)
		go func() {
			r, err := http.Get(front + path)
			if err != nil {
				done <- end{err: err}
				return
			}
			begun <- struct{}{}
			body, err := io.ReadAll(r.Body)
			r.Body.Close()
			done <- end{r.StatusCode, string(body), err}
		}()
		return done
	}
	wait := func(done chan end) end {
		t.Helper()
		select {
		case e := <-done:
			return e
		case <-time.After(patience):
			t.Fatal("a request with a key that has ended goes on")
			return end{}
		}
	}
	waits := ask("/waits?mine")
	begins := ask("/begins?mine")
	other := ask("/waits?other")
	for range 3 {
		<-asked
	}
	<-begun
	g.EndKey("mine")
	if e := wait(waits); e.status != 503 || !strings.Contains(e.body, "the key of the entry mine was removed or set anew") {
		t.Errorf("one that waits is answered %+v", e)
	}
	if e := wait(begins); e.err == nil {
		t.Errorf("one whose answer has begun ends as if it were whole: %+v", e)
	}
	for range 2 {
		if e := g.nextPassage(); e.Cut != "credential" || e.Credential != "mine" {
			t.Errorf("recorded %+v", e)
		}
	}
	if e := wait(ask("/late?mine")); e.status != 503 || len(asked) > 0 {
		t.Errorf("one that was about to begin is answered %+v, and %d arrived", e, len(asked))
	}
	if e := wait(ask("/quick?mine")); e.status != 200 {
		t.Errorf("one with the next key of the name is answered %+v", e)
	}
	select {
	case e := <-other:
		t.Errorf("one with another key ends with %+v", e)
	default:
	}
	g.EndKey("other")
	wait(other)
}
