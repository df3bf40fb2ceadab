package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/packages"
)

// servePackage answers a request for content or a page of a registry from the package cache.
// served is false for a request that has to be carried to its host.
func (p *Proxy) servePackage(w http.ResponseWriter, r *http.Request, work Work, one *passage) (served bool, err error) {
	if !p.isPlain(r, one.target) {
		return false, nil
	}
	content, err := p.openPackage(r, work, one)
	switch {
	case errors.Is(err, packages.ErrFalse):
		one.askedByCache() // not each refusal is recorded
		return true, refuse(one.target, choir.EgressDigest, one.mode, choir.ReasonEgressDigest)
	case errors.Is(err, packages.ErrPass):
		return false, nil
	case err != nil: // the client is gone, or the passage was cut
		one.askedByCache()
		return true, choir.Refuse("egress", choir.ReasonEgressUnreachable, choir.TextOf("host", one.target.HostPort()))
	}
	defer content.Close()
	one.cached, one.address = content.Kept, content.Address
	one.passed, one.answerable, one.status = true, false, http.StatusOK
	if !content.Kept {
		one.sent.Add(int64(len(one.target.Path))) // by the cache
	}
	w.Header().Set("Content-Type", content.Type)
	if content.ETag != "" {
		w.Header().Set("ETag", content.ETag)
	}
	w.Header().Set("Content-Length", strconv.FormatInt(content.Size, 10))
	w.WriteHeader(http.StatusOK)
	err = one.copyAnswer(w, &countedReader{from: content, of: one, limit: p.cfg.Limits.Bytes}, p.cfg.Limits)
	one.endAnswer(err)
	if errors.Is(err, packages.ErrFalse) {
		return true, refuse(one.target, choir.EgressDigest, one.mode, choir.ReasonEgressDigest)
	}
	return true, nil
}

// askedByCache cuts a passage for which the cache may have asked the registry: the path counts as sent,
// and the host as reached.
func (o *passage) askedByCache() {
	o.passed = true
	o.sent.Add(int64(len(o.target.Path)))
	o.cut("error")
}

// openPackage returns the content or page that a request asks for. It returns packages.ErrPass
// if its host has to be asked.
func (p *Proxy) openPackage(r *http.Request, work Work, one *passage) (*packages.Content, error) {
	t := one.target
	if item, ok := p.cfg.Packages.Item(t.Host, t.Path); ok && p.letsAsk(work, item) {
		return p.cfg.Packages.Open(one.ctx, item)
	}
	if page, ok := p.cfg.Packages.PageOf(t.Host, t.Path, strings.Join(r.Header["Accept"], ",")); ok {
		// pip says max-age=0 always, which asks for no more than others get.
		anew := strings.Contains(strings.ToLower(strings.Join(r.Header["Cache-Control"], ",")), "no-cache")
		return p.cfg.Packages.Page(one.ctx, page, anew)
	}
	return nil, packages.ErrPass
}

// isPlain reports whether a request has nothing but host and path by which a host could answer it
// otherwise than the request of everybody else.
func (p *Proxy) isPlain(r *http.Request, t Target) bool {
	if p.cfg.Packages == nil || p.injects(t) || !t.Secure || t.Port != tlsPort || t.Method != http.MethodGet || t.Overridden ||
		!cleanPath(t.Path) || r.URL.RawQuery != "" || r.URL.ForceQuery || r.ContentLength != 0 || len(r.TransferEncoding) > 0 {
		return false
	}
	return !slices.ContainsFunc([]string{"Authorization", "Cookie", "Range", "Upgrade", "Expect"}, func(name string) bool {
		_, has := r.Header[name]
		return has
	})
}

// letsAsk reports whether the work may reach all hosts that the cache asks for the digest of an
// item, so that it has no host asked which it could not ask itself.
func (p *Proxy) letsAsk(work Work, item packages.Item) bool {
	for _, host := range item.Asks {
		if _, err := decideByAll(p.Policy(), work, Target{Host: host, Port: tlsPort, Tunnel: true}); err != nil {
			return false
		}
	}
	return true
}

// countedReader counts the bytes of a passage that come from the package cache, and holds their
// limit.
type countedReader struct {
	from  io.Reader
	of    *passage
	limit int64
}

func (c *countedReader) Read(p []byte) (int, error) {
	if err := c.of.ctx.Err(); err != nil {
		return 0, err
	}
	if c.of.received.Load() >= c.limit {
		c.of.cut("limit")
		return 0, errTooMuch
	}
	n, err := c.from.Read(p)
	c.of.received.Add(int64(n))
	return n, err
}

// cacheAgent is how the package cache calls itself to registries.
const cacheAgent = "choir package cache"

// RegistryClient asks registries for the package cache.
type RegistryClient struct {
	outside   Outside
	limits    Limits
	transport *http.Transport
}

// NewRegistryClient returns a client that reaches the hosts of registries as the proxies reach
// theirs: it checks addresses and certificates. Close ends it.
func NewRegistryClient(outside Outside, limits Limits) *RegistryClient {
	c := &RegistryClient{outside: outside, limits: limits}
	c.transport = &http.Transport{
		DialTLSContext: c.dial, DisableCompression: true, Proxy: nil, MaxIdleConnsPerHost: 16, IdleConnTimeout: 30 * time.Second,
		MaxResponseHeaderBytes: limits.Header, ResponseHeaderTimeout: limits.Begin,
	}
	return c
}

// Close closes the connections of which no answer is being read.
func (c *RegistryClient) Close() { c.transport.CloseIdleConnections() }

// quietConn is a connection that ends after some time without a byte.
type quietConn struct {
	net.Conn
	address netip.Addr
	idle    time.Duration
}

func (c *quietConn) Read(p []byte) (int, error) {
	_ = c.SetReadDeadline(time.Now().Add(c.idle))
	return c.Conn.Read(p)
}

// dial connects to a host, which must show a certificate for its name.
func (c *RegistryClient) dial(ctx context.Context, _, authority string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(authority)
	if err != nil || port != strconv.Itoa(tlsPort) {
		return nil, errors.Join(errors.New("egress: not an address of a registry"), err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.limits.Dial)
	defer cancel()
	conn, address, err := c.outside.reach(ctx, host, tlsPort)
	if err != nil {
		return nil, err
	}
	secure := tls.Client(&quietConn{Conn: conn, address: address, idle: c.limits.Begin}, &tls.Config{ServerName: host, RootCAs: c.outside.Roots, NextProtos: []string{"http/1.1"}})
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}

// Fetch implements packages.Fetcher.
func (c *RegistryClient) Fetch(ctx context.Context, r packages.Request) (packages.Answer, error) {
	var address netip.Addr
	trace := &httptrace.ClientTrace{GotConn: func(on httptrace.GotConnInfo) {
		if secure, ok := on.Conn.(*tls.Conn); ok {
			address = secure.NetConn().(*quietConn).address
		}
	}}
	out := &http.Request{
		Method: http.MethodGet, URL: &url.URL{Scheme: "https", Host: r.Host, Path: r.Path, RawPath: r.Path}, Host: r.Host,
		Header: http.Header{"Accept": {r.Accept}, "Accept-Encoding": {"identity"}, "User-Agent": {cacheAgent}},
		Proto:  "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if r.Gzip {
		out.Header.Set("Accept-Encoding", "gzip")
	}
	if r.ETag != "" {
		out.Header.Set("If-None-Match", r.ETag)
	}
	answer, err := c.transport.RoundTrip(out.WithContext(httptrace.WithClientTrace(ctx, trace)))
	if err != nil {
		return packages.Answer{}, err
	}
	return packages.Answer{Status: answer.StatusCode, Header: answer.Header, Size: answer.ContentLength, Body: answer.Body, Address: address}, nil
}
