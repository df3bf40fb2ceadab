package fake

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// Name is the rung of this driver, below all others.
const Name = "fake"

// NoIsolation and NoProcesses are the reasons for skipping the suite's cases with these
// demands.
const (
	NoIsolation = "the fake driver isolates nothing"
	NoProcesses = "unsupported: the fake driver starts no process"
)

const handleVersion = 1

// Driver makes the sandboxes of a Machine.
type Driver struct {
	machine *Machine
	once    sync.Once
	closed  chan struct{}
}

var _ sandbox.Driver = (*Driver)(nil)

// Close simulates the death of the control plane that owns the driver: its connections
// break, its sandboxes live on, and it cannot use them any more. It is idempotent.
func (d *Driver) Close() error {
	d.once.Do(func() { close(d.closed) })
	d.machine.drop(func(c *conn) bool { return c.driver == d })
	return nil
}

// mustBeOpen returns code unavailable after Close.
func (d *Driver) mustBeOpen() error {
	select {
	case <-d.closed:
		return choir.E("fake.driver", choir.CodeUnavailable, "the driver is closed")
	default:
		return nil
	}
}

// Name implements sandbox.Driver.
func (d *Driver) Name() string { return Name }

// capabilities are the capabilities of this driver: choir-init's server runs in the
// test's process on folders of the host, so nothing can be mounted.
var capabilities = sandbox.Capabilities{Transports: []sandbox.Transport{sandbox.TransportBind, sandbox.TransportCopy}, Streams: true, Prestart: true}

// Capabilities implements sandbox.Driver.
func (d *Driver) Capabilities() sandbox.Capabilities { return capabilities }

// Probe implements sandbox.Driver.
func (d *Driver) Probe(context.Context) sandbox.Report {
	return sandbox.Report{Driver: Name, Usable: true, Level: level()}
}

func level() sandbox.Level {
	l := sandbox.Level{
		Driver: Name, Name: "fake: functions in the process of a test", Limits: "none",
		Missing: []string{"Nothing is isolated."},
	}
	l.AddMissing(sandbox.NoDiskLimit)
	return l
}

// Create implements sandbox.Driver.
func (d *Driver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if err := d.mustBeOpen(); err != nil {
		return nil, err
	}
	if err := check(spec); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, choir.Wrap("fake.create", choir.CodeCancelled, err, "make a sandbox")
	}
	b, err := d.machine.boot(spec)
	if err != nil {
		return nil, err
	}
	h := &held{b, d}
	if _, err := guest.NewClient(h.Dial).Hello(ctx); err != nil {
		b.end()
		<-b.done
		return nil, choir.Wrap("fake.create", choir.CodeUnavailable, err, "the sandbox did not answer")
	}
	return h, nil
}

// check returns an error for a spec that this driver cannot satisfy, see
// sandbox.Spec.Check.
func check(spec sandbox.Spec) error {
	if err := spec.Check(capabilities); err != nil {
		return err
	}
	if spec.RequireLimits {
		return choir.E("fake.create", choir.CodeUnavailable, "unsupported: the fake driver holds no limits")
	}
	folder := spec.WorkspaceFolder()
	if folder == "" {
		return nil
	}
	_, err := os.Stat(folder)
	return choir.Wrap("fake.create", choir.CodeInvalid, err, "look for the workspace")
}

// Recover implements sandbox.Driver.
func (d *Driver) Recover(ctx context.Context, h sandbox.Handle) (sandbox.Sandbox, error) {
	if err := d.mustBeOpen(); err != nil {
		return nil, err
	}
	s, err := decodeHandle(h)
	if err != nil {
		return nil, err
	}
	b, err := d.machine.find(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	found := &held{b, d}
	return found, found.Resume(ctx)
}

// state is the content of a handle.
type state struct {
	ID string `json:"id"`
}

func encodeHandle(s state) sandbox.Handle {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return sandbox.Handle{Driver: Name, Version: handleVersion, State: raw}
}

func decodeHandle(h sandbox.Handle) (state, error) {
	const op = "fake.handle"
	if h.Driver != Name || h.Version != handleVersion {
		return state{}, choir.E(op, choir.CodeInvalid, "a handle of %s, version %d, is not one of %s, version %d", h.Driver, h.Version, Name, handleVersion)
	}
	dec := json.NewDecoder(bytes.NewReader(h.State))
	dec.DisallowUnknownFields()
	var s state
	if err := dec.Decode(&s); err != nil {
		return state{}, choir.Wrap(op, choir.CodeInvalid, err, "read a handle")
	}
	if s.ID == "" {
		return state{}, choir.E(op, choir.CodeInvalid, "a handle without an id")
	}
	return s, nil
}

// held is a sandbox as one driver sees it.
type held struct {
	*box
	driver *Driver
}

var _ sandbox.Sandbox = (*held)(nil)

// Handle implements sandbox.Sandbox.
func (h *held) Handle() sandbox.Handle { return encodeHandle(state{h.id}) }

// Level implements sandbox.Sandbox.
func (h *held) Level() sandbox.Level { return level() }

// Done implements sandbox.Sandbox.
func (h *held) Done() <-chan struct{} { return h.done }

// Usage counts init and the running programs as processes; it implements sandbox.Sandbox.
func (h *held) Usage(context.Context) (sandbox.Usage, error) {
	select {
	case <-h.done:
		return sandbox.Usage{}, choir.E("fake.usage", choir.CodeNotFound, "the sandbox has ended")
	default:
		return sandbox.Usage{Processes: 1 + h.programs.count()}, nil
	}
}

// Dial implements sandbox.Sandbox.
func (h *held) Dial(ctx context.Context) (net.Conn, error) {
	if err := h.driver.mustBeOpen(); err != nil {
		return nil, err
	}
	if err := h.pauses.await(ctx, h.done); err != nil {
		return nil, err
	}
	u, err := h.control.dial(ctx)
	if err != nil {
		return nil, err
	}
	return h.machine.watch(u, h.driver), nil
}

// Destroy implements sandbox.Sandbox.
func (h *held) Destroy(ctx context.Context) error {
	if err := h.driver.mustBeOpen(); err != nil {
		return err
	}
	if err := h.Resume(ctx); err != nil {
		return err
	}
	return h.destroy(ctx)
}
