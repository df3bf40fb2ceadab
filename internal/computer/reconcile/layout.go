package reconcile

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"choiros/internal/choir"
	"choiros/internal/computer/syncedfile"
	"choiros/internal/fault"
	"choiros/internal/guest"
)

// Limit implements rolehost.Workspace.
func (r *Reconciler) Limit(client *guest.Client) { r.workspace.Limit(client) }

// LayOut implements rolehost.Workspace. The workspace of a recovered sandbox is left as it
// is, unless the control plane was killed before it had ever looked at it.
func (r *Reconciler) LayOut(ctx context.Context, client *guest.Client, recovered bool) error {
	if err := r.furnish(ctx, client); err != nil {
		return err
	}
	last, err := r.workspace.LastSnapshot(ctx)
	if err == nil && (!recovered || last == "") {
		err = r.makeFolders(ctx, client)
	}
	return err
}

// makeFolders makes the folders of a fresh workspace, with the desktop's source.
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

// furnish restores the last snapshot of the log in the workspace of a computer that was
// just made from another's past. It is done once: a crash on the way leaves the note, and
// what was restored is restored again.
func (r *Reconciler) furnish(ctx context.Context, client *guest.Client) error {
	note := r.cfg.RestoreNote
	if _, err := os.Stat(note); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	root, err := r.workspace.LastSnapshot(ctx)
	if err != nil {
		return err
	}
	if root != "" {
		if _, err := r.workspace.RestoreTree(ctx, client, root, guest.RestoreOptions{}); err != nil {
			return choir.Wrap("computer.furnish", "", err, "fill the workspace")
		}
	}
	fault.Point("computer.restore.remove")
	if err := os.Remove(note); err != nil {
		return choir.Wrap("computer.furnish", choir.CodeUnavailable, err, "note that the workspace is filled")
	}
	return choir.Wrap("computer.furnish", choir.CodeUnavailable, syncedfile.SyncFolder(filepath.Dir(note)), "note that the workspace is filled")
}
