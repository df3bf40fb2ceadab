package rolehost

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/thejerf/suture/v4"

	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/guestbin"
	"choiros/internal/sandbox/fake"
	"choiros/internal/sandbox/sandboxtest"
)

// patience bounds every wait of these tests.
const patience = 60 * time.Second

// ground is what outlives the hosts of a test: the log, the data folder, and a machine
// whose sandboxes are served by the test's own process.
type ground struct {
	t         *testing.T
	log       *eventstore.Store
	events    *appender.Appender
	machine   *fake.Machine
	bus       *stubBus
	workspace *stubWorkspace
	cfg       Config // without the driver
}

// newGround makes a ground. A program is a function in the place of a guest binary or
// a tool; roles that a test gives no program for wait for their end.
func newGround(t *testing.T, programs map[string]fake.Program) *ground {
	t.Helper()
	t.Parallel()
	table := map[string]fake.Program{guestbin.Director: asleep, guestbin.Associate: asleep}
	for name, p := range programs {
		table[name] = p
	}
	log, events := newLog(t)
	dir := sandboxtest.DataDir(t) // removed once the machine's sandboxes have ended
	return &ground{
		t: t, log: log, events: events, bus: &stubBus{}, workspace: &stubWorkspace{},
		machine: fake.NewMachine(t, fake.Config{Programs: table}),
		cfg: Config{
			ID: newID(t), User: newID(t), Dir: dir, Guest: "/guest/build", Boot: "now", Log: slog.New(slog.DiscardHandler),
			HostUIDs: map[choir.Role]int{choir.RoleDirector: os.Geteuid(), choir.RoleAssociate: os.Geteuid()},
			Egress:   http.NotFoundHandler, StartPatience: patience, TerminalUsed: func() {}, Observer: nobody{}, Now: time.Now,
		},
	}
}

// nobody is an observer that keeps nothing.
type nobody struct{}

func (nobody) EgressRefused()                  {}
func (nobody) SandboxFailed(choir.Role, error) {}

// asleep is a role that does nothing.
func asleep(_ context.Context, p *fake.Process) int {
	_, _ = io.Copy(io.Discard, p.Stdin) // it ends with the program
	return 0
}

// newLog opens the log of a new computer.
func newLog(t *testing.T) (*eventstore.Store, *appender.Appender) {
	t.Helper()
	log := must(eventstore.Open(t.Context(), t.TempDir(), eventstore.Config{
		Computer: newID(t), User: newID(t), Now: func() choir.Time { return choir.TimeOf(time.Now()) },
	}))(t)
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return log, appender.New(log, newID(t), madeID, slog.New(slog.DiscardHandler))
}

func madeID() (choir.ID, error) { return choir.NewID(choir.TimeOf(time.Now()), rand.Reader) }

func newID(t testing.TB) choir.ID {
	t.Helper()
	return must(madeID())(t)
}

// lab is a host whose services run.
type lab struct {
	*Host
	*ground
	driver *fake.Driver
	stop   func() // ends the services in order; once
}

// host makes a host, as a control plane that starts does.
func (g *ground) host(change ...func(*Config)) (*Host, *fake.Driver) {
	cfg, driver := g.cfg, g.machine.Driver()
	cfg.Driver = driver
	for _, c := range change {
		c(&cfg)
	}
	return New(g.log, g.events, g.bus, g.workspace, cfg), driver
}

// serve makes a host and runs it until the test ends.
func (g *ground) serve(change ...func(*Config)) *lab {
	g.t.Helper()
	h, driver := g.host(change...)
	sup := suture.New("lab", suture.Spec{EventHook: func(suture.Event) {}, FailureThreshold: 1000, Timeout: patience})
	for _, s := range h.Services() {
		sup.Add(s)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(g.t.Context()))
	ended := sup.ServeBackground(ctx)
	l := &lab{Host: h, ground: g, driver: driver}
	l.stop = func() {
		l.stop = func() {}
		cancel()
		<-ended
	}
	g.t.Cleanup(func() { l.stop() })
	return l
}

// kill ends the control plane as a kill does: the sandboxes live on, and so do their notes.
func (l *lab) kill() {
	l.t.Helper()
	if err := l.driver.Close(); err != nil {
		l.t.Error(err)
	}
	l.stop()
}

// within is a context that ends with the test's patience.
func (g *ground) within() context.Context {
	ctx, cancel := context.WithTimeout(g.t.Context(), patience)
	g.t.Cleanup(cancel)
	return ctx
}

// client waits for the Associate's sandbox.
func (l *lab) client() *guest.Client {
	l.t.Helper()
	return must(l.Guest(l.within()))(l.t)
}

// hello says the Director's key.
func (l *lab) hello(key string) {
	l.t.Helper()
	if err := l.Hello(l.within(), key); err != nil {
		l.t.Fatal(err)
	}
}

// eventually waits for a condition that nothing announces.
func (g *ground) eventually(done func() bool) {
	g.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for ctx := g.within(); !done(); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			g.t.Fatal("waited in vain")
		}
	}
}

// started waits for the n-th event which says that a role's sandbox runs.
func (g *ground) started(role choir.Role, n int) choir.SandboxStarted {
	g.t.Helper()
	for e, err := range g.log.Follow(g.within(), 0) {
		if err != nil {
			g.t.Fatalf("waited in vain for start %d of the %s: %v", n, role, err)
		}
		if e.Type != choir.TypeSandboxStarted {
			continue
		}
		if p := payload[choir.SandboxStarted](g.t, e); p.Role == role {
			if n--; n == 0 {
				return p
			}
		}
	}
	panic("Follow ended without an error")
}

// stopped are the events which say that a role's sandbox ended.
func (g *ground) stopped(role choir.Role) (out []choir.SandboxStopped) {
	g.t.Helper()
	for _, e := range g.recorded(choir.TypeSandboxStopped) {
		if p := payload[choir.SandboxStopped](g.t, e); p.Role == role {
			out = append(out, p)
		}
	}
	return out
}

// recorded are the events of some types, oldest first.
func (g *ground) recorded(types ...choir.Type) (out []choir.Event) {
	g.t.Helper()
	for e, err := range g.log.Events(g.within(), 1, 0) {
		if err != nil {
			g.t.Fatal(err)
		}
		if slices.Contains(types, e.Type) {
			out = append(out, e)
		}
	}
	return out
}

func payload[P any](t testing.TB, e choir.Event) (p P) {
	t.Helper()
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// wantCode fails the test when an error has another code.
func wantCode(t testing.TB, err error, want choir.Code) {
	t.Helper()
	if choir.CodeOf(err) != want {
		t.Errorf("%v, want the code %q", err, want)
	}
}

// must ends the test at an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// stubBus greets whoever opens a stream to it, and counts what it mints.
type stubBus struct {
	mu     sync.Mutex // guards minted
	minted int
}

// Mint implements Bus.
func (b *stubBus) Mint(role choir.Role, user, computer choir.ID, life time.Duration) (bus.Credentials, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.minted++
	return bus.Credentials{JWT: "jwt", Seed: "seed", Connection: string(role), Inbox: "_INBOX", Expires: choir.TimeOf(time.Now().Add(life))}, nil
}

// ServeDoor implements Bus.
func (b *stubBus) ServeDoor(_ context.Context, listener net.Listener) io.Closer {
	d := &stubDoor{listener: listener}
	d.serving.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "bus\n") // a role that has ended needs none
			c.Close()
		}
	})
	return d
}

// stubDoor is a door to a stubBus.
type stubDoor struct {
	listener net.Listener
	serving  sync.WaitGroup
}

// Close implements io.Closer.
func (d *stubDoor) Close() error {
	err := d.listener.Close()
	d.serving.Wait()
	return err
}

// stubWorkspace is a workspace of which a test says what the first look at it does.
type stubWorkspace struct {
	rewrites bool
	look     func(ctx context.Context) error // nil does nothing
	fill     func(ctx context.Context) error // of LayOut; nil does nothing

	mu        sync.Mutex // guards what follows
	recovered []bool     // of each start
	copied    []bool     // of each start
	kept      int        // how often a copied workspace was kept
	keep      error      // of keeping one
}

// CopyOut implements Workspace.
func (w *stubWorkspace) CopyOut(context.Context, *guest.Client) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept++
	return w.keep
}

// Limit implements Workspace.
func (w *stubWorkspace) Limit(*guest.Client) {}

// LayOut implements Workspace.
func (w *stubWorkspace) LayOut(ctx context.Context, _ *guest.Client, recovered, copied bool) error {
	w.mu.Lock()
	w.recovered, w.copied = append(w.recovered, recovered), append(w.copied, copied)
	w.mu.Unlock()
	if w.fill != nil {
		return w.fill(ctx)
	}
	return nil
}

// MayRewrite implements Workspace.
func (w *stubWorkspace) MayRewrite(context.Context) (bool, error) { return w.rewrites, nil }

// FirstLook implements Workspace.
func (w *stubWorkspace) FirstLook(ctx context.Context, _ *guest.Client, _ bool) error {
	if w.look == nil {
		return nil
	}
	return w.look(ctx)
}
