package computer

import (
	"context"
	"io"
	"net"
	"net/http"

	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/computer/projects"
	"choiros/internal/computer/rolehost"
	"choiros/internal/computer/selfsource"
	"choiros/internal/guest"
)

// newRoles makes the host of the computer's roles.
func (c *Computer) newRoles() *rolehost.Host {
	return rolehost.New(c.store, c.events, roleBus{c.cfg.Bus}, startingWorkspace{c}, rolehost.Config{
		ID: c.cfg.ID, User: c.cfg.User, Dir: c.cfg.Dir, Guest: c.cfg.Guest, Driver: c.cfg.Driver,
		HostUIDs: c.cfg.HostUIDs, Limits: c.cfg.Limits, RequireLimits: c.cfg.RequireLimits, Disk: c.cfg.Disk,
		RunLimits: c.cfg.RunLimits, Egress: func() http.Handler { return c.cfg.Egress(c) },
		ReadOnly: c.reading, Boot: c.cfg.Boot, Observer: c.cfg.Observer, Now: c.cfg.Now, Log: c.cfg.Log,
		Terminals: c.cfg.Terminals, TerminalFolder: projects.Folder, TerminalUsed: func() { c.workspace.TerminalUsed() },
		GuestPatience: c.cfg.Patience.Guest, StartPatience: c.cfg.Patience.Start, IdentityLife: c.cfg.Patience.Identity,
	})
}

// roleBus is the bus as the host of the roles uses it.
type roleBus struct{ *hub.Server }

// ServeDoor implements rolehost.Bus.
func (b roleBus) ServeDoor(ctx context.Context, listener net.Listener) io.Closer {
	return hub.ServeDoor(ctx, listener, b.Server)
}

// startingWorkspace is the workspace as the host of the roles prepares it.
type startingWorkspace struct{ c *Computer }

// Limit implements rolehost.Workspace.
func (w startingWorkspace) Limit(client *guest.Client) {
	w.c.workspace.Limit(client)
}

// LayOut implements rolehost.Workspace. The workspace of a recovered sandbox is left
// as it is, unless the control plane was killed before it had ever looked at it.
func (w startingWorkspace) LayOut(ctx context.Context, client *guest.Client, recovered bool) error {
	if err := w.c.furnish(ctx, client); err != nil {
		return err
	}
	last, err := w.c.workspace.LastSnapshot(ctx)
	if err == nil && (!recovered || last == "") {
		err = w.layOutNew(ctx, client)
	}
	return err
}

// layOutNew makes the folders of a fresh workspace.
func (w startingWorkspace) layOutNew(ctx context.Context, client *guest.Client) error {
	if err := w.c.source.Ship(ctx, client); err != nil {
		return err
	}
	for _, dir := range []string{selfsource.Folder, "artifacts", projects.Folder} {
		if err := client.Mkdir(ctx, dir, 0o755); err != nil && choir.CodeOf(err) != choir.CodeConflict {
			return err
		}
	}
	return nil
}

// MayRewrite implements rolehost.Workspace: a look that has something to put right
// rewrites the workspace.
func (w startingWorkspace) MayRewrite(ctx context.Context) (bool, error) {
	unfinished, err := w.c.workspace.UnfinishedIntent()
	if err != nil || unfinished || w.c.wentDown {
		return true, err
	}
	may, err := w.c.source.MayRenew(ctx)
	return err == nil && may, ctx.Err()
}

// FirstLook implements rolehost.Workspace.
func (w startingWorkspace) FirstLook(ctx context.Context, client *guest.Client, recovered bool) error {
	if err := w.c.reconcileAtStart(ctx, client, recovered); err != nil {
		return err
	}
	defer w.c.collector.Pause()()
	return w.c.source.Renew(ctx, client)
}
