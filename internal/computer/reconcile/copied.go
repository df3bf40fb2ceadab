package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"choiros/internal/choir"
	"choiros/internal/durablefile"
	"choiros/internal/guest"
)

// fetchedTree is the content of the restore note for a workspace that was fetched from
// its sandbox. An empty note means that the workspace must be filled with the newest
// snapshot in the log.
type fetchedTree struct {
	// Root is the workspace as it was fetched. Its content is in the store, and no event
	// leads to it.
	Root choir.Digest `json:"root"`
	// Newest is the newest snapshot of the log then, and Seq the number of its event. With
	// another one in the log Root is of the past, and is left.
	Newest choir.Digest `json:"newest"`
	Seq    uint64       `json:"seq,omitempty"` // 0 in notes of earlier builds
}

// ofMoment reports whether Root was fetched at this newest snapshot of the log.
func (c fetchedTree) ofMoment(newest choir.Digest, seq uint64) bool {
	return c.Root != "" && c.Newest == newest && (c.Seq == seq || c.Seq == 0)
}

// readNote reads the restore note; ok is false if there is none, that is, if the
// workspace need not be filled.
func (r *Reconciler) readNote() (c fetchedTree, ok bool, err error) {
	raw, err := os.ReadFile(r.cfg.RestoreNote)
	if errors.Is(err, fs.ErrNotExist) {
		return c, false, nil
	}
	if err == nil && len(raw) > 0 {
		err = json.Unmarshal(raw, &c)
	}
	return c, true, choir.Wrap("computer.restore", choir.CodeUnavailable, err, "read what the workspace is to be filled with")
}

func (r *Reconciler) writeNote(raw []byte) error {
	return choir.Wrap("computer.restore", choir.CodeUnavailable, durablefile.Write(r.cfg.RestoreNote, raw), "note what the workspace is to be filled with")
}

// fill restores the workspace to the tree of the note, if the log has no newer snapshot
// than that one knew, else to the newest snapshot in the log. It may be repeated.
func (r *Reconciler) fill(ctx context.Context, client *guest.Client) error {
	c, _, err := r.readNote()
	if err != nil {
		return err
	}
	root, seq, err := r.lastSnapshot(ctx)
	if err != nil {
		return err
	}
	if c.ofMoment(root, seq) {
		root = c.Root
	}
	if root == "" {
		return nil // nobody ever looked at it
	}
	defer r.collector.Pause()()
	_, err = r.workspace.RestoreTree(ctx, client, root, guest.RestoreOptions{})
	return choir.Wrap("computer.furnish", "", err, "fill the workspace")
}

// copyIn fills the workspace of a new sandbox that has its own copy. The note stays while
// the workspace is in sandboxes, because a host folder that is bound later would be out
// of date.
func (r *Reconciler) copyIn(ctx context.Context, client *guest.Client) error {
	if _, noted, err := r.readNote(); err != nil {
		return err
	} else if !noted {
		if err := r.writeNote(nil); err != nil {
			return err
		}
	}
	return r.fill(ctx, client)
}

// CopyOut fetches the workspace from its sandbox into the store and writes the restore
// note; it implements rolehost.Workspace. No event refers to the tree: the first look of
// the next start records the changes, as for a folder of the host.
func (r *Reconciler) CopyOut(ctx context.Context, client *guest.Client) error {
	defer r.collector.Pause()()
	now, err := client.Scan(ctx, r.keeper)
	if err != nil {
		return choir.Wrap("computer.fetch", "", err, "fetch the workspace from its sandbox")
	}
	newest, seq, err := r.lastSnapshot(ctx)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(fetchedTree{Root: now.Root, Newest: newest, Seq: seq})
	if err != nil {
		return choir.Wrap("computer.fetch", choir.CodeInternal, err, "encode the note of the workspace")
	}
	return r.writeNote(raw)
}

// clearFetched empties the note once the log has the fetched tree.
func (r *Reconciler) clearFetched() error {
	if c, _, err := r.readNote(); err != nil || c.Root == "" {
		return err
	}
	return r.writeNote(nil)
}

// lastSnapshot returns the newest snapshot of the log and the number of its event; empty
// if there is none.
func (r *Reconciler) lastSnapshot(ctx context.Context) (choir.Digest, uint64, error) {
	taken, seq, err := r.log.SnapshotAt(ctx, 0)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", 0, nil
	}
	return taken.Snapshot, seq, err
}

// KeepsTree reports whether a tree is kept that a start may need, and to which no event
// leads.
func (r *Reconciler) KeepsTree(ctx context.Context) (bool, error) {
	c, _, err := r.readNote()
	if err != nil || c.Root == "" {
		return false, err
	}
	newest, seq, err := r.lastSnapshot(ctx)
	return c.ofMoment(newest, seq), err
}
