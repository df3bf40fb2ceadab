package copies

import (
	"context"
	"errors"
	"path/filepath"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/durablefile"
	"choiros/internal/eventstore"
	"choiros/internal/fault"
	"choiros/internal/snapshot"
)

// NewComputer is a computer that is being created in a folder of its own.
type NewComputer struct {
	ID, User  choir.ID
	Name      string
	Dir       string
	OpenBlobs func(dir string) (blob.Store, error)
	Now       func() choir.Time
	NewID     func() (choir.ID, error)
}

// RestoreFile is the name of a file in a computer's folder that says that the workspace is
// still to be filled with the last snapshot of the log.
const RestoreFile = "restore"

// restoreFile is the file with that name.
var restoreFile = durablefile.Files{
	BeforeSync:       func() { fault.Point("fork.file.sync") },
	BeforeRename:     func() { fault.Point("fork.file.rename") },
	BeforeFolderSync: func() { fault.Point("fork.folder.sync") },
}

// beginning describes the first own events of a computer with an inherited past.
type beginning struct {
	ForkPoint
	first choir.Payload
	why   string // what is open in the past goes no further here
	// check looks at the past before anything follows it, and says which paths the
	// workspace lacks; nil when both are known.
	check func(*eventstore.Store) (withheld []string, err error)
}

// initLog appends the computer's first own events to its inherited log.
func (n NewComputer) initLog(ctx context.Context, blobs blob.Store, b beginning) error {
	store, err := eventstore.Open(ctx, n.Dir, eventstore.Config{Computer: n.ID, User: n.User, Now: n.Now, Blobs: blobs})
	if err != nil {
		return err
	}
	err = n.appendFirst(ctx, store, snapshot.NewKeeper(blobs), b)
	if err = errors.Join(err, store.Close()); err != nil || b.Snapshot == "" {
		return err
	}
	return choir.Wrap("computer.begin", choir.CodeUnavailable, restoreFile.Write(filepath.Join(n.Dir, RestoreFile), nil), "note that the workspace is to be filled")
}

func (n NewComputer) appendFirst(ctx context.Context, store *eventstore.Store, keeper *snapshot.Keeper, b beginning) error {
	if seq, hash := store.Head(); seq != b.Seq || hash != b.Hash {
		return choir.Refuse("computer.begin", choir.ReasonLogEndsElsewhere, choir.TextOf("event", seq), choir.TextOf("hash", hash), choir.TextOf("wanted", b.Seq), choir.TextOf("wanted_hash", b.Hash))
	}
	if b.check != nil {
		var err error
		if b.Withheld, err = b.check(store); err != nil {
			return err
		}
	}
	drafts, err := n.drafts(b.first)
	if err != nil {
		return err
	}
	tree, err := n.withholding(ctx, keeper, b.ForkPoint)
	if err != nil {
		return err
	}
	ended, err := n.endings(ctx, store, b.why)
	if err != nil {
		return err
	}
	_, err = store.Append(ctx, choir.RoleControl, append(append(drafts, tree...), ended...)...)
	return err
}

func (n NewComputer) drafts(payloads ...choir.Payload) ([]choir.Draft, error) {
	out := make([]choir.Draft, 0, len(payloads))
	for _, p := range payloads {
		id, err := n.NewID()
		if err != nil {
			return nil, err
		}
		d, err := choir.NewDraft(id, p)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// withholding returns drafts that list the files of the fork point which are not
// copied, because they look like keys.
func (n NewComputer) withholding(ctx context.Context, keeper *snapshot.Keeper, p ForkPoint) ([]choir.Draft, error) {
	if p.Snapshot == "" {
		return nil, nil
	}
	files, bytes, err := keeper.Verify(ctx, p.Snapshot)
	if err != nil || len(p.Withheld) == 0 {
		return nil, err
	}
	payloads := workspace.Removals(p.Withheld, p.Snapshot)
	return n.drafts(append(payloads, choir.SnapshotTaken{Snapshot: p.Snapshot, Reason: workspace.ReasonCreated, Files: files, Bytes: bytes})...)
}

// endings returns drafts that end the open runs and tasks of the inherited log, because
// they do not continue in this computer.
func (n NewComputer) endings(ctx context.Context, store *eventstore.Store, why string) ([]choir.Draft, error) {
	var out []choir.Draft
	tasks, err := store.OpenTasks(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		d, err := n.drafts(choir.TaskReturned{Result: unanswered(t.ID, t.Run, choir.ResultCancelled, why)})
		if err != nil {
			return nil, err
		}
		out = append(out, d[0].ForRun(t.Run, t.ID))
	}
	runs, err := store.OpenRuns(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		d, err := n.drafts(choir.RunFinished{Outcome: choir.OutcomeCancelled, Code: choir.CodeCancelled, Answer: why})
		if err != nil {
			return nil, err
		}
		out = append(out, d[0].ForRun(r.ID, ""))
	}
	return out, nil
}

// unanswered returns the result for a task that no Associate will answer.
func unanswered(task, run choir.ID, code choir.ResultCode, why string) choir.AssociateResult {
	return choir.AssociateResult{
		Version: choir.ContractVersion, TaskID: task, RunID: run, Status: choir.StatusFailed, Code: code, Summary: why,
		FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
		Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown},
	}
}
