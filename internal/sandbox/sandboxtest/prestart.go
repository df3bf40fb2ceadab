package sandboxtest

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/pool"
	"choiros/internal/sandbox/sandboxtest/probed"
)

// prestart checks that a sandbox can be started before it is needed: it waits longer than one
// without a control plane lives, is claimed faster than one is made, and is as good. Where the
// driver's sandboxes are not to wait, each is made when it is needed.
func (s suite) prestart(t *testing.T) {
	const orphan = 2 * time.Second
	setup := Setup{StateDir: DataDir(t), Orphan: orphan}
	d := s.newDriver(t, setup)
	defer closeDriver(t, d)
	spec := s.spec(t, choir.RoleAssociate)
	p := pool.New(d, pool.Config{Dir: DataDir(t), Most: 1, StartPatience: patience, Log: slog.New(slog.DiscardHandler)})
	serving, stop := context.WithCancel(t.Context())
	var served sync.WaitGroup
	served.Go(func() { _ = p.Serve(serving) }) // it ends with the context
	defer served.Wait()
	defer stop()

	destroy(t, s.throughPool(t, p, spec)) // the driver is set up
	began := time.Now()
	cold := s.throughPool(t, p, spec)
	coldTook := time.Since(began)
	destroy(t, cold)
	p.Prepare([]sandbox.Spec{spec})
	if !d.Capabilities().Prestart {
		if n := p.Counts(); n != (pool.Counts{}) {
			t.Errorf("the counts are %+v", n)
		}
		return
	}
	waitReady(t, p)
	waited := time.NewTimer(2 * orphan)
	defer waited.Stop()
	select {
	case <-waited.C:
	case <-timeout(t).Done():
	}
	began = time.Now()
	b := s.throughPool(t, p, spec)
	took := time.Since(began)
	t.Logf("made in %s, claimed in %s", coldTook, took)
	if n := p.Counts(); n.Claimed != 1 || n.Missed != 2 || n.Dropped != 0 {
		t.Errorf("the counts are %+v", n)
	}
	if s.lacks[Processes] == "" && took > coldTook/2 {
		t.Errorf("a claim took %s, to make one %s", took, coldTook)
	}
	if out := b.run(t, play(probed.Say, "", "", "7")...); out.Exit.Code != 7 {
		t.Errorf("a command ended as %+v", out.Exit)
	}
	destroy(t, b)
	if s.lacks[Isolation] == "" {
		nothingLeft(t, spec)
	}
}

// waitReady waits until a sandbox of the pool is ready.
func waitReady(t *testing.T, p *pool.Pool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := timeout(t)
	for p.Counts().Ready == 0 {
		select {
		case <-tick.C:
		case <-deadline.Done():
			t.Fatalf("no sandbox is ready: %+v", p.Counts())
		}
	}
}

// throughPool creates a sandbox through a pool.
func (s suite) throughPool(t *testing.T, p *pool.Pool, spec sandbox.Spec) inside {
	t.Helper()
	b, err := p.Create(timeout(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	in := s.inside(t, b, spec)
	in.client = guest.NewClient(b.Dial)
	return in
}
