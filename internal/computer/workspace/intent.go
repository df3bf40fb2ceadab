package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"choiros/internal/choir"
	"choiros/internal/durablefile"
	"choiros/internal/eventstore"
	"choiros/internal/fault"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// Intent is a planned rewrite of the tree by the owner. It is on disk from before the
// first change until its event is in the log, so that the next start finishes it after
// a crash instead of recording its changes as somebody's edits.
type Intent struct {
	Before choir.Digest `json:"before"` // the workspace, as the log knows it
	Target choir.Digest `json:"target"` // the workspace, once it is done
	Reason string       `json:"reason"` // of the snapshot, when file events tell what changed; else empty
	// Found is the reason of a snapshot of Before, which the log gets before the workspace
	// changes; empty if the log has Before.
	Found string      `json:"found,omitempty"`
	Role  choir.Role  `json:"role"`
	Draft choir.Draft `json:"draft"` // the event that says it is done
	// Lacking are paths that the event brings back in words and that are not in
	// the target: what looks like a key did not come along with the past.
	Lacking []string `json:"lacking,omitempty"`
	// Out was moved to the trash for it, and Back goes from the trash to where it was.
	Out  []Aside `json:"out,omitempty"`
	Back []Aside `json:"back,omitempty"`
	// Lasting keeps the intent on disk after an error, so that the next start carries it
	// out. Without it the workspace becomes as before.
	Lasting bool `json:"lasting,omitempty"`
}

// IntentFile is the name of the file with the current intent in the computer's folder.
const IntentFile = "intent.json"

// intentFile writes the file IntentFile durably.
var intentFile = durablefile.RenamedAt(func() { fault.Point("computer.intent.rename") })

// intents carries out intents.
type intents struct{ tree *tree }

func (s *intents) path() string { return filepath.Join(s.tree.cfg.Dir, IntentFile) }

// CarryOut restores the workspace to the intent's target and appends the intent's
// events. After an error the workspace is as before, unless the intent is lasting or the
// log accepts no appends until the next start, which finishes the intent. The caller
// holds the tree.
func (s *intents) CarryOut(ctx context.Context, client *guest.Client, in Intent) (choir.Receipt, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return choir.Receipt{}, choir.Wrap("computer.intent", choir.CodeInternal, err, "encode what is to be done")
	}
	if err := intentFile.Write(s.path(), raw); err != nil {
		if errors.Is(err, durablefile.ErrReplaced) {
			err = errors.Join(err, s.drop()) // the next start would carry it out
		}
		return choir.Receipt{}, choir.Wrap("computer.intent", choir.CodeUnavailable, err, "note what is to be done")
	}
	if err := s.recordFound(ctx, in); err != nil {
		return choir.Receipt{}, err
	}
	left, err := s.restoreTarget(ctx, client, in)
	if err != nil && in.Lasting {
		return choir.Receipt{}, err
	}
	if err != nil {
		// Also when the caller has gone.
		if back := s.Revert(context.WithoutCancel(ctx), client, in); back != nil {
			return choir.Receipt{}, errors.Join(err, back) // the next start tries again
		}
		return choir.Receipt{}, joined(err, s.drop())
	}
	receipt, err := s.appendEvents(ctx, in)
	if refused := (*untoldError)(nil); errors.As(err, &refused) && !in.Lasting {
		return choir.Receipt{}, s.takeBack(context.WithoutCancel(ctx), client, in, refused)
	}
	if err == nil && left {
		err = s.tree.recordRest(context.WithoutCancel(ctx), client)
	}
	return receipt, err
}

// untoldError is an error of appendEvents after which the log does not have the main event
// of the intent and accepts other appends. recorded reports that the log has the target as
// the newest snapshot all the same.
type untoldError struct {
	error
	recorded bool
}

func (e *untoldError) Unwrap() error { return e.error }

// refusals are the codes of an append that is not in the log, which accepts others. After
// any other error only the next start knows whether the append is in the log.
var refusals = []choir.Code{
	choir.CodeNoSpace, choir.CodeBusy, choir.CodeConflict, choir.CodeInvalid, choir.CodeForbidden, choir.CodeTooLarge, choir.CodeNotFound, choir.CodeCancelled,
}

// untold returns an untoldError for an error of an append that the log refused, and other
// errors unchanged.
func untold(err error, recorded bool) error {
	if err == nil || !slices.Contains(refusals, choir.CodeOf(err)) {
		return err
	}
	return &untoldError{error: err, recorded: recorded}
}

// takeBack makes the workspace as it was before an intent whose main event the log
// refused, and returns that refusal. What the log has of the target is recorded as undone,
// here or, if the log refuses that too, by the next scan. If the workspace cannot be
// restored the intent stays, and the next start carries it out.
func (s *intents) takeBack(ctx context.Context, client *guest.Client, in Intent, refused *untoldError) error {
	if err := s.Revert(ctx, client, in); err != nil {
		return errors.Join(refused.error, err)
	}
	var err error
	if refused.recorded {
		err = s.record(ctx, in.Before, in.Reason)
	}
	return joined(joined(refused.error, err), s.drop())
}

// appendEvents appends the events of an intent whose target is restored, and returns
// the receipt of the main event. Events that are already in the log get their first
// receipts.
func (s *intents) appendEvents(ctx context.Context, in Intent) (choir.Receipt, error) {
	// What was done is told, whoever still waits for the answer.
	ctx = context.WithoutCancel(ctx)
	last, err := s.tree.LastSnapshot(ctx)
	if err != nil {
		return choir.Receipt{}, &untoldError{err, false}
	}
	if in.Reason != "" && last != in.Target {
		err = s.record(ctx, in.Target, in.Reason)
	}
	if err != nil {
		return choir.Receipt{}, err
	}
	drafts, err := in.drafts()
	if err != nil {
		return choir.Receipt{}, &untoldError{err, in.Reason != ""}
	}
	receipts, err := s.tree.log.Append(ctx, in.Role, drafts...)
	if errors.Is(err, eventstore.ErrNotReplicated) {
		// It is in the log; an intent that stayed would be carried out once more.
		return choir.Receipt{}, joined(err, s.drop())
	}
	if err != nil {
		return choir.Receipt{}, untold(err, in.Reason != "")
	}
	return receipts[0], s.drop()
}

// drafts returns the events that report the intent as done, with the same ids at each
// call.
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

// recordFound records the workspace before the intent, unless the log has it already or
// has the main event of the intent.
func (s *intents) recordFound(ctx context.Context, in Intent) error {
	if in.Found == "" {
		return nil
	}
	last, err := s.tree.LastSnapshot(ctx)
	if err != nil || last == in.Before {
		return err
	}
	if _, err := s.tree.log.Event(ctx, in.Draft.ID); choir.CodeOf(err) != choir.CodeNotFound {
		return err
	}
	return s.record(ctx, in.Before, in.Found)
}

// record appends the differences between the newest snapshot in the log and the tree
// root, and a snapshot of that tree. An untoldError says that nothing of it is in the log.
func (s *intents) record(ctx context.Context, root choir.Digest, reason string) error {
	drafts, err := s.changesTo(ctx, root, reason)
	if err != nil {
		return &untoldError{err, false}
	}
	first := drafts[:min(len(drafts), choir.MaxDrafts)]
	if err := s.tree.AppendAll(ctx, choir.RoleControl, first); err != nil {
		return untold(err, false)
	}
	return s.tree.AppendAll(ctx, choir.RoleControl, drafts[len(first):])
}

// changesTo returns the events that record appends.
func (s *intents) changesTo(ctx context.Context, root choir.Digest, reason string) ([]choir.Draft, error) {
	files, bytes, err := s.tree.keeper.Verify(ctx, root)
	if err != nil {
		return nil, err
	}
	left, err := s.tree.log.LeftOut(ctx, 0)
	if err != nil {
		return nil, err
	}
	return s.tree.Record(ctx, snapshot.Result{Root: root, Files: files, Bytes: bytes, Left: left.Paths, Over: left.Over}, reason, false)
}

func (s *intents) drop() error {
	fault.Point("computer.intent.remove")
	err := os.Remove(s.path())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return choir.Wrap("computer.intent", choir.CodeUnavailable, err, "forget what is done")
}

// UnfinishedIntent reports whether an earlier session left an unfinished intent.
func (s *intents) UnfinishedIntent() (bool, error) {
	in, err := s.read()
	return in != nil, err
}

// FinishIntent carries out the unfinished intent of an earlier session and reports
// whether there was one. The caller holds the tree, or is the only one with access to
// it.
func (s *intents) FinishIntent(ctx context.Context, client *guest.Client) (found bool, err error) {
	in, err := s.read()
	if in == nil || err != nil {
		return false, err
	}
	if err := s.recordFound(ctx, *in); err != nil {
		return true, err
	}
	left, err := s.restoreTarget(ctx, client, *in)
	if err != nil {
		return true, err
	}
	if _, err = s.appendEvents(ctx, *in); err == nil && left {
		err = s.tree.recordRest(ctx, client)
	}
	return true, err
}

// read returns the unfinished intent on disk, or nil.
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

// restoreTarget restores the workspace to the intent's target. It reports whether paths
// that no snapshot holds still differ from it.
func (s *intents) restoreTarget(ctx context.Context, client *guest.Client, in Intent) (left bool, err error) {
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

// Revert restores the tree from before an intent and moves the paths that were put
// aside for it back. The caller holds the tree.
func (s *intents) Revert(ctx context.Context, client *guest.Client, in Intent) error {
	if err := returnToTrash(ctx, client, in.Back); err != nil {
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
