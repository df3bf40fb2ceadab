package computer

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/fault"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// intent is a step of the owner's that rewrites the workspace. It is on disk from
// before the first path changes until its event is in the log, so that a crash in
// between is finished at the next start and never taken for somebody's edit.
type intent struct {
	Before choir.Digest `json:"before"` // the workspace, as the log knows it
	Target choir.Digest `json:"target"` // the workspace, once it is done
	Reason string       `json:"reason"` // of the snapshot, when file events tell what changed; else empty
	Role   choir.Role   `json:"role"`
	Draft  choir.Draft  `json:"draft"` // the event that says it is done
	// Lacking are paths that the event brings back in words and that are not in
	// the target: what looks like a key did not come along with the past.
	Lacking []string `json:"lacking,omitempty"`
	// Out was moved to the trash for it, and Back goes from the trash to where it was.
	Out  []workspace.Aside `json:"out,omitempty"`
	Back []workspace.Aside `json:"back,omitempty"`
}

const intentName = "intent.json"

func (c *Computer) intentPath() string { return filepath.Join(c.cfg.Dir, intentName) }

// carryOut makes the workspace what the intent says and tells the log. When it
// cannot, the workspace is what it was before. The caller holds the tree.
func (c *Computer) carryOut(ctx context.Context, client *guest.Client, in intent) (choir.Receipt, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return choir.Receipt{}, choir.Wrap("computer.intent", choir.CodeInternal, err, "encode what is to be done")
	}
	tmp := c.intentPath() + ".new"
	if err := writeSynced(tmp, raw); err != nil {
		return choir.Receipt{}, err
	}
	fault.Point("computer.intent.rename")
	if err := os.Rename(tmp, c.intentPath()); err != nil {
		return choir.Receipt{}, choir.Wrap("computer.intent", choir.CodeUnavailable, err, "note what is to be done")
	}
	left, err := c.fulfil(ctx, client, in)
	if err != nil {
		// Also when the caller has gone.
		if back := c.revert(context.WithoutCancel(ctx), client, in); back != nil {
			return choir.Receipt{}, errors.Join(err, back) // the next start tries again
		}
		return choir.Receipt{}, errorsJoin(err, c.dropIntent())
	}
	receipt, err := c.conclude(ctx, in)
	if err == nil && left {
		err = c.workspace.RecordRest(context.WithoutCancel(ctx), client)
	}
	return receipt, err
}

// conclude tells the log of an intent whose tree is there. Known events keep
// their first receipt.
func (c *Computer) conclude(ctx context.Context, in intent) (choir.Receipt, error) {
	// What was done is told, whoever still waits for the answer.
	ctx = context.WithoutCancel(ctx)
	last, err := c.workspace.LastSnapshot(ctx)
	if err == nil && in.Reason != "" && last != in.Target {
		err = c.recordIntent(ctx, in)
	}
	var drafts []choir.Draft
	if err == nil {
		drafts, err = in.drafts()
	}
	var receipts []choir.Receipt
	if err == nil {
		receipts, err = c.store.Append(ctx, in.Role, drafts...)
	}
	if errors.Is(err, eventstore.ErrNotReplicated) {
		// It is in the log; an intent that stayed would be carried out once more.
		return choir.Receipt{}, errorsJoin(err, c.dropIntent())
	}
	if err != nil {
		return choir.Receipt{}, err
	}
	return receipts[0], c.dropIntent()
}

// drafts are the events that say it is done, with the same ids each time.
func (in *intent) drafts() ([]choir.Draft, error) {
	out := []choir.Draft{in.Draft}
	for i, p := range removals(in.Lacking, in.Target) {
		d, err := choir.NewDraft(choir.DeriveID(in.Draft.ID, "lacking", strconv.Itoa(i)), p)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

func (c *Computer) recordIntent(ctx context.Context, in intent) error {
	files, bytes, err := c.keeper.Verify(ctx, in.Target)
	if err != nil {
		return err
	}
	left, err := c.store.LeftOut(ctx, 0)
	if err != nil {
		return err
	}
	now := snapshot.Result{Root: in.Target, Files: files, Bytes: bytes, Left: left.Paths, Over: left.Over}
	drafts, err := c.workspace.Record(ctx, now, in.Reason, false)
	if err != nil {
		return err
	}
	return c.workspace.AppendAll(ctx, choir.RoleControl, drafts)
}

func (c *Computer) dropIntent() error {
	fault.Point("computer.intent.remove")
	err := os.Remove(c.intentPath())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return choir.Wrap("computer.intent", choir.CodeUnavailable, err, "forget what is done")
}

// readIntent is what the last session did not finish; nil is nothing.
func (c *Computer) readIntent() (*intent, error) {
	raw, err := os.ReadFile(c.intentPath())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var in intent
	if err == nil {
		err = json.Unmarshal(raw, &in)
	}
	if err != nil {
		return nil, choir.Wrap("computer.intent", choir.CodeCorrupt, err, "read %s", c.intentPath())
	}
	return &in, nil
}

// settle brings workspace and log together when the Associate's sandbox has come
// up, before its role runs: an unfinished intent is finished, and what changed
// while no sandbox was there is recorded as the owner's, because nobody else was,
// unless the machine went down.
// Nobody else reaches the workspace before the sandbox is given out, not even
// those who hold the tree and wait for it.
func (c *Computer) settle(ctx context.Context, client *guest.Client, recovered bool) error {
	err := c.bringTogether(ctx, client, recovered)
	if err == nil {
		c.wentDown = false           // what changes from now on is somebody's
		c.workspace.ResumeRemoving() // the last session may have left something
	}
	return err
}

// bringTogether is settle without the memory of the machine going down.
func (c *Computer) bringTogether(ctx context.Context, client *guest.Client, recovered bool) error {
	c.collecting.RLock()
	defer c.collecting.RUnlock()
	in, err := c.readIntent()
	if err != nil {
		return err
	}
	if in != nil {
		left, err := c.fulfil(ctx, client, *in)
		if err != nil {
			return err
		}
		if _, err = c.conclude(ctx, *in); err == nil && left {
			err = c.workspace.RecordRest(ctx, client)
		}
		return err
	}
	if task, err := c.workspace.TaskAtWork(ctx); err != nil || task != nil || recovered {
		return err // what a task left is the task's
	}
	now, err := c.workspace.ScanWith(ctx, client, nil)
	if err != nil {
		// Whoever is to mend what cannot be read needs the sandbox; the next look at
		// the tree says it again.
		if ctx.Err() == nil {
			c.cfg.Log.Warn("the workspace cannot be read", "computer", c.cfg.ID, "error", err)
		}
		return ctx.Err()
	}
	if c.wentDown {
		return c.putRight(ctx, client, now)
	}
	return c.workspace.RecordOwners(ctx, now)
}

// fulfil makes the workspace what an intent says. It reports whether the workspace
// differs from the target in what no snapshot holds.
func (c *Computer) fulfil(ctx context.Context, client *guest.Client, in intent) (left bool, err error) {
	left, err = c.workspace.RestoreWhole(ctx, client, in.Target)
	if err != nil || len(in.Back) == 0 {
		return left || len(in.Out) > 0, err
	}
	if err := workspace.PutBack(ctx, client, in.Back); err != nil {
		return false, err
	}
	// Once more, for the times of the folders that they went back to.
	_, err = c.workspace.RestoreWhole(ctx, client, in.Target)
	return true, err
}

// revert makes the workspace what it was before an intent.
func (c *Computer) revert(ctx context.Context, client *guest.Client, in intent) error {
	if err := workspace.ThrowAgain(ctx, client, in.Back); err != nil {
		return err
	}
	_, err := c.workspace.RestoreWhole(ctx, client, in.Before)
	if err != nil || len(in.Out) == 0 {
		return err
	}
	if err := workspace.PutBack(ctx, client, in.Out); err != nil {
		return err
	}
	_, err = c.workspace.RestoreWhole(ctx, client, in.Before)
	return err
}
