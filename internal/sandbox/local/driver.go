package local

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// Driver makes sandboxes with bubblewrap. Close it when the control plane ends.
type Driver struct {
	cfg   Config
	setUp func() (*machine, error) // once, at the first use

	ctx    context.Context // ends the watching, not the sandboxes
	cancel context.CancelFunc
	mu     sync.Mutex // guards closed and adding to users
	closed bool
	// users are the calls under way and the goroutines that wait for the end of
	// a sandbox.
	users sync.WaitGroup
}

var _ sandbox.Driver = (*Driver)(nil)

// New makes the driver. Nothing is touched before the first Create or Recover.
func New(cfg Config) *Driver {
	d := &Driver{cfg: cfg.withDefaults()}
	d.setUp = sync.OnceValues(func() (*machine, error) { return newMachine(d.cfg) })
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Name implements sandbox.Driver.
func (d *Driver) Name() string { return Name }

// Close stops watching and waits for that. Sandboxes live on, for another
// driver to recover; one made here can then no longer be used. Idempotent.
func (d *Driver) Close() error {
	d.mu.Lock()
	first := !d.closed
	d.closed = true
	d.mu.Unlock()
	d.cancel()
	d.users.Wait()
	if !first {
		return nil
	}
	if m, err := d.setUp(); err == nil {
		m.close()
	}
	return nil
}

// Create implements sandbox.Driver.
func (d *Driver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	m, err := d.enter()
	if err != nil {
		return nil, err
	}
	defer d.users.Done()
	spec, err = m.checked(spec)
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

// Recover implements sandbox.Driver.
func (d *Driver) Recover(ctx context.Context, h sandbox.Handle) (sandbox.Sandbox, error) {
	m, err := d.enter()
	if err != nil {
		return nil, err
	}
	defer d.users.Done()
	s, err := decodeHandle(h)
	if err != nil {
		return nil, err
	}
	b, err := m.find(s)
	if err != nil {
		return nil, err
	}
	if b.init == nil {
		return nil, b.gone(ctx, "the sandbox has ended")
	}
	if s.Workspace && !slices.Equal(s.Toolchains, m.cfg.Toolchains) {
		return nil, b.gone(ctx, "the sandbox had other toolchains than are wanted now and was ended")
	}
	hello, cancel := context.WithTimeout(ctx, d.cfg.BootTimeout)
	defer cancel()
	if _, err := guest.NewClient(b.Dial).Hello(hello); err != nil {
		if ctx.Err() != nil {
			b.release()
			return nil, choir.Wrap("local.recover", choir.CodeCancelled, ctx.Err(), "look for a sandbox")
		}
		return nil, b.gone(ctx, "the sandbox no longer answers and was ended")
	}
	if err := d.watch(b); err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

// enter begins a call; when there is no error, users.Done ends it.
func (d *Driver) enter() (*machine, error) {
	m, err := d.setUp()
	if err != nil {
		return nil, err
	}
	return m, d.use(func() { d.users.Add(1) })
}

// watch waits for the sandbox's end in the background.
func (d *Driver) watch(b *box) error {
	return d.use(func() { d.users.Go(func() { b.watch(d.ctx) }) })
}

// use adds a user unless the driver is closed.
func (d *Driver) use(add func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return choir.E("local.driver", choir.CodeUnavailable, "the driver is closed")
	}
	add()
	return nil
}

// checked fills in the spec's defaults and refuses what cannot be done.
func (m *machine) checked(spec sandbox.Spec) (sandbox.Spec, error) {
	def := sandbox.DefaultLimits()
	spec.Limits.Processes = orDefault(spec.Limits.Processes, def.Processes)
	spec.Limits.MemoryBytes = orDefault(spec.Limits.MemoryBytes, def.MemoryBytes)
	spec.Limits.CPUMilli = orDefault(spec.Limits.CPUMilli, def.CPUMilli)
	spec.Limits.OpenFiles = orDefault(spec.Limits.OpenFiles, def.OpenFiles)
	if !spec.Computer.Valid() {
		return spec, choir.Invalid("spec.computer", "%q is no id", spec.Computer)
	}
	if m.root && spec.UID <= 0 {
		return spec, choir.Invalid("spec.uid", "%d: a control plane that is root runs no sandbox as root", spec.UID)
	}
	if spec.RequireLimits && !m.cgroups() {
		return spec, choir.E("local.create", choir.CodeUnavailable,
			"limits are required, and no cgroup can hold them here").WithRemedy("%s", remedyCgroups)
	}
	for field, path := range map[string]string{"doors": spec.Doors, "guest": spec.Guest, "workspace": spec.Workspace} {
		if path != "" && !filepath.IsAbs(path) {
			return spec, choir.Invalid("spec."+field, "%q is not an absolute path", path)
		}
	}
	if _, err := os.Stat(filepath.Join(spec.Guest, initName)); err != nil {
		return spec, choir.Wrap("local.create", choir.CodeInvalid, err, "look for %s among the guest binaries", initName)
	}
	return spec, nil
}

func orDefault[T int | int64](n, def T) T {
	if n == 0 {
		return def
	}
	return n
}
