// Package keygate carries requests of programs in a sandbox to hosts that want a key, over TLS
// that the control plane makes, with the key in a header that the sandbox does not have.
//
// A program reaches it by a host of its own at the egress door, which is no host of any network:
// http://key.choir.internal/HOST/PATH stands for https://HOST/PATH with the key of the entry of
// the vault that is bound to it.
package keygate

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/control/egress"
	"choiros/internal/control/vault"
	"choiros/internal/leak"
)

// Host is the name at the egress door that stands for the gateway.
const Host = "key.choir.internal"

// Gate serves the requests of a computer's sandboxes for the gateway's host.
type Gate struct {
	Computer choir.ID
	Proxy    *egress.Proxy
	Vault    *vault.Vault
	Answer   func(http.ResponseWriter, error)
}

// Serves reports whether a request is for the gateway.
func Serves(r *http.Request) bool { return r.Method != http.MethodConnect && r.URL.Host == Host }

// ServeHTTP carries a request, or refuses it.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.Proxy.ServeErrand(w, r, g.Answer, func(ctx context.Context, _ egress.Work) (egress.Errand, error) { return g.errand(ctx, r) })
}

// errand returns the request for the host, with the key.
func (g *Gate) errand(ctx context.Context, r *http.Request) (egress.Errand, error) {
	t, ok := readTarget(r)
	if !ok {
		return egress.Errand{}, choir.Refuse("key", choir.ReasonEgressUnclear, choir.TextOf("host", r.Host))
	}
	name, err := g.Vault.For(ctx, vault.Want{Use: choir.VaultForHeader, Computer: g.Computer, Target: t})
	if err != nil {
		return egress.Errand{Target: t}, err
	}
	added, err := g.Vault.Add(ctx, name, vault.Want{Use: choir.VaultForHeader, Computer: g.Computer, Target: t})
	if err != nil {
		return egress.Errand{Target: t}, err
	}
	header := outgoing(r.Header)
	header.Set(added.Header, added.Value)
	return egress.Errand{
		Target: t, Query: r.URL.RawQuery, Header: header, Credential: name,
		Answer: func(a *http.Response) error { return clean(a, added.Secrets, t.HostPort()) },
	}, nil
}

// readTarget returns what a request wants. ok is false if it can be read in two ways.
func readTarget(r *http.Request) (t egress.Target, ok bool) {
	u := r.URL
	if u.Scheme != "http" || u.User != nil || u.Opaque != "" || u.Host != r.Host || u.Fragment != "" || !egress.CleanPath(u.EscapedPath()) {
		return t, false
	}
	host, path, ok := strings.Cut(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	if !ok {
		return t, false
	}
	t, ok = egress.ReadTarget(host, "/"+path)
	t.Method = r.Method
	return t, ok && !egress.Overridden(r.Header)
}

// withheld are the headers of a program that do not go on: what is for a proxy or between two
// neighbours, what the key stands for, and encodings and ranges in which an answer could not be
// looked at. Some servers read Request-Range, an older name, as Range.
var withheld = []string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Accept-Encoding", "Range", "Request-Range", "Cookie", "Expect",
}

// misleading are the headers by which some servers take a request for one to another host.
var misleading = []string{"Forwarded", "X-Forwarded-Host", "X-Forwarded-Server", "X-Host", "X-Http-Host-Override", "X-Original-Host"}

// outgoing returns the headers that go to the host.
func outgoing(h http.Header) http.Header {
	out := h.Clone()
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			out.Del(strings.TrimSpace(name))
		}
	}
	for name := range out {
		// Many servers read _ as -.
		if read := http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-")); slices.Contains(withheld, read) || slices.Contains(misleading, read) {
			delete(out, name)
		}
	}
	if _, ok := out["User-Agent"]; !ok {
		out["User-Agent"] = nil // none, instead of Go's
	}
	return out
}

// clean takes the secrets from an answer wherever the host echoes them, and its cookies, which
// could be worth as much. Code refused: the answer cannot be looked at.
func clean(a *http.Response, secrets *leak.Secrets, address string) error {
	if egress.Encoded(a.Header) {
		return choir.Refuse("key", choir.ReasonGitEncoded, choir.TextOf("address", address))
	}
	for name, values := range a.Header {
		if name == "Set-Cookie" || slices.Contains(withheld, name) || secrets.InAnyCase(name) || slices.ContainsFunc(values, secrets.In) {
			delete(a.Header, name)
		}
	}
	a.Trailer = nil
	a.Body = stream{secrets.Reader(a.Body), a.Body}
	return nil
}

// stream is a body without the secrets.
type stream struct {
	io.Reader
	io.Closer
}
