package workspace

import (
	"cmp"
	"context"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// tree is the tree of files with its lock, and what the log knows of it.
type tree struct {
	cfg     Config
	log     Log
	events  *appender.Appender // appends to log
	keeper  *snapshot.Keeper
	sandbox Sandbox
	// lock is a one-place queue for whoever scans or restores the tree.
	lock chan struct{}
	// folders are those that were listed or searched last.
	folders folderCache
	// at is what is done to the tree, and how far it is.
	at working
}

// Lock waits for the tree: one goroutine scans or restores it at a time. Code
// timeout when the context ends first.
func (t *tree) Lock(ctx context.Context) (unlock func(), err error) {
	select {
	case t.lock <- struct{}{}:
		return func() { <-t.lock }, nil
	case <-ctx.Done():
		return nil, choir.Wrap("computer.tree", choir.CodeTimeout, ctx.Err(), "wait for the workspace")
	}
}

// LockIdle is Lock when no task works in the tree. It returns nil while one does.
func (t *tree) LockIdle(ctx context.Context) (unlock func(), err error) {
	if unlock, err = t.Lock(ctx); err != nil {
		return nil, err
	}
	task, err := t.TaskAtWork(ctx)
	if err != nil || task != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// Scan stores the tree as it is and returns its snapshot, with the client that
// scanned it; only the given folders are looked at, when there are any. The caller
// holds the tree.
func (t *tree) Scan(ctx context.Context, only ...string) (snapshot.Result, *guest.Client, error) {
	client, err := t.sandbox.LookedAt(ctx)
	if err != nil {
		return snapshot.Result{}, nil, err
	}
	res, err := t.ScanWith(ctx, client, only)
	return res, client, err
}

// scanPatience is how long one look at the tree may take.
const scanPatience = 10 * time.Minute

// ScanWith is Scan with a client that is at hand. Code too_large when the look takes
// too long.
func (t *tree) ScanWith(ctx context.Context, client *guest.Client, only []string) (snapshot.Result, error) {
	defer t.at.does(WorkLooking)()
	patience := cmp.Or(t.cfg.ScanPatience, scanPatience)
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	res, err := client.ScanOnly(bounded, t.keeper, only)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		err = &choir.Error{Op: "computer.scan", Code: choir.CodeTooLarge, Msg: "the workspace could not be read within " + patience.String(),
			Remedy: "remove what is large from it, or lower storage.workspace_mb and storage.entries", Err: err}
	}
	if t.cfg.Scanned != nil {
		t.cfg.Scanned(time.Since(began), err)
	}
	return res, err
}

// RestoreTree restores a snapshot, or paths of it. Meanwhile the tree may take twice
// its disk limit: a full one has no room for what is restored until what it replaces
// is gone, and a rewind is how it is emptied. The caller holds the tree.
func (t *tree) RestoreTree(ctx context.Context, client *guest.Client, root choir.Digest, opts guest.RestoreOptions) (snapshot.RestoreResult, error) {
	narrow, err := t.cfg.Disk.Widen()
	if err != nil {
		return snapshot.RestoreResult{}, err
	}
	done, err := client.Restore(ctx, root, t.keeper, opts)
	return done, joined(err, narrow())
}

// restore makes the tree what a snapshot says. It reports whether more of it
// than was known could not be, because no snapshot holds what is in the way. The
// caller holds the tree.
func (t *tree) restore(ctx context.Context, client *guest.Client, target choir.Digest) (left bool, err error) {
	defer t.at.does(WorkRestoring)()
	done, err := t.RestoreTree(ctx, client, target, guest.RestoreOptions{})
	return done.Root != target, err
}

// TaskAtWork returns the task that works in the tree now, or nil. The caller holds
// the tree, so that none begins meanwhile.
func (t *tree) TaskAtWork(ctx context.Context) (*eventstore.Task, error) {
	open, err := t.log.OpenTasks(ctx)
	for i := range open {
		if open[i].Base != "" {
			return &open[i], err
		}
	}
	return nil, err
}

// MustBeIdle refuses, with code conflict, while a task works in the tree, or waits
// to.
func (t *tree) MustBeIdle(ctx context.Context) error {
	open, err := t.log.OpenTasks(ctx)
	if err != nil || len(open) == 0 {
		return err
	}
	return choir.E("computer.tree", choir.CodeConflict, "a task is running in the workspace").
		WithRemedy("wait for it, or stop its run: choir run %s --cancel", open[0].Run)
}

// LastSnapshot returns the newest snapshot that the log knows; empty when there is
// none.
func (t *tree) LastSnapshot(ctx context.Context) (choir.Digest, error) {
	head, _ := t.log.Head()
	s, _, err := t.log.SnapshotAt(ctx, head)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", nil
	}
	return s.Snapshot, err
}
