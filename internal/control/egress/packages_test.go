package egress

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/packages"
)

// registry is a registry of npm at good.test with the package greet, behind TLS, and a package
// cache of it that proxies share.
type registry struct {
	*packages.Cache
	t       *testing.T
	dir     string // of the cache
	server  *httptest.Server
	roots   *x509.CertPool
	outside *RegistryClient
	world   *world

	mu     sync.Mutex
	body   []byte                                             // of the tarball
	answer func(http.ResponseWriter, *http.Request) (ok bool) // in place of the tarball; nil for none
	heard  []*http.Request
}

const tarballPath = "/greet/-/greet-1.0.0.tgz"

// newRegistry starts a registry. Its digest is that of the content at the start.
func newRegistry(t *testing.T) *registry {
	t.Helper()
	theirs, err := OpenAuthority(t.TempDir(), "theirs", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	g := &registry{t: t, dir: t.TempDir(), body: []byte(strings.Repeat("greetings ", 20_000)), roots: x509.NewCertPool()}
	sum := sha512.Sum512(g.body)
	integrity := base64.StdEncoding.EncodeToString(sum[:])
	g.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.heard = append(g.heard, r)
		answer := g.answer
		g.mu.Unlock()
		switch {
		case answer != nil && answer(w, r):
		case r.Method != http.MethodGet:
			http.Error(w, "only to read", http.StatusMethodNotAllowed)
		case r.URL.Path == tarballPath:
			_, _ = w.Write(g.body)
		case r.URL.Path == "/greet/1.0.0":
			fmt.Fprintf(w, `{"dist":{"tarball":"https://good.test%s","integrity":"sha512-%s"}}`, tarballPath, integrity)
		case r.Host == "other.test" && r.URL.Path == "/gr/ee/greet":
			fmt.Fprintf(w, `{"name":"greet","vers":"1.0.0","cksum":"%x"}`, sha256.Sum256(g.body))
		case r.Host == "good.test" && r.URL.Path == "/crates/greet/1.0.0/download":
			_, _ = w.Write(g.body)
		case r.URL.Path == "/greet":
			w.Header().Set("Cache-Control", "max-age=300")
			fmt.Fprintf(w, `{"name":"greet","asked for":%q}`, r.Header.Get("Accept"))
		default:
			fmt.Fprintf(w, "evil from %s%s", r.Host, r.URL.Path)
		}
	}))
	g.server.TLS, g.server.Config.ErrorLog = &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		return theirs.leaf(hello.ServerName)
	}}, quiet
	g.server.StartTLS()
	t.Cleanup(g.server.Close)
	g.roots.AppendCertsFromPEM(theirs.PEM())
	g.world = newWorld()
	g.world.serve(good, 443, g.server.URL)
	g.world.serve(other, 443, g.server.URL)
	g.outside = NewRegistryClient(Outside{Resolver: g.world, Permit: g.world.permit, Dial: g.world.dial, Roots: g.roots}, DefaultLimits())
	t.Cleanup(g.outside.Close)
	g.Cache, err = packages.Open(packages.Config{Dir: g.dir, Limit: 64 << 20, Registries: []packages.Registry{packages.NPM{Names: []string{"good.test"}}}, From: g.outside, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Cache.Close)
	return g
}

// computer returns the proxy of a computer that shares the cache, and TLS that trusts it.
func (g *registry) computer(policy Policy, change ...func(*Config)) (*rig, *tls.Config) {
	g.t.Helper()
	ours, err := OpenAuthority(g.t.TempDir(), "ours", time.Now)
	if err != nil {
		g.t.Fatal(err)
	}
	trust := x509.NewCertPool()
	trust.AppendCertsFromPEM(ours.PEM())
	one := newRig(g.t, policy, append([]func(*Config){func(c *Config) { c.Authority, c.Outside.Roots, c.Packages = ours, g.roots, g.Cache }}, change...)...)
	one.serve(good, 443, g.server.URL)
	return one, &tls.Config{RootCAs: trust, ServerName: "good.test"}
}

// says puts another answer in the place of the tarball; nil ends that.
func (g *registry) says(answer func(http.ResponseWriter)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answer = nil
	if answer != nil {
		g.answer = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == tarballPath {
				answer(w)
			}
			return r.URL.Path == tarballPath
		}
	}
}

// asked returns the requests that the registry heard since the last call.
func (g *registry) asked() []*http.Request {
	g.mu.Lock()
	defer g.mu.Unlock()
	heard := g.heard
	g.heard = nil
	return heard
}

// fetched returns the requests of the cache among some, and of programs.
func fetched(heard []*http.Request) (byCache, byPrograms int) {
	for _, r := range heard {
		if r.UserAgent() == cacheAgent {
			byCache++
		} else {
			byPrograms++
		}
	}
	return byCache, byPrograms
}

// mustInstall demands the tarball in another computer, and returns the event of it.
func (g *registry) mustInstall() choir.EgressPassed {
	g.t.Helper()
	one, cfg := g.computer(policyOf(g.t, choir.EgressHost{Host: "good.test"}))
	statuses, last := one.inside(cfg, getInside(tarballPath))
	if len(statuses) != 1 || statuses[0] != 200 {
		g.t.Fatalf("%v", statuses)
	}
	if body, _ := io.ReadAll(last.Body); !bytes.Equal(body, g.body) {
		g.t.Fatalf("it got %d bytes, %.100q", len(body), body)
	}
	return one.nextPassage()
}

// TestASecondComputerGetsContentFromTheCache has two computers ask for a tarball and a page.
func TestASecondComputerGetsContentFromTheCache(t *testing.T) {
	g := newRegistry(t)
	if e := g.mustInstall(); e.Cached || e.Address != good || e.Received != int64(len(g.body)) {
		t.Errorf("the first: %+v", e)
	}
	g.asked()
	if e := g.mustInstall(); !e.Cached || e.Address != "" || e.Received != int64(len(g.body)) || e.Sent != 0 || e.Status != 200 || e.Path != tarballPath || e.Method != "GET" {
		t.Errorf("the second: %+v", e)
	}
	if heard := g.asked(); len(heard) > 0 {
		t.Errorf("the registry was asked %d times", len(heard))
	}
	for i := range 2 {
		one, cfg := g.computer(policyOf(t, choir.EgressHost{Host: "good.test"}))
		statuses, last := one.inside(cfg, getInside("/greet", "Accept: */*"))
		if body, _ := io.ReadAll(last.Body); statuses[0] != 200 || !strings.Contains(string(body), `"application/json"`) {
			t.Errorf("%v %q", statuses, body)
		}
		if e := one.nextPassage(); e.Cached != (i == 1) || (e.Address == "") != (i == 1) {
			t.Errorf("the page: %+v", e)
		}
	}
	if heard := g.asked(); len(heard) != 1 {
		t.Errorf("the registry was asked for its page %d times", len(heard))
	}
}

// TestThePolicyIsAskedBeforeTheCache has the content in the cache, and asks for it where it may
// not be had.
func TestThePolicyIsAskedBeforeTheCache(t *testing.T) {
	g := newRegistry(t)
	g.mustInstall()
	whole := choir.EgressHost{Host: "good.test"}
	refusedFor := func(name string, policy Policy, work Work, why choir.EgressWhy) {
		t.Helper()
		one, cfg := g.computer(policy)
		one.work = work
		if statuses, _ := one.inside(cfg, getInside(tarballPath)); statuses[0] != 403 || one.lastRefusal().Why != why {
			t.Errorf("%s: %v, recorded %+v", name, statuses, one.lastRefusal())
		}
	}
	refusedFor("another host", policyOf(t, choir.EgressHost{Host: "other.test"}), Work{}, choir.EgressPolicy)
	refusedFor("no host", Policy{Mode: choir.EgressNone}, Work{}, choir.EgressPolicy)
	refusedFor("the Director", policyOf(t, whole), Work{Closed: true}, choir.EgressPolicy)
	refusedFor("a task that may less", policyOf(t, whole), Work{Profile: &choir.EgressProfile{Mode: choir.EgressAllowlist, Allowlist: []choir.EgressHost{{Host: "other.test"}}}}, choir.EgressTask)
	refusedFor("a rule of approval", policyOf(t, whole), Work{Holds: func(string) bool { return true }}, choir.EgressHeld)
	refusedFor("a rule on paths", policyOf(t, choir.EgressHost{Host: "good.test", Paths: []string{"/other"}}), Work{}, choir.EgressRule)
	refusedFor("a rule on methods", policyOf(t, choir.EgressHost{Host: "good.test", Methods: []string{"POST"}}), Work{}, choir.EgressRule)
	granted, cfg := g.computer(policyOf(t))
	granted.work = Work{Task: "t", Grants: []Grant{{ID: "g", Host: "good.test", Port: 443, Task: "t"}}}
	if statuses, _ := granted.inside(cfg, getInside(tarballPath)); statuses[0] != 200 || granted.nextPassage().Grant != "g" {
		t.Errorf("by a grant: %v", statuses)
	}
	few, cfg := g.computer(policyOf(t, whole), func(c *Config) { c.Limits.Rate, c.Limits.Burst = 0, 3 })
	if statuses, _ := few.inside(cfg, getInside(tarballPath), getInside(tarballPath), getInside(tarballPath)); !slices.Equal(statuses, []int{200, 200, 429}) {
		t.Errorf("over the rate: %v", statuses)
	}
	little, cfg := g.computer(policyOf(t, whole), func(c *Config) { c.Limits.Bytes = 1000 })
	if statuses, last := little.inside(cfg, getInside(tarballPath)); statuses[0] == 200 {
		if body, _ := io.ReadAll(last.Body); len(body) >= len(g.body) {
			t.Errorf("over the limit of bytes: %v", statuses)
		}
	}
	if e := little.nextPassage(); e.Cut != "limit" || !e.Cached {
		t.Errorf("over the limit of bytes: %+v", e)
	}
}

// TestTheCacheAsksNoHostThatATaskMayNotReach wants a crate whose digest is at a host that the policy
// lets out, or does not.
func TestTheCacheAsksNoHostThatATaskMayNotReach(t *testing.T) {
	both := []choir.EgressHost{{Host: "good.test"}, {Host: "other.test"}}
	for name, c := range map[string]struct {
		hosts   []choir.EgressHost
		profile *choir.EgressProfile
		asks    bool
	}{
		"both":                {both, nil, true},
		"one":                 {both[:1], nil, false},
		"a part of the other": {[]choir.EgressHost{both[0], {Host: "other.test", Paths: []string{"/a"}}}, nil, false},
		"one for the task":    {both, &choir.EgressProfile{Mode: choir.EgressAllowlist, Allowlist: both[:1]}, false},
	} {
		g := newRegistry(t)
		cache, err := packages.Open(packages.Config{
			Dir: t.TempDir(), Limit: 64 << 20, Registries: []packages.Registry{packages.Cargo{Index: "other.test", Files: "good.test"}}, From: g.outside, Now: time.Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cache.Close)
		one, cfg := g.computer(policyOf(t, c.hosts...), func(cfg *Config) { cfg.Packages = cache })
		one.work = Work{Profile: c.profile}
		statuses, last := one.inside(cfg, getInside("/crates/greet/1.0.0/download"))
		if body, _ := io.ReadAll(last.Body); statuses[0] != 200 || !bytes.Equal(body, g.body) {
			t.Errorf("%s: %v, %d bytes", name, statuses, len(body))
		}
		byCache, byPrograms := fetched(g.asked())
		if items, _, _ := cache.Usage(); (byCache == 2) != c.asks || (byPrograms == 0) != c.asks || (items == 1) != c.asks {
			t.Errorf("%s: the cache asked %d times, the program %d, %d items", name, byCache, byPrograms, items)
		}
	}
}

// TestNoTaskPoisonsTheCache has a task try to have wrong content kept, or to have the cache ask
// what it should not, and another computer install after each try.
func TestNoTaskPoisonsTheCache(t *testing.T) {
	plain := getInside(tarballPath)
	for name, raw := range map[string]string{
		"another Host":             strings.Replace(plain, "good.test", "victim.test", 1),
		"two Hosts":                "GET " + tarballPath + " HTTP/1.1\r\nHost: good.test\r\nHost: victim.test\r\n\r\n",
		"a port":                   strings.Replace(plain, "good.test", "good.test:443", 1),
		"an absolute form":         "GET https://evil.test" + tarballPath + " HTTP/1.1\r\nHost: good.test\r\n\r\n",
		"an escaped dash":          getInside("/greet/%2d/greet-1.0.0.tgz"),
		"an escaped slash":         getInside("/evil%2f../greet/-/greet-1.0.0.tgz"),
		"dots":                     getInside("/greet/-/../-/greet-1.0.0.tgz"),
		"dots of another":          getInside("/evil/../greet/-/greet-1.0.0.tgz"),
		"two slashes":              getInside("//greet/-/greet-1.0.0.tgz"),
		"a backslash":              getInside("/greet/-\\greet-1.0.0.tgz"),
		"a parameter":              getInside(tarballPath + ";evil"),
		"a query":                  getInside(tarballPath + "?evil"),
		"an empty query":           getInside(tarballPath + "?"),
		"another version":          getInside("/greet/-/greet-../1.0.0.tgz"),
		"another method":           strings.Replace(plain, "GET", "POST", 1),
		"a head":                   strings.Replace(plain, "GET", "HEAD", 1),
		"a body":                   "GET " + tarballPath + " HTTP/1.1\r\nHost: good.test\r\nContent-Length: 4\r\n\r\nevil",
		"a body in pieces":         "GET " + tarballPath + " HTTP/1.1\r\nHost: good.test\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n",
		"another path":             getInside(tarballPath, "X-Original-URL: /evil"),
		"another method aside":     getInside(tarballPath, "X-HTTP-Method-Override: PUT"),
		"another host aside":       getInside(tarballPath, "X-Forwarded-Host: evil.test", "Forwarded: host=evil.test"),
		"a range":                  getInside(tarballPath, "Range: bytes=0-3"),
		"several ranges":           getInside(tarballPath, "Range: bytes=0-3,8-9", "If-Range: \"x\""),
		"a password":               getInside(tarballPath, "Authorization: Bearer evil"),
		"a cookie":                 getInside(tarballPath, "Cookie: evil=1"),
		"a condition":              getInside(tarballPath, "If-None-Match: *", "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT"),
		"an encoding":              getInside(tarballPath, "Accept-Encoding: gzip, br", "TE: gzip"),
		"a media type":             getInside(tarballPath, "Accept: application/evil", "Accept-Language: evil"),
		"the end of the caches":    getInside(tarballPath, "Cache-Control: no-cache, no-store", "Pragma: no-cache", "Age: 99999999"),
		"a page of a strange type": getInside("/greet", "Accept: evil/"+strings.Repeat("e", 5000)),
		"a page of two types":      getInside("/greet", "Accept: application/vnd.npm.install-v1+json, evil/evil"),
	} {
		t.Run(name, func(t *testing.T) {
			g := newRegistry(t)
			// To programs the registry gives what it is asked for by tricks.
			g.answer = func(w http.ResponseWriter, r *http.Request) bool {
				if r.UserAgent() == cacheAgent {
					return false
				}
				_, _ = io.WriteString(w, "evil")
				return true
			}
			one, cfg := g.computer(policyOf(t, choir.EgressHost{Host: "good.test"}))
			one.inside(cfg, raw)
			for _, r := range g.asked() {
				if r.UserAgent() != cacheAgent {
					continue
				}
				asks := r.Host + r.URL.Path
				if !slices.Contains([]string{"good.test" + tarballPath, "good.test/greet/1.0.0", "good.test/greet"}, asks) || r.RequestURI != r.URL.Path {
					t.Errorf("the cache asks for %s%s", r.Host, r.RequestURI)
				}
				for header, values := range r.Header {
					if !slices.Contains([]string{"Accept", "Accept-Encoding", "User-Agent"}, header) || strings.Contains(strings.Join(values, ""), "evil") {
						t.Errorf("the cache says %s: %q", header, values)
					}
				}
			}
			g.mustInstall()
			g.mustInstall()
			second, cfg := g.computer(policyOf(t, choir.EgressHost{Host: "good.test"}))
			_, last := second.inside(cfg, getInside("/greet", "Accept: application/vnd.npm.install-v1+json"))
			if body, _ := io.ReadAll(last.Body); !strings.Contains(string(body), `"asked for":"application/vnd.npm.install-v1+json"`) {
				t.Errorf("another computer sees the page %q", body)
			}
		})
	}
}

// TestARegistryThatLiesIsRefused has the registry give wrong content once, in all ways that it
// can, and another computer install after.
func TestARegistryThatLiesIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter)
		lie    bool
	}{
		"another content": {func(w http.ResponseWriter) { _, _ = io.WriteString(w, "evil") }, true},
		"a part in order": {func(w http.ResponseWriter) { _, _ = io.WriteString(w, "greetings ") }, true},
		"a part": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "greetings ")
		}, false},
		"a partial content": {func(w http.ResponseWriter) { w.WriteHeader(206); _, _ = io.WriteString(w, "greetings ") }, false},
		"an encoding": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, "evil")
		}, false},
		"a redirect": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "https://other.test/evil")
			w.WriteHeader(302)
		}, false},
		"an error": {func(w http.ResponseWriter) { http.Error(w, "evil", 500) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRegistry(t)
			g.says(c.answer)
			one, cfg := g.computer(policyOf(t, choir.EgressHost{Host: "good.test"}))
			statuses, last := one.inside(cfg, getInside(tarballPath))
			byCache, byPrograms := fetched(g.asked())
			if c.lie {
				body, _ := io.ReadAll(last.Body)
				if statuses[0] != 403 || strings.Contains(string(body), "evil") || !strings.Contains(string(body), "digest") || byPrograms > 0 {
					t.Errorf("%v %q, the program asked %d times", statuses, body, byPrograms)
				}
				if r := one.lastRefusal(); r.Why != choir.EgressDigest || r.Host != "good.test" || r.Port != 443 || one.Askable(r) {
					t.Errorf("recorded %+v", r)
				}
				if e := one.nextPassage(); e.Path != tarballPath || e.Cut != "error" || e.Cached {
					t.Errorf("recorded %+v", e)
				}
			} else if byPrograms != 1 || byCache == 0 {
				// What is no content at all is between the program and its registry.
				t.Errorf("%v: the cache asked %d times, the program %d", statuses, byCache, byPrograms)
			}
			if files, err := os.ReadDir(g.dir); err != nil || len(files) > 0 {
				t.Errorf("it keeps %v, %v", files, err)
			}
			g.world.mu.Lock()
			for _, to := range g.world.dialled {
				if to.Addr().String() != good {
					t.Errorf("the cache dialled %s", to)
				}
			}
			g.world.mu.Unlock()
			g.says(nil)
			g.mustInstall()
			g.mustInstall()
		})
	}
}

// TestTheCacheReachesPublicAddressesOnly has the name of the registry lead inside, and the registry
// show a certificate that nobody trusts, for the cache alone.
func TestTheCacheReachesPublicAddressesOnly(t *testing.T) {
	for name, change := range map[string]func(*registry){
		"an address inside":     func(g *registry) { g.world.names["good.test"] = []string{good, "127.0.0.1"} },
		"a strange certificate": func(g *registry) { g.outside.outside.Roots = x509.NewCertPool() },
	} {
		t.Run(name, func(t *testing.T) {
			g := newRegistry(t)
			change(g)
			if e := g.mustInstall(); e.Cached || e.Address != good {
				t.Errorf("recorded %+v", e)
			}
			if byCache, byPrograms := fetched(g.asked()); byCache > 0 || byPrograms != 1 {
				t.Errorf("the cache asked %d times, the program %d", byCache, byPrograms)
			}
		})
	}
}

// TestTasksThatRaceGetTheSameContent has tasks of several computers ask at once, one of whom tries
// tricks, while the registry lies now and then.
func TestTasksThatRaceGetTheSameContent(t *testing.T) {
	g := newRegistry(t)
	var n int
	g.answer = func(w http.ResponseWriter, r *http.Request) bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		if r.URL.Path != tarballPath {
			return false
		}
		if n++; n%3 == 1 {
			_, _ = io.WriteString(w, "evil")
			return true
		}
		return false
	}
	var all sync.WaitGroup
	for i := range 8 {
		one, cfg := g.computer(policyOf(t, choir.EgressHost{Host: "good.test"}))
		all.Go(func() {
			for range 10 {
				statuses, last := one.inside(cfg, getInside(tarballPath, []string{"X-Evil: 1", "Accept: evil", "If-None-Match: *"}[i%3]))
				if body, _ := io.ReadAll(last.Body); statuses[0] == 200 && !bytes.Equal(body, g.body) || statuses[0] != 200 && statuses[0] != 403 {
					t.Errorf("%v: %d bytes, %.40q", statuses, len(body), body)
				}
			}
		})
	}
	all.Wait()
	g.says(nil)
	g.mustInstall()
}

// TestAHostThatIsNoRegistryIsNotLookedInto has a proxy with a cache pass other tunnels on unread.
func TestAHostThatIsNoRegistryIsNotLookedInto(t *testing.T) {
	g := newRegistry(t)
	one, _ := g.computer(policyOf(t, choir.EgressHost{Host: "other.test"}))
	theirs, roots := newTLSServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	one.serve(other, 443, theirs.URL)
	r, _, conn := one.sendRaw(connectTo("other.test:443"))
	// The certificate of httptest is for example.com: the client asks for another name than it checks.
	secure := tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: "other.test", InsecureSkipVerify: true})
	if err := secure.Handshake(); err != nil || r.StatusCode != 200 {
		t.Fatal(r.Status, err)
	}
	if !secure.ConnectionState().PeerCertificates[0].Equal(theirs.Certificate()) {
		t.Error("the proxy shows a certificate of its own")
	}
	_, _ = io.WriteString(secure, "GET / HTTP/1.1\r\nHost: other.test\r\n\r\n")
	if a, err := http.ReadResponse(bufio.NewReader(secure), nil); err != nil || a.StatusCode != 200 {
		t.Error(err)
	}
}

// TestRequestsWithMoreThanAPathGoToTheRegistry has the content in the cache, and asks for it with
// what a registry could answer otherwise.
func TestRequestsWithMoreThanAPathGoToTheRegistry(t *testing.T) {
	g := newRegistry(t)
	g.mustInstall()
	for _, header := range []string{"Authorization: Bearer mine", "Cookie: mine=1", "Range: bytes=0-9", "X-Http-Method-Override: GET"} {
		g.asked()
		one, cfg := g.computer(policyOf(t, choir.EgressHost{Host: "good.test"}))
		statuses, _ := one.inside(cfg, getInside(tarballPath, header))
		heard := g.asked()
		name, value, _ := strings.Cut(header, ": ")
		if len(heard) != 1 || heard[0].Header.Get(name) != value || statuses[0] != 200 || one.nextPassage().Cached {
			t.Errorf("%s: %v, the registry heard %d requests", header, statuses, len(heard))
		}
	}
	one, cfg := g.computer(policyOf(t, choir.EgressHost{Host: "good.test"}), func(c *Config) { c.Inject = vault{} })
	g.asked()
	statuses, _ := one.inside(cfg, getInside(tarballPath), getInside(tarballPath+"?"), getInside(tarballPath+"?a"))
	heard := g.asked()
	if len(heard) != 3 || heard[0].Header.Get("Authorization") != "secret" || !slices.Equal(statuses, []int{200, 200, 200}) {
		t.Errorf("with what is injected: %v, %d requests", statuses, len(heard))
	}
	if items, _, _ := g.Usage(); items != 1 {
		t.Errorf("it keeps %d items", items)
	}
}

// TestFalseContentThatWasBegunIsNeverWhole has a registry give slow content, of which a program has
// the beginning when its last byte turns out to be false.
func TestFalseContentThatWasBegunIsNeverWhole(t *testing.T) {
	g := newRegistry(t)
	dir, rest := t.TempDir(), make(chan struct{})
	cache, err := packages.Open(packages.Config{
		Dir: dir, Limit: 64 << 20, Registries: []packages.Registry{packages.NPM{Names: []string{"good.test"}}}, From: g.outside, Now: time.Now, Patience: time.Nanosecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cache.Close)
	g.says(func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", fmt.Sprint(len(g.body)))
		_, _ = w.Write(g.body[:len(g.body)-1])
		_ = http.NewResponseController(w).Flush()
		<-rest
		_, _ = io.WriteString(w, "!")
	})
	one, cfg := g.computer(policyOf(t, choir.EgressHost{Host: "good.test"}), func(c *Config) { c.Packages = cache })
	_, _, conn := one.sendRaw(connectTo("good.test:443"))
	secure := tls.Client(conn, cfg)
	if _, err := io.WriteString(secure, getInside(tarballPath)); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(secure), nil)
	close(rest)
	if err != nil || answer.StatusCode != 200 || answer.ContentLength != int64(len(g.body)) {
		t.Fatalf("%+v, %v", answer, err)
	}
	body, err := io.ReadAll(answer.Body)
	if err == nil || len(body) == 0 || len(body) >= len(g.body) || !bytes.HasPrefix(g.body, body) {
		t.Errorf("%d bytes of %d, %v", len(body), len(g.body), err)
	}
	if e := one.nextPassage(); e.Cut != "error" || e.Cached {
		t.Errorf("recorded %+v", e)
	}
	if r := one.lastRefusal(); r.Why != choir.EgressDigest {
		t.Errorf("recorded %+v", r)
	}
	cache.Close()
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("it keeps %v, %v", files, err)
	}
}

// TestAProgramThatLeavesHidesNoQuestionOfTheCache has programs ask for content and for a page, and
// leave once the cache has asked the registry for it.
func TestAProgramThatLeavesHidesNoQuestionOfTheCache(t *testing.T) {
	g := newRegistry(t)
	arrived := make(chan struct{}, 10)
	g.mu.Lock()
	g.answer = func(_ http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/-/") && strings.Count(r.URL.Path, "/") > 1 {
			return false // the digest
		}
		arrived <- struct{}{}
		<-r.Context().Done()
		return true
	}
	g.mu.Unlock()
	for _, path := range []string{"/s3cret/-/s3cret-1.0.0.tgz", "/s3cret"} {
		one, cfg := g.computer(policyOf(t, choir.EgressHost{Host: "good.test"}))
		r, _, conn := one.sendRaw(connectTo("good.test:443"))
		if r.StatusCode != 200 {
			t.Fatal(r.StatusCode)
		}
		if _, err := io.WriteString(tls.Client(conn, cfg), getInside(path)); err != nil {
			t.Fatal(err)
		}
		<-arrived
		conn.Close()
		if e := one.nextPassage(); e.Path != path || e.Host != "good.test" || e.Cut != "error" || e.Sent < int64(len(path)) {
			t.Errorf("%s: %+v", path, e)
		}
	}
}
