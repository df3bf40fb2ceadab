package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"choiros/internal/choir"
)

// hopByHop are the headers between two neighbours (RFC 9110, 7.6.1), and those for a proxy.
var hopByHop = []string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade",
}

// forward sends a request to the host over conn, written anew from what was read, and the
// answer back. Redirects are the client's: it asks again.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, one *passage, conn net.Conn) error {
	counted, err := p.secure(one, &countedConn{Conn: conn, of: one, limits: p.cfg.Limits})
	if err != nil {
		one.cutFor(err)
		return unreachable(one)
	}
	out := outgoing(r, one)
	added, err := p.inject(one, out.Header)
	if err != nil {
		one.cut("error") // the handshake named the host
		return err
	}
	defer one.limitUpload(w, out, p.cfg.Limits.Idle)()
	answer, err := p.exchange(one, counted, out)
	if err != nil {
		return err
	}
	body := answer.Body
	defer body.Close()
	if added.Answer != nil {
		if err := added.Answer(answer); err != nil {
			return err
		}
	}
	p.carryAnswer(w, one, answer)
	return nil
}

// errNotFinal is the error of a host that switches protocols without being asked to, or answers with
// a status below 100, with which http.ResponseWriter panics.
var errNotFinal = errors.New("egress: the host's last answer has a status below 200")

// exchange sends a request to the host over a connection, which serves no other, and returns the
// answer. The caller closes its body.
func (p *Proxy) exchange(one *passage, conn net.Conn, out *http.Request) (*http.Response, error) {
	var used atomic.Bool
	transport := &http.Transport{
		DisableKeepAlives: true, DisableCompression: true, Proxy: nil,
		MaxResponseHeaderBytes: p.cfg.Limits.Header, ResponseHeaderTimeout: p.cfg.Limits.Begin,
		// The connection speaks TLS already where it has to.
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			if used.Swap(true) {
				return nil, errors.New("one connection is all there is")
			}
			return conn, nil
		},
	}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(out)
	if err == nil && answer.StatusCode < http.StatusOK {
		answer.Body.Close()
		err = errNotFinal
	}
	if err != nil {
		one.cutFor(err)
		if one.lostKey() {
			return nil, errKeyEnded(one.key)
		}
		return nil, unreachable(one)
	}
	one.status = answer.StatusCode
	return answer, nil
}

// carryAnswer gives the client the host's answer.
func (p *Proxy) carryAnswer(w http.ResponseWriter, one *passage, answer *http.Response) {
	one.answerable = false
	header := w.Header()
	for name, values := range answer.Header {
		header[name] = values
	}
	dropHops(header)
	w.WriteHeader(answer.StatusCode)
	one.endAnswer(one.copyAnswer(w, answer.Body, p.cfg.Limits))
}

// endAnswer notes whether the client has the whole answer, by the error of copyAnswer, and cuts the
// passage if not.
func (o *passage) endAnswer(err error) {
	if err == nil {
		o.whole = true
		return
	}
	o.cutFor(err)
	o.torn = true
}

// unreachable returns the refusal of a request whose host gives no answer.
func unreachable(one *passage) error {
	return choir.Refuse("egress", choir.ReasonEgressUnreachable, choir.TextOf("host", one.target.HostPort()))
}

// inject adds to a request what its host wants and the sandbox does not have. The request ends with
// the key that it gets.
func (p *Proxy) inject(one *passage, header http.Header) (Injected, error) {
	if one.inject == nil {
		return Injected{}, nil
	}
	before := p.keysEnded()
	added, err := one.inject.Inject(one.ctx, one.target, header)
	if err == nil {
		err = p.holdKey(one, added.Credential, before)
	}
	return added, err
}

// secure returns the connection for a request, with TLS to its host where the proxy ended the
// client's. The host must show a certificate for its name.
func (p *Proxy) secure(one *passage, conn net.Conn) (net.Conn, error) {
	if !one.target.Secure {
		return conn, nil
	}
	ctx, cancel := context.WithTimeout(one.ctx, p.cfg.Limits.Begin)
	defer cancel()
	to := tls.Client(conn, &tls.Config{ServerName: one.target.Host, RootCAs: p.cfg.Outside.Roots, NextProtos: []string{"http/1.1"}})
	return to, to.HandshakeContext(ctx)
}

// outgoing returns the request for the host. It has the canonical host, whatever the
// client's headers said.
func outgoing(r *http.Request, one *passage) *http.Request {
	out := r.Clone(one.ctx)
	out.RequestURI, out.Close, out.Trailer = "", false, nil
	out.Host = strings.TrimSuffix(one.target.HostPort(), ":80")
	if one.target.Secure {
		out.Host = strings.TrimSuffix(one.target.HostPort(), ":443")
	}
	out.URL = &url.URL{Scheme: "http", Host: one.target.HostPort(), Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery, ForceQuery: r.URL.ForceQuery}
	if r.ContentLength == 0 {
		out.Body = nil
	}
	dropHops(out.Header)
	if _, ok := out.Header["User-Agent"]; !ok {
		out.Header["User-Agent"] = nil // none, instead of Go's
	}
	return out
}

// dropHops removes the headers that are not for the far end, and the ones listed in Connection.
func dropHops(h http.Header) {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			delete(h, textproto.CanonicalMIMEHeaderKey(textproto.TrimString(name)))
		}
	}
	for _, name := range hopByHop {
		delete(h, name)
	}
}

// copyAnswer copies the body of an answer and sends on each piece when it comes. It cuts the passage
// of a client that does not read, and writes nothing more to it once that is cut. The error is that of
// the passage if it ended before the answer did.
func (o *passage) copyAnswer(w http.ResponseWriter, body io.Reader, limits Limits) error {
	client := http.NewResponseController(w)
	stop := context.AfterFunc(o.ctx, func() { _ = client.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	stuck := time.AfterFunc(limits.Idle, func() { o.cut("idle") })
	defer stuck.Stop()
	buf := make([]byte, 32<<10)
	for {
		stuck.Stop() // the host has a limit of its own
		n, err := body.Read(buf)
		ended := o.ctx.Err() // a host that sees a request end early may still end its answer in order
		if n > 0 {
			stuck.Reset(limits.Idle)
			if _, werr := w.Write(buf[:n]); werr != nil {
				return werr
			}
			if ferr := client.Flush(); ferr != nil {
				return ferr
			}
		}
		if err == io.EOF {
			return ended
		}
		if err != nil {
			return err
		}
	}
}

// countedConn counts the bytes of a passage and holds its limits.
type countedConn struct {
	net.Conn
	of     *passage
	limits Limits
}

// errTooMuch ends a passage at its limit of bytes.
var errTooMuch = errors.New("egress: the limit of bytes")

func (c *countedConn) Read(p []byte) (int, error) {
	if err := c.allow(&c.of.received); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	c.of.received.Add(int64(n))
	return n, c.cutSilent(err)
}

// Write counts before it writes: a host may have answered, and the passage have its record, before a
// write returns.
func (c *countedConn) Write(p []byte) (int, error) {
	if err := c.allow(&c.of.sent); err != nil {
		return 0, err
	}
	c.of.sent.Add(int64(len(p)))
	n, err := c.Conn.Write(p)
	c.of.sent.Add(int64(n - len(p)))
	return n, c.cutSilent(err)
}

// cutSilent cuts the passage if an error of the connection is the end of the idle time, and returns the
// error. http.Transport does not always return it.
func (c *countedConn) cutSilent(err error) error {
	if silent(err) {
		c.of.cut("idle")
	}
	return err
}

// allow gives the connection time for the next bytes, unless n of them are too many.
func (c *countedConn) allow(n *atomic.Int64) error {
	if n.Load() >= c.limits.Bytes {
		c.of.cut("limit")
		return errTooMuch
	}
	_ = c.Conn.SetDeadline(time.Now().Add(c.limits.Idle))
	return nil
}
