package fake_test

import (
	"context"
	"sync"
	"testing"

	"choiros/internal/guestbin"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/fake"
	"choiros/internal/sandbox/sandboxtest"
	"choiros/internal/sandbox/sandboxtest/probed"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// probe is the suite's probe as a function.
func probe(ctx context.Context, p *fake.Process) int {
	code, played := probed.Play(ctx, probed.Host{
		Args: p.Argv[1:], Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Path: p.Path, Dial: p.Dial,
	})
	if !played {
		return 127
	}
	return code
}

// role is the suite's role as a function.
func role(ctx context.Context, p *fake.Process) int {
	if err := probed.PlayRole(ctx, p.Stdin, p.Dial); err != nil {
		return 1
	}
	return 0
}

// machines keep, for each folder of a driver's state, what survives the driver.
type machines struct {
	mu  sync.Mutex // guards all
	all map[string]*fake.Machine
}

func (m *machines) driver(t testing.TB, s sandboxtest.Setup) sandbox.Driver {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all[s.StateDir] == nil {
		m.all[s.StateDir] = fake.NewMachine(t, fake.Config{
			Orphan: s.Orphan, Programs: map[string]fake.Program{"probe": probe, guestbin.Associate: role},
		})
	}
	return m.all[s.StateDir].Driver()
}

// TestFake runs the cases of the suite that demand the contract alone.
func TestFake(t *testing.T) {
	t.Parallel()
	m := &machines{all: map[string]*fake.Machine{}}
	sandboxtest.RunWithout(t, m.driver, map[sandboxtest.Demand]string{
		sandboxtest.Isolation: fake.NoIsolation, sandboxtest.Processes: fake.NoProcesses, sandboxtest.OneHost: fake.NoProcesses,
	}).Check(t, sandboxtest.Isolation, sandboxtest.Processes, sandboxtest.OneHost)
}
