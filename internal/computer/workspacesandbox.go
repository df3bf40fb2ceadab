package computer

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/guest"
)

// workspaceSandbox is the Associate's sandbox as the workspace knows it.
type workspaceSandbox struct{ c *Computer }

// Guest implements workspace.Sandbox.
func (s workspaceSandbox) Guest(ctx context.Context) (*guest.Client, error) {
	return s.c.seats[choir.RoleAssociate].guest(ctx)
}

// LookedAt implements workspace.Sandbox. A computer that is opened for reading has
// no sandbox to wait for.
func (s workspaceSandbox) LookedAt(ctx context.Context) (*guest.Client, error) {
	if s.c.reading {
		return s.Guest(ctx)
	}
	return s.c.seats[choir.RoleAssociate].lookedAt(ctx)
}
