package rolehost

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/guestbin"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/fake"
	"choiros/internal/sandbox/sandboxtest"
)

func TestARoleThatEndsIsStartedAgainInItsSandbox(t *testing.T) {
	g := newGround(t, nil)
	l := g.serve()
	client := l.client()
	l.started(choir.RoleAssociate, 1)
	before := must(client.Hello(l.within()))(t).RolePID
	if before == 0 || !l.Serving(choir.RoleAssociate) {
		t.Fatal("the Associate does not run")
	}
	if err := client.StopRole(l.within()); err != nil {
		t.Fatal(err)
	}
	l.eventually(func() bool {
		now := must(client.Hello(l.within()))(t).RolePID
		return now != 0 && now != before && l.Serving(choir.RoleAssociate)
	})
	if n := len(l.stopped(choir.RoleAssociate)); n != 0 || g.machine.Made() != 2 {
		t.Errorf("%d sandboxes were made and %d ended for it", g.machine.Made(), n)
	}
}

func TestASandboxThatEndsIsReplaced(t *testing.T) {
	g := newGround(t, nil)
	l := g.serve()
	l.started(choir.RoleAssociate, 1)
	s := l.seats[choir.RoleAssociate]
	s.mu.Lock()
	box := s.live.sandbox
	s.mu.Unlock()
	if err := box.Destroy(l.within()); err != nil {
		t.Fatal(err)
	}
	if p := l.started(choir.RoleAssociate, 2); p.Recovered {
		t.Error("a sandbox that had ended is called recovered")
	}
	if ends := l.stopped(choir.RoleAssociate); len(ends) != 1 || ends[0].Reason != "the sandbox ended by itself" {
		t.Errorf("%+v", ends)
	}
	if most := g.machine.Most(s.workspace()); most != 1 {
		t.Errorf("%d sandboxes had the workspace at once", most)
	}
}

func TestAnOrderlyStopLeavesNoSandboxAndNoNote(t *testing.T) {
	g := newGround(t, nil)
	l := g.serve()
	l.started(choir.RoleAssociate, 1)
	l.hello("key")
	l.stop()
	notes := must(filepath.Glob(filepath.Join(g.cfg.Dir, "handles", "*")))(t)
	if living := g.machine.Living(l.seats[choir.RoleAssociate].workspace()) + g.machine.Living(""); living != 0 || len(notes) != 0 {
		t.Errorf("%d sandboxes and the notes %q are left", living, notes)
	}
	for _, role := range []choir.Role{choir.RoleDirector, choir.RoleAssociate} {
		if ends := l.stopped(role); len(ends) != 1 || ends[0].Reason != "the computer went to sleep" {
			t.Errorf("the %s: %+v", role, ends)
		}
		if _, running := l.Level(role); running || l.Serving(role) {
			t.Errorf("the %s is said to run", role)
		}
	}
}

func TestSandboxesOfAKilledControlPlaneAreTakenUpAgain(t *testing.T) {
	g := newGround(t, nil)
	l := g.serve()
	l.started(choir.RoleAssociate, 1)
	l.hello("key")
	l.kill()
	again := g.serve()
	if p := again.started(choir.RoleAssociate, 2); !p.Recovered {
		t.Errorf("%+v", p)
	}
	if p := again.started(choir.RoleDirector, 2); !p.Recovered || p.PublicKey != "key" || again.PublicKey(choir.RoleDirector) != "key" {
		t.Errorf("%+v", p)
	}
	if g.machine.Made() != 2 {
		t.Errorf("%d sandboxes were made", g.machine.Made())
	}
	g.workspace.mu.Lock()
	defer g.workspace.mu.Unlock()
	if n := len(g.workspace.recovered); n < 2 || g.workspace.recovered[0] || !g.workspace.recovered[n-1] {
		t.Errorf("the workspace is told %v", g.workspace.recovered)
	}
}

func TestADriverThatDoesNotKnowYetIsAskedAgain(t *testing.T) {
	g := newGround(t, nil)
	l := g.serve()
	l.started(choir.RoleAssociate, 1)
	l.eventually(func() bool { return l.Serving(choir.RoleDirector) }) // its sandbox is noted too
	l.kill()
	g.machine.FailRecover(3, choir.E("x", choir.CodeTimeout, "the machine is slow"))
	again := g.serve()
	if p := again.started(choir.RoleAssociate, 2); !p.Recovered || g.machine.Made() != 2 {
		t.Errorf("%d sandboxes were made: %+v", g.machine.Made(), p)
	}
}

func TestTheDirectorsSandboxIsRecordedOnceItSaidHello(t *testing.T) {
	g := newGround(t, nil)
	l := g.serve()
	l.started(choir.RoleAssociate, 1)
	l.eventually(func() bool { return l.Serving(choir.RoleDirector) })
	l.hello("key")
	l.hello("key")
	if p := l.started(choir.RoleDirector, 1); p.PublicKey != "key" || p.Driver != fake.Name {
		t.Errorf("%+v", p)
	}
	if n := len(l.recorded(choir.TypeSandboxStarted)); n != 2 {
		t.Errorf("%d starts are recorded", n)
	}
}

// TestAHelloThatFailsCanBeSaidAgain has a file system that takes no note the first time.
func TestAHelloThatFailsCanBeSaidAgain(t *testing.T) {
	g := newGround(t, nil)
	l := g.serve()
	l.started(choir.RoleAssociate, 1)
	l.eventually(func() bool { return l.Serving(choir.RoleDirector) })
	s := l.seats[choir.RoleDirector]
	if _, err := s.guest(l.within()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.notePath()); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(s.notePath(), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := l.Hello(l.within(), "key"); err == nil {
		t.Fatal("a key is taken that cannot be noted")
	}
	if err := os.RemoveAll(s.notePath()); err != nil {
		t.Fatal(err)
	}
	l.hello("key")
	if p := l.started(choir.RoleDirector, 1); p.PublicKey != "key" {
		t.Errorf("%+v", p)
	}
	if n, err := s.readNote(); err != nil || n.PublicKey != "key" {
		t.Errorf("the note has the key %q, %v", n.PublicKey, err)
	}
}

func TestARoleGetsItsIdentityAndTheNextOnesInTime(t *testing.T) {
	lines := make(chan string, 100)
	g := newGround(t, map[string]fake.Program{guestbin.Associate: func(_ context.Context, p *fake.Process) int {
		for in := bufio.NewScanner(p.Stdin); in.Scan(); {
			select {
			case lines <- in.Text():
			default: // enough
			}
		}
		return 0
	}})
	g.serve(func(c *Config) {
		c.IdentityLife = 20 * time.Millisecond
		c.RunLimits = choir.RunLimits{Steps: 7}
	})
	var boot bus.Boot
	if err := json.Unmarshal([]byte(<-lines), &boot); err != nil {
		t.Fatal(err)
	}
	if boot.Computer != g.cfg.ID || boot.User != g.cfg.User || boot.Role != choir.RoleAssociate || boot.Limits.Steps != 7 || boot.Credentials.JWT == "" {
		t.Errorf("%+v", boot)
	}
	for range 3 {
		var next bus.Credentials
		if err := json.Unmarshal([]byte(<-lines), &next); err != nil || next.JWT == "" {
			t.Errorf("%+v, %v", next, err)
		}
	}
}

func TestACallerDoesNotWaitForEverForASandbox(t *testing.T) {
	g := newGround(t, nil)
	h, _ := g.host(func(c *Config) { c.GuestPatience = 10 * time.Millisecond }) // its services do not run
	_, err := h.Guest(t.Context())
	wantCode(t, err, choir.CodeUnavailable)
	_, err = h.DialPort(t.Context(), 80)
	wantCode(t, err, choir.CodeUnavailable)
	readOnly, _ := g.host(func(c *Config) { c.ReadOnly = true })
	_, err = readOnly.Guest(t.Context())
	wantCode(t, err, choir.CodeUnavailable)
}

// refusing is a driver that makes no sandbox.
type refusing struct {
	sandbox.Driver
	why error
}

// Create implements sandbox.Driver.
func (d refusing) Create(context.Context, sandbox.Spec) (sandbox.Sandbox, error) { return nil, d.why }

func TestASandboxThatCannotStartSaysWhy(t *testing.T) {
	g := newGround(t, nil)
	why := errors.New("no room in the machine")
	l := g.serve(func(c *Config) { c.Driver = refusing{c.Driver, why} })
	l.eventually(func() bool { return l.Failure(choir.RoleAssociate) != nil })
	if got := l.Failure(choir.RoleAssociate); !errors.Is(got, why) {
		t.Errorf("it says %v", got)
	}
	if _, err := os.Stat(l.seats[choir.RoleAssociate].notePath()); !os.IsNotExist(err) {
		t.Errorf("the note of a sandbox that is not there: %v", err)
	}
}

// copying narrows the driver to workspaces that are copied, over one stream.
func copying(c *Config) {
	c.Driver = sandboxtest.NarrowDriver(c.Driver, sandbox.Capabilities{Transports: []sandbox.Transport{sandbox.TransportCopy}})
}

func TestACopiedWorkspaceIsKeptBeforeItsSandboxEnds(t *testing.T) {
	g := newGround(t, nil)
	l := g.serve(copying)
	l.started(choir.RoleAssociate, 1)
	l.client() // it is laid out
	if _, err := os.Stat(l.seats[choir.RoleAssociate].workspace()); !os.IsNotExist(err) {
		t.Errorf("the host has a folder for it: %v", err)
	}
	l.stop()
	g.workspace.mu.Lock()
	kept, copied := g.workspace.kept, g.workspace.copied
	g.workspace.mu.Unlock()
	if kept != 1 || !slices.Equal(copied, []bool{true}) || g.machine.Living("") != 0 {
		t.Errorf("kept %d times of %v, and %d sandboxes live", kept, copied, g.machine.Living(""))
	}
}

// TestASandboxWhoseWorkspaceCannotBeKeptIsTakenUpAgain has the store fail at a stop.
func TestASandboxWhoseWorkspaceCannotBeKeptIsTakenUpAgain(t *testing.T) {
	g := newGround(t, nil)
	g.workspace.keep = choir.E("x", choir.CodeNoSpace, "the disk is full")
	l := g.serve(copying)
	l.started(choir.RoleAssociate, 1)
	l.client()
	l.stop()
	if ends := l.stopped(choir.RoleAssociate); len(ends) != 0 {
		t.Errorf("it is said to have ended: %+v", ends)
	}
	again := g.serve(copying)
	if p := again.started(choir.RoleAssociate, 2); !p.Recovered {
		t.Errorf("%+v", p)
	}
	g.workspace.mu.Lock()
	defer g.workspace.mu.Unlock()
	if got := g.workspace.recovered; !slices.Equal(got, []bool{false, true}) {
		t.Errorf("the workspace is told %v", got)
	}
	g.workspace.keep = nil
}

// TestACopiedWorkspaceThatWasNotFilledIsNew kills a start in the middle of the filling.
func TestACopiedWorkspaceThatWasNotFilledIsNew(t *testing.T) {
	g := newGround(t, nil)
	filling := make(chan struct{})
	g.workspace.fill = func(ctx context.Context) error {
		close(filling)
		<-ctx.Done()
		return ctx.Err()
	}
	l := g.serve(copying)
	<-filling
	l.kill()
	g.workspace.fill = nil
	again := g.serve(copying)
	again.started(choir.RoleAssociate, 1)
	g.workspace.mu.Lock()
	defer g.workspace.mu.Unlock()
	if got := g.workspace.recovered; !slices.Equal(got, []bool{false, false}) || g.workspace.kept != 0 {
		t.Errorf("the workspace is told %v and kept %d times", got, g.workspace.kept)
	}
}
