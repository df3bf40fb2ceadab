package pool_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// lasting is a driver whose sandboxes end only once the test lets them.
type lasting struct {
	sandbox.Driver
	begun, until chan struct{}
}

// lastingBox is a sandbox of a lasting driver.
type lastingBox struct {
	sandbox.Sandbox
	of *lasting
}

func (d *lasting) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	b, err := d.Driver.Create(ctx, spec)
	return lastingBox{b, d}, err
}

func (b lastingBox) Destroy(ctx context.Context) error {
	b.of.begun <- struct{}{}
	select {
	case <-b.of.until:
		return b.Sandbox.Destroy(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestAClaimDoesNotOutliveItsContext claims a sandbox that cannot be handed out, because its note
// cannot be removed, and that does not end.
func TestAClaimDoesNotOutliveItsContext(t *testing.T) {
	d := &lasting{begun: make(chan struct{}, 9), until: make(chan struct{})}
	l := newLab(t, func(of sandbox.Driver) sandbox.Driver { d.Driver = of; return d })
	t.Cleanup(func() { close(d.until) }) // before the end of Serve is waited for
	specs := l.specs()[1:]
	l.ready(1, specs)
	notes, err := filepath.Glob(filepath.Join(l.dir, "ready", "*.json"))
	if err != nil || len(notes) != 1 {
		t.Fatalf("the notes are %v, %v", notes, err)
	}
	if err := os.Remove(notes[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(notes[0], "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(within(t))
	claimed := make(chan error, 1)
	go func() {
		b, err := l.Create(ctx, specs[0])
		if b != nil {
			t.Error("it was handed out with its note")
		}
		claimed <- err
	}()
	<-d.begun
	cancel()
	select {
	case err := <-claimed:
		if choir.CodeOf(err) != choir.CodeCancelled {
			t.Errorf("the claim ended with %v", err)
		}
	case <-within(t).Done():
		t.Fatal("the claim waits on")
	}
}

// stubborn is a driver whose first sandbox does not end at the first Destroy.
type stubborn struct {
	sandbox.Driver
	failed atomic.Bool
}

// stubbornBox is a sandbox of a stubborn driver.
type stubbornBox struct {
	sandbox.Sandbox
	of *stubborn
}

func (d *stubborn) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	b, err := d.Driver.Create(ctx, spec)
	return stubbornBox{b, d}, err
}

func (b stubbornBox) Destroy(ctx context.Context) error {
	if b.of.failed.CompareAndSwap(false, true) {
		return choir.E("stubborn", choir.CodeUnavailable, "the engine does not answer")
	}
	return b.Sandbox.Destroy(ctx)
}

// TestASandboxThatEndsLateHoldsUpItsComputerUntilThen claims another sandbox than the one that is ready,
// whose driver cannot end it at first.
func TestASandboxThatEndsLateHoldsUpItsComputerUntilThen(t *testing.T) {
	d := &stubborn{}
	l := newLab(t, func(of sandbox.Driver) sandbox.Driver { d.Driver = of; return d })
	specs := l.specs()[1:]
	l.ready(1, specs)
	other := specs[0]
	other.UID++
	if b, err := l.Create(within(t), other); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Fatalf("%v, %v: a second sandbox beside one that lives", b, err)
	}
	l.eventually("it ends", func() bool { return l.Counts().Dropped == 1 && len(l.handles()) == 0 })
	l.answers(l.made(other))
}
