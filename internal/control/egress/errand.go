package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"choiros/internal/choir"
)

// Errand is a request of a program in a sandbox that the proxy makes itself, over TLS to the
// host, so that it can have headers which the sandbox does not see.
type Errand struct {
	Target Target // about which policy and grants decide; its Path is what is asked for
	Query  string // without the question mark
	Header http.Header
	// Credential names the entry of the vault whose key is in Header, for the log.
	Credential string
	// Answer is called before anything of the answer is given to the program, and may replace
	// its headers and its body. Its error is told instead.
	Answer func(*http.Response) error
}

// ServeErrand makes the request that prepare returns for the work, under the policy, or refuses
// it. The body is that of r; answer writes an error to the program.
func (p *Proxy) ServeErrand(w http.ResponseWriter, r *http.Request, answer func(http.ResponseWriter, error), prepare func(context.Context, Work) (Errand, error)) {
	if p.refusesUnread(w, r, answer) {
		return
	}
	work, err := p.cfg.Work(r)
	if err != nil {
		answer(w, err)
		return
	}
	errand, one, err := p.admitErrand(r, work, prepare)
	if err != nil {
		answer(w, p.refused(r, work, err))
		return
	}
	defer p.endPassage(one)
	conn, err := p.dial(one)
	if err != nil {
		err = p.refused(r, work, err)
	} else {
		defer conn.Close()
		err = p.carryErrand(w, r, one, conn, errand)
	}
	if err != nil && one.answerable {
		answer(w, err)
	}
	if one.passed {
		p.recordPassage(r.Context(), work, one.record(p.cfg.Now()))
	}
	if one.torn {
		panic(http.ErrAbortHandler)
	}
}

// CheckTarget returns nil if the policy, or one of the grants, lets a target out; else what a
// program would be told.
func (p *Proxy) CheckTarget(t Target, grants []Grant) error {
	policy := p.Policy()
	var err error
	if policy.Mode == choir.EgressNone {
		err = refuse(t, choir.EgressPolicy, choir.EgressNone, choir.ReasonEgressNone)
	} else {
		_, err = decideByAll(policy, Work{Grants: grants}, t)
	}
	var refusal *refusedError
	if errors.As(err, &refusal) {
		return refusal.told
	}
	return err
}

// admitErrand prepares an errand, decides about it and counts it as open.
func (p *Proxy) admitErrand(r *http.Request, work Work, prepare func(context.Context, Work) (Errand, error)) (Errand, *passage, error) {
	policy := p.Policy()
	if work.Closed {
		return Errand{}, nil, refuse(Target{Host: strings.ToValidUTF8(r.Host, "?")}, choir.EgressPolicy, choir.EgressNone, choir.ReasonEgressNone)
	}
	// Before the vault is read, which a flood would keep it busy with.
	if !p.pace.Allow() {
		return Errand{}, nil, refuse(Target{Host: strings.ToValidUTF8(r.Host, "?")}, choir.EgressLimit, policy.Mode, choir.ReasonEgressBusy)
	}
	before := p.keysEnded()
	errand, err := prepare(r.Context(), work)
	if err != nil {
		return errand, nil, refusedByGate(r, errand.Target, policy.Mode, err)
	}
	if policy.Mode == choir.EgressNone {
		return errand, nil, refuse(errand.Target, choir.EgressPolicy, choir.EgressNone, choir.ReasonEgressNone)
	}
	grant, err := decideByAll(policy, work, errand.Target)
	if err != nil {
		return errand, nil, err
	}
	one, err := p.admit(r, work, errand.Target, policy, grant, false)
	if err != nil {
		return errand, nil, err
	}
	if err := p.holdKey(one, errand.Credential, before); err != nil {
		p.endPassage(one)
		return errand, nil, err
	}
	return errand, one, nil
}

// refusedByGate returns the error of a gateway that prepared an errand, as a refusal to record
// unless the gateway itself failed. A target without a host could not be read.
func refusedByGate(r *http.Request, t Target, mode choir.EgressMode, err error) error {
	var told *choir.Error
	if !errors.As(err, &told) {
		return err
	}
	switch told.Code {
	case choir.CodeRefused, choir.CodeNotFound, choir.CodeInvalid:
		t = unread(r, t, t.Host != "")
		return &refusedError{Refusal: Refusal{Host: t.Host, Port: t.Port, Why: choir.EgressGate, Mode: mode}, told: told}
	}
	return err
}

// carryErrand sends an errand over TLS on conn, and the answer back.
func (p *Proxy) carryErrand(w http.ResponseWriter, r *http.Request, one *passage, conn net.Conn, errand Errand) error {
	counted := &countedConn{Conn: conn, of: one, limits: p.cfg.Limits}
	secure := tls.Client(counted, &tls.Config{ServerName: one.target.Host, RootCAs: p.cfg.Outside.Roots, NextProtos: []string{"http/1.1"}})
	ctx, cancel := context.WithTimeout(one.ctx, p.cfg.Limits.Begin)
	err := secure.HandshakeContext(ctx)
	cancel()
	if err != nil {
		one.cutFor(err)
		return unreachable(one)
	}
	out := errand.request(r, one)
	defer one.limitUpload(w, out, p.cfg.Limits.Idle)()
	answer, err := p.exchange(one, secure, out)
	if err != nil {
		return err
	}
	body := answer.Body
	defer body.Close()
	if err := errand.Answer(answer); err != nil {
		return err
	}
	p.carryAnswer(w, one, answer)
	return nil
}

// request returns the request for the host.
func (e Errand) request(r *http.Request, one *passage) *http.Request {
	out := &http.Request{
		Method: one.target.Method, Header: e.Header, Host: strings.TrimSuffix(one.target.HostPort(), ":443"), ContentLength: r.ContentLength,
		URL:   &url.URL{Scheme: "http", Host: one.target.HostPort(), Path: one.target.Path, RawQuery: e.Query},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if r.ContentLength != 0 {
		out.Body = io.NopCloser(r.Body)
	}
	return out.WithContext(one.ctx)
}

// ReadTarget returns the target of an authority, host or host:port, and a path that every
// server reads as the same one; port 443 when none is said. ok is false for anything else.
func ReadTarget(authority, path string) (t Target, ok bool) {
	host, port := splitAuthority(authority, strconv.Itoa(tlsPort))
	if t, ok = newTarget(host, port); !ok || !cleanPath(path) || !printable(path) {
		return Target{}, false
	}
	t.Path = path
	return t, true
}

// ReadAddress returns the target of an https address without password, query and fragment, in
// its one canonical form. ok is false for anything else.
func ReadAddress(address string) (t Target, ok bool) {
	rest, ok := strings.CutPrefix(address, "https://")
	slash := strings.IndexByte(rest, '/')
	if !ok || slash < 0 {
		return Target{}, false
	}
	t, ok = ReadTarget(rest[:slash], rest[slash:])
	return t, ok && strings.TrimSuffix(t.HostPort(), ":443") == strings.TrimSuffix(rest[:slash], ":443")
}

// ShownAddress returns an address for a message: without user, password, query and fragment,
// which may hold a secret.
func ShownAddress(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		scheme, rest = "", address
	} else {
		scheme += "://"
	}
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end] + rest[end:end+1] + "…"
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = "…" + rest[at:]
	}
	return scheme + rest
}

// Overridden reports whether a header of a request makes servers take another method or path.
func Overridden(h http.Header) bool { return overrides(h) }

// Encoded reports whether an answer is encoded in any way, so that it cannot be looked at.
func Encoded(h http.Header) bool {
	return slices.ContainsFunc(h["Content-Encoding"], func(e string) bool { return e != "" && !strings.EqualFold(e, "identity") })
}

// Below reports whether a clean path is prefix or lies below it: /a has /a and /a/b, not /ab.
func Below(path, prefix string) bool { return cleanPath(path) && below(path, prefix) }

// CleanPath reports whether every server reads an escaped path as the same one.
func CleanPath(path string) bool { return cleanPath(path) }
