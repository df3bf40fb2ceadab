package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"choiros/internal/choir"
)

// Injector adds to requests what must not be in the sandbox, such as credentials. Its methods may
// be called by any goroutine.
type Injector interface {
	// Wants reports whether requests to a host and port are looked into for this, so that their
	// TLS ends at the proxy. It must be quick.
	Wants(host string, port int) bool
	// Inject changes the headers of a request that the policy lets out. An error refuses it.
	Inject(context.Context, Target, http.Header) (Injected, error)
}

// Injected describes what was added to a request; the zero value is nothing.
type Injected struct {
	// Credential names the entry of the vault whose key it is.
	Credential string
	// Answer is called before anything of the answer is given to the program, and may replace
	// its headers and its body. Its error is told instead. nil leaves the answer as it is.
	Answer func(*http.Response) error
}

// inspects reports whether the requests in an allowed tunnel are looked into one by one: where
// a rule with methods or paths has its host and port and none lets it out whole, where something
// is injected, or where the package cache has content of the host.
func (p *Proxy) inspects(t Target, err error) bool {
	if !t.Tunnel || t.Port == tlsPort && p.cfg.Authority == nil {
		return false
	}
	var refusal *refusedError
	if errors.As(err, &refusal) {
		return refusal.Why == choir.EgressRule
	}
	if err != nil {
		return false
	}
	return p.injects(t) || t.Port == tlsPort && p.cfg.Packages != nil && p.cfg.Packages.Looks(t.Host)
}

// injects reports whether something is added to requests to a host.
func (p *Proxy) injects(t Target) bool {
	return p.cfg.Inject != nil && p.cfg.Inject.Wants(t.Host, t.Port)
}

// inspect serves the requests in a tunnel: it ends TLS on port 443, and then reads, decides about
// and carries each request on a connection of its own.
func (p *Proxy) inspect(w http.ResponseWriter, r *http.Request, one *passage) error {
	client, err := p.acceptTunnel(w, one)
	if client == nil {
		return err
	}
	defer client.Close()
	first, err := p.firstBytes(one, client)
	if errors.Is(err, errSilent) {
		return nil
	}
	if err != nil {
		return refuse(one.target, choir.EgressTLS, one.mode, choir.ReasonEgressUnclear)
	}
	inside := net.Conn(&resumed{Conn: client, first: first})
	if one.target.Port == tlsPort {
		leaf, err := p.cfg.Authority.leaf(one.target.Host)
		if err != nil {
			return choir.Wrap("egress", choir.CodeInternal, err, "sign a certificate for %s", one.target.Host)
		}
		secure := tls.Server(inside, &tls.Config{Certificates: []tls.Certificate{*leaf}, NextProtos: []string{"http/1.1"}})
		if secure.HandshakeContext(one.ctx) != nil {
			return nil // the client does not trust it, or is gone
		}
		inside = secure
	}
	_ = client.SetDeadline(time.Time{})
	p.serveInside(r.Context(), inside, one)
	return nil
}

// serveInside serves the requests of one connection until it ends.
func (p *Proxy) serveInside(ctx context.Context, conn net.Conn, outer *passage) {
	only := &onlyConn{conn: conn, done: make(chan struct{})}
	server := &http.Server{
		Handler:     http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serveOneInside(w, r, outer) }),
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateClosed || s == http.StateHijacked {
				only.markDone()
			}
		},
		ReadHeaderTimeout: p.cfg.Limits.Begin, IdleTimeout: p.cfg.Limits.Idle, MaxHeaderBytes: int(p.cfg.Limits.Header),
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     log.New(io.Discard, "", 0), // what clients do wrong is told to them
	}
	_ = server.Serve(only) // it ends with the connection
}

// serveOneInside decides about one request inside of a tunnel and carries it.
func (p *Proxy) serveOneInside(w http.ResponseWriter, r *http.Request, outer *passage) {
	if p.refusesUnread(w, r, p.cfg.Answer) {
		return
	}
	work, err := p.cfg.Work(r)
	if err != nil {
		p.cfg.Answer(w, err)
		return
	}
	t, ok := readInside(r, outer.target)
	if !ok {
		t.Host, t.Port = outer.target.Host, outer.target.Port
		p.cfg.Answer(w, p.refused(r, work, refuse(t, choir.EgressUnclear, outer.mode, choir.ReasonEgressUnclear)))
		return
	}
	if !p.pace.Allow() {
		p.cfg.Answer(w, p.refused(r, work, refuse(t, choir.EgressLimit, outer.mode, choir.ReasonEgressBusy)))
		return
	}
	policy := p.Policy()
	grant, err := decideByAll(policy, work, t)
	var one *passage
	if err == nil {
		one, err = p.admit(r, work, t, policy, grant, false)
	}
	if err != nil {
		p.cfg.Answer(w, p.refused(r, work, err))
		return
	}
	one.inject = p.cfg.Inject
	p.passRequest(w, r, work, one)
}

// readInside returns what a request in origin form wants of the host of its tunnel. ok is false
// for a request that names another host, or that two readers could read differently.
func readInside(r *http.Request, outer Target) (t Target, ok bool) {
	u := r.URL
	if r.Method == http.MethodConnect || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" || u.Fragment != "" ||
		!strings.HasPrefix(r.RequestURI, "/") || !printable(r.RequestURI) || r.RequestURI != u.RequestURI() {
		return Target{}, false
	}
	standard := "80"
	if outer.Port == tlsPort {
		standard = "443"
	}
	host, port := splitAuthority(r.Host, standard)
	t, ok = newTarget(host, port)
	if !ok || t.Host != outer.Host || t.Port != outer.Port {
		return Target{}, false
	}
	t.Secure, t.Method, t.Path, t.Overridden = outer.Port == tlsPort, r.Method, u.EscapedPath(), overrides(r.Header)
	return t, true
}

// resumed is a connection of which the first bytes were read already.
type resumed struct {
	net.Conn
	first []byte
}

func (c *resumed) Read(p []byte) (int, error) {
	if len(c.first) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.first)
	c.first = c.first[n:]
	return n, nil
}

// onlyConn is a listener that has one connection, and ends with it.
type onlyConn struct {
	conn  net.Conn
	given sync.Once
	once  sync.Once
	done  chan struct{}
}

func (l *onlyConn) markDone() { l.once.Do(func() { close(l.done) }) }

// Accept implements net.Listener.
func (l *onlyConn) Accept() (c net.Conn, err error) {
	l.given.Do(func() { c = l.conn })
	if c != nil {
		return c, nil
	}
	<-l.done
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (l *onlyConn) Close() error { return nil }

// Addr implements net.Listener.
func (l *onlyConn) Addr() net.Addr { return l.conn.LocalAddr() }
