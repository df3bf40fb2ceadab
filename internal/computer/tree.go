package computer

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// lockTree waits for its turn at the workspace: one scan or restore at a time.
func (c *Computer) lockTree(ctx context.Context) (unlock func(), err error) {
	select {
	case c.tree <- struct{}{}:
		return func() { <-c.tree }, nil
	case <-ctx.Done():
		return nil, choir.Wrap("computer.tree", choir.CodeTimeout, ctx.Err(), "wait for the workspace")
	}
}

// scan takes the workspace as it is into the store; only the given folders are
// looked at, when there are any. The caller holds the tree.
func (c *Computer) scan(ctx context.Context, only ...string) (snapshot.Result, *guest.Client, error) {
	client, err := c.roles.LookedAt(ctx)
	if err != nil {
		return snapshot.Result{}, nil, err
	}
	res, err := c.scanWith(ctx, client, only)
	return res, client, err
}

// scanPatience is how long one look at the workspace may take.
const scanPatience = 10 * time.Minute

// scanWith is scan with a client that is at hand; code too_large when the look takes
// too long.
func (c *Computer) scanWith(ctx context.Context, client *guest.Client, only []string) (snapshot.Result, error) {
	defer c.at.does(workLooking)()
	patience := cmp.Or(c.cfg.Patience.Scan, scanPatience)
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	res, err := client.ScanOnly(bounded, c.keeper, only)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		err = &choir.Error{Op: "computer.scan", Code: choir.CodeTooLarge, Msg: "the workspace could not be read within " + patience.String(),
			Remedy: "remove what is large from it, or lower storage.workspace_mb and storage.entries", Err: err}
	}
	return res, err
}

// record makes drafts of what differs between the last snapshot in the log and
// the one just taken. There are none when nothing differs, unless always.
func (c *Computer) record(ctx context.Context, now snapshot.Result, reason string, always bool) ([]choir.Draft, error) {
	last, err := c.lastSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	caches, err := c.leftOut(ctx, now)
	if err != nil || last == now.Root && !always && caches == nil {
		return nil, err
	}
	var payloads []choir.Payload
	if caches != nil {
		payloads = append(payloads, caches)
	}
	if last != now.Root {
		changes, err := c.changes(ctx, last, now.Root)
		if err != nil {
			return nil, err
		}
		payloads = append(payloads, fileEvents(changes, now.Root)...)
	}
	return c.events.Drafts(append(payloads, taken(now, reason)))
}

func taken(now snapshot.Result, reason string) choir.SnapshotTaken {
	return choir.SnapshotTaken{Snapshot: now.Root, Reason: reason, Files: now.Files, Bytes: now.Bytes}
}

// recordFor is record, with the task that runs as the one who changed it, and
// appends the drafts.
func (c *Computer) recordFor(ctx context.Context, now snapshot.Result, reason string, t *eventstore.Task) error {
	drafts, err := c.record(ctx, now, reason, false)
	if err != nil {
		return err
	}
	return c.appendAll(ctx, choir.RoleControl, forTask(drafts, t))
}

// forTask says of drafts that they belong to a task; nil is none.
func forTask(drafts []choir.Draft, t *eventstore.Task) []choir.Draft {
	for i := range drafts {
		if t != nil {
			drafts[i] = drafts[i].ForRun(t.Run, t.ID)
		}
	}
	return drafts
}

// begun is the task that works in the workspace now, or nil. The caller holds
// the tree, so that none begins meanwhile.
func (c *Computer) begun(ctx context.Context) (*eventstore.Task, error) {
	open, err := c.store.OpenTasks(ctx)
	for i := range open {
		if open[i].Base != "" {
			return &open[i], err
		}
	}
	return nil, err
}

// mustBeIdle refuses while a task works, or waits to work, in the workspace.
func (c *Computer) mustBeIdle(ctx context.Context) error {
	open, err := c.store.OpenTasks(ctx)
	if err != nil || len(open) == 0 {
		return err
	}
	return choir.E("computer.tree", choir.CodeConflict, "a task is running in the workspace").
		WithRemedy("wait for it, or stop its run: choir run %s --cancel", open[0].Run)
}

// changes lists what differs between two snapshots; from the empty one, every
// path of the other.
func (c *Computer) changes(ctx context.Context, from, to choir.Digest) ([]snapshot.Change, error) {
	if from != "" {
		out, err := snapshot.Diff(ctx, c.keeper, from, to)
		if choir.CodeOf(err) == choir.CodeCorrupt {
			return c.changesFromLog(ctx, to)
		}
		return out, err
	}
	var out []snapshot.Change
	err := snapshot.Walk(ctx, c.keeper, to, func(path string, e *snapshot.Entry) error {
		if path != "" {
			after := *e
			out = append(out, snapshot.Change{Path: path, Kind: choir.ChangeAdded, After: &after})
		}
		return nil
	})
	return out, err
}

// changesFromLog is changes from the last snapshot to another when a folder of
// the last is damaged: the log lists what was in it, except in .git folders.
func (c *Computer) changesFromLog(ctx context.Context, to choir.Digest) ([]snapshot.Change, error) {
	known := map[string]choir.FileState{}
	for after := ""; ; {
		files, err := c.store.Files(ctx, 0, "", choir.MaxEventsAfter, after)
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
	err := snapshot.Walk(ctx, c.keeper, to, func(path string, e *snapshot.Entry) error {
		before, there := known[path]
		delete(known, path)
		if path != "" && !inGit(path) && (!there || before != e.State(path)) {
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

// lastSnapshot is the newest snapshot the log knows; empty when there is none.
func (c *Computer) lastSnapshot(ctx context.Context) (choir.Digest, error) {
	head, _ := c.store.Head()
	s, _, err := c.store.SnapshotAt(ctx, head)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", nil
	}
	return s.Snapshot, err
}

// appendAll appends any number of drafts, in batches that fit one append.
func (c *Computer) appendAll(ctx context.Context, role choir.Role, drafts []choir.Draft) error {
	for len(drafts) > 0 {
		n := min(len(drafts), choir.MaxDrafts)
		if _, err := c.store.Append(ctx, role, drafts[:n]...); err != nil {
			return err
		}
		drafts = drafts[n:]
	}
	return nil
}

// appendChanges appends drafts of record in their order: those of files as the
// role's, the others as the control plane's.
func (c *Computer) appendChanges(ctx context.Context, role choir.Role, drafts []choir.Draft) error {
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
		if err := c.appendAll(ctx, as, drafts[:n]); err != nil {
			return err
		}
		drafts = drafts[n:]
	}
	return nil
}

func inGit(path string) bool {
	return path == ".git" || strings.HasPrefix(path, ".git/") || strings.Contains(path, "/.git/") || strings.HasSuffix(path, "/.git")
}
