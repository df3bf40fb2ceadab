package egress

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
)

// echo is a server that says back what it hears, until the end.
func echo(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer conn.Close(); _, _ = io.Copy(conn, conn) }()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

// client returns a client that has the rig as its proxy.
func (g *rig) client() *http.Client {
	at, _ := url.Parse(g.front.URL)
	tr := &http.Transport{Proxy: http.ProxyURL(at)}
	g.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func TestARequestIsCarriedAndCounted(t *testing.T) {
	var heard *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard = r
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
	}))
	defer server.Close()
	g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 80}))
	g.serve(good, 80, server.URL)
	req, _ := http.NewRequest("PUT", "http://GOOD.test/a%2Fb?q=1", strings.NewReader(strings.Repeat("x", 5000)))
	req.Header.Set("Connection", "X-Gone")
	req.Header.Set("X-Gone", "1")
	req.Header.Set("Proxy-Authorization", "secret")
	resp, err := g.client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != 201 || resp.Header.Get("X-Answer") != "yes" || len(body) != 5000 {
		t.Errorf("%s with %d bytes", resp.Status, len(body))
	}
	if heard.Host != "good.test" || heard.RequestURI != "/a%2Fb?q=1" || heard.Header.Get("X-Gone") != "" || heard.Header.Get("Proxy-Authorization") != "" {
		t.Errorf("the host heard %s of %q with %v", heard.RequestURI, heard.Host, heard.Header)
	}
	e := g.nextPassage()
	if e.Host != "good.test" || e.Port != 80 || e.Address != good || e.Method != "PUT" || e.Path != "/a%2Fb" || e.Status != 201 || e.Sent < 5000 || e.Received < 5000 || e.Cut != "" {
		t.Errorf("recorded %+v", e)
	}
	if g.world.lookups[0] != "good.test." {
		t.Errorf("looked up %q: without the dot the machine's search domains would be asked", g.world.lookups)
	}
}

func TestATunnelIsCarriedAndCounted(t *testing.T) {
	server, pool := newTLSServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello "+r.Host) }))
	g := newRig(t, policyOf(t, choir.EgressHost{Host: "example.com"}))
	g.world.names["example.com"] = []string{good}
	g.serve(good, 443, server.URL)
	c := g.client()
	c.Transport.(*http.Transport).TLSClientConfig = clientTLS(pool)
	resp, err := c.Get("https://example.com/")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	c.CloseIdleConnections()
	if string(body) != "hello example.com" {
		t.Errorf("%s %q", resp.Status, body)
	}
	if e := g.nextPassage(); e.Host != "example.com" || e.Method != "" || e.Sent < 200 || e.Received < 200 || e.Cut != "" {
		t.Errorf("recorded %+v", e)
	}
}

func TestARawTunnelIsForTheHostAndPortThatTheListNames(t *testing.T) {
	g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 5432}))
	g.serve(good, 5432, echo(t))
	r, in, conn := g.sendRaw(connectTo("good.test:5432") + "early")
	if r.StatusCode != 200 {
		t.Fatal(r.Status)
	}
	_, _ = io.WriteString(conn, " late")
	_ = conn.(*net.TCPConn).CloseWrite()
	if back, err := io.ReadAll(in); string(back) != "early late" || err != nil {
		t.Errorf("%q, %v", back, err)
	}
	if e := g.nextPassage(); e.Sent != 10 || e.Received != 10 || e.Cut != "" {
		t.Errorf("recorded %+v", e)
	}
	for _, port := range []string{"5433", "443", "80"} {
		if r, _, _ := g.sendRaw(connectTo("good.test:" + port)); r.StatusCode != 403 {
			t.Errorf("port %s: %s", port, r.Status)
		}
	}
}

func TestATaskReachesNoMoreThanItsOwnProfile(t *testing.T) {
	g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 22}, choir.EgressHost{Host: "other.test", Port: 22}))
	g.serve(good, 22, echo(t))
	g.serve(other, 22, echo(t))
	for _, c := range []struct {
		profile     *choir.EgressProfile
		good, other int
		why         choir.EgressWhy
	}{
		{nil, 200, 200, ""},
		{&choir.EgressProfile{Mode: choir.EgressNone}, 403, 403, choir.EgressTask},
		{&choir.EgressProfile{Mode: choir.EgressGitPkg}, 403, 403, choir.EgressTask},
		{&choir.EgressProfile{Mode: choir.EgressAllowlist, Allowlist: []choir.EgressHost{{Host: "good.test", Port: 22}, {Host: "third.test", Port: 22}}}, 200, 403, choir.EgressTask},
	} {
		g.mu.Lock()
		g.work = Work{Profile: c.profile}
		g.mu.Unlock()
		for host, want := range map[string]int{"good.test:22": c.good, "other.test:22": c.other, "third.test:22": 403} {
			r, _, conn := g.sendRaw(connectTo(host))
			if r.StatusCode != want {
				t.Errorf("%+v: %s: %s", c.profile, host, r.Status)
			}
			conn.Close()
		}
	}
	g.mu.Lock()
	g.work = Work{Closed: true}
	g.mu.Unlock()
	if r, _, _ := g.sendRaw(connectTo("good.test:22")); r.StatusCode != 403 || g.lastRefusal().Mode != choir.EgressNone {
		t.Errorf("the Director: %s, %+v", r.Status, g.lastRefusal())
	}
}

func TestAnotherPolicyCutsWhatItDoesNotLetOut(t *testing.T) {
	g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 22}, choir.EgressHost{Host: "other.test", Port: 22}))
	g.serve(good, 22, echo(t))
	g.serve(other, 22, echo(t))
	_, cut, _ := g.sendRaw(connectTo("good.test:22"))
	_, kept, keeps := g.sendRaw(connectTo("other.test:22"))
	g.SetPolicy(policyOf(t, choir.EgressHost{Host: "other.test", Port: 22}))
	if rest, _ := io.ReadAll(cut); len(rest) > 0 {
		t.Errorf("read %q", rest)
	}
	if e := g.nextPassage(); e.Host != "good.test" || e.Cut != "policy" {
		t.Errorf("recorded %+v", e)
	}
	_, _ = io.WriteString(keeps, "still\n")
	if line, err := kept.ReadString('\n'); line != "still\n" {
		t.Errorf("%q, %v", line, err)
	}
	if r, _, _ := g.sendRaw(connectTo("good.test:22")); r.StatusCode != 403 {
		t.Error(r.Status)
	}
}

func TestLimitsEndATunnel(t *testing.T) {
	limit := func(change func(*Limits)) func(*Config) { return func(c *Config) { change(&c.Limits) } }
	policy := policyOf(t, choir.EgressHost{Host: "good.test", Port: 22}, choir.EgressHost{Host: "good.test"})
	t.Run("bytes", func(t *testing.T) {
		g := newRig(t, policy, limit(func(l *Limits) { l.Bytes = 1000 }))
		g.serve(good, 22, echo(t))
		_, in, conn := g.sendRaw(connectTo("good.test:22"))
		_, _ = io.WriteString(conn, strings.Repeat("x", 5000))
		back, _ := io.ReadAll(in)
		if e := g.nextPassage(); e.Cut != "limit" || e.Sent > 1000 || len(back) > 1000 {
			t.Errorf("recorded %+v, %d came back", e, len(back))
		}
	})
	t.Run("silence", func(t *testing.T) {
		g := newRig(t, policy, limit(func(l *Limits) { l.Idle = 20 * time.Millisecond }))
		g.serve(good, 22, echo(t))
		_, in, _ := g.sendRaw(connectTo("good.test:22"))
		_, _ = io.ReadAll(in)
		if e := g.nextPassage(); e.Cut != "idle" {
			t.Errorf("recorded %+v", e)
		}
	})
	t.Run("a hello that does not come", func(t *testing.T) {
		g := newRig(t, policy, limit(func(l *Limits) { l.Begin = 20 * time.Millisecond }))
		g.serve(good, 443, echo(t))
		_, in, _ := g.sendRaw(connectTo("good.test:443"))
		rest, _ := io.ReadAll(in)
		if e := g.nextPassage(); len(rest) > 0 || e.Sent > 0 || e.Cut != "error" {
			t.Errorf("%q, %+v", rest, e)
		}
	})
	t.Run("how many at once", func(t *testing.T) {
		g := newRig(t, policy, limit(func(l *Limits) { l.Open = 2 }))
		g.serve(good, 22, echo(t))
		for _, want := range []int{200, 200, 429} {
			if r, _, _ := g.sendRaw(connectTo("good.test:22")); r.StatusCode != want {
				t.Errorf("%s, want %d", r.Status, want)
			}
		}
	})
	t.Run("how fast", func(t *testing.T) {
		g := newRig(t, policy, limit(func(l *Limits) { l.Rate, l.Burst = 0.001, 1 }))
		g.serve(good, 22, echo(t))
		for _, want := range []int{200, 429} {
			if r, _, _ := g.sendRaw(connectTo("good.test:22")); r.StatusCode != want {
				t.Errorf("%s, want %d", r.Status, want)
			}
		}
	})
}

func TestAnAnswerThatBreaksIsNotTakenForAWholeOne(t *testing.T) {
	for _, says := range []string{"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "Content-Length: 10\r\n\r\nhello"} {
		g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 80}))
		g.front.Config.ErrorLog = quiet
		g.serve(good, 80, newHost(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+says) }))
		resp, err := g.client().Get("http://good.test/")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(resp.Body); err == nil {
			t.Errorf("%q: half an answer was taken for a whole one", says)
		}
		resp.Body.Close()
		if e := g.nextPassage(); e.Cut != "error" {
			t.Errorf("%q: recorded %+v", says, e)
		}
	}
}

func TestCloseEndsWhatIsOpenAndRecordsIt(t *testing.T) {
	g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 22}))
	g.serve(good, 22, echo(t))
	_, in, _ := g.sendRaw(connectTo("good.test:22"))
	g.Close()
	if len(g.passed) != 1 || g.passed[0].Cut == "" {
		t.Errorf("recorded %+v", g.passed)
	}
	_, _ = io.ReadAll(in)
	if r, _, _ := g.sendRaw(connectTo("good.test:22")); r.StatusCode != 503 {
		t.Error(r.Status)
	}
}
