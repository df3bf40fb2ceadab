package computer

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/computer/syncedfile"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// ForkPoint is a moment that a computer can begin with.
type ForkPoint struct {
	Seq      uint64
	Hash     choir.Digest
	Snapshot choir.Digest // the workspace without what is withheld; empty when it had none
	Withheld []string     // paths that look like keys
}

// FindFork finds the moment after an event, 0 for now: what changed in the
// workspace since the last snapshot is recorded first, when the sandbox runs.
func (c *Computer) FindFork(ctx context.Context, seq uint64) (ForkPoint, error) {
	head, _ := c.store.Head()
	switch {
	case seq > head:
		return ForkPoint{}, choir.E("computer.fork", choir.CodeNotFound, "there is no event %d; the log ends at %d", seq, head)
	case seq == 0:
		if err := c.workspace.RecordNow(ctx); err != nil {
			return ForkPoint{}, err
		}
		seq, _ = c.store.Head()
	}
	return c.forkPoint(ctx, seq)
}

func (c *Computer) forkPoint(ctx context.Context, seq uint64) (ForkPoint, error) {
	e, err := c.store.At(ctx, seq)
	if err != nil {
		return ForkPoint{}, err
	}
	p := ForkPoint{Seq: seq, Hash: e.Hash}
	s, _, err := c.store.SnapshotAt(ctx, seq)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return p, nil
	}
	var lacking []string
	if err == nil {
		p.Snapshot, lacking, err = c.origin.Available(ctx, s.Snapshot)
	}
	if err == nil {
		p.Snapshot, p.Withheld, err = timeline.WithoutKeys(ctx, c.keeper, p.Snapshot)
		p.Withheld = slices.Sorted(slices.Values(append(p.Withheld, lacking...)))
	}
	return p, choir.Wrap("computer.fork", "", err, "the workspace after event %d", seq)
}

// ForkInto lays out, in a new folder, a computer that begins with this one's
// past up to a moment. Log and content are shared where the file system can.
func (c *Computer) ForkInto(ctx context.Context, p ForkPoint, to NewComputer) (err error) {
	c.collecting.RLock()
	defer c.collecting.RUnlock()
	reached, err := c.reach(ctx, p)
	if err != nil {
		return err
	}
	blobs, err := to.OpenBlobs(filepath.Join(to.Dir, "blobs"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, blob.Close(blobs)) }()
	if err := blob.Transfer(ctx, c.blobs, blobs, reached.Digests); err != nil {
		return err
	}
	if err := c.store.Share(ctx, to.Dir, p.Seq); err != nil {
		return err
	}
	first := choir.ComputerForked{From: c.cfg.ID, Seq: p.Seq, Hash: p.Hash, Name: to.Name}
	return to.begin(ctx, blobs, beginning{ForkPoint: p, first: first, why: "The run belongs to the computer it was forked from, and goes on there."})
}

// reach finds what leaves the computer with the past up to a moment.
func (c *Computer) reach(ctx context.Context, p ForkPoint) (timeline.Reached, error) {
	reached, err := timeline.Reach(ctx, c.store, c.keeper, p.Seq)
	if err != nil || p.Snapshot == "" {
		return reached, err
	}
	tree, err := treeDigests(ctx, c.keeper, p.Snapshot)
	reached.Digests = slices.Compact(slices.Sorted(slices.Values(append(reached.Digests, tree...))))
	return reached, err
}

// treeDigests lists every object of a tree.
func treeDigests(ctx context.Context, keeper *snapshot.Keeper, root choir.Digest) ([]choir.Digest, error) {
	seen := map[choir.Digest]bool{}
	err := snapshot.Walk(ctx, keeper, root, func(_ string, e *snapshot.Entry) error {
		if d := e.Digest(); d != "" {
			seen[d] = true
		}
		return nil
	})
	out := make([]choir.Digest, 0, len(seen))
	for d := range seen {
		out = append(out, d)
	}
	return out, err
}

// NewComputer is a computer that is being made in a folder of its own.
type NewComputer struct {
	ID, User  choir.ID
	Name      string
	Dir       string
	OpenBlobs func(dir string) (blob.Store, error)
	Now       func() choir.Time
	NewID     func() (choir.ID, error)
}

// restoreName is a file that says that the workspace is still to be filled with
// the last snapshot of the log.
const restoreName = "restore"

// beginning is how a computer with a past begins by itself.
type beginning struct {
	ForkPoint
	first choir.Payload
	why   string // what is open in the past goes no further here
	// check looks at the past before anything follows it, and says which paths the
	// workspace lacks; nil when both are known.
	check func(*eventstore.Store) (withheld []string, err error)
}

// begin appends the first events that the computer has alone, to a log and
// content that lie in its folder already.
func (n NewComputer) begin(ctx context.Context, blobs blob.Store, b beginning) error {
	store, err := eventstore.Open(ctx, n.Dir, eventstore.Config{Computer: n.ID, User: n.User, Now: n.Now, Blobs: blobs})
	if err != nil {
		return err
	}
	err = n.appendFirst(ctx, store, snapshot.NewKeeper(blobs), b)
	if err = errors.Join(err, store.Close()); err != nil || b.Snapshot == "" {
		return err
	}
	return syncedfile.Write(filepath.Join(n.Dir, restoreName), nil)
}

func (n NewComputer) appendFirst(ctx context.Context, store *eventstore.Store, keeper *snapshot.Keeper, b beginning) error {
	if seq, hash := store.Head(); seq != b.Seq || hash != b.Hash {
		return choir.E("computer.begin", choir.CodeCorrupt, "the log ends at event %d with hash %s, not at event %d with hash %s", seq, hash, b.Seq, b.Hash)
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

// withholding says which files of the moment did not come along.
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

// endings end what is open in the past: it goes on elsewhere, or nowhere.
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

// unanswered is the result of a task that nobody will answer.
func unanswered(task, run choir.ID, code choir.ResultCode, why string) choir.AssociateResult {
	return choir.AssociateResult{
		Version: choir.ContractVersion, TaskID: task, RunID: run, Status: choir.StatusFailed, Code: code, Summary: why,
		FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
		Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown},
	}
}
