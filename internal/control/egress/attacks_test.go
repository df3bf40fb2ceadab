package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"choiros/internal/choir"
)

// trick is an attempt to reach victim.test, or an address that is not public, under a policy
// that has good.test alone.
type trick struct {
	name string
	raw  string // what is sent to the proxy
	// open makes the policy one under which the same bytes are let out, the control: hosts of the
	// list. Without it the trick is refused under every policy, and plain is the control.
	open []choir.EgressHost
	// plain is the honest form of the same request, which good.test answers.
	plain string
	why   choir.EgressWhy
	bad   bool // net/http's server refuses it by itself
}

// tricks are the attacks on the reading of a request. The first host that another reader would
// take is named in each.
func tricks() []trick {
	get := func(url string, headers ...string) string {
		return "GET " + url + " HTTP/1.1\r\n" + strings.Join(append(headers, "Host: good.test"), "\r\n") + "\r\n\r\n"
	}
	victim := []choir.EgressHost{{Host: "victim.test", Port: 80}, {Host: "victim.test", Port: 22}}
	address := func(a string) []choir.EgressHost { return []choir.EgressHost{{Host: a, Port: 80}} }
	ok, okTunnel := get("http://good.test/"), connectTo("good.test:22")
	return []trick{
		{name: "the host itself", raw: get("http://victim.test/"), open: victim, why: choir.EgressPolicy},
		{name: "a tunnel to it", raw: connectTo("victim.test:22"), open: victim, why: choir.EgressPolicy},
		{name: "mixed case", raw: get("http://ViCtIm.TeSt/"), open: victim, why: choir.EgressPolicy},
		{name: "a suffix of the name", raw: get("http://good.test.victim.test/"), open: []choir.EgressHost{{Host: "*.victim.test", Port: 80}}, why: choir.EgressPolicy},
		{name: "a prefix of the name", raw: get("http://evilgood.test/"), open: []choir.EgressHost{{Host: "evilgood.test", Port: 80}}, why: choir.EgressPolicy},
		{name: "Host names the allowed one", raw: get("http://victim.test/"), open: victim, why: choir.EgressPolicy},
		{name: "this machine by its number", raw: get("http://127.0.0.1/"), plain: ok, why: choir.EgressPolicy},
		{name: "an address that the list does not have", raw: get("http://198.18.0.1/"), open: address("198.18.0.1"), why: choir.EgressPolicy},
		{name: "userinfo before the host", raw: get("http://good.test@victim.test/"), plain: ok, why: choir.EgressUnclear},
		{name: "userinfo with a port", raw: get("http://good.test:80@victim.test/"), plain: ok, why: choir.EgressUnclear},
		{name: "userinfo in a tunnel", raw: connectTo("good.test@victim.test:22"), plain: okTunnel, bad: true},
		{name: "a dot at the end", raw: get("http://good.test./"), plain: ok, why: choir.EgressUnclear},
		{name: "a dot at the end of a tunnel", raw: connectTo("good.test.:22"), plain: okTunnel, why: choir.EgressUnclear},
		{name: "a full-width dot", raw: get("http://good\u3002test/"), plain: ok, why: choir.EgressUnclear},
		{name: "look-alikes of another script", raw: get("http://g\u043e\u043ed.test/"), plain: ok, why: choir.EgressUnclear},
		{name: "their punycode", raw: get("http://xn--gd-rmcc.test/"), open: nil, plain: ok, why: choir.EgressPolicy},
		{name: "bad punycode", raw: get("http://xn--0.test/"), plain: ok, why: choir.EgressUnclear},
		{name: "an escaped host", raw: get("http://good%2etest/"), plain: ok, why: choir.EgressUnclear, bad: true},
		{name: "NUL in the host", raw: get("http://good.test\x00.victim.test/"), plain: ok, why: choir.EgressUnclear, bad: true},
		{name: "an escaped NUL", raw: get("http://good.test%00.victim.test/"), plain: ok, why: choir.EgressUnclear, bad: true},
		{name: "a decimal address", raw: get("http://2130706433/"), plain: ok, why: choir.EgressUnclear},
		{name: "an octal address", raw: get("http://0177.0.0.1/"), plain: ok, why: choir.EgressUnclear},
		{name: "an octal number", raw: get("http://017700000001/"), plain: ok, why: choir.EgressUnclear},
		{name: "a hexadecimal address", raw: get("http://0x7f000001/"), plain: ok, why: choir.EgressUnclear},
		{name: "hexadecimal parts", raw: get("http://0x7f.0.0.0x1/"), plain: ok, why: choir.EgressUnclear},
		{name: "a short address", raw: get("http://127.1/"), plain: ok, why: choir.EgressUnclear},
		{name: "zeros before a part", raw: get("http://127.000.000.001/"), plain: ok, why: choir.EgressUnclear},
		{name: "a fifth part", raw: get("http://1.127.0.0.1/"), plain: ok, why: choir.EgressUnclear},
		{name: "an address with a dot at the end", raw: get("http://127.0.0.1./"), plain: ok, why: choir.EgressUnclear},
		{name: "an IPv6 zone", raw: get("http://[fe80::1%25eth0]/"), plain: ok, why: choir.EgressUnclear},
		{name: "an IPv6 zone in a tunnel", raw: connectTo("[fe80::1%25lo]:22"), plain: okTunnel, why: choir.EgressUnclear},
		{name: "a mapped address", raw: get("http://[::ffff:127.0.0.1]/"), plain: ok, why: choir.EgressUnclear},
		{name: "a mapped address in hexadecimal", raw: get("http://[::ffff:7f00:1]/"), plain: ok, why: choir.EgressUnclear},
		{name: "another scheme", raw: get("ftp://good.test/"), plain: ok, why: choir.EgressUnclear},
		{name: "TLS made by the proxy", raw: get("https://good.test/"), plain: ok, why: choir.EgressUnclear},
		{name: "a fragment", raw: get("http://good.test#@victim.test/"), plain: ok, why: choir.EgressUnclear, bad: true},
		{name: "a backslash", raw: get(`http://good.test\@victim.test/`), plain: ok, why: choir.EgressUnclear, bad: true},
		{name: "two ports", raw: get("http://good.test:80:22/"), plain: ok, why: choir.EgressUnclear, bad: true},
		{name: "a port with zeros", raw: get("http://good.test:0080/"), plain: ok, why: choir.EgressUnclear},
		{name: "a port beyond", raw: get("http://good.test:65616/"), plain: ok, why: choir.EgressUnclear},
		{name: "an empty port", raw: get("http://good.test:/"), plain: ok, why: choir.EgressUnclear},
		{name: "a tunnel without a port", raw: "CONNECT good.test HTTP/1.1\r\nHost: good.test\r\n\r\n", plain: okTunnel, why: choir.EgressUnclear},
		{name: "a tunnel with a path", raw: "CONNECT good.test:22/x HTTP/1.1\r\nHost: good.test:22\r\n\r\n", plain: okTunnel, why: choir.EgressUnclear},
		{name: "a tunnel with a query", raw: "CONNECT good.test:22?victim.test:22 HTTP/1.1\r\nHost: good.test:22\r\n\r\n", plain: okTunnel, why: choir.EgressUnclear},
		{name: "a tunnel with a scheme", raw: "CONNECT http://good.test:22 HTTP/1.1\r\nHost: good.test:22\r\n\r\n", plain: okTunnel, why: choir.EgressUnclear, bad: true},
		{name: "a tunnel with a body", raw: "CONNECT good.test:22 HTTP/1.1\r\nHost: good.test:22\r\nContent-Length: 5\r\n\r\nhello", plain: okTunnel, why: choir.EgressUnclear},
		{name: "a tunnel whose Host is another", raw: "CONNECT victim.test:22 HTTP/1.1\r\nHost: good.test:22\r\n\r\n", open: victim, why: choir.EgressPolicy},
		{name: "a line break in the address", raw: get("http://good.test/\nHost: victim.test"), plain: ok, why: choir.EgressUnclear, bad: true},
		{name: "a bare CR in a header", raw: get("http://good.test/", "X: a\rHost: victim.test"), plain: ok, bad: true},
		{name: "a space before the colon", raw: get("http://good.test/", "Host : victim.test"), plain: ok, bad: true},
		{name: "two Hosts", raw: get("http://good.test/", "Host: victim.test"), plain: ok, bad: true},
		{name: "two lengths", raw: "POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", plain: ok, bad: true},
		{name: "an odd encoding", raw: "POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", plain: ok, bad: true},
	}
}

// TestEveryTrickIsRefused sends each trick under a policy that has good.test alone, where it must
// dial nothing, and then its control, which must arrive.
func TestEveryTrickIsRefused(t *testing.T) {
	for _, c := range tricks() {
		t.Run(c.name, func(t *testing.T) {
			arrived := func(raw string, hosts ...choir.EgressHost) (status int, g *rig, n int32) {
				var heard atomic.Int32
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { heard.Add(1) }))
				t.Cleanup(server.Close)
				g = newRig(t, policyOf(t, hosts...))
				for _, name := range []string{"victim.test", "evilgood.test", "good.test.victim.test", "good.test@victim.test"} {
					g.world.names[name] = []string{other}
				}
				for _, a := range []string{good, other} {
					g.serve(a, 80, server.URL)
					g.serve(a, 22, server.URL)
				}
				r, _, conn := g.sendRaw(raw)
				if r.StatusCode == 200 && strings.HasPrefix(raw, "CONNECT") {
					_, _ = io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n")
					_, _ = io.ReadAll(conn)
				}
				conn.Close()
				return r.StatusCode, g, heard.Load()
			}
			ours := []choir.EgressHost{{Host: "good.test", Port: 80}, {Host: "good.test", Port: 22}}
			status, g, n := arrived(c.raw, ours...)
			if n > 0 || g.touched() {
				t.Errorf("it arrived: %d, %v", status, g.world.dialled)
			}
			if got := g.lastRefusal().Why; c.bad && (status == 400 || status == 501) {
				if got != "" {
					t.Errorf("refused twice: %s", got)
				}
			} else if status != 403 || got != c.why {
				t.Errorf("%d, recorded %q", status, got)
			}
			control, hosts := c.plain, ours
			if c.open != nil {
				control, hosts = c.raw, c.open
			}
			if status, _, n := arrived(control, hosts...); n == 0 || status != 200 {
				t.Errorf("the control %q did not arrive: %d", control, status)
			}
		})
	}
}

// TestWhereANameLeadsIsLookedAt has names of the policy lead to addresses that are not public,
// alone and beside a public one.
func TestWhereANameLeadsIsLookedAt(t *testing.T) {
	for _, a := range []string{"127.0.0.1", "0.0.0.0", "10.1.2.3", "169.254.169.254", "100.64.0.1", "::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "fe80::1", "fd00:ec2::254", "224.0.0.1"} {
		for _, beside := range [][]string{{a}, {good, a}, {a, good}} {
			g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 22}))
			g.world.names["good.test"] = beside
			for _, at := range []string{a, good} {
				g.serve(netip.MustParseAddr(at).Unmap().String(), 22, echo(t))
			}
			if r, _, _ := g.sendRaw(connectTo("good.test:22")); r.StatusCode != 403 || g.touched() || g.lastRefusal().Why != choir.EgressAddress {
				t.Errorf("%v: %s, dialled %v, %+v", beside, r.Status, g.world.dialled, g.lastRefusal())
			}
			// The control: where every address may be dialled it is.
			g.cfg.Outside.Permit = func(netip.Addr) bool { return true }
			if r, _, _ := g.sendRaw(connectTo("good.test:22")); r.StatusCode != 200 {
				t.Errorf("%v: the control: %s", beside, r.Status)
			}
		}
	}
}

// TestARebindingNameIsDialledWhereItWasLookedAt has a name that leads elsewhere each time it is
// asked for.
func TestARebindingNameIsDialledWhereItWasLookedAt(t *testing.T) {
	g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 22}))
	g.serve(good, 22, echo(t))
	g.serve("127.0.0.1", 22, echo(t))
	turn := 0
	g.cfg.Outside.Resolver = resolverFunc(func(string) []netip.Addr {
		turn++
		return []netip.Addr{netip.MustParseAddr([]string{"127.0.0.1", good}[turn%2])}
	})
	for i, want := range []int{200, 403, 200} {
		if r, _, _ := g.sendRaw(connectTo("good.test:22")); r.StatusCode != want {
			t.Errorf("%d: %s", i, r.Status)
		}
	}
	if len(g.world.dialled) != 2 || g.world.dialled[0].Addr().String() != good || g.world.dialled[1].Addr().String() != good || turn != 3 {
		t.Errorf("dialled %v after %d questions", g.world.dialled, turn)
	}
}

type resolverFunc func(string) []netip.Addr

func (f resolverFunc) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return f(host), nil
}

// TestATunnelNamesItsHostInTheHandshake opens tunnels to an allowed host and speaks to others in
// them; what the host would hear is looked at.
func TestATunnelNamesItsHostInTheHandshake(t *testing.T) {
	hello := func(cfg *tls.Config) []byte {
		in, out := net.Pipe()
		go func() { _ = tls.Client(out, cfg).HandshakeContext(t.Context()); out.Close() }()
		buf := make([]byte, 16<<10)
		n, _ := in.Read(buf)
		in.Close()
		return buf[:n]
	}
	named := func(name string) []byte { return hello(&tls.Config{ServerName: name, InsecureSkipVerify: true}) }
	honest := named("good.test")
	split := append([]byte(nil), honest[:5]...) // in two records of the handshake
	split[3], split[4] = 0, 10
	split = append(split, honest[5:15]...)
	rest := len(honest) - 15
	split = append(split, 22, 3, 1, byte(rest>>8), byte(rest))
	split = append(split, honest[15:]...)
	for _, c := range []struct {
		name  string
		first []byte
		ok    bool
	}{
		{"the host", honest, true},
		{"the host in capitals", named("GOOD.test"), true},
		{"the host in two records", split, true},
		{"another host", named("victim.test"), false},
		{"a name below it", named("x.good.test"), false},
		{"no name", hello(&tls.Config{InsecureSkipVerify: true}), false},
		{"an address", named("198.18.0.2"), false}, // which is no name for TLS
		{"plain HTTP", []byte("GET / HTTP/1.1\r\nHost: victim.test\r\n\r\n"), false},
		{"SSH", []byte("SSH-2.0-OpenSSH_9.6\r\n"), false},
		{"a name twice", bytes.Replace(honest, []byte("\x00\x0e\x00\x0c\x00\x00\x09good.test"), []byte("\x00\x0e\x00\x0c\x01\x00\x09good.test"), 1), false},
		{"a hidden name", withECH(t), false},
		{"half a hello, then the end", honest[:len(honest)/2], false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test"}))
			var heard bytes.Buffer
			done := make(chan struct{})
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				defer close(done)
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				_, _ = io.Copy(&heard, conn)
			}()
			g.serve(good, 443, l.Addr().String())
			_, in, conn := g.sendRaw(connectTo("good.test:443"))
			_, _ = conn.Write(c.first)
			_ = conn.(*net.TCPConn).CloseWrite()
			_, _ = io.ReadAll(in)
			<-done
			if got := bytes.Equal(heard.Bytes(), c.first); got != c.ok || !c.ok && heard.Len() > 0 {
				t.Errorf("the host heard %d of %d bytes", heard.Len(), len(c.first))
			}
			if got := g.lastRefusal().Why; !c.ok && got != choir.EgressTLS {
				t.Errorf("recorded %q", got)
			}
		})
	}
}

// withECH returns a ClientHello for good.test with the extension that hides another name.
func withECH(t *testing.T) []byte {
	t.Helper()
	in, out := net.Pipe()
	go func() {
		_ = tls.Client(out, &tls.Config{ServerName: "good.test"}).HandshakeContext(t.Context())
		out.Close()
	}()
	buf := make([]byte, 16<<10)
	n, _ := in.Read(buf)
	in.Close()
	// An outer ClientHello (RFC 9849): its kind, the cipher, the configuration, a key, a payload.
	body := append([]byte{0, 0, 1, 0, 1, 0, 0, 32}, make([]byte, 32)...)
	body = append(append(body, 0, 16), make([]byte, 16)...)
	hello := append(append(buf[:n:n], 0xfe, 0x0d, 0, byte(len(body))), body...) // the extensions are last
	grow := func(at, width int) {
		v := 0
		for i := range width {
			v = v<<8 | int(hello[at+i])
		}
		v += 4 + len(body)
		for i := width - 1; i >= 0; i-- {
			hello[at+i] = byte(v)
			v >>= 8
		}
	}
	grow(3, 2) // the record
	grow(6, 3) // the message
	at := 5 + 4 + 2 + 32
	at += 1 + int(hello[at])                       // session
	at += 2 + int(hello[at])<<8 + int(hello[at+1]) // cipher suites
	at += 1 + int(hello[at])                       // compression
	grow(at, 2)                                    // the list of extensions
	return hello
}

// TestWhatIsWrongWithAHandshakeIsTold reads handshakes as the proxy does.
func TestWhatIsWrongWithAHandshakeIsTold(t *testing.T) {
	if _, err := readHello(t.Context(), bytes.NewReader(withECH(t)), "good.test"); !errors.Is(err, errHidden) {
		t.Errorf("a hidden name: %v", err)
	}
	if _, err := readHello(t.Context(), strings.NewReader("SSH-2.0-x\r\n"), "good.test"); !errors.Is(err, errNoTLS) {
		t.Errorf("SSH: %v", err)
	}
}

// TestARedirectIsTheClientsToFollow has the allowed host lead to another one.
func TestARedirectIsTheClientsToFollow(t *testing.T) {
	server := httptest.NewServer(http.RedirectHandler("http://other.test/secret", http.StatusFound))
	defer server.Close()
	g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 80}))
	g.serve(good, 80, server.URL)
	g.serve(other, 80, server.URL)
	c := g.client()
	resp, err := c.Get("http://good.test/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 302 || len(g.world.dialled) != 1 {
		t.Errorf("%s, dialled %v", resp.Status, g.world.dialled)
	}
	if resp, err = c.Get(resp.Header.Get("Location")); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 403 || len(g.world.dialled) != 1 {
		t.Errorf("%s, dialled %v", resp.Status, g.world.dialled)
	}
}

// TestNothingIsSmuggledBehindARequest sends a second request in the body of the first, in the
// ways in which two readers disagree about its end.
func TestNothingIsSmuggledBehindARequest(t *testing.T) {
	inner := "GET /smuggled HTTP/1.1\r\nHost: good.test\r\n\r\n"
	for name, raw := range map[string]string{
		"a length and chunks":  "POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
		"chunks by Connection": "POST http://good.test/ HTTP/1.1\r\nHost: good.test\r\nConnection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
		"GET with a body":      "GET http://good.test/ HTTP/1.1\r\nHost: good.test\r\nContent-Length: " + strconv.Itoa(len(inner)) + "\r\n\r\n" + inner,
	} {
		var paths []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { paths = append(paths, r.URL.Path) }))
		g := newRig(t, policyOf(t, choir.EgressHost{Host: "good.test", Port: 80}))
		g.serve(good, 80, server.URL)
		_, _, conn := g.sendRaw(raw)
		conn.Close()
		g.Close()
		server.Close()
		if len(paths) != 1 || paths[0] != "/" {
			t.Errorf("%s: the host heard %v", name, paths)
		}
	}
}
