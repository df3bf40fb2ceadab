package egress

import (
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Target holds the host, port, method and path that a request wants.
type Target struct {
	// Host is a name in lower case, or an address as netip writes it.
	Host string
	Port int
	// Tunnel is set for CONNECT, whose Method and Path are empty.
	Tunnel bool
	// Secure is set for a request inside of a tunnel whose TLS the proxy ends.
	Secure bool
	Method string
	Path   string // as it was escaped, without the query
	// Overridden is set for a request with a header by which many servers take another method or
	// path than those of the request line. No rule with methods or paths lets it out.
	Overridden bool
}

// overriding are the headers for another method or path.
var overriding = []string{
	"X-Http-Method", "X-Http-Method-Override", "X-Method-Override", "X-Forwarded-Method",
	"X-Original-Url", "X-Original-Uri", "X-Rewrite-Url", "X-Forwarded-Uri", "X-Forwarded-Path", "X-Forwarded-Prefix",
}

// overrides reports whether a request has one of those, as gateways of the CGI kind read names,
// to which _ is -.
func overrides(h http.Header) bool {
	for name := range h {
		if slices.Contains(overriding, http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))) {
			return true
		}
	}
	return false
}

// HostPort returns the target as host:port.
func (t Target) HostPort() string {
	if strings.Contains(t.Host, ":") {
		return "[" + t.Host + "]:" + strconv.Itoa(t.Port)
	}
	return t.Host + ":" + strconv.Itoa(t.Port)
}

// readTarget returns what a request that net/http's server has read wants. ok is false for
// a request that another reader could take for another host, port or message.
func readTarget(r *http.Request) (t Target, ok bool) {
	if r.Method == http.MethodConnect {
		return readConnect(r)
	}
	u := r.URL
	if u.Scheme != "http" || u.User != nil || u.Opaque != "" || u.Fragment != "" || u.Host != r.Host || !printable(r.RequestURI) {
		return Target{}, false
	}
	// The text of the request line must be the one that its parts give.
	authority, rest := cutAuthority(r.RequestURI)
	if authority != u.Host || rest != u.RequestURI() && rest != "" {
		return Target{}, false
	}
	host, port := splitAuthority(u.Host, "80")
	t, ok = newTarget(host, port)
	t.Method, t.Path, t.Overridden = r.Method, u.EscapedPath(), overrides(r.Header)
	if t.Path == "" {
		t.Path = "/"
	}
	return t, ok
}

// readConnect returns the target of a CONNECT, which is host:port and no more, without a body.
func readConnect(r *http.Request) (t Target, ok bool) {
	if r.RequestURI != r.Host || r.URL.Host != r.Host || r.URL.User != nil || r.URL.Path != "" || r.URL.RawQuery != "" ||
		r.ContentLength != 0 || len(r.TransferEncoding) > 0 || !printable(r.RequestURI) {
		return Target{}, false
	}
	host, port := splitAuthority(r.Host, "")
	t, ok = newTarget(host, port)
	t.Tunnel = true
	return t, ok
}

// newTarget returns a target with a canonical host and port.
func newTarget(host, port string) (Target, bool) {
	h, ok := canonicalHost(host)
	n, err := strconv.ParseUint(port, 10, 16)
	if !ok || err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
		return Target{}, false
	}
	return Target{Host: h, Port: int(n)}, true
}

// cutAuthority returns the authority of an absolute address and what comes after it.
func cutAuthority(uri string) (authority, rest string) {
	_, after, _ := strings.Cut(uri, "://")
	end := strings.IndexAny(after, "/?#")
	if end < 0 {
		return after, ""
	}
	return after[:end], after[end:]
}

// splitAuthority returns the host and the port of host:port; a host in brackets keeps them.
func splitAuthority(authority, port string) (string, string) {
	colon := strings.LastIndexByte(authority, ':')
	if colon < 0 || strings.HasSuffix(authority, "]") {
		return authority, port
	}
	return authority[:colon], authority[colon+1:]
}

// canonicalHost returns the one form of a host: a name in lower case, or an address. ok is false
// for what resolvers read in several ways: names with a dot at the end, other scripts that are
// not in their ASCII form, numbers that are no dotted address (decimal, octal, hexadecimal,
// shortened), IPv6 with a zone or with an IPv4 address in it.
func canonicalHost(host string) (string, bool) {
	if in, ok := strings.CutPrefix(host, "["); ok {
		in, ok = strings.CutSuffix(in, "]")
		a, err := netip.ParseAddr(in)
		return a.String(), ok && err == nil && a.Is6() && !a.Is4In6() && a.Zone() == ""
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.String(), a.Is4() || a.Is6() && !a.Is4In6() && a.Zone() == ""
	}
	lower := strings.ToLower(host)
	if lower == "" || len(lower) > 253 || strings.HasSuffix(lower, ".") || endsInNumber(lower) {
		return "", false
	}
	for _, c := range []byte(lower) {
		if c != '-' && c != '.' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return "", false
		}
	}
	// Lookup refuses bad punycode, empty labels and long ones. It knows no underscores, which
	// host names of services have.
	ascii, err := idna.Lookup.ToASCII(strings.ReplaceAll(lower, "_", "a"))
	return lower, err == nil && len(ascii) == len(lower)
}

// endsInNumber reports whether the last label is a number, as resolvers and the URL standard
// of browsers ask before they read an IPv4 address.
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if digits, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// isAddress reports whether a canonical host is an IP address.
func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// printable reports whether a text has visible ASCII characters only.
func printable(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}
