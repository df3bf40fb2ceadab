package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"choiros/internal/choir"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { endReaders(); os.Exit(code) }))
}

// patience is the limit of every wait.
const patience = 30 * time.Second

// world is a network of a test: names, what they resolve to, and servers behind addresses.
type world struct {
	mu      sync.Mutex
	names   map[string][]string // without the dot
	lookups []string
	dialled []netip.AddrPort
	servers map[netip.AddrPort]string // listeners of this machine
	permit  func(netip.Addr) bool
}

func (w *world) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lookups = append(w.lookups, host)
	var out []netip.Addr
	for _, a := range w.names[strings.TrimSuffix(host, ".")] {
		out = append(out, netip.MustParseAddr(a))
	}
	if out == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return out, nil
}

func (w *world) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	w.mu.Lock()
	w.dialled = append(w.dialled, to)
	server, ok := w.servers[to]
	w.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("nothing listens at %s", to)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", server)
}

// rig is a proxy with a network behind it and a log that remembers.
type rig struct {
	*Proxy
	t     testing.TB
	world *world
	front *httptest.Server

	mu      sync.Mutex
	work    Work
	asks    bool // refusals become requests of the owner's
	full    bool // the log takes no passage
	refused []Refusal
	passed  []choir.EgressPassed
	news    chan struct{} // a passage was recorded
}

func (g *rig) RecordRefusal(_ context.Context, _ Work, r Refusal) (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refused = append(g.refused, r)
	return g.asks && g.Askable(r), nil
}

func (g *rig) RecordPassage(_ context.Context, _ Work, e choir.EgressPassed) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.full {
		g.news <- struct{}{}
		return choir.E("test", choir.CodeUnavailable, "the disk is full")
	}
	g.passed = append(g.passed, e)
	g.news <- struct{}{}
	return nil
}

// nextPassage waits until one more passage is recorded and returns it.
func (g *rig) nextPassage() choir.EgressPassed {
	g.t.Helper()
	select {
	case <-g.news:
	case <-time.After(patience):
		g.t.Fatal("no passage was recorded")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.passed[len(g.passed)-1]
}

// lastRefusal returns the refusal that was recorded last.
func (g *rig) lastRefusal() Refusal {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.refused) == 0 {
		return Refusal{}
	}
	return g.refused[len(g.refused)-1]
}

const (
	good  = "198.18.0.1" // where the servers of the test are said to be
	other = "198.18.0.2"
)

// newWorld returns a network in which addresses at 198.18.0.0/15 count as public.
func newWorld() *world {
	return &world{
		names:   map[string][]string{"good.test": {good}, "other.test": {other}},
		servers: map[netip.AddrPort]string{},
		permit: func(a netip.Addr) bool {
			return Public(a) || netip.MustParsePrefix("198.18.0.0/15").Contains(a)
		},
	}
}

// newRig starts a proxy under a policy. Addresses of the world at 198.18.0.0/15 count as public.
func newRig(t testing.TB, policy Policy, change ...func(*Config)) *rig {
	t.Helper()
	w := newWorld()
	g := &rig{t: t, world: w, news: make(chan struct{}, 10_000)}
	cfg := Config{
		Policy: policy, Limits: DefaultLimits(), Log: g, Now: time.Now,
		Outside: Outside{Resolver: w, Permit: w.permit, Dial: w.dial},
		Work: func(*http.Request) (Work, error) {
			g.mu.Lock()
			defer g.mu.Unlock()
			return g.work, nil
		},
		Answer: func(w http.ResponseWriter, err error) {
			http.Error(w, err.Error(), map[choir.Code]int{choir.CodeRefused: 403, choir.CodeRateLimited: 429, choir.CodeUnavailable: 503}[choir.CodeOf(err)])
		},
	}
	for _, c := range change {
		c(&cfg)
	}
	g.Proxy = New(cfg)
	g.front = httptest.NewServer(g)
	t.Cleanup(func() { g.Close(); g.front.Close() })
	return g
}

// serve puts a server behind an address and port of the world.
func (g *rig) serve(address string, port int, server string) { g.world.serve(address, port, server) }

// serve puts a server behind an address and port.
func (w *world) serve(address string, port int, server string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.servers[netip.AddrPortFrom(netip.MustParseAddr(address), uint16(port))] = strings.TrimPrefix(strings.TrimPrefix(server, "http://"), "https://")
}

// touched reports whether anything was dialled.
func (g *rig) touched() bool {
	g.world.mu.Lock()
	defer g.world.mu.Unlock()
	return len(g.world.dialled) > 0
}

// sendRaw sends raw bytes to the proxy and returns the status line of its answer and the connection.
func (g *rig) sendRaw(raw string) (*http.Response, *bufio.Reader, net.Conn) {
	g.t.Helper()
	conn, err := net.Dial("tcp", g.front.Listener.Addr().String())
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, raw); err != nil {
		g.t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	method, _, _ := strings.Cut(raw, " ")
	r, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		g.t.Fatalf("%q: %v", raw, err)
	}
	return r, in, conn
}

func connectTo(hostPort string) string {
	return "CONNECT " + hostPort + " HTTP/1.1\r\nHost: " + hostPort + "\r\n\r\n"
}

// policyOf returns an allow list of hosts such as good.test:80.
func policyOf(t testing.TB, hosts ...choir.EgressHost) Policy {
	t.Helper()
	p, err := NewPolicy(choir.EgressAllowlist, hosts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// newTLSServer returns a TLS server for good.test and a pool that trusts it. It says hello.
func newTLSServer(t testing.TB, h http.Handler) (*httptest.Server, *x509.CertPool) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = quiet
	s.StartTLS()
	t.Cleanup(s.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return s, pool
}

// newHost returns the address of a host that reads the head of a request on each connection, unless
// answer is nil, and answers by hand. The connection ends with answer, or with the test.
func newHost(t testing.TB, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				if answer == nil {
					_, _ = io.Copy(io.Discard, conn)
				} else if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					answer(conn)
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return l.Addr().String()
}

// quiet is a log for servers whose clients break off on purpose.
var quiet = log.New(io.Discard, "", 0)

func clientTLS(pool *x509.CertPool) *tls.Config { return &tls.Config{RootCAs: pool} }
