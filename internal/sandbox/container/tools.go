package container

import (
	"context"

	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

var _ sandbox.Toolbox = (*Driver)(nil)

// Tools asks each program for its version in one container. It implements sandbox.Toolbox.
func (d *Driver) Tools(ctx context.Context) []sandbox.Check {
	m, err := d.BeginCall()
	if err != nil {
		return host.NoTools(err)
	}
	defer d.EndCall()
	return host.Tools(ctx, guest.Path(d.cfg.Toolchains), m.runOnce)
}
