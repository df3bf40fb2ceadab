package gvisor

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// Driver makes sandboxes with runsc. Close it when the control plane ends.
type Driver struct {
	cfg   Config
	setUp *host.SetUp[machine]
	calls *host.Calls
}

var _ sandbox.Driver = (*Driver)(nil)

// New returns a driver. It does nothing before the first Create or Recover.
func New(cfg Config) *Driver {
	cfg = cfg.withDefaults()
	return &Driver{cfg: cfg, setUp: host.NewSetUp(func() (*machine, error) { return newMachine(cfg) }), calls: host.NewCalls(Name)}
}

// Name implements sandbox.Driver.
func (d *Driver) Name() string { return Name }

// capabilities are the capabilities of this driver. A copied workspace is a folder in
// memory.
var capabilities = sandbox.Capabilities{
	Transports: []sandbox.Transport{sandbox.TransportBind, sandbox.TransportCopy}, Mounts: true, Streams: true, Prestart: true,
}

// Capabilities implements sandbox.Driver.
func (d *Driver) Capabilities() sandbox.Capabilities { return capabilities }

// Close stops the watching of sandboxes and waits for that. The sandboxes live on and can
// be recovered by another driver; this driver's Sandbox values are unusable then. It is
// idempotent.
func (d *Driver) Close() error {
	if !d.calls.Close() {
		return nil
	}
	if m := d.setUp.Prepared(); m != nil {
		m.close()
	}
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
		return nil, host.NameShortage("gvisor.create", err, "")
	}
	b, err := m.boot(ctx, spec, making)
	if err != nil {
		making.EndMaking()
		return nil, host.NameShortage("gvisor.create", err, "")
	}
	if err := d.watch(b); err != nil {
		host.Abandon(ctx, b)
		return nil, err
	}
	return b, nil
}

// Recover implements sandbox.Driver.
func (d *Driver) Recover(ctx context.Context, h sandbox.Handle) (sandbox.Sandbox, error) {
	m, err := d.beginCall()
	if err != nil {
		return nil, err
	}
	defer d.calls.EndCall()
	s, err := decodeHandle(h)
	if err != nil {
		return nil, err
	}
	b, err := m.find(s)
	if err != nil {
		return nil, err
	}
	if err := b.Resume(ctx); err != nil {
		b.Release()
		return nil, err
	}
	if b.sentry == nil {
		return nil, b.RemoveGone(ctx, b.sentry, b, "the sandbox has ended")
	}
	if s.Workspace && !slices.Equal(s.Toolchains, m.cfg.Toolchains) {
		return nil, b.RemoveGone(ctx, b.sentry, b, "the sandbox had other toolchains than are wanted now and was ended")
	}
	hello, cancel := context.WithTimeout(ctx, d.cfg.BootTimeout)
	defer cancel()
	if _, err := guest.NewClient(b.Dial).Hello(hello); err != nil {
		if ctx.Err() != nil {
			b.Release()
			return nil, choir.Wrap("gvisor.recover", choir.CodeCancelled, ctx.Err(), "look for a sandbox")
		}
		return nil, b.RemoveGone(ctx, b.sentry, b, "the sandbox no longer answers and was ended")
	}
	if err := d.watch(b); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// beginCall registers a call, which the caller ends with calls.EndCall if there is no error,
// and sets the driver up if needed.
func (d *Driver) beginCall() (*machine, error) {
	if err := d.calls.BeginCall(); err != nil {
		return nil, err
	}
	m, err := d.setUp.Prepare()
	if err != nil {
		d.calls.EndCall()
		return nil, host.NameShortage("gvisor.setup", err, "")
	}
	return m, nil
}

// watch waits for the sandbox's end in a goroutine and removes the rest of it.
func (d *Driver) watch(b *box) error {
	return d.calls.Watch(func(ctx context.Context) { b.Watch(ctx, b.sentry, b) })
}

// checkSpec returns the spec with default limits filled in. A spec that cannot be
// satisfied is code invalid or unavailable.
func (m *machine) checkSpec(spec sandbox.Spec) (sandbox.Spec, error) {
	spec.Limits = spec.Limits.OrDefaults()
	if err := spec.Check(capabilities); err != nil {
		return spec, err
	}
	if spec.UID <= 0 {
		return spec, choir.RefuseField("spec.uid", choir.ReasonSandboxAsRoot, choir.TextOf("uid", spec.UID))
	}
	if spec.RequireLimits && !m.cgroups() {
		return spec, choir.Refuse("gvisor.create", choir.ReasonGvisorNoLimits)
	}
	if _, err := os.Stat(filepath.Join(spec.Guest, initName)); err != nil {
		return spec, choir.Wrap("gvisor.create", choir.CodeInvalid, err, "look for %s among the guest binaries", initName)
	}
	return spec, nil
}
