package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"choiros/internal/choir"
	"choiros/internal/computer/syncedfile"
	"choiros/internal/eventstore"
	"choiros/internal/fault"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// Intent is a step of the owner's that rewrites the tree. It is on disk from
// before the first path changes until its event is in the log, so that a crash in
// between is finished at the next start and never taken for somebody's edit.
type Intent struct {
	Before choir.Digest `json:"before"` // the workspace, as the log knows it
	Target choir.Digest `json:"target"` // the workspace, once it is done
	Reason string       `json:"reason"` // of the snapshot, when file events tell what changed; else empty
	Role   choir.Role   `json:"role"`
	Draft  choir.Draft  `json:"draft"` // the event that says it is done
	// Lacking are paths that the event brings back in words and that are not in
	// the target: what looks like a key did not come along with the past.
	Lacking []string `json:"lacking,omitempty"`
	// Out was moved to the trash for it, and Back goes from the trash to where it was.
	Out  []Aside `json:"out,omitempty"`
	Back []Aside `json:"back,omitempty"`
}

// IntentFile is the name of the file, in the computer's folder, that has the intent
// which is being carried out.
const IntentFile = "intent.json"

// intents carries intents out.
type intents struct{ tree *tree }

func (s *intents) path() string { return filepath.Join(s.tree.cfg.Dir, IntentFile) }

// CarryOut makes the workspace what the intent says and tells the log. When it
// cannot, the workspace is what it was before. The caller holds the tree.
func (s *intents) CarryOut(ctx context.Context, client *guest.Client, in Intent) (choir.Receipt, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return choir.Receipt{}, choir.Wrap("computer.intent", choir.CodeInternal, err, "encode what is to be done")
	}
	tmp := s.path() + ".new"
	if err := syncedfile.Write(tmp, raw); err != nil {
		return choir.Receipt{}, err
	}
	fault.Point("computer.intent.rename")
	if err := os.Rename(tmp, s.path()); err != nil {
		return choir.Receipt{}, choir.Wrap("computer.intent", choir.CodeUnavailable, err, "note what is to be done")
	}
	left, err := s.fulfil(ctx, client, in)
	if err != nil {
		// Also when the caller has gone.
		if back := s.Revert(context.WithoutCancel(ctx), client, in); back != nil {
			return choir.Receipt{}, errors.Join(err, back) // the next start tries again
		}
		return choir.Receipt{}, joined(err, s.drop())
	}
	receipt, err := s.conclude(ctx, in)
	if err == nil && left {
		err = s.tree.recordRest(context.WithoutCancel(ctx), client)
	}
	return receipt, err
}

// conclude tells the log of an intent whose tree is there. Known events keep
// their first receipt.
func (s *intents) conclude(ctx context.Context, in Intent) (choir.Receipt, error) {
	// What was done is told, whoever still waits for the answer.
	ctx = context.WithoutCancel(ctx)
	last, err := s.tree.LastSnapshot(ctx)
	if err == nil && in.Reason != "" && last != in.Target {
		err = s.record(ctx, in)
	}
	var drafts []choir.Draft
	if err == nil {
		drafts, err = in.drafts()
	}
	var receipts []choir.Receipt
	if err == nil {
		receipts, err = s.tree.log.Append(ctx, in.Role, drafts...)
	}
	if errors.Is(err, eventstore.ErrNotReplicated) {
		// It is in the log; an intent that stayed would be carried out once more.
		return choir.Receipt{}, joined(err, s.drop())
	}
	if err != nil {
		return choir.Receipt{}, err
	}
	return receipts[0], s.drop()
}

// drafts are the events that say it is done, with the same ids each time.
func (in *Intent) drafts() ([]choir.Draft, error) {
	out := []choir.Draft{in.Draft}
	for i, p := range Removals(in.Lacking, in.Target) {
		d, err := choir.NewDraft(choir.DeriveID(in.Draft.ID, "lacking", strconv.Itoa(i)), p)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

func (s *intents) record(ctx context.Context, in Intent) error {
	files, bytes, err := s.tree.keeper.Verify(ctx, in.Target)
	if err != nil {
		return err
	}
	left, err := s.tree.log.LeftOut(ctx, 0)
	if err != nil {
		return err
	}
	now := snapshot.Result{Root: in.Target, Files: files, Bytes: bytes, Left: left.Paths, Over: left.Over}
	drafts, err := s.tree.Record(ctx, now, in.Reason, false)
	if err != nil {
		return err
	}
	return s.tree.AppendAll(ctx, choir.RoleControl, drafts)
}

func (s *intents) drop() error {
	fault.Point("computer.intent.remove")
	err := os.Remove(s.path())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return choir.Wrap("computer.intent", choir.CodeUnavailable, err, "forget what is done")
}

// UnfinishedIntent reports whether the last session did not finish an intent.
func (s *intents) UnfinishedIntent() (bool, error) {
	in, err := s.read()
	return in != nil, err
}

// FinishIntent carries out what the last session did not finish. It reports whether
// there was anything. The caller holds the tree, or nobody else reaches it yet.
func (s *intents) FinishIntent(ctx context.Context, client *guest.Client) (found bool, err error) {
	in, err := s.read()
	if in == nil || err != nil {
		return false, err
	}
	left, err := s.fulfil(ctx, client, *in)
	if err != nil {
		return true, err
	}
	if _, err = s.conclude(ctx, *in); err == nil && left {
		err = s.tree.recordRest(ctx, client)
	}
	return true, err
}

// read is what the last session did not finish; nil is nothing.
func (s *intents) read() (*Intent, error) {
	raw, err := os.ReadFile(s.path())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var in Intent
	if err == nil {
		err = json.Unmarshal(raw, &in)
	}
	if err != nil {
		return nil, choir.Wrap("computer.intent", choir.CodeCorrupt, err, "read %s", s.path())
	}
	return &in, nil
}

// fulfil makes the workspace what an intent says. It reports whether the workspace
// differs from the target in what no snapshot holds.
func (s *intents) fulfil(ctx context.Context, client *guest.Client, in Intent) (left bool, err error) {
	left, err = s.tree.restore(ctx, client, in.Target)
	if err != nil || len(in.Back) == 0 {
		return left || len(in.Out) > 0, err
	}
	if err := putBack(ctx, client, in.Back); err != nil {
		return false, err
	}
	// Once more, for the times of the folders that they went back to.
	_, err = s.tree.restore(ctx, client, in.Target)
	return true, err
}

// Revert makes the tree what it was before an intent, with what was moved to the trash
// for it. The caller holds the tree.
func (s *intents) Revert(ctx context.Context, client *guest.Client, in Intent) error {
	if err := throwAgain(ctx, client, in.Back); err != nil {
		return err
	}
	_, err := s.tree.restore(ctx, client, in.Before)
	if err != nil || len(in.Out) == 0 {
		return err
	}
	if err := putBack(ctx, client, in.Out); err != nil {
		return err
	}
	_, err = s.tree.restore(ctx, client, in.Before)
	return err
}
