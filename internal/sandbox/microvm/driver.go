package microvm

import (
	"time"

	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// Driver makes sandboxes that are virtual machines. Close it when the control plane ends.
type Driver struct {
	*host.Driver[*machineParts, *box]
	cfg Config
}

var _ sandbox.Driver = (*Driver)(nil)

// helloPatience is how long a machine that runs may take to answer.
const helloPatience = 60 * time.Second

// New returns a driver. It does nothing before the first Create or Recover.
func New(cfg Config) *Driver {
	cfg = cfg.withDefaults()
	return &Driver{cfg: cfg, Driver: host.NewDriver(host.Kind[*machineParts, *box]{
		Name: Name, SetUp: func() (*machineParts, error) { return newMachineParts(cfg) }, Find: cfg.find,
		BootTimeout: cfg.BootTimeout, HelloTimeout: helloPatience,
	})}
}

// Capabilities implements sandbox.Driver. A machine has a disk of its own; by vsock it can
// have any number of streams, by its serial line one.
func (d *Driver) Capabilities() sandbox.Capabilities { return d.cfg.capabilities() }

// find returns the sandbox of a handle, see host.Kind. It needs no set-up: a machine is found, and
// its end seen, without the image.
func (c Config) find(h sandbox.Handle) (b *box, outdated string, err error) {
	s, err := decodeHandle(h)
	if err != nil {
		return nil, "", err
	}
	b = newBox(s)
	b.shareStream(c.capabilities())
	b.Group = host.OpenGroup(s.Limits, s.Groups)
	if s.Boot == host.BootID() {
		b.Main, err = host.OpenNamed(host.ProcessName{PID: s.PID, Start: s.Start})
	}
	return b, "", err
}

// Find implements host.Maker.
func (m *machineParts) Find(h sandbox.Handle) (b *box, outdated string, err error) {
	return m.cfg.find(h)
}

// CheckSpec implements host.Maker.
func (m *machineParts) CheckSpec(spec sandbox.Spec) (sandbox.Spec, error) {
	return host.CheckSpec(spec, m.cfg.capabilities(), m.facts.Root)
}
