package workspace

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// remover deletes what removeLater moved to the folder snapshot.Removing, in the
// background and without holding the tree, because deleting a large folder takes long.
// It is a service.
type remover struct {
	tree  *tree
	due   chan struct{} // capacity 1
	since atomic.Int64  // choir.Time; 0 while nothing is removed
	count atomic.Int64  // paths removed so far
}

func newRemover(t *tree) *remover { return &remover{tree: t, due: make(chan struct{}, 1)} }

func (*remover) String() string { return "remover" }

// wake makes the service check for pending removals.
func (r *remover) wake() {
	select {
	case r.due <- struct{}{}:
	default:
	}
}

// Serve deletes pending removals until the context ends. The next start of the sandbox
// continues with the rest.
func (r *remover) Serve(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.due:
		}
		if err := r.sweep(ctx); err != nil && ctx.Err() == nil {
			r.tree.cfg.Logger.Warn("not all could be removed", "computer", r.tree.cfg.Computer, "error", err)
		}
	}
}

// sweep deletes all pending removals.
func (r *remover) sweep(ctx context.Context) error {
	client, err := r.tree.sandbox.Guest(ctx)
	if err != nil {
		return err
	}
	defer r.since.Store(0)
	r.count.Store(0)
	for {
		waiting, err := waitingRemovals(ctx, client)
		if err != nil {
			return Ignore(err, choir.CodeNotFound)
		}
		if len(waiting) == 0 {
			return r.removeFolder(ctx, client)
		}
		r.since.CompareAndSwap(0, int64(choir.TimeOf(time.Now())))
		for _, path := range waiting {
			before := r.count.Load()
			err := client.RemoveTree(ctx, path, func(n int64) { r.count.Store(before + n) })
			if err := Ignore(err, choir.CodeNotFound); err != nil {
				return err
			}
		}
	}
}

// removingNote is the .gitignore file that hides pending removals from git.
const removingNote = snapshot.Removing + "/.gitignore"

// waitingRemovals lists the pending removals.
func waitingRemovals(ctx context.Context, client *guest.Client) ([]string, error) {
	page, err := client.List(ctx, snapshot.Removing, "", 0)
	var out []string
	if err == nil {
		for _, e := range page.Entries {
			if e.Path != removingNote {
				out = append(out, e.Path)
			}
		}
	}
	return out, err
}

// removeFolder removes the folder of pending removals if it is empty.
func (r *remover) removeFolder(ctx context.Context, client *guest.Client) error {
	unlock, err := r.tree.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	waiting, err := waitingRemovals(ctx, client)
	if len(waiting) > 0 {
		r.wake()
	}
	if err != nil || len(waiting) > 0 {
		return Ignore(err, choir.CodeNotFound)
	}
	if err := Ignore(client.Remove(ctx, removingNote, false), choir.CodeNotFound); err != nil {
		return err
	}
	return Ignore(client.Remove(ctx, snapshot.Removing, false), choir.CodeConflict)
}

// work describes the removal in progress; nil if there is none.
func (r *remover) work() *Work {
	since := r.since.Load()
	if since == 0 {
		return nil
	}
	return &Work{Kind: WorkRemoving, Entries: r.count.Load(), Since: choir.Time(since)}
}

// removeLater moves a path out of the tree and schedules its deletion. The caller holds
// the tree.
func (r *remover) removeLater(ctx context.Context, client *guest.Client, path string) error {
	id, err := r.tree.events.NewID()
	if err != nil {
		return err
	}
	to := snapshot.Removing + "/" + string(id)
	if err := makeParents(ctx, client, to); err != nil {
		return err
	}
	if _, err := client.WriteFile(ctx, removingNote, 0, strings.NewReader("*\n")); err != nil {
		return err
	}
	defer r.wake()
	return client.Rename(ctx, path, to)
}
