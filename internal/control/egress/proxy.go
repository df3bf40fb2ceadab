package egress

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"choiros/internal/choir"
	"choiros/internal/packages"
)

// Work identifies the task and tool call of a request.
type Work struct {
	Run, Task, Call choir.ID
	// Project is the name of the task's project; "" for none.
	Project string
	// Profile is the task's own; nil for the computer's policy.
	Profile *choir.EgressProfile
	// Grants are those of the owner's that hold for the request now.
	Grants []Grant
	// Holds reports whether a rule holds what the work would send to a host; nil holds nothing.
	Holds func(host string) bool
	// Closed refuses everything, as for the Director's sandbox.
	Closed bool
}

// Refusal is a request that was not let out.
type Refusal struct {
	Host string // as it was asked for, when it could not be read
	Port int    // 0 when it could not be read
	Why  choir.EgressWhy
	Mode choir.EgressMode // of the policy that refused it
}

// Recorder appends what happens to the log. The context is the request's, without its end.
type Recorder interface {
	// RecordRefusal reports whether the owner is asked for the host.
	RecordRefusal(context.Context, Work, Refusal) (asked bool, err error)
	// RecordPassage is called again after an error, before the next request goes out.
	RecordPassage(context.Context, Work, choir.EgressPassed) error
}

// Resolver looks up the addresses of a host name.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Limits bound what a computer sends out at once.
type Limits struct {
	Open   int           // requests and tunnels at once
	Rate   float64       // begun in a second, in the long run
	Burst  int           // begun at once
	Bytes  int64         // of one request or tunnel, in each direction
	Dial   time.Duration // for the name and the connection together
	Begin  time.Duration // until a tunnel has said its ClientHello, and a host its headers
	Idle   time.Duration // without a byte in either direction
	Header int64         // bytes of the headers of an answer
}

// DefaultLimits returns the limits of a computer.
func DefaultLimits() Limits {
	return Limits{
		Open: 128, Rate: 50, Burst: 1000, Bytes: 16 << 30, Dial: 15 * time.Second, Begin: 30 * time.Second,
		Idle: 5 * time.Minute, Header: 64 << 10,
	}
}

// Outside is how the proxy reaches the network. Tests put local servers in its place.
type Outside struct {
	Resolver Resolver
	// Permit says which addresses may be dialled.
	Permit func(netip.Addr) bool
	Dial   func(context.Context, netip.AddrPort) (net.Conn, error)
	// Roots are the authorities of hosts to which the proxy speaks TLS itself; nil for the
	// machine's.
	Roots *x509.CertPool
}

// Internet returns the network of this machine, of which public addresses may be dialled that are
// not of this machine and the networks that it is in.
func Internet() Outside {
	return Outside{Resolver: net.DefaultResolver, Permit: isFar, Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", to.String())
	}}
}

// Config configures a proxy. All of it is required but Authority, Inject and Packages.
type Config struct {
	Policy  Policy
	Outside Outside
	Limits  Limits
	// Work returns what a request is for. An error refuses it.
	Work func(*http.Request) (Work, error)
	// Caller returns a name of the program that makes a request, without a look at the log; nil if
	// all requests count as one program's.
	Caller func(*http.Request) string
	Log    Recorder
	// Answer writes an error to a client.
	Answer func(http.ResponseWriter, error)
	Now    func() time.Time
	// Authority ends TLS for hosts that rules look into; nil for none, which lets no TLS to them
	// out.
	Authority *Authority
	// Inject adds credentials and the like to requests; nil for nothing.
	Inject Injector
	// Packages answers requests for the content of registries; nil for none.
	Packages *packages.Cache
}

// Proxy serves the requests of a computer's sandboxes for hosts outside. Its methods may be
// called at any time by any goroutine.
type Proxy struct {
	cfg     Config
	pace    *rate.Limiter
	telling chan struct{} // full while events that the log did not take are appended

	mu     sync.Mutex // guards the rest; held for no call
	policy Policy
	open   map[*passage]struct{}
	ended  recent // what grants ended with
	keys   keyEnds
	untold []untold // oldest first
	// refusals limits the refused requests of each caller; see refusalsOf.
	refusals map[string]*rate.Limiter
	closed   bool
	all      sync.WaitGroup // the requests being served
}

// New returns a proxy. Close ends it.
func New(cfg Config) *Proxy {
	return &Proxy{
		cfg: cfg, pace: rate.NewLimiter(rate.Limit(cfg.Limits.Rate), cfg.Limits.Burst),
		refusals: map[string]*rate.Limiter{}, policy: cfg.Policy, open: map[*passage]struct{}{}, telling: make(chan struct{}, 1),
	}
}

// SetPolicy puts another policy in force and cuts the requests and tunnels that neither it nor
// the grant that they went out by would let out. It returns how many were cut.
func (p *Proxy) SetPolicy(policy Policy) (cut int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.policy = policy
	for one := range p.open {
		if !one.fits(policy) {
			one.cut("policy")
			cut++
		}
	}
	return cut
}

// Policy returns the policy in force.
func (p *Proxy) Policy() Policy {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.policy
}

// Close cuts what is open, waits until its end is recorded, and refuses what comes after.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	for one := range p.open {
		one.cut("error")
	}
	p.mu.Unlock()
	p.all.Wait()
	_ = p.recordUntold(context.Background()) // a log that takes no event is told by the store
}

// errClosed refuses what comes while the computer stops.
var errClosed = choir.Refuse("egress", choir.ReasonComputerStops)

// ServeHTTP carries a request in absolute form, or a tunnel, out, or refuses it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.refusesUnread(w, r, p.cfg.Answer) {
		return
	}
	work, err := p.cfg.Work(r)
	if err != nil {
		p.cfg.Answer(w, err)
		return
	}
	one, err := p.admitRequest(r, work)
	if err != nil {
		p.cfg.Answer(w, p.refused(r, work, err))
		return
	}
	if one.inspected {
		defer p.endPassage(one)
		if err := p.inspect(w, r, one); err != nil {
			err = p.refused(r, work, err)
			if one.answerable {
				p.cfg.Answer(w, err)
			}
		}
		return
	}
	p.passRequest(w, r, work, one)
}

// passRequest carries an admitted request or tunnel, from the package cache or its host, and
// records its end.
func (p *Proxy) passRequest(w http.ResponseWriter, r *http.Request, work Work, one *passage) {
	defer p.endPassage(one)
	served, err := p.servePackage(w, r, work, one)
	if !served {
		var conn net.Conn
		if conn, err = p.dial(one); err == nil {
			defer conn.Close()
			err = p.relayToHost(w, r, one, conn)
		}
	}
	if err != nil {
		err = p.refused(r, work, err)
	}
	if one.answerable && err != nil {
		p.cfg.Answer(w, err)
	}
	if one.passed {
		p.recordPassage(r.Context(), work, one.record(p.cfg.Now()))
	}
	if one.torn {
		panic(http.ErrAbortHandler)
	}
}

// relayToHost relays a request or tunnel to its host over conn.
func (p *Proxy) relayToHost(w http.ResponseWriter, r *http.Request, one *passage, conn net.Conn) error {
	if one.target.Tunnel {
		return p.tunnel(w, one, conn)
	}
	return p.forward(w, r, one, conn)
}

// refusedError refuses a request. It carries the event's fields beside what the client is told.
type refusedError struct {
	Refusal
	told *choir.Error
}

func (e *refusedError) Error() string { return e.told.Error() }
func (e *refusedError) Unwrap() error { return e.told }

// refused records an error that is a refusal, and returns what the client is told.
func (p *Proxy) refused(r *http.Request, work Work, err error) error {
	var refusal *refusedError
	if !errors.As(err, &refusal) {
		return err
	}
	ctx := context.WithoutCancel(r.Context())
	asked, err := p.cfg.Log.RecordRefusal(ctx, work, refusal.Refusal)
	if err == nil && p.countRefusal(r) {
		err = p.recordFlood(ctx, work, refusal.Refusal)
	}
	if err != nil {
		return err
	}
	if asked {
		return choir.Refuse("egress", choir.ReasonEgressAsked, choir.TextOf("host", Target{Host: refusal.Host, Port: refusal.Port}.HostPort()))
	}
	return refusal.told
}

// admitRequest reads a request, decides about it and counts it as open.
func (p *Proxy) admitRequest(r *http.Request, work Work) (*passage, error) {
	policy := p.Policy()
	t, ok := readTarget(r)
	if work.Closed || policy.Mode == choir.EgressNone {
		return nil, refuse(unread(r, t, ok), choir.EgressPolicy, choir.EgressNone, choir.ReasonEgressNone)
	}
	if !ok {
		return nil, refuse(unread(r, t, ok), choir.EgressUnclear, policy.Mode, choir.ReasonEgressUnclear)
	}
	grant, err := decideByAll(policy, work, t)
	inspected := p.inspects(t, err)
	if err != nil && !inspected {
		return nil, err
	}
	if !p.pace.Allow() {
		return nil, refuse(t, choir.EgressLimit, policy.Mode, choir.ReasonEgressBusy)
	}
	return p.admit(r, work, t, policy, grant, inspected)
}

// admit counts a request as open, unless a rule has come to hold its host since it was decided
// about. Its errors are those of count, and that of the log if it does not take the events of
// earlier requests.
func (p *Proxy) admit(r *http.Request, work Work, t Target, policy Policy, grant *Grant, inspected bool) (*passage, error) {
	if err := p.recordUntold(r.Context()); err != nil {
		return nil, err
	}
	one, err := p.count(r, work.Task, t, policy, grant, inspected)
	if err == nil && work.Holds != nil && work.Holds(t.Host) {
		p.endPassage(one)
		return nil, refuse(t, choir.EgressHeld, policy.Mode, choir.ReasonEgressHeld)
	}
	return one, err
}

// count counts a request of a task as open; "" for none. Code rate_limited: there are too many; unavailable: the proxy
// is closed.
func (p *Proxy) count(r *http.Request, task choir.ID, t Target, policy Policy, grant *Grant, inspected bool) (*passage, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	one := &passage{task: task, target: t, mode: policy.Mode, grant: grant, ctx: ctx, cancel: cancel, began: p.cfg.Now(), answerable: true, inspected: inspected}
	p.mu.Lock()
	defer p.mu.Unlock()
	still := one.fits(p.policy) && !p.ended.has(grant)
	switch {
	case p.closed:
		cancel(nil)
		return nil, errClosed
	case !still: // it was replaced meanwhile
		cancel(nil)
		return nil, refuse(t, choir.EgressPolicy, p.policy.Mode, choir.ReasonEgressHost)
	case len(p.open) >= p.cfg.Limits.Open:
		cancel(nil)
		return nil, refuse(t, choir.EgressLimit, policy.Mode, choir.ReasonEgressBusy)
	}
	p.open[one] = struct{}{}
	p.all.Add(1)
	one.endWithGrant(p.cfg.Now)
	return one, nil
}

// OpenHosts returns the hosts and ports to which requests and tunnels are open: those of a task, and
// of anything else beside it. What is not among them any more is in the log.
func (p *Proxy) OpenHosts(task choir.ID) (open []choir.EffectHost) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for one := range p.open {
		if !one.inspected { // its requests are counted by themselves
			open = append(open, choir.EffectHost{Host: one.target.Host, Port: one.target.Port, Sent: true, Beside: one.task != task})
		}
	}
	return open
}

// endPassage counts a request as ended.
func (p *Proxy) endPassage(one *passage) {
	one.cancel(nil)
	if t := one.expiry.Load(); t != nil {
		t.Stop()
	}
	p.mu.Lock()
	delete(p.open, one)
	p.mu.Unlock()
	p.all.Done()
}

// decide returns a refusal unless a policy lets a target out.
func decide(policy Policy, t Target, reason choir.Reason, why choir.EgressWhy) error {
	if _, ok := policy.Find(t); ok {
		return nil
	}
	if policy.names(t) {
		return refuse(t, choir.EgressRule, policy.Mode, choir.ReasonEgressRule)
	}
	return refuse(t, why, policy.Mode, reason)
}

// refuse returns the refusal of a target.
func refuse(t Target, why choir.EgressWhy, mode choir.EgressMode, reason choir.Reason) error {
	host := t.Host
	if t.Port != 0 && reason != choir.ReasonEgressNone {
		host = t.HostPort()
	}
	return &refusedError{
		Refusal: Refusal{Host: t.Host, Port: t.Port, Why: why, Mode: mode},
		told:    choir.Refuse("egress", reason, choir.TextOf("host", host), choir.TextOf("policy", string(mode))),
	}
}

// unread returns the target of a request, or one with the host as it was written if it could
// not be read.
func unread(r *http.Request, t Target, ok bool) Target {
	if ok {
		return t
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return Target{Host: strings.ToValidUTF8(host, "?")}
}

// dial resolves a target's host, checks every address and connects to one of them.
func (p *Proxy) dial(one *passage) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(one.ctx, p.cfg.Limits.Dial)
	defer cancel()
	conn, address, err := p.cfg.Outside.reach(ctx, one.target.Host, one.target.Port)
	switch {
	case errors.Is(err, errNotPublic):
		return nil, refuse(one.target, choir.EgressAddress, one.mode, choir.ReasonEgressAddress)
	case err != nil:
		one.passed = true // the name, which the program chose, was asked for
		one.cut("error")
		return nil, choir.Refuse("egress", choir.ReasonEgressUnreachable, choir.TextOf("host", one.target.HostPort()))
	}
	one.address, one.passed = address, true
	return conn, nil
}

// errNotPublic is the error of a host that has an address which may not be dialled.
var errNotPublic = errors.New("egress: an address that may not be dialled")

// reach resolves a host, checks every address and connects to one of them. It returns
// errNotPublic if one may not be dialled.
func (o Outside) reach(ctx context.Context, host string, port int) (net.Conn, netip.Addr, error) {
	addrs, err := o.resolve(ctx, host)
	if err != nil {
		return nil, netip.Addr{}, err
	}
	for _, a := range addrs {
		if !o.Permit(a) {
			return nil, netip.Addr{}, errNotPublic
		}
	}
	err = errors.New("egress: the host has no address")
	for _, a := range addrs {
		var conn net.Conn
		if conn, err = o.Dial(ctx, netip.AddrPortFrom(a, uint16(port))); err == nil {
			return conn, a, nil
		}
	}
	return nil, netip.Addr{}, err
}

// maxAddresses is the number of a name's addresses that are looked at.
const maxAddresses = 32

// resolve returns the addresses of a host. The dot at the end of the name keeps the
// machine's search domains out.
func (o Outside) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	addrs, err := o.Resolver.LookupNetIP(ctx, "ip", host+".")
	for i, a := range addrs {
		// The resolver gives IPv4 addresses in their mapped form too.
		addrs[i] = a.Unmap()
	}
	return addrs[:min(len(addrs), maxAddresses)], err
}
