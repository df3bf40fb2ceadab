package workspace

import (
	"context"
	"errors"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// Reasons of snapshots.
const (
	// ReasonCreated is the reason of the first snapshot of a new tree.
	ReasonCreated = "created"
	// ReasonOutside is the reason of a snapshot with changes by no task and by no
	// request of the API.
	ReasonOutside = "changed_outside"
)

// Record returns the drafts that record the differences between the last snapshot
// in the log and the scan now. Without differences there are none, unless always is
// set.
func (t *tree) Record(ctx context.Context, now snapshot.Result, reason string, always bool) ([]choir.Draft, error) {
	last, err := t.LastSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	caches, err := t.leftOutEvent(ctx, now)
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

// RecordFor appends the drafts of Record as changes of a task, or of nobody if
// task is nil.
func (t *tree) RecordFor(ctx context.Context, now snapshot.Result, reason string, task *eventstore.Task) error {
	return t.RecordTask(ctx, now, reason, false, task, "")
}

// RecordTask appends the differences between the last snapshot in the log and the new
// one. Those in the task's scope are the task's, caused by an event; for others see
// divide. Nothing is appended when nothing differs, unless always. A nil task has no
// scope, and all is nobody's.
func (t *tree) RecordTask(ctx context.Context, now snapshot.Result, reason string, always bool, task *eventstore.Task, cause choir.ID) error {
	d, err := t.unrecorded(ctx, now)
	if err != nil || !d.differs && !always {
		return err
	}
	scoped := task
	if d.last == "" {
		scoped = withoutScope(task) // the first look at a tree is nobody's change
	}
	parts, err := t.divide(ctx, d.changes, scoped, cause)
	if err != nil {
		return err
	}
	return t.appendParts(ctx, d.first, parts, now, reason, task, cause)
}

// recordOutside appends the unrecorded changes of a scan that no task asked for, as those
// of the tasks at work, each within its scope.
func (t *tree) recordOutside(ctx context.Context, now snapshot.Result) error {
	d, err := t.unrecorded(ctx, now)
	if err != nil || !d.differs {
		return err
	}
	parts, of, err := t.divideAmong(ctx, d.changes)
	if err != nil {
		return err
	}
	return t.appendParts(ctx, d.first, parts, now, ReasonOutside, of, "")
}

// divideAmong divides changes among the tasks at work, see divide. It also returns the
// task that works alone, nil for none or several.
func (t *tree) divideAmong(ctx context.Context, changes []snapshot.Change) (parts []part, alone *eventstore.Task, err error) {
	tasks, err := t.TasksAtWork(ctx)
	if err != nil {
		return nil, nil, err
	}
	tasks = slices.DeleteFunc(tasks, func(o eventstore.Task) bool { return o.InWorktree() })
	var one *eventstore.Task // whose part comes first
	if len(tasks) > 0 {
		one = &tasks[0]
	}
	if len(tasks) == 1 {
		alone = one
	}
	parts, err = t.divide(ctx, changes, one, "")
	return parts, alone, err
}

// RecordOwnersBeside appends the unrecorded changes of a scan as the owner's, except
// those in the scopes of the tasks at work other than task.
func (t *tree) RecordOwnersBeside(ctx context.Context, now snapshot.Result, task *eventstore.Task) error {
	d, err := t.unrecorded(ctx, now)
	if err != nil || !d.differs {
		return err
	}
	parts, rest, err := t.ofOthers(ctx, d.changes, task)
	if err != nil {
		return err
	}
	return t.appendParts(ctx, d.first, append(parts, part{changes: rest, role: choir.RoleCLI}), now, ReasonOutside, nil, "")
}

// difference is the unrecorded state that a scan found.
type difference struct {
	last    choir.Digest    // the last snapshot in the log; empty for none
	first   []choir.Payload // the event about left-out paths, if those are others now
	changes []snapshot.Change
	differs bool // there is something to record
}

// unrecorded returns the difference between a scan and the log.
func (t *tree) unrecorded(ctx context.Context, now snapshot.Result) (d difference, err error) {
	if d.last, err = t.LastSnapshot(ctx); err != nil {
		return d, err
	}
	caches, err := t.leftOutEvent(ctx, now)
	if err != nil {
		return d, err
	}
	if caches != nil {
		d.first = []choir.Payload{caches}
	}
	d.differs = d.last != now.Root || caches != nil
	if d.last != now.Root {
		d.changes, err = t.Changes(ctx, d.last, now.Root)
	}
	return d, err
}

// appendParts appends first, then the changes of the parts, each as its author's, and
// then the snapshot that holds them. The first and the snapshot are events of the task
// of, unless it is nil, with a cause.
func (t *tree) appendParts(ctx context.Context, first []choir.Payload, parts []part, now snapshot.Result, reason string, of *eventstore.Task, cause choir.ID) error {
	drafts, err := t.events.Drafts(first)
	if err != nil {
		return err
	}
	drafts = causedBy(ForTask(drafts, of), cause)
	// Changes without their snapshot would be told once more.
	ctx = context.WithoutCancel(ctx)
	for _, p := range parts {
		theirs, err := t.events.Drafts(FileEvents(p.changes, now.Root))
		if err != nil {
			return err
		}
		theirs = causedBy(ForTask(theirs, p.task), p.cause)
		if p.role == choir.RoleControl || len(theirs) == 0 {
			drafts = append(drafts, theirs...)
			continue
		}
		if err = t.AppendAll(ctx, choir.RoleControl, drafts); err == nil {
			err = t.appendDurable(ctx, p.role, theirs)
		}
		if err != nil {
			return err
		}
		drafts = nil
	}
	end, err := t.events.Drafts([]choir.Payload{taken(now, reason)})
	if err != nil {
		return err
	}
	return t.AppendAll(ctx, choir.RoleControl, append(drafts, causedBy(ForTask(end, of), cause)...))
}

// ForTask sets the run and the task of all drafts and returns them. A nil task leaves
// them unchanged.
func ForTask(drafts []choir.Draft, task *eventstore.Task) []choir.Draft {
	for i := range drafts {
		if task != nil {
			drafts[i] = drafts[i].ForRun(task.Run, task.ID)
		}
	}
	return drafts
}

func causedBy(drafts []choir.Draft, cause choir.ID) []choir.Draft {
	for i := range drafts {
		drafts[i] = drafts[i].CausedBy(cause)
	}
	return drafts
}

// RecordNow scans the tree and appends unrecorded changes, as those of the tasks that
// work in it, if any. It does nothing if the sandbox does not run.
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
	return t.recordOutside(ctx, now)
}

// RecordOwners appends the unrecorded changes of a scan as the owner's. The first scan
// of a new tree is recorded as nobody's.
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
	ctx = context.WithoutCancel(ctx) // as in appendParts
	if err := t.appendDurable(ctx, choir.RoleCLI, drafts[:len(drafts)-1]); err != nil {
		return err
	}
	return t.AppendAll(ctx, choir.RoleControl, drafts[len(drafts)-1:])
}

// recordRest scans the tree after a restore and appends the remaining differences from
// the target as nobody's. The caller holds the tree.
func (t *tree) recordRest(ctx context.Context, client *guest.Client) error {
	now, err := t.ScanWith(ctx, client, nil)
	if err != nil {
		return err
	}
	return t.RecordFor(ctx, now, ReasonOutside, nil)
}

// Changes lists the differences between two snapshots. If from is empty it lists every
// path of to.
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

// changesFromLog does the work of Changes from the last snapshot when a folder of that
// is damaged: it takes the former files from the log, which lacks those in .git
// folders.
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

// AppendAll appends any number of drafts, in several appends if necessary.
func (t *tree) AppendAll(ctx context.Context, role choir.Role, drafts []choir.Draft) error {
	for some := range slices.Chunk(drafts, choir.MaxDrafts) {
		if _, err := t.log.Append(ctx, role, some...); err != nil {
			return err
		}
	}
	return nil
}

// appendDurable is AppendAll for drafts that nobody waits for: it is no error that the
// replica does not have them yet. It gets them before the next event that is waited for.
func (t *tree) appendDurable(ctx context.Context, role choir.Role, drafts []choir.Draft) error {
	for some := range slices.Chunk(drafts, choir.MaxDrafts) {
		if _, err := t.log.Append(ctx, role, some...); err != nil && !errors.Is(err, eventstore.ErrNotReplicated) {
			return err
		}
	}
	return nil
}

// AppendChanges appends the drafts of Record in order: file events under the
// role, others under the control plane.
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
