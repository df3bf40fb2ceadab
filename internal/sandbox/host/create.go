package host

import (
	"context"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// Kind is how a driver makes and finds its sandboxes.
type Kind[M Maker[B], B Box] struct {
	// Name is the driver's name, which begins the names of operations in errors.
	Name string
	// SetUp finds and prepares what the sandboxes need on this machine, at the first use.
	SetUp func() (M, error)
	// Find is Maker.Find of a driver that finds its sandboxes without its set-up; nil for the
	// others.
	Find func(h sandbox.Handle) (b B, outdated string, err error)
	// BootTimeout ends a Create that gets no answer, and HelloTimeout the wait for the answer
	// of a sandbox that is recovered.
	BootTimeout, HelloTimeout time.Duration
}

// Maker makes the sandboxes of a driver, once the driver is set up.
type Maker[B Box] interface {
	// CheckSpec returns the spec with default limits filled in. A spec that cannot be
	// satisfied is code invalid or unavailable.
	CheckSpec(spec sandbox.Spec) (sandbox.Spec, error)
	// Draft returns the sandbox of a spec, of which nothing is made yet.
	Draft(spec sandbox.Spec) B
	// Fill makes the parts of the sandbox one after another and stores each in b, so that
	// the caller can remove them if a later one fails. It returns when choir-init answers.
	Fill(ctx context.Context, b B, spec sandbox.Spec) error
	// Find returns the sandbox of a handle; its main process is nil if it has ended. outdated
	// is the reason why it must end now although it lives, or empty. An error means that the
	// sandbox may live but cannot be opened.
	Find(h sandbox.Handle) (b B, outdated string, err error)
	// Shortages counts what the kernel has refused to the process that starts sandboxes.
	Shortages() Shortages
	// Close frees what the set-up opened.
	Close()
}

// Driver is the common part of the drivers whose sandboxes are processes of this machine: the
// order in which a sandbox is made, found and removed. A driver embeds one. Make it with
// NewDriver, and close it when the control plane ends.
type Driver[M Maker[B], B Box] struct {
	kind  Kind[M, B]
	setUp *SetUp[M]
	calls *Calls
}

// NewDriver returns a driver. It does nothing before the first Create or Recover.
func NewDriver[M Maker[B], B Box](kind Kind[M, B]) *Driver[M, B] {
	return &Driver[M, B]{kind: kind, setUp: NewSetUp(kind.SetUp), calls: NewCalls(kind.Name)}
}

// Name implements sandbox.Driver.
func (d *Driver[M, B]) Name() string { return d.kind.Name }

// Close stops the watching of sandboxes and waits for that. The sandboxes live on and can
// be recovered by another driver; this driver's Sandbox values are unusable then. It is
// idempotent.
func (d *Driver[M, B]) Close() error {
	if !d.calls.Close() {
		return nil
	}
	if m, ok := d.setUp.Prepared(); ok {
		m.Close()
	}
	return nil
}

// Create implements sandbox.Driver.
func (d *Driver[M, B]) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	m, err := d.BeginCall()
	if err != nil {
		return nil, err
	}
	defer d.EndCall()
	if spec, err = m.CheckSpec(spec); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.kind.BootTimeout)
	defer cancel()
	making, err := d.StartMaking(spec.Doors)
	if err != nil {
		return nil, err
	}
	b := m.Draft(spec)
	parts := b.parts()
	parts.Making = making
	counts := m.Shortages()
	if err := m.Fill(ctx, b, spec); err != nil {
		making.FreeReserve()
		counted := FindShortage(parts.Group)
		if counted == "" {
			counted = counts.Since()
		}
		err = NameShortage(d.kind.Name+".create", err, counted)
		clearIn(ctx, b)
		return nil, err
	}
	return d.Watch(ctx, b)
}

// StartMaking registers a sandbox that is to be made, so that it ends if this process is killed
// meanwhile, see Makings.
func (d *Driver[M, B]) StartMaking(doors string) (*Making, error) {
	making, err := d.calls.StartMaking(doors)
	return making, NameShortage(d.kind.Name+".create", err, "")
}

// Watch waits for the end of a sandbox that was made, in a goroutine, and removes the rest of
// it. It returns the sandbox. Code unavailable: the driver is closed, and the sandbox removed.
func (d *Driver[M, B]) Watch(ctx context.Context, b B) (sandbox.Sandbox, error) {
	if err := d.watch(b); err != nil {
		clearIn(ctx, b)
		return nil, err
	}
	return b, nil
}

func (d *Driver[M, B]) watch(b B) error {
	return d.calls.Watch(func(ctx context.Context) { b.parts().watch(ctx, b) })
}

// stuckPatience is the time for the answer of a recovered sandbox that could not be resumed. It comes
// at once, or never.
const stuckPatience = 5 * time.Second

// Recover implements sandbox.Driver.
func (d *Driver[M, B]) Recover(ctx context.Context, h sandbox.Handle) (sandbox.Sandbox, error) {
	if err := d.calls.BeginCall(); err != nil {
		return nil, err
	}
	defer d.EndCall()
	b, outdated, err := d.find(h)
	if err != nil {
		return nil, err
	}
	parts := b.parts()
	if err := parts.thaw(parts.Group); err != nil {
		b.Release()
		return nil, err
	}
	if parts.Main == nil {
		return nil, parts.removeGone(ctx, b, "the sandbox has ended")
	}
	if outdated != "" {
		return nil, parts.removeGone(ctx, b, outdated)
	}
	patience := d.kind.HelloTimeout
	stuck := b.Resume(ctx)
	if stuck != nil {
		patience = min(patience, stuckPatience)
	}
	hello, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := guest.NewClient(b.Dial).Hello(hello); err != nil {
		if ctx.Err() != nil {
			b.Release()
			return nil, choir.Wrap(d.kind.Name+".recover", choir.CodeCancelled, ctx.Err(), "look for a sandbox")
		}
		why := "the sandbox no longer answers and was ended"
		if stuck != nil {
			why += ": " + stuck.Error()
		}
		return nil, parts.removeGone(ctx, b, why)
	}
	if err := d.watch(b); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

func (d *Driver[M, B]) find(h sandbox.Handle) (b B, outdated string, err error) {
	if d.kind.Find != nil {
		return d.kind.Find(h)
	}
	m, err := d.Prepare()
	if err != nil {
		return b, "", err
	}
	return m.Find(h)
}

// BeginCall begins a call of the driver, which the caller ends with EndCall if there is no error, and
// sets the driver up if needed.
func (d *Driver[M, B]) BeginCall() (m M, err error) {
	if err := d.calls.BeginCall(); err != nil {
		return m, err
	}
	if m, err = d.Prepare(); err != nil {
		d.EndCall()
	}
	return m, err
}

// EndCall ends a call.
func (d *Driver[M, B]) EndCall() { d.calls.EndCall() }

// Prepare sets the driver up if needed.
func (d *Driver[M, B]) Prepare() (M, error) {
	m, err := d.setUp.Prepare()
	return m, NameShortage(d.kind.Name+".setup", err, "")
}
