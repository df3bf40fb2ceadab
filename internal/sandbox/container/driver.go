package container

import (
	"os"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// Driver makes sandboxes with a container engine. Close it when the control plane ends.
type Driver struct {
	*host.Driver[*machine, *box]
	cfg Config
}

var _ sandbox.Driver = (*Driver)(nil)

// New returns a driver. It does nothing before the first Create or Recover.
func New(cfg Config) *Driver {
	cfg = cfg.withDefaults()
	return &Driver{cfg: cfg, Driver: host.NewDriver(host.Kind[*machine, *box]{
		Name: Name, SetUp: func() (*machine, error) { return newMachine(cfg) },
		BootTimeout: cfg.BootTimeout, HelloTimeout: cfg.BootTimeout,
	})}
}

// Capabilities implements sandbox.Driver.
func (d *Driver) Capabilities() sandbox.Capabilities { return host.Capabilities }

// CheckSpec implements host.Maker.
func (m *machine) CheckSpec(spec sandbox.Spec) (sandbox.Spec, error) {
	spec, err := host.CheckSpec(spec, host.Capabilities, os.Geteuid() == 0)
	if err != nil {
		return spec, err
	}
	if spec.RequireLimits && !m.engine.limits {
		return spec, choir.Refuse("container.create", choir.ReasonContainerNoLimits, choir.TextOf("title", m.engine.title))
	}
	return spec, host.CheckFolders(Name, spec)
}
