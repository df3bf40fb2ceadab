package egress

import (
	"bufio"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// FuzzReading holds what the proxy takes a request for against two other readings of the same
// bytes: the host by a plain cut of the request line, as a simple server does it, and what
// net/http's own server reads of the request that the proxy would write.
func FuzzReading(f *testing.F) {
	for _, c := range tricks() {
		f.Add(c.raw)
		f.Add(c.plain)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil {
			return
		}
		defer r.Body.Close()
		target, ok := readTarget(r)
		if !ok {
			return
		}
		line, _, _ := strings.Cut(raw, "\n")
		words := strings.Fields(line)
		if len(words) != 3 {
			t.Fatalf("%q was taken for %+v", line, target)
		}
		wanted := words[1]
		if !target.Tunnel {
			scheme := strings.ToLower(wanted[:min(7, len(wanted))])
			if scheme != "http://" {
				t.Fatalf("%q was taken for %+v", line, target)
			}
			wanted = wanted[7:]
			if i := strings.IndexAny(wanted, "/?#\\"); i >= 0 {
				wanted = wanted[:i]
			}
			if !strings.Contains(wanted[strings.LastIndexByte(wanted, ']')+1:], ":") {
				wanted += ":80"
			}
		}
		host, port, err := net.SplitHostPort(strings.ToLower(wanted))
		if a, perr := netip.ParseAddr(host); perr == nil {
			host = a.String()
		}
		if err != nil || net.JoinHostPort(host, port) != target.HostPort() {
			t.Fatalf("%q was taken for %s, and a plain reader takes it for %s", line, target.HostPort(), net.JoinHostPort(host, port))
		}
		if a, perr := netip.ParseAddr(host); perr == nil && (a.Is4In6() || a.Zone() != "") {
			t.Fatalf("%s was let through", a)
		}
		if !target.Tunnel {
			readAgain(t, r, target)
		}
	})
}

// readAgain writes the request as it would go to the host, and has net/http's server read it.
func readAgain(t *testing.T, r *http.Request, target Target) {
	out := outgoing(r, &passage{target: target, ctx: t.Context()})
	var wire strings.Builder
	if err := out.Write(&wire); err != nil {
		return // a body that ends too early, or a header that is not written
	}
	in := bufio.NewReader(strings.NewReader(wire.String()))
	again, err := http.ReadRequest(in)
	if err != nil {
		t.Fatalf("%q, which the proxy writes, is no request: %v", wire.String(), err)
	}
	if host := strings.TrimSuffix(target.HostPort(), ":80"); again.Host != host || again.Method != target.Method || again.URL.EscapedPath() != target.Path {
		t.Fatalf("the host reads %s %s of %s, the policy saw %s %s of %s", again.Method, again.URL.EscapedPath(), again.Host, target.Method, target.Path, host)
	}
}
