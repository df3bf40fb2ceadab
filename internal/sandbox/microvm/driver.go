package microvm

import (
	"context"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// Driver makes sandboxes that are virtual machines. Close it when the control plane ends.
type Driver struct {
	cfg   Config
	setUp func() (*machineParts, error) // once, at the first use

	ctx    context.Context // ends the watching, not the sandboxes
	cancel context.CancelFunc
	mu     sync.Mutex // guards closed and adding to users
	closed bool
	// users are the calls under way and the goroutines that wait for the end of
	// a sandbox.
	users sync.WaitGroup
}

var _ sandbox.Driver = (*Driver)(nil)

// New returns a driver. It does nothing before the first Create or Recover.
func New(cfg Config) *Driver {
	d := &Driver{cfg: cfg.withDefaults()}
	d.setUp = sync.OnceValues(func() (*machineParts, error) { return newMachineParts(d.cfg) })
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Name implements sandbox.Driver.
func (d *Driver) Name() string { return Name }

// capabilities are the capabilities of this driver: a machine has one serial line, and a
// disk of its own.
var capabilities = sandbox.Capabilities{Transports: []sandbox.Transport{sandbox.TransportCopy}}

// Capabilities implements sandbox.Driver.
func (d *Driver) Capabilities() sandbox.Capabilities { return capabilities }

// Close stops the watching of sandboxes and waits for that. The sandboxes live on and can
// be recovered by another driver; this driver's Sandbox values are unusable then. It is
// idempotent.
func (d *Driver) Close() error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.cancel()
	d.users.Wait()
	return nil
}

// Create implements sandbox.Driver.
func (d *Driver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	m, err := d.beginCall()
	if err != nil {
		return nil, err
	}
	defer d.users.Done()
	spec, err = m.checkSpec(spec)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.cfg.BootTimeout)
	defer cancel()
	b, err := m.boot(ctx, spec)
	if err != nil {
		return nil, err
	}
	if err := d.watch(b); err != nil {
		b.abandon(ctx)
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
	if err := d.addUser(func() { d.users.Add(1) }); err != nil {
		return nil, err
	}
	defer d.users.Done()
	b := newBox(s)
	b.group = host.OpenGroup(s.Limits, s.Groups)
	if s.Boot == host.BootID() {
		b.qemu, err = host.OpenProcess(s.PID, s.Start)
	}
	if err != nil && choir.CodeOf(err) != choir.CodeNotFound {
		return nil, err
	}
	if b.qemu == nil {
		return nil, b.removeGone(ctx, "the sandbox has ended")
	}
	hello, cancel := context.WithTimeout(ctx, helloPatience)
	defer cancel()
	if _, err := guest.NewClient(b.Dial).Hello(hello); err != nil {
		if ctx.Err() != nil {
			b.release()
			return nil, choir.Wrap("microvm.recover", choir.CodeCancelled, ctx.Err(), "look for a sandbox")
		}
		return nil, b.removeGone(ctx, "the machine no longer answers and was ended")
	}
	if err := d.watch(b); err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

// beginCall sets the driver up if needed and registers a call, which the caller ends with
// users.Done if there is no error.
func (d *Driver) beginCall() (*machineParts, error) {
	m, err := d.setUp()
	if err != nil {
		return nil, err
	}
	return m, d.addUser(func() { d.users.Add(1) })
}

// watch waits for the sandbox's end in a goroutine and removes the rest of it.
func (d *Driver) watch(b *box) error {
	return d.addUser(func() { d.users.Go(func() { b.watch(d.ctx) }) })
}

// addUser calls add, which adds to users, unless the driver is closed; then the error is
// code unavailable.
func (d *Driver) addUser(add func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return choir.E("microvm.driver", choir.CodeUnavailable, "the driver is closed")
	}
	add()
	return nil
}

// checkSpec returns the spec with default limits filled in. A spec that cannot be
// satisfied is code invalid or unavailable.
func (m *machineParts) checkSpec(spec sandbox.Spec) (sandbox.Spec, error) {
	def := sandbox.DefaultLimits()
	spec.Limits.Processes = orDefault(spec.Limits.Processes, def.Processes)
	spec.Limits.MemoryBytes = orDefault(spec.Limits.MemoryBytes, def.MemoryBytes)
	spec.Limits.CPUMilli = orDefault(spec.Limits.CPUMilli, def.CPUMilli)
	spec.Limits.OpenFiles = orDefault(spec.Limits.OpenFiles, def.OpenFiles)
	if err := spec.Check(capabilities); err != nil {
		return spec, err
	}
	if m.facts.Root && spec.UID <= 0 {
		return spec, choir.Invalid("spec.uid", "%d: a control plane that is root runs no sandbox as root", spec.UID)
	}
	return spec, nil
}

func orDefault[T int | int64](n, def T) T {
	if n == 0 {
		return def
	}
	return n
}
