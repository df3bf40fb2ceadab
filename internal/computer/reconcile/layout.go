package reconcile

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"choiros/internal/choir"
	"choiros/internal/durablefile"
	"choiros/internal/fault"
	"choiros/internal/guest"
)

// Limit sets the limits of snapshots in the client; it implements rolehost.Workspace.
func (r *Reconciler) Limit(client *guest.Client) { r.workspace.Limit(client) }

// LayOut fills the workspace of a started sandbox and creates the folders of a new one;
// it implements rolehost.Workspace. The workspace of a recovered sandbox is left alone
// unless the log has no snapshot of it yet.
func (r *Reconciler) LayOut(ctx context.Context, client *guest.Client, recovered, copied bool) error {
	prepare := r.fillHostFolder
	if copied {
		prepare = r.copyIn
	}
	if !recovered || !copied {
		if err := prepare(ctx, client); err != nil {
			return err
		}
	}
	last, err := r.workspace.LastSnapshot(ctx)
	if err == nil && (!recovered || last == "") {
		err = r.makeFolders(ctx, client)
	}
	return err
}

// makeFolders creates the folders of a new workspace and the desktop's source.
func (r *Reconciler) makeFolders(ctx context.Context, client *guest.Client) error {
	if err := r.source.Ship(ctx, client); err != nil {
		return err
	}
	for _, dir := range r.cfg.Folders {
		if err := client.Mkdir(ctx, dir, 0o755); err != nil && choir.CodeOf(err) != choir.CodeConflict {
			return err
		}
	}
	return nil
}

// fillHostFolder fills the workspace's folder on the host, if there is a restore note,
// and then removes the note. After a crash in between it is repeated.
func (r *Reconciler) fillHostFolder(ctx context.Context, client *guest.Client) error {
	note := r.cfg.RestoreNote
	if _, err := os.Stat(note); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := r.fill(ctx, client); err != nil {
		return err
	}
	fault.Point("computer.restore.remove")
	if err := os.Remove(note); err != nil {
		return choir.Wrap("computer.furnish", choir.CodeUnavailable, err, "note that the workspace is filled")
	}
	return choir.Wrap("computer.furnish", choir.CodeUnavailable, durablefile.SyncFolder(filepath.Dir(note)), "note that the workspace is filled")
}
