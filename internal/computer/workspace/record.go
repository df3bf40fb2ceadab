package workspace

import (
	"context"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// Reasons of snapshots.
const (
	// ReasonCreated is that of the first snapshot of a new tree.
	ReasonCreated = "created"
	// ReasonOutside is that of changes that no task and nobody in the API made.
	ReasonOutside = "changed_outside"
)

// Record makes drafts of what differs between the last snapshot in the log and the
// one just taken. There are none when nothing differs, unless always.
func (t *tree) Record(ctx context.Context, now snapshot.Result, reason string, always bool) ([]choir.Draft, error) {
	last, err := t.LastSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	caches, err := t.leftOut(ctx, now)
	if err != nil || last == now.Root && !always && caches == nil {
		return nil, err
	}
	var payloads []choir.Payload
	if caches != nil {
		payloads = append(payloads, caches)
	}
	if last != now.Root {
		changes, err := t.Changes(ctx, last, now.Root)
		if err != nil {
			return nil, err
		}
		payloads = append(payloads, FileEvents(changes, now.Root)...)
	}
	return t.events.Drafts(append(payloads, taken(now, reason)))
}

func taken(now snapshot.Result, reason string) choir.SnapshotTaken {
	return choir.SnapshotTaken{Snapshot: now.Root, Reason: reason, Files: now.Files, Bytes: now.Bytes}
}

// RecordFor appends what Record makes, as changed by a task; nil is none.
func (t *tree) RecordFor(ctx context.Context, now snapshot.Result, reason string, task *eventstore.Task) error {
	drafts, err := t.Record(ctx, now, reason, false)
	if err != nil {
		return err
	}
	return t.AppendAll(ctx, choir.RoleControl, ForTask(drafts, task))
}

// ForTask says of drafts that they belong to a task, and returns them; nil is none.
func ForTask(drafts []choir.Draft, task *eventstore.Task) []choir.Draft {
	for i := range drafts {
		if task != nil {
			drafts[i] = drafts[i].ForRun(task.Run, task.ID)
		}
	}
	return drafts
}

// RecordNow scans the tree and appends what nobody recorded yet, as changed by the
// task that works in it, when one does. A sandbox that does not run has nothing to
// tell.
func (t *tree) RecordNow(ctx context.Context) error {
	unlock, err := t.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	now, _, err := t.Scan(ctx)
	if choir.CodeOf(err) == choir.CodeUnavailable {
		return nil
	}
	if err != nil {
		return err
	}
	task, err := t.TaskAtWork(ctx)
	if err != nil {
		return err
	}
	return t.RecordFor(ctx, now, ReasonOutside, task)
}

// RecordOwners appends what nobody recorded yet as changed by the owner; the first
// look at a new tree is nobody's change.
func (t *tree) RecordOwners(ctx context.Context, now snapshot.Result) error {
	last, err := t.LastSnapshot(ctx)
	if err != nil {
		return err
	}
	reason := ReasonOutside
	if last == "" {
		reason = ReasonCreated
	}
	drafts, err := t.Record(ctx, now, reason, false)
	if err != nil || len(drafts) == 0 {
		return err
	}
	if last == "" {
		return t.AppendAll(ctx, choir.RoleControl, drafts)
	}
	if drafts[0].Type == choir.TypeCachesLeftOut {
		if err := t.AppendAll(ctx, choir.RoleControl, drafts[:1]); err != nil {
			return err
		}
		drafts = drafts[1:]
	}
	if err := t.AppendAll(ctx, choir.RoleCLI, drafts[:len(drafts)-1]); err != nil {
		return err
	}
	return t.AppendAll(ctx, choir.RoleControl, drafts[len(drafts)-1:])
}

// recordRest scans the tree and appends, as nobody's, how it differs from what a
// restore was to make of it. The caller holds the tree.
func (t *tree) recordRest(ctx context.Context, client *guest.Client) error {
	now, err := t.ScanWith(ctx, client, nil)
	if err != nil {
		return err
	}
	return t.RecordFor(ctx, now, ReasonOutside, nil)
}

// Changes lists what differs between two snapshots; from the empty one, every path
// of the other.
func (t *tree) Changes(ctx context.Context, from, to choir.Digest) ([]snapshot.Change, error) {
	if from != "" {
		out, err := snapshot.Diff(ctx, t.keeper, from, to)
		if choir.CodeOf(err) == choir.CodeCorrupt {
			return t.changesFromLog(ctx, to)
		}
		return out, err
	}
	var out []snapshot.Change
	err := snapshot.Walk(ctx, t.keeper, to, func(path string, e *snapshot.Entry) error {
		if path != "" {
			after := *e
			out = append(out, snapshot.Change{Path: path, Kind: choir.ChangeAdded, After: &after})
		}
		return nil
	})
	return out, err
}

// changesFromLog is Changes from the last snapshot to another when a folder of the
// last is damaged: the log lists what was in it, except in .git folders.
func (t *tree) changesFromLog(ctx context.Context, to choir.Digest) ([]snapshot.Change, error) {
	known := map[string]choir.FileState{}
	for after := ""; ; {
		files, err := t.log.Files(ctx, 0, "", choir.MaxEventsAfter, after)
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			break
		}
		for _, f := range files {
			known[f.Path], after = f, f.Path
		}
	}
	var out []snapshot.Change
	err := snapshot.Walk(ctx, t.keeper, to, func(path string, e *snapshot.Entry) error {
		before, there := known[path]
		delete(known, path)
		if path != "" && !InGit(path) && (!there || before != e.State(path)) {
			now := *e
			out = append(out, snapshot.Change{Path: path, Kind: choir.ChangeAdded, After: &now})
		}
		return nil
	})
	for path := range known {
		out = append(out, snapshot.Change{Path: path, Kind: choir.ChangeDeleted, Before: &snapshot.Entry{}})
	}
	slices.SortFunc(out, func(a, b snapshot.Change) int { return strings.Compare(a.Path, b.Path) })
	return out, err
}

// AppendAll appends any number of drafts, in batches that fit one append.
func (t *tree) AppendAll(ctx context.Context, role choir.Role, drafts []choir.Draft) error {
	for len(drafts) > 0 {
		n := min(len(drafts), choir.MaxDrafts)
		if _, err := t.log.Append(ctx, role, drafts[:n]...); err != nil {
			return err
		}
		drafts = drafts[n:]
	}
	return nil
}

// AppendChanges appends drafts of Record in their order: those of files as the
// role's, the others as the control plane's.
func (t *tree) AppendChanges(ctx context.Context, role choir.Role, drafts []choir.Draft) error {
	ofFiles := func(d choir.Draft) bool { return d.Type == choir.TypeFileWritten || d.Type == choir.TypeFileRemoved }
	for len(drafts) > 0 {
		as, files := choir.RoleControl, ofFiles(drafts[0])
		if files {
			as = role
		}
		n := slices.IndexFunc(drafts, func(d choir.Draft) bool { return ofFiles(d) != files })
		if n < 0 {
			n = len(drafts)
		}
		if err := t.AppendAll(ctx, as, drafts[:n]); err != nil {
			return err
		}
		drafts = drafts[n:]
	}
	return nil
}
