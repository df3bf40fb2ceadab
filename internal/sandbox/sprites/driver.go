package sprites

import (
	"context"
	"net/url"
	"sync"
	"sync/atomic"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// Driver makes sandboxes that are sprites. Close it when the control plane ends.
type Driver struct {
	cfg     Config
	api     *api
	label   string // how the names of this data folder's sprites begin
	calls   *host.Calls
	parcels parcels
	// seen is the state of the last sandbox, whose kernel the next one will have too.
	seen atomic.Pointer[state]

	mu    sync.Mutex // guards swept
	swept bool
}

var _ sandbox.Driver = (*Driver)(nil)

// New returns a driver. It does nothing before the first Create or Recover.
func New(cfg Config) *Driver {
	cfg = cfg.withDefaults()
	return &Driver{cfg: cfg, api: newAPI(cfg), label: labelOf(cfg.StateDir), calls: host.NewCalls(Name)}
}

// Name implements sandbox.Driver.
func (d *Driver) Name() string { return Name }

// capabilities are the capabilities of this driver. Each stream costs a program in the
// sprite and a WebSocket, so there is one, which callers share.
var capabilities = sandbox.Capabilities{Transports: []sandbox.Transport{sandbox.TransportCopy}}

// Capabilities implements sandbox.Driver.
func (d *Driver) Capabilities() sandbox.Capabilities { return capabilities }

// Close stops the watching of sandboxes and waits for that. The sandboxes live on and can
// be recovered by another driver; this driver's Sandbox values are unusable then. It is
// idempotent.
func (d *Driver) Close() error {
	if d.calls.Close() {
		d.api.close()
	}
	return nil
}

// Create implements sandbox.Driver.
func (d *Driver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if err := d.calls.BeginCall(); err != nil {
		return nil, err
	}
	defer d.calls.EndCall()
	spec, err := checkSpec(spec)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.cfg.BootTimeout)
	defer cancel()
	if err := d.sweep(ctx); err != nil {
		return nil, err
	}
	b := d.newBox(state{Sprite: newName(d.label, spec), Service: serviceOf(d.cfg.URL)})
	err = b.boot(ctx, spec)
	if err == nil {
		err = d.calls.Watch(b.watch)
	}
	if err != nil {
		if b.watched != nil {
			b.watched.Close()
		}
		b.abandon(ctx) // what is left is for the next driver's sweep
		return nil, asCreate(err)
	}
	d.seen.Store(&b.state)
	return b, nil
}

// asCreate returns an error with a code that Create may have.
func asCreate(err error) error {
	switch choir.CodeOf(err) {
	case choir.CodeInvalid, choir.CodeUnavailable, choir.CodeBusy, choir.CodeCancelled:
		return err
	}
	return choir.Wrap("sprites.create", choir.CodeUnavailable, err, "make a sandbox")
}

// serviceOf returns the host of the service, which a handle names.
func serviceOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Host
}

// checkSpec returns the spec with default limits filled in. A spec that cannot be
// satisfied is code invalid or unavailable.
func checkSpec(spec sandbox.Spec) (sandbox.Spec, error) {
	spec.Limits = spec.Limits.OrDefaults()
	if err := spec.Check(capabilities); err != nil {
		return spec, err
	}
	if spec.RequireLimits {
		return spec, choir.Refuse("sprites.create", choir.ReasonSpritesNoLimits)
	}
	return spec, nil
}

// Recover implements sandbox.Driver.
func (d *Driver) Recover(ctx context.Context, h sandbox.Handle) (sandbox.Sandbox, error) {
	const op = "sprites.recover"
	s, err := decodeHandle(h)
	if err != nil {
		return nil, err
	}
	if err := d.calls.BeginCall(); err != nil {
		return nil, err
	}
	defer d.calls.EndCall()
	if own := serviceOf(d.cfg.URL); s.Service != own {
		return nil, choir.Refuse(op, choir.ReasonSpritesElsewhere, choir.TextOf("name", clip(s.Sprite)), choir.TextOf("service", clip(s.Service)), choir.TextOf("url", own))
	}
	b := d.newBox(s)
	ended, err := b.hasEnded(ctx)
	if err != nil {
		return nil, err
	}
	if ended {
		if err := b.abandon(ctx); err != nil {
			return nil, choir.Wrap(op, choir.CodeUnavailable, err, "delete the sprite of a sandbox that has ended")
		}
		return nil, choir.E(op, choir.CodeNotFound, "the sandbox has ended")
	}
	hello, cancel := context.WithTimeout(ctx, d.cfg.CallTimeout)
	defer cancel()
	if _, err := guest.NewClient(b.Dial).Hello(hello); err != nil {
		return nil, choir.Wrap(op, choir.CodeUnavailable, err, "the sandbox in the sprite %s runs and does not answer", s.Sprite)
	}
	if err := d.calls.Watch(b.watch); err != nil {
		return nil, err
	}
	d.seen.Store(&b.state)
	return b, nil
}

// hasEnded reports whether the sandbox of a sprite has ended, or was never started; also if
// there is no such sprite. An error means that this could not be found out.
func (b *box) hasEnded(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, b.api.cfg.CallTimeout)
	defer cancel()
	_, err := b.api.get(ctx, b.state.Sprite)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	// Where the script is missing none was started; a shell says so by 127 or 2.
	asked, err := b.api.run(ctx, b.state.Sprite, leftBriefly, b.asRoot("/bin/sh", "-c", "test ! -e "+inside+"/ended.sh || exec sh "+inside+"/ended.sh")...)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer asked.Close()
	if !waitFor(ctx, asked) {
		return false, b.api.unreachable("run a program in", context.Cause(ctx))
	}
	const runs = 75 // of ended.sh
	switch code, said := asked.exit(); code {
	case 0:
		return true, nil
	case runs:
		return false, nil
	default:
		return false, choir.E("sprites.recover", choir.CodeUnavailable, "whether the sandbox in the sprite %s runs was asked, and the answer is %d %s", b.state.Sprite, code, clip(said))
	}
}

// sweep deletes the sprites of earlier control planes in which no sandbox runs, once, in
// the background. It must be called before this driver makes one.
func (d *Driver) sweep(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.swept {
		return nil
	}
	found, err := d.api.list(ctx, d.label)
	if err != nil {
		return err
	}
	d.swept = true
	if len(found) == 0 {
		return nil
	}
	return d.calls.Watch(func(ctx context.Context) {
		for _, s := range found {
			d.sweepOne(ctx, s)
		}
	})
}

// sweepOne deletes a sprite in which no sandbox runs. It is best effort: the next driver
// tries again.
func (d *Driver) sweepOne(ctx context.Context, s sprite) {
	b := d.newBox(state{Sprite: s.Name})
	ctx, cancel := context.WithTimeout(ctx, d.cfg.CallTimeout)
	defer cancel()
	user, err := b.tryMachine(ctx)
	if err != nil {
		return
	}
	b.state.Sudo = user != "0"
	if ended, err := b.hasEnded(ctx); err == nil && ended {
		d.api.remove(ctx, s.Name)
	}
}
