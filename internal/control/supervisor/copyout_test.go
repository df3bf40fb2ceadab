package supervisor_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"choiros/internal/control/controltest"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/sandboxtest"
)

// silentDriver makes sandboxes that answer no new connection once silent is set, until one of them is
// recovered.
type silentDriver struct {
	sandbox.Driver
	silent    atomic.Bool
	recovered atomic.Int64
}

// silentBox is such a sandbox.
type silentBox struct {
	sandbox.Sandbox
	of *silentDriver
}

func (d *silentDriver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	b, err := d.Driver.Create(ctx, spec)
	return d.wrap(b, err)
}

func (d *silentDriver) Recover(ctx context.Context, h sandbox.Handle) (sandbox.Sandbox, error) {
	d.silent.Store(false)
	d.recovered.Add(1)
	b, err := d.Driver.Recover(ctx, h)
	return d.wrap(b, err)
}

func (d *silentDriver) wrap(b sandbox.Sandbox, err error) (sandbox.Sandbox, error) {
	if err != nil {
		return nil, err
	}
	return silentBox{b, d}, nil
}

func (b silentBox) Dial(ctx context.Context) (net.Conn, error) {
	if b.of.silent.Load() {
		return nil, errors.New("the sandbox does not answer")
	}
	return b.Sandbox.Dial(ctx)
}

// TestAComputerWhoseWorkspaceIsNotCopiedOutStaysOpen lets a computer hibernate whose workspace cannot
// be copied out of its sandbox, which has the only copy: it stays open, and the sandbox is attached to.
func TestAComputerWhoseWorkspaceIsNotCopiedOutStaysOpen(t *testing.T) {
	cfg := controltest.Config(t, newData(t))
	d := &silentDriver{Driver: sandboxtest.NarrowDriver(cfg.Driver, sandbox.Capabilities{Transports: []sandbox.Transport{sandbox.TransportCopy}, Streams: true})}
	var ahead atomic.Int64
	cfg.Driver, cfg.Now = d, func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	cfg.File.Computers.FreezeAfter = "0"
	p := controltest.StartWith(t, cfg)
	p.Healthy()
	c := p.Computers()[0]
	inside := func(line string) string {
		client, err := c.Roles().LookedAt(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		said, err := client.Run(t.Context(), guest.ExecSpec{Argv: []string{"sh", "-c", line}, Cwd: sandbox.WorkspaceInside}, nil, 1<<10)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(said.Stdout))
	}
	inside("echo only copy > draft")
	p.Settled()
	d.silent.Store(true)
	ahead.Store(int64(time.Hour))
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(controltest.Patience); d.recovered.Load() == 0; {
		p.Sweep(t.Context())
		if h := p.Hibernated(); len(h) > 0 {
			t.Fatalf("it is closed: %+v", h)
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("it does not hibernate")
		}
	}
	again, release, err := p.Use(t.Context(), c.ID())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if again != c {
		t.Error("it was opened anew")
	}
	if said := inside("cat draft"); said != "only copy" {
		t.Errorf("its workspace has %q", said)
	}
}
