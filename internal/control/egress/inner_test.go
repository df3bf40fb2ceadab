package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
)

// newInspected starts a proxy with an authority, and good.test behind TLS of an authority of its
// own. It returns a client that trusts the proxy's, and what good.test heard.
func newInspected(t *testing.T, policy Policy, inject Injector) (*rig, *tls.Config, *[]*http.Request) {
	t.Helper()
	theirs, err := OpenAuthority(t.TempDir(), "theirs", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := OpenAuthority(t.TempDir(), "ours", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	var heard []*http.Request
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard = append(heard, r)
		w.Header().Set("Echo", r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, "hello from "+r.Host+r.URL.Path)
	}))
	leaf, err := theirs.leaf("good.test")
	if err != nil {
		t.Fatal(err)
	}
	server.TLS, server.Config.ErrorLog = &tls.Config{Certificates: []tls.Certificate{*leaf}}, quiet
	server.StartTLS()
	t.Cleanup(server.Close)
	roots, trust := x509.NewCertPool(), x509.NewCertPool()
	roots.AppendCertsFromPEM(theirs.PEM())
	trust.AppendCertsFromPEM(ours.PEM())
	g := newRig(t, policy, func(c *Config) { c.Authority, c.Outside.Roots, c.Inject = ours, roots, inject })
	g.serve(good, 443, server.URL)
	return g, &tls.Config{RootCAs: trust, ServerName: "good.test"}, &heard
}

// inside opens a tunnel to good.test and TLS in it, sends raw requests, and returns the answers' statuses.
func (g *rig) inside(cfg *tls.Config, raw ...string) (statuses []int, last *http.Response) {
	g.t.Helper()
	r, _, conn := g.sendRaw(connectTo("good.test:443"))
	if r.StatusCode != 200 {
		return []int{r.StatusCode}, r
	}
	secure := tls.Client(conn, cfg)
	in := bufio.NewReader(secure)
	for _, one := range raw {
		if _, err := io.WriteString(secure, one); err != nil {
			g.t.Fatal(err)
		}
		method, _, _ := strings.Cut(one, " ")
		r, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return append(statuses, 0), nil
		}
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		statuses, last = append(statuses, r.StatusCode), r
	}
	return statuses, last
}

func getInside(path string, headers ...string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: good.test\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
}

// TestARuleWithPathsLooksIntoTLS sends requests in one tunnel, of which the rule lets some out.
func TestARuleWithPathsLooksIntoTLS(t *testing.T) {
	g, cfg, heard := newInspected(t, policyOf(t, choir.EgressHost{Host: "good.test", Methods: []string{"GET"}, Paths: []string{"/pub"}}), nil)
	statuses, last := g.inside(cfg, getInside("/pub/a"), getInside("/private"), getInside("/pub/../private"), getInside("/pub/%2e%2e/private"),
		"POST /pub/a HTTP/1.1\r\nHost: good.test\r\nContent-Length: 1\r\n\r\nx", getInside("/pub/b"))
	if len(statuses) != 6 || statuses[0] != 200 || statuses[1] != 403 || statuses[2] != 403 || statuses[3] != 403 || statuses[4] != 403 || statuses[5] != 200 {
		t.Fatalf("%v", statuses)
	}
	if body, _ := io.ReadAll(last.Body); string(body) != "hello from good.test/pub/b" || len(*heard) != 2 {
		t.Errorf("%q, %d requests arrived", body, len(*heard))
	}
	if e := g.nextPassage(); e.Path != "/pub/b" && e.Path != "/pub/a" || e.Method != "GET" || e.Status != 200 || e.Port != 443 || e.Sent == 0 || e.Received == 0 {
		t.Errorf("recorded %+v", e)
	}
	if r := g.lastRefusal(); r.Why != choir.EgressRule || r.Host != "good.test" || r.Port != 443 {
		t.Errorf("recorded %+v", r)
	}
}

// TestARuleIsForTheMethodAndPathThatServersTake names another method or path in a header, inside of
// TLS and in the clear. A host that is let out whole gets such requests as they are.
func TestARuleIsForTheMethodAndPathThatServersTake(t *testing.T) {
	rule := choir.EgressHost{Host: "good.test", Methods: []string{"GET"}, Paths: []string{"/pub"}}
	plain := rule
	plain.Port = 80
	g, cfg, heard := newInspected(t, policyOf(t, rule, plain), nil)
	clear := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { *heard = append(*heard, r) }))
	t.Cleanup(clear.Close)
	g.serve(good, 80, clear.URL)
	for _, header := range []string{"X-HTTP-Method-Override: DELETE", "X_HTTP_METHOD_OVERRIDE: DELETE", "X-Original-URL: /private", "X-Rewrite-Url: /private"} {
		if statuses, _ := g.inside(cfg, getInside("/pub/a", header)); statuses[0] != 403 || len(*heard) > 0 {
			t.Errorf("%s inside of TLS: %v", header, statuses)
		}
		if r, _, _ := g.sendRaw("GET http://good.test/pub/a HTTP/1.1\r\nHost: good.test\r\n" + header + "\r\n\r\n"); r.StatusCode != 403 || len(*heard) > 0 {
			t.Errorf("%s in the clear: %v", header, r.Status)
		}
	}
	whole, cfg, heard := newInspected(t, policyOf(t, choir.EgressHost{Host: "good.test"}), vault{})
	if statuses, _ := whole.inside(cfg, getInside("/pub/a", "X-HTTP-Method-Override: DELETE")); statuses[0] != 200 || len(*heard) != 1 {
		t.Errorf("a host that is let out whole: %v", statuses)
	}
}

// TestNothingIsFrontedInsideOfTLS names other hosts inside of a tunnel that is looked into.
func TestNothingIsFrontedInsideOfTLS(t *testing.T) {
	rule := choir.EgressHost{Host: "good.test", Paths: []string{"/"}}
	for name, raw := range map[string]string{
		"another Host":      "GET / HTTP/1.1\r\nHost: victim.test\r\n\r\n",
		"another port":      "GET / HTTP/1.1\r\nHost: good.test:80\r\n\r\n",
		"an absolute form":  "GET http://victim.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n",
		"an absolute https": "GET https://good.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n",
		"an authority":      "GET //victim.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n",
		"a tunnel":          "CONNECT victim.test:443 HTTP/1.1\r\nHost: victim.test:443\r\n\r\n",
		"a dot":             "GET / HTTP/1.1\r\nHost: good.test.\r\n\r\n",
		"no Host":           "GET / HTTP/1.0\r\n\r\n",
		"a star":            "OPTIONS * HTTP/1.1\r\nHost: good.test\r\n\r\n",
		"HTTP/2":            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	} {
		g, cfg, heard := newInspected(t, policyOf(t, rule), nil)
		if statuses, _ := g.inside(cfg, raw); len(*heard) > 0 || statuses[0] == 200 {
			t.Errorf("%s: %v", name, statuses)
		}
		if statuses, _ := g.inside(cfg, getInside("/")); len(*heard) != 1 || statuses[0] != 200 {
			t.Errorf("%s: the control: %v", name, statuses)
		}
	}
}

// TestTheProxyTrustsAHostLikeItsClientWould has a host show a certificate that nobody trusts, and a
// client not trust the proxy's.
func TestTheProxyTrustsAHostLikeItsClientWould(t *testing.T) {
	g, cfg, heard := newInspected(t, policyOf(t, choir.EgressHost{Host: "good.test", Paths: []string{"/"}}), nil)
	other := cfg.Clone()
	other.RootCAs = x509.NewCertPool()
	r, _, conn := g.sendRaw(connectTo("good.test:443"))
	if err := tls.Client(conn, other).Handshake(); r.StatusCode != 200 || err == nil {
		t.Errorf("a client that does not trust the authority: %v %v", r.Status, err)
	}
	g.cfg.Outside.Roots = x509.NewCertPool()
	if statuses, _ := g.inside(cfg, getInside("/")); statuses[0] == 200 || len(*heard) > 0 {
		t.Errorf("a host that shows a strange certificate: %v", statuses)
	}
}

// TestAHostThatIsAllowedWholeIsNotLookedInto has the client see the host's own certificate.
func TestAHostThatIsAllowedWholeIsNotLookedInto(t *testing.T) {
	g, cfg, heard := newInspected(t, policyOf(t, choir.EgressHost{Host: "good.test"}, choir.EgressHost{Host: "good.test", Paths: []string{"/x"}}), nil)
	theirs := cfg.Clone()
	theirs.RootCAs = g.cfg.Outside.Roots
	if statuses, _ := g.inside(theirs, getInside("/")); statuses[0] != 200 || len(*heard) != 1 {
		t.Errorf("%v", statuses)
	}
}

// vault injects a header for good.test, by GET only.
type vault struct{}

func (vault) Wants(host string, port int) bool { return host == "good.test" && port == 443 }
func (vault) Inject(_ context.Context, t Target, h http.Header) (Injected, error) {
	switch t.Method {
	case "PUT":
		return Injected{}, choir.E("vault", choir.CodeRefused, "only to read")
	case "POST":
		return Injected{}, nil
	}
	h.Set("Authorization", "secret")
	return Injected{Credential: "mine", Answer: func(a *http.Response) error {
		a.Header.Del("Echo")
		if t.Path == "/bad" {
			return choir.E("vault", choir.CodeRefused, "it cannot be looked at")
		}
		return nil
	}}, nil
}

// TestASpareConnectionIsNoRefusal ends tunnels before a byte is sent in them, as clients do that
// open two connections and need one.
func TestASpareConnectionIsNoRefusal(t *testing.T) {
	for name, rule := range map[string]choir.EgressHost{
		"passed through": {Host: "good.test"},
		"looked into":    {Host: "good.test", Paths: []string{"/pub"}},
	} {
		for _, reset := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, reset %t", name, reset), func(t *testing.T) {
				g, _, heard := newInspected(t, policyOf(t, rule), nil)
				r, in, conn := g.sendRaw(connectTo("good.test:443"))
				if r.StatusCode != 200 {
					t.Fatal(r.Status)
				}
				client := conn.(*net.TCPConn)
				if reset {
					_ = client.SetLinger(0)
					client.Close()
				} else {
					_ = client.CloseWrite()
					_, _ = io.ReadAll(in)
				}
				if rule.Paths == nil {
					if e := g.nextPassage(); e.Sent != 0 || e.Received != 0 || e.Cut != "" {
						t.Errorf("recorded %+v", e)
					}
				}
				g.Close() // waits for the tunnel
				if why := g.lastRefusal().Why; why != "" || len(*heard) > 0 {
					t.Errorf("refused for %q, %d requests arrived", why, len(*heard))
				}
			})
		}
	}
}

// TestWhatIsInjectedIsSeenByTheHostAlone has a header added that the client does not know, and that
// it cannot set itself. A request that gets none has the client's.
func TestWhatIsInjectedIsSeenByTheHostAlone(t *testing.T) {
	g, cfg, heard := newInspected(t, policyOf(t, choir.EgressHost{Host: "good.test"}), vault{})
	var used []string
	note := func() {
		e := g.nextPassage()
		used = append(used, e.Method+" "+e.Path+" "+e.Credential)
	}
	put, _ := g.inside(cfg, "PUT / HTTP/1.1\r\nHost: good.test\r\nContent-Length: 0\r\n\r\n")
	note()
	statuses, last := g.inside(cfg, getInside("/", "Authorization: mine"))
	if put[0] != 403 || statuses[0] != 200 || len(*heard) != 1 {
		t.Fatalf("%v %v", put, statuses)
	}
	if got := (*heard)[0].Header.Get("Authorization"); got != "secret" || last.Header.Get("Echo") != "" {
		t.Errorf("the host heard %q, the client %q", got, last.Header.Get("Echo"))
	}
	note()
	bad, _ := g.inside(cfg, getInside("/bad"))
	note()
	post, last := g.inside(cfg, "POST / HTTP/1.1\r\nHost: good.test\r\nAuthorization: mine\r\nContent-Length: 0\r\n\r\n")
	if bad[0] != 403 || post[0] != 200 || last.Header.Get("Echo") != "mine" {
		t.Errorf("%v; without a key %v, and the host heard %q", bad, post, last.Header.Get("Echo"))
	}
	note()
	for _, want := range []string{"PUT / ", "GET / mine", "GET /bad mine", "POST / "} {
		if !slices.Contains(used, want) {
			t.Errorf("%q is not recorded: %q", want, used)
		}
	}
}

// TestAnotherPolicyCutsATunnelThatIsLookedInto takes the rule away while a tunnel is open.
func TestAnotherPolicyCutsATunnelThatIsLookedInto(t *testing.T) {
	g, cfg, _ := newInspected(t, policyOf(t, choir.EgressHost{Host: "good.test", Paths: []string{"/"}}), nil)
	_, _, conn := g.sendRaw(connectTo("good.test:443"))
	secure := tls.Client(conn, cfg)
	if err := secure.Handshake(); err != nil {
		t.Fatal(err)
	}
	if cut := g.SetPolicy(policyOf(t)); cut != 1 {
		t.Errorf("%d cut", cut)
	}
	if _, err := secure.Read(make([]byte, 1)); err == nil {
		t.Error("it is open")
	}
}

// TestABundleIsReplacedWhole has a program inside read the bundle while it is written anew.
func TestABundleIsReplacedWhole(t *testing.T) {
	dir := t.TempDir()
	if _, err := OpenAuthority(dir, "c", time.Now); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{BundleFile, TrustFile} {
		file, err := os.Open(filepath.Join(dir, TrustFolder, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := os.WriteFile(filepath.Join(dir, keyFile), nil, 0o600); err != nil { // so that all is made anew
			t.Fatal(err)
		}
		old, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := OpenAuthority(dir, "c", time.Now); err != nil {
			t.Fatal(err)
		}
		if read, err := io.ReadAll(file); err != nil || !bytes.Equal(read, old) {
			t.Errorf("a reader of %s has %d bytes of the old %d: %v", name, len(read), len(old), err)
		}
		if now, err := os.ReadFile(file.Name()); err != nil || bytes.Equal(now, old) {
			t.Errorf("%s was not written: %v", name, err)
		}
	}
	left, err := os.ReadDir(filepath.Join(dir, TrustFolder))
	if err != nil || len(left) != 2 {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

// TestAnAuthorityIsKept opens one again, and one whose files a crash has cut off.
func TestAnAuthorityIsKept(t *testing.T) {
	dir := t.TempDir()
	first, err := OpenAuthority(dir, "c", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	again, err := OpenAuthority(dir, "c", time.Now)
	if err != nil || !first.cert.Equal(again.cert) {
		t.Fatal("another one", err)
	}
	info, err := os.Stat(filepath.Join(dir, keyFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	bundle, err := os.ReadFile(filepath.Join(dir, TrustFolder, BundleFile))
	if err != nil || !strings.Contains(string(bundle), string(first.PEM())) || strings.Contains(string(bundle), "PRIVATE") {
		t.Error("the bundle", err)
	}
	if err := os.Truncate(filepath.Join(dir, keyFile), 20); err != nil {
		t.Fatal(err)
	}
	third, err := OpenAuthority(dir, "c", time.Now)
	if err != nil || third.cert.Equal(first.cert) {
		t.Fatal("not made anew", err)
	}
	if err := os.Chmod(filepath.Join(dir, keyFile), 0o644); err != nil {
		t.Fatal(err)
	}
	if fourth, err := OpenAuthority(dir, "c", time.Now); err != nil || fourth.cert.Equal(third.cert) {
		t.Error("a key that others could read is not made anew", err)
	}
	if info, err = os.Stat(filepath.Join(dir, keyFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	for _, host := range []string{"good.test", "192.0.2.1", "2001:db8::1"} {
		leaf, err := first.leaf(host)
		if err != nil || leaf.Leaf.VerifyHostname(host) != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}
