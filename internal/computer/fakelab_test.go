package computer

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/guestbin"
	"choiros/internal/sandbox/fake"
	"choiros/internal/sandbox/sandboxtest"
)

// fakeGround is what a computer without bubblewrap stands on. It outlives the
// computer, as a machine does.
type fakeGround struct {
	*fake.Machine
	blobs  *mem.Store
	driver *fake.Driver // of the control plane that was opened last
}

func (g *fakeGround) nextDriver() *fake.Driver {
	g.driver = g.Machine.Driver()
	return g.driver
}

// newFakeLab is newLab for tests that need a sandbox only to have a computer: on the
// fake driver, with content in memory and roles that do nothing. Programs do not run in
// it, and so no tasks.
func newFakeLab(t *testing.T, change ...func(*labConfig)) *lab {
	t.Helper()
	t.Parallel()
	asleep := func(_ context.Context, p *fake.Process) int {
		_, _ = io.Copy(io.Discard, p.Stdin) // it ends with the program
		return 0
	}
	cfg := labConfig{
		Data: sandboxtest.DataDir(t), Guest: "/guest/fake", User: newTestID(t), Computer: newTestID(t), HostUID: os.Geteuid(), DirectorUID: os.Geteuid(),
		ground: &fakeGround{
			Machine: fake.NewMachine(t, fake.Config{Programs: map[string]fake.Program{guestbin.Director: asleep, guestbin.Associate: asleep}}),
			blobs:   mem.New(mem.Config{}),
		},
	}
	for _, c := range change {
		c(&cfg)
	}
	return openLab(t, cfg)
}

// killed ends the control plane as a kill does: the sandboxes live on.
func (l *lab) killed() {
	l.t.Helper()
	if err := l.cfg.ground.driver.Close(); err != nil {
		l.t.Error(err)
	}
	l.stop()
}

// waitForBoth waits until the sandboxes of both roles run.
func (l *lab) waitForBoth() {
	l.t.Helper()
	l.eventually(func() bool {
		_, director := l.Roles().Level(choir.RoleDirector)
		_, associate := l.Roles().Level(choir.RoleAssociate)
		return director && associate
	})
}

// TestNeverTwoSandboxesOnAWorkspace restarts computers in random order and by kills,
// with drivers that do not know, have lost or cannot make a sandbox, and with control
// connections that break. The owner's file is there each time, and no two sandboxes
// ever had the workspace at once.
func TestNeverTwoSandboxesOnAWorkspace(t *testing.T) {
	unclear := []error{
		choir.E("x", choir.CodeTimeout, "the machine is slow"),
		choir.E("x", choir.CodeUnavailable, "the driver's socket is gone"),
		choir.E("x", choir.CodeBusy, "too much is going on"),
		os.ErrPermission,
	}
	for seed := range uint64(8) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 14))
			l := newFakeLab(t)
			g := l.cfg.ground
			for round := range 4 {
				content := strconv.Itoa(round)
				l.write("mine", content)
				if dice.IntN(2) == 0 {
					l.waitForBoth() // a sandbox whose connection breaks earlier is dialled again, not replaced
					made := g.Made()
					g.DropControl()
					l.eventually(func() bool { return g.Made() >= made+2 })
				}
				// Few failures at a time: behind many the supervisor pauses.
				if dice.IntN(3) == 0 {
					l.stop()
					g.FailCreate(dice.IntN(3), choir.E("x", choir.CodeUnavailable, "no room"))
				} else {
					l.killed()
					g.FailRecover(dice.IntN(3), unclear[dice.IntN(len(unclear))])
					g.LoseAtRecover(dice.IntN(2))
				}
				l = openLab(t, l.cfg)
				_, r, err := l.Workspace().OpenFile(l.within(), "mine")
				if err != nil {
					t.Fatal(err)
				}
				got := must(io.ReadAll(r))(t)
				r.Close()
				if string(got) != content {
					t.Errorf("round %d: the file is %q, not %q", round, got, content)
				}
				if g.Living(l.workspaceDir()) != 1 || g.Most(l.workspaceDir()) != 1 {
					t.Fatalf("round %d: %d sandboxes have the workspace, and once %d had it", round, g.Living(l.workspaceDir()), g.Most(l.workspaceDir()))
				}
			}
		})
	}
}
