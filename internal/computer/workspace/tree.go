package workspace

import (
	"cmp"
	"context"
	"slices"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// tree is the files of a computer with their lock and their recorded state in the log.
type tree struct {
	cfg     Config
	log     Log
	events  *appender.Appender // appends to log
	keeper  *snapshot.Keeper
	sandbox Sandbox
	// lock is a one-place queue for the scans and restores of the tree.
	lock chan struct{}
	// folders caches the folders that were listed or searched last.
	folders folderCache
	// at is the operation on the tree and its progress.
	at working
}

// Lock locks the tree: one goroutine at a time scans or restores it. Code timeout: the
// context ended first.
func (t *tree) Lock(ctx context.Context) (unlock func(), err error) {
	select {
	case t.lock <- struct{}{}:
		return func() { <-t.lock }, nil
	case <-ctx.Done():
		return nil, choir.Wrap("computer.tree", choir.CodeTimeout, ctx.Err(), "wait for the workspace")
	}
}

// LockIdle locks the tree if no task works in it. It returns a nil unlock while one
// does.
func (t *tree) LockIdle(ctx context.Context) (unlock func(), err error) {
	if unlock, err = t.Lock(ctx); err != nil {
		return nil, err
	}
	tasks, err := t.TasksAtWork(ctx)
	if err != nil || len(tasks) > 0 {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// lockUnwritten locks the tree if no task changes it, see TaskAtWork. It returns a nil unlock
// while one does.
func (t *tree) lockUnwritten(ctx context.Context) (unlock func(), err error) {
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

// Scan stores the tree as a snapshot and returns it with the client that scanned. With
// only, it scans just these folders. The caller holds the tree.
func (t *tree) Scan(ctx context.Context, only ...string) (snapshot.Result, *guest.Client, error) {
	client, err := t.sandbox.LookedAt(ctx)
	if err != nil {
		return snapshot.Result{}, nil, err
	}
	res, err := t.ScanWith(ctx, client, only)
	return res, client, err
}

// scanPatience is the default time limit of one scan.
const scanPatience = 10 * time.Minute

// ScanWith is Scan with a given client. Code too_large: the scan exceeds its time
// limit.
func (t *tree) ScanWith(ctx context.Context, client *guest.Client, only []string) (snapshot.Result, error) {
	defer t.at.start(WorkLooking)()
	patience := cmp.Or(t.cfg.ScanPatience, scanPatience)
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	res, err := client.ScanOnly(bounded, t.keeper, only)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		slow := choir.Refuse("computer.scan", choir.ReasonWorkspaceSlow, choir.SecondsOf("span", patience))
		slow.Err = err
		err = slow
	}
	if t.cfg.Scanned != nil {
		t.cfg.Scanned(time.Since(began), err)
	}
	return res, err
}

// ScanWorktree stores a task's worktree as a snapshot: a tree with the copy of the project at
// the project's path. Code not_found: there is none.
func (t *tree) ScanWorktree(ctx context.Context, task choir.ID) (snapshot.Result, *guest.Client, error) {
	client, err := t.sandbox.LookedAt(ctx)
	if err != nil {
		return snapshot.Result{}, nil, err
	}
	res, err := client.ScanWorktree(ctx, t.keeper, task)
	return res, client, err
}

// RestoreTree restores a snapshot, or paths of it. Meanwhile it doubles the tree's disk
// limit, because a full tree has no room for both old and new content, and a rewind is
// a way to empty it. The caller holds the tree.
func (t *tree) RestoreTree(ctx context.Context, client *guest.Client, root choir.Digest, opts guest.RestoreOptions) (snapshot.RestoreResult, error) {
	narrow, err := t.cfg.Disk.Widen()
	if err != nil {
		return snapshot.RestoreResult{}, err
	}
	done, err := client.Restore(ctx, root, t.keeper, opts)
	return done, joined(err, narrow())
}

// restore restores a snapshot completely. left reports that the tree still differs,
// because paths that no snapshot holds are in the way. The caller holds the tree.
func (t *tree) restore(ctx context.Context, client *guest.Client, target choir.Digest) (left bool, err error) {
	defer t.at.start(WorkRestoring)()
	done, err := t.RestoreTree(ctx, client, target, guest.RestoreOptions{})
	return done.Root != target, err
}

// TasksAtWork returns the tasks that work in the tree, in the order of the log. The
// caller holds the tree, so that no task starts meanwhile.
func (t *tree) TasksAtWork(ctx context.Context) ([]eventstore.Task, error) {
	open, err := t.log.OpenTasks(ctx)
	return slices.DeleteFunc(eventstore.Unheld(open), func(o eventstore.Task) bool { return o.Base == "" }), err
}

// TaskAtWork returns a task that changes the tree, or nil: those in worktrees do not. The
// caller holds the tree.
func (t *tree) TaskAtWork(ctx context.Context) (*eventstore.Task, error) {
	tasks, err := t.TasksAtWork(ctx)
	tasks = slices.DeleteFunc(tasks, func(o eventstore.Task) bool { return o.InWorktree() })
	if len(tasks) == 0 {
		return nil, err
	}
	return &tasks[0], err
}

// MustBeIdle returns code conflict while a task works in the tree or waits to.
func (t *tree) MustBeIdle(ctx context.Context) error {
	open, err := t.log.OpenTasks(ctx)
	if open = eventstore.Unheld(open); err != nil || len(open) == 0 {
		return err
	}
	return choir.Refuse("computer.tree", choir.ReasonTaskRunning, choir.TextOf("run", open[0].Run))
}

// LastSnapshot returns the newest snapshot in the log; empty if there is none.
func (t *tree) LastSnapshot(ctx context.Context) (choir.Digest, error) {
	head, _ := t.log.Head()
	s, _, err := t.log.SnapshotAt(ctx, head)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", nil
	}
	return s.Snapshot, err
}
