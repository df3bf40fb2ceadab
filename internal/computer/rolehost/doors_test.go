package rolehost

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/guest/roledoor"
	"choiros/internal/guestbin"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/fake"
	"choiros/internal/sandbox/sandboxtest"
)

// ask asks the egress door for a path, and prints what it answers.
func ask(ctx context.Context, p *fake.Process, path string) int {
	c, err := p.Dial(ctx, roledoor.Egress)
	if err != nil {
		return 1
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.0\r\nHost: x\r\n\r\n"); err != nil {
		return 1
	}
	if _, err := io.Copy(p.Stdout, c); err != nil {
		return 1
	}
	return 0
}

// tool runs a program in the Associate's sandbox to its end and returns what it printed.
func (l *lab) tool(name string) (string, guest.Exit) {
	l.t.Helper()
	p := must(l.Exec(l.within(), guest.ExecSpec{Argv: []string{name}, Cwd: sandbox.WorkspaceInside}))(l.t)
	var out strings.Builder
	exit := must(p.Wait(&out, &out))(l.t)
	return out.String(), exit
}

// TestTheEgressDoorKnowsItsCallers has a tool and both roles ask for the same: who they
// are follows from the way they came.
func TestTheEgressDoorKnowsItsCallers(t *testing.T) {
	type said struct {
		role   choir.Role
		isRole bool
	}
	heard := make(chan said, 10)
	role := func(ctx context.Context, p *fake.Process) int {
		if code := ask(ctx, p, "/"); code != 0 {
			return code
		}
		return asleep(ctx, p)
	}
	g := newGround(t, map[string]fake.Program{
		guestbin.Director: role, guestbin.Associate: role,
		"tool": func(ctx context.Context, p *fake.Process) int { return ask(ctx, p, "/") },
	})
	g.cfg.Egress = func() http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			role, isRole := Caller(r)
			heard <- said{role, isRole}
			_, _ = io.WriteString(w, "answered")
		})
	}
	l := g.serve()
	want := map[said]bool{{choir.RoleDirector, true}: true, {choir.RoleAssociate, true}: true}
	for range 2 {
		got := <-heard
		if !want[got] {
			t.Errorf("a role is taken for %+v", got)
		}
		delete(want, got)
	}
	if out, exit := l.tool("tool"); exit.Code != 0 || !strings.HasSuffix(out, "answered") {
		t.Errorf("exit code %d: %s", exit.Code, out)
	}
	if got := <-heard; got != (said{choir.RoleAssociate, false}) {
		t.Errorf("a tool is taken for %+v", got)
	}
	if role, isRole := Caller(must(http.NewRequest(http.MethodGet, "/", nil))(t)); role != "" || isRole {
		t.Errorf("a request from elsewhere is taken for the %s's", role)
	}
}

func TestTheBusDoorTakesRolesAndNoTools(t *testing.T) {
	greeted := make(chan string, 10)
	greet := func(ctx context.Context, p *fake.Process) int {
		c, err := p.Dial(ctx, roledoor.Bus)
		if err != nil {
			return 1
		}
		defer c.Close()
		raw, _ := io.ReadAll(c) // a stream that breaks off has no greeting
		greeted <- string(raw)
		return 0
	}
	g := newGround(t, map[string]fake.Program{
		guestbin.Associate: func(ctx context.Context, p *fake.Process) int {
			if code := greet(ctx, p); code != 0 {
				return code
			}
			return asleep(ctx, p)
		},
		"tool": greet,
	})
	l := g.serve()
	if got := <-greeted; got != "bus\n" {
		t.Errorf("the role reads %q from the bus", got)
	}
	if _, exit := l.tool("tool"); exit.Code != 1 {
		t.Errorf("a tool that dials the bus ends with %d", exit.Code)
	}
}

// TestAStopDoesNotWaitForASandboxThatReadsNothing has a handler write at the bus door,
// over the only stream to a sandbox that has stopped reading.
func TestAStopDoesNotWaitForASandboxThatReadsNothing(t *testing.T) {
	link := &stalledLink{stall: make(chan struct{}), writing: make(chan struct{}, 1), late: make(chan struct{}, 100)}
	g := newGround(t, map[string]fake.Program{guestbin.Associate: func(ctx context.Context, p *fake.Process) int {
		<-link.stall
		if c, err := p.Dial(ctx, roledoor.Bus); err == nil {
			defer c.Close()
		}
		return asleep(ctx, p)
	}})
	l := g.serve(func(c *Config) {
		c.Driver = sandboxtest.NarrowDriver(&stallingDriver{c.Driver, link}, sandbox.Capabilities{Transports: []sandbox.Transport{sandbox.TransportBind}})
	})
	l.started(choir.RoleAssociate, 1)
	l.client()
	close(link.stall)
	<-link.writing
	l.stop()
	if len(link.late) > 0 {
		t.Error("the stop waited for the sandbox to read")
	}
}

// stalledLink is a way to a sandbox that takes no bytes once stall is closed, and does not
// say when the sandbox has ended.
type stalledLink struct {
	stall   chan struct{}
	writing chan struct{} // gets one when the first write waits
	late    chan struct{} // gets one when a write has waited to its deadline
}

type stallingDriver struct {
	sandbox.Driver
	link *stalledLink
}

// Create implements sandbox.Driver.
func (d *stallingDriver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	box, err := d.Driver.Create(ctx, spec)
	if err != nil || spec.Role != choir.RoleAssociate {
		return box, err
	}
	return &stallingBox{box, d.link}, nil
}

type stallingBox struct {
	sandbox.Sandbox
	link *stalledLink
}

// Dial implements sandbox.Sandbox.
func (b *stallingBox) Dial(ctx context.Context) (net.Conn, error) {
	c, err := b.Sandbox.Dial(ctx)
	if err != nil {
		return nil, err
	}
	return &stallingConn{Conn: c, link: b.link, closed: make(chan struct{})}, nil
}

type stallingConn struct {
	net.Conn
	link   *stalledLink
	once   sync.Once
	closed chan struct{}
	until  atomic.Pointer[time.Time] // of writes
}

// SetWriteDeadline implements net.Conn.
func (c *stallingConn) SetWriteDeadline(t time.Time) error {
	c.until.Store(&t)
	return c.Conn.SetWriteDeadline(t)
}

// Read implements net.Conn.
func (c *stallingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		<-c.closed
	}
	return n, err
}

// Write implements net.Conn.
func (c *stallingConn) Write(p []byte) (int, error) {
	select {
	case <-c.link.stall:
	default:
		return c.Conn.Write(p)
	}
	select {
	case c.link.writing <- struct{}{}:
	default:
	}
	select {
	case <-c.closed:
		return 0, net.ErrClosed
	case <-time.After(time.Until(*c.until.Load())):
		c.link.late <- struct{}{}
		return 0, os.ErrDeadlineExceeded
	}
}

// Close implements net.Conn.
func (c *stallingConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// TestAFoldersModesAreSetAgain leaves an old door and another mode behind.
func TestAFoldersModesAreSetAgain(t *testing.T) {
	g := newGround(t, nil)
	l := g.serve()
	l.client()
	l.stop()
	doors := filepath.Join(g.cfg.Dir, "associate", "doors")
	if err := os.Chmod(doors, 0o750); err != nil {
		t.Fatal(err)
	}
	for _, name := range oldSockets {
		if err := os.WriteFile(filepath.Join(doors, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	g.serve().client()
	info := must(os.Stat(doors))(t)
	if left := must(os.ReadDir(doors))(t); len(left) != 0 || info.Mode().Perm() != 0o700 {
		t.Errorf("%v in a folder of mode %v", left, info.Mode())
	}
}
