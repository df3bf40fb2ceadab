package microvm

import (
	"context"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// Driver makes sandboxes that are virtual machines. Close it when the control plane ends.
type Driver struct {
	cfg   Config
	setUp *host.SetUp[machineParts]
	calls *host.Calls
}

var _ sandbox.Driver = (*Driver)(nil)

// New returns a driver. It does nothing before the first Create or Recover.
func New(cfg Config) *Driver {
	cfg = cfg.withDefaults()
	return &Driver{cfg: cfg, setUp: host.NewSetUp(func() (*machineParts, error) { return newMachineParts(cfg) }), calls: host.NewCalls(Name)}
}

// Name implements sandbox.Driver.
func (d *Driver) Name() string { return Name }

// Capabilities implements sandbox.Driver. A machine has a disk of its own; by vsock it can
// have any number of streams, by its serial line one.
func (d *Driver) Capabilities() sandbox.Capabilities { return d.cfg.capabilities() }

// Close stops the watching of sandboxes and waits for that. The sandboxes live on and can
// be recovered by another driver; this driver's Sandbox values are unusable then. It is
// idempotent.
func (d *Driver) Close() error {
	d.calls.Close()
	return nil
}

// Create implements sandbox.Driver.
func (d *Driver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	m, err := d.beginCall()
	if err != nil {
		return nil, err
	}
	defer d.calls.EndCall()
	spec, err = m.checkSpec(spec)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.cfg.BootTimeout)
	defer cancel()
	making, err := d.calls.StartMaking(spec.Doors)
	if err != nil {
		return nil, host.NameShortage("microvm.create", err, "")
	}
	b, err := m.boot(ctx, spec, making)
	if err != nil {
		making.EndMaking()
		return nil, host.NameShortage("microvm.create", err, "")
	}
	if err := d.watch(b); err != nil {
		host.Abandon(ctx, b)
		return nil, err
	}
	return b, nil
}

// helloPatience is how long a machine that runs may take to answer.
const helloPatience = 60 * time.Second

// Recover implements sandbox.Driver.
func (d *Driver) Recover(ctx context.Context, h sandbox.Handle) (sandbox.Sandbox, error) {
	s, err := decodeHandle(h)
	if err != nil {
		return nil, err
	}
	// Not the set-up: a machine is found, and its end seen, without the image.
	if err := d.calls.BeginCall(); err != nil {
		return nil, err
	}
	defer d.calls.EndCall()
	b := newBox(s)
	b.shareStream(d.Capabilities())
	b.group = host.OpenGroup(s.Limits, s.Groups)
	if err := b.Resume(ctx); err != nil {
		return nil, err
	}
	if s.Boot == host.BootID() {
		b.vmm, err = host.OpenProcess(s.PID, s.Start)
	}
	if err != nil && choir.CodeOf(err) != choir.CodeNotFound {
		return nil, err
	}
	if b.vmm == nil {
		return nil, b.RemoveGone(ctx, b.vmm, b, "the sandbox has ended")
	}
	hello, cancel := context.WithTimeout(ctx, helloPatience)
	defer cancel()
	if _, err := guest.NewClient(b.Dial).Hello(hello); err != nil {
		if ctx.Err() != nil {
			b.Release()
			return nil, choir.Wrap("microvm.recover", choir.CodeCancelled, ctx.Err(), "look for a sandbox")
		}
		return nil, b.RemoveGone(ctx, b.vmm, b, "the machine no longer answers and was ended")
	}
	if err := d.watch(b); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// beginCall registers a call, which the caller ends with calls.EndCall if there is no error,
// and sets the driver up if needed.
func (d *Driver) beginCall() (*machineParts, error) {
	if err := d.calls.BeginCall(); err != nil {
		return nil, err
	}
	m, err := d.setUp.Prepare()
	if err != nil {
		d.calls.EndCall()
		return nil, host.NameShortage("microvm.setup", err, "")
	}
	return m, nil
}

// watch waits for the sandbox's end in a goroutine and removes the rest of it.
func (d *Driver) watch(b *box) error {
	return d.calls.Watch(func(ctx context.Context) { b.Watch(ctx, b.vmm, b) })
}

// checkSpec returns the spec with default limits filled in. A spec that cannot be
// satisfied is code invalid or unavailable.
func (m *machineParts) checkSpec(spec sandbox.Spec) (sandbox.Spec, error) {
	spec.Limits = spec.Limits.OrDefaults()
	if err := spec.Check(m.cfg.capabilities()); err != nil {
		return spec, err
	}
	if m.facts.Root && spec.UID <= 0 {
		return spec, choir.RefuseField("spec.uid", choir.ReasonSandboxAsRoot, choir.TextOf("uid", spec.UID))
	}
	return spec, nil
}
