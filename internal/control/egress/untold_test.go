package egress

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"choiros/internal/choir"
)

// setFull sets whether the log takes passages.
func (g *rig) setFull(full bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.full = full
}

// TestNothingGoesOutThatCannotBeRecorded fills the disk under a proxy: what had gone out by then is
// recorded once there is room, once, and before anything else goes out.
func TestNothingGoesOutThatCannotBeRecorded(t *testing.T) {
	var mu sync.Mutex
	var reached []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		reached = append(reached, r.URL.Path)
	}))
	defer server.Close()
	g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 80}, choir.EgressHost{Host: "good.test", Port: 22}))
	g.serve(good, 80, server.URL)
	g.serve(good, 22, echo(t))
	get := func(path string) int {
		t.Helper()
		r, _, _ := g.sendRaw("GET http://good.test" + path + " HTTP/1.1\r\nHost: good.test\r\n\r\n")
		return r.StatusCode
	}
	tunnel := g.opened("good.test:22")
	g.setFull(true)
	if status := get("/first"); status != 200 {
		t.Fatalf("nobody knows yet that the disk is full: %d", status)
	}
	g.nextPassageTried()
	tunnel.Close()
	g.nextPassageTried()
	for i := range 20 {
		if status := get(fmt.Sprintf("/refused-%d", i)); status == 200 {
			t.Fatalf("request %d went out", i)
		}
	}
	if r, _, _ := g.sendRaw(connectTo("good.test:22")); r.StatusCode == 200 {
		t.Error("a tunnel was opened")
	}
	g.setFull(false)
	var at sync.WaitGroup
	for i := range 20 {
		at.Go(func() {
			if status := get(fmt.Sprintf("/after-%d", i)); status != 200 {
				t.Errorf("with room: %d", status)
			}
		})
	}
	at.Wait()
	g.Close()
	mu.Lock()
	defer mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(reached) != 21 || len(g.passed) != 22 || g.passed[0].Path != "/first" || g.passed[1].Port != 22 {
		t.Errorf("%d requests arrived, and %d passages are recorded: %+v", len(reached), len(g.passed), g.passed)
	}
}

// nextPassageTried waits until the log was asked to take one more passage.
func (g *rig) nextPassageTried() {
	g.t.Helper()
	<-g.news
}

// TestANameThatWasAskedForIsRecorded asks for names of a wildcard that lead nowhere, by which a
// program tells the servers of that domain what it knows.
func TestANameThatWasAskedForIsRecorded(t *testing.T) {
	g := newRig(t, policyOf(t, choir.EgressHost{Host: "*.good.test", Port: 80}, choir.EgressHost{Host: "*.good.test"}))
	for host, raw := range map[string]string{
		"s3cret-1.good.test": "GET http://s3cret-1.good.test/ HTTP/1.1\r\nHost: s3cret-1.good.test\r\n\r\n",
		"s3cret-2.good.test": connectTo("s3cret-2.good.test:443"),
	} {
		if r, _, _ := g.sendRaw(raw); r.StatusCode != 503 {
			t.Fatalf("%s: %d", host, r.StatusCode)
		}
		if e := g.nextPassage(); e.Host != host || e.Cut != "error" || e.Sent != 0 || e.Status != 0 {
			t.Errorf("%s: %+v", host, e)
		}
	}
	if len(g.world.lookups) != 2 {
		t.Errorf("the names were not looked up: %v", g.world.lookups)
	}
}

// TestAHandshakeThatFailsIsRecorded ends the connection of a host that is looked into before its
// TLS is there.
func TestAHandshakeThatFailsIsRecorded(t *testing.T) {
	g, cfg, _ := newInspected(t, policyOf(t, choir.EgressHost{Host: "good.test", Methods: []string{"GET"}, Paths: []string{"/pub"}}), nil)
	g.serve(good, 443, echo(t)) // which speaks no TLS
	if statuses, _ := g.inside(cfg, getInside("/pub/s3cret")); len(statuses) != 1 || statuses[0] != 503 {
		t.Fatal(statuses)
	}
	if e := g.nextPassage(); e.Path != "/pub/s3cret" || e.Sent == 0 || e.Cut != "error" {
		t.Errorf("%+v", e)
	}
}

// changedVault is a vault whose entry mine is set anew while a request with its key is prepared.
type changedVault struct {
	vault
	proxy *Proxy
}

func (v *changedVault) Inject(ctx context.Context, t Target, h http.Header) (Injected, error) {
	v.proxy.EndKey("mine")
	return v.vault.Inject(ctx, t, h)
}

// TestAHostThatWasDialledIsRecorded ends requests between the connection to their host and the first
// byte that is sent for them.
func TestAHostThatWasDialledIsRecorded(t *testing.T) {
	const put = "PUT /s3cret HTTP/1.1\r\nHost: good.test\r\nContent-Length: 0\r\n\r\n"
	for name, c := range map[string]struct {
		raw    string
		change bool
		status int
		want   choir.EgressPassed
	}{
		"no key for it":      {put, false, 403, choir.EgressPassed{Method: "PUT", Path: "/s3cret", Cut: "error"}},
		"its key has ended":  {getInside("/s3cret"), true, 503, choir.EgressPassed{Method: "GET", Path: "/s3cret", Cut: "credential"}},
		"the client is gone": {"", false, 0, choir.EgressPassed{Cut: "error"}},
	} {
		t.Run(name, func(t *testing.T) {
			keys := &changedVault{}
			g, cfg, heard := newInspected(t, policyOf(t, choir.EgressHost{Host: "good.test"}, choir.EgressHost{Host: "good.test", Port: 22}), vault{})
			c.want.Host, c.want.Port, c.want.Address = "good.test", 443, good
			if c.change {
				keys.proxy = g.Proxy
				g.cfg.Inject = keys
			}
			if c.raw == "" {
				c.want.Port = 22
				g.serve(good, 22, echo(t))
				client := newStuckClient(t)
				client.Close()
				g.ServeHTTP(goneClient{client}, httptest.NewRequest(http.MethodConnect, "good.test:22", http.NoBody))
			} else if statuses, _ := g.inside(cfg, c.raw); len(statuses) != 1 || statuses[0] != c.status {
				t.Fatal(statuses)
			}
			e := g.nextPassage()
			if sent := e.Sent > 0; sent != (c.raw != "") {
				t.Errorf("%d bytes were sent", e.Sent)
			}
			e.Sent, e.Received, e.Millis = 0, 0, 0 // of the handshake
			if e != c.want || len(*heard) > 0 {
				t.Errorf("recorded %+v, and the host heard %d requests", e, len(*heard))
			}
		})
	}
}

// goneClient is a client whose connection is closed when it is taken over.
type goneClient struct{ *stuckClient }

func (c goneClient) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return c.Conn, bufio.NewReadWriter(bufio.NewReader(c.Conn), bufio.NewWriter(c.Conn)), nil
}

// TestAnAnswerThatIsNotFinalIsRecorded answers with statuses that are no end of an exchange, of which
// a response writer panics at those below 100.
func TestAnAnswerThatIsNotFinalIsRecorded(t *testing.T) {
	for _, status := range []string{"000 None", "042 Odd", "099 Odd", "101 Switching Protocols", "103 Early Hints"} {
		g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 80}))
		g.front.Config.ErrorLog = quiet
		g.serve(good, 80, newHost(t, func(conn net.Conn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 "+status+"\r\nConnection: Upgrade\r\nUpgrade: odd\r\n\r\n")
		}))
		resp, err := g.client().Get("http://good.test/")
		if err != nil {
			t.Errorf("%s: %v", status, err)
			continue
		}
		resp.Body.Close()
		if resp.StatusCode != 503 {
			t.Errorf("%s: the client is told %s", status, resp.Status)
		}
		if e := g.nextPassage(); e.Cut != "error" || e.Status != 0 || e.Sent == 0 {
			t.Errorf("%s: recorded %+v", status, e)
		}
	}
}

// TestWhatIsOpenIsTold lists the tunnel of a task until the log has its event.
func TestWhatIsOpenIsTold(t *testing.T) {
	g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 22}))
	g.serve(good, 22, echo(t))
	mine, others := choir.ID("task-1"), choir.ID("task-2")
	g.mu.Lock()
	g.work.Task = mine
	g.mu.Unlock()
	tunnel := g.opened("good.test:22")
	for task, beside := range map[choir.ID]bool{mine: false, others: true, "": true} {
		want := choir.EffectHost{Host: "good.test", Port: 22, Sent: true, Beside: beside}
		if open := g.OpenHosts(task); len(open) != 1 || open[0] != want {
			t.Errorf("for %q: %+v", task, open)
		}
	}
	tunnel.Close()
	g.nextPassage()
	g.Close() // which waits for its end
	if open := g.OpenHosts(mine); len(open) > 0 {
		t.Errorf("after its end: %+v", open)
	}
}

// TestAFloodOfRefusedRequestsIsRefusedUnread has a program that asks at each way out without pause for
// a host which it may not reach: the log is not read for each request, another program is decided about
// meanwhile, the flood is recorded, and a little later the first program is decided about again.
func TestAFloodOfRefusedRequestsIsRefusedUnread(t *testing.T) {
	for name, ask := range map[string]func(*Proxy, http.ResponseWriter, *http.Request){
		"requests": func(p *Proxy, w http.ResponseWriter, r *http.Request) { p.ServeHTTP(w, r) },
		"errands": func(p *Proxy, w http.ResponseWriter, r *http.Request) {
			p.ServeErrand(w, r, p.cfg.Answer, func(context.Context, Work) (Errand, error) {
				return Errand{Target: Target{Host: "other.test", Port: 443}}, choir.Refuse("git", choir.ReasonGitNotARequest)
			})
		},
		"names": func(p *Proxy, w http.ResponseWriter, r *http.Request) {
			r.URL.Path = choir.NamesPath + "other.test"
			p.ServeName(w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			asked := map[string]int{}
			caller := func(r *http.Request) string { return r.Header.Get("Caller") }
			g := newRig(t, policyOf(t), func(c *Config) {
				c.Limits.Rate, c.Limits.Burst, c.Caller = 2, 5, caller
				c.Work = func(r *http.Request) (Work, error) {
					asked[caller(r)]++
					return Work{}, nil
				}
			})
			began := time.Now()
			status := func(who string) int {
				w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "http://other.test/", http.NoBody)
				r.Header.Set("Caller", who)
				ask(g.Proxy, w, r)
				return w.Code
			}
			const flood = 200
			for range flood {
				status("hasty")
			}
			took := time.Since(began)
			if most := 5 + int(2*took.Seconds()) + 1; asked["hasty"] > most || most > flood/2 {
				t.Errorf("%d of %d requests in %v were decided about", asked["hasty"], flood, took)
			}
			if last := g.lastRefusal(); last.Why != choir.EgressLimit || last.Host == "" {
				t.Errorf("the flood is recorded as %+v", last)
			}
			if status("calm"); asked["calm"] != 1 {
				t.Error("another program is refused for it")
			}
			for before := asked["hasty"]; asked["hasty"] == before; status("hasty") {
				if time.Since(began) > patience {
					t.Fatal("no request is decided about any more")
				}
			}
		})
	}
}

// TestFewCallersAreCountedApart floods as many programs as one can pretend to be.
func TestFewCallersAreCountedApart(t *testing.T) {
	g := newRig(t, policyOf(t), func(c *Config) {
		c.Caller = func(r *http.Request) string { return r.Header.Get("Caller") }
	})
	for i := range 10 * maxFlooders {
		r := httptest.NewRequest(http.MethodGet, "http://other.test/", http.NoBody)
		r.Header.Set("Caller", strconv.Itoa(i))
		g.ServeHTTP(httptest.NewRecorder(), r)
	}
	if n := len(g.refusals); n > maxFlooders+1 {
		t.Errorf("%d callers are counted apart", n)
	}
}
