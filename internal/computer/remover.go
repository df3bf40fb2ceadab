package computer

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// remover removes for good what was moved to snapshot.Removing, beside the calls
// that asked for it and without holding the tree: a deep or large folder takes
// longer than a caller waits. It is a service.
type remover struct {
	c     *Computer
	due   chan struct{} // capacity 1
	since atomic.Int64  // choir.Time; 0 while nothing is removed
	count atomic.Int64  // paths removed so far
}

func newRemover(c *Computer) *remover { return &remover{c: c, due: make(chan struct{}, 1)} }

func (*remover) String() string { return "remover" }

// wake has the service look whether something is to be removed.
func (r *remover) wake() {
	select {
	case r.due <- struct{}{}:
	default:
	}
}

// Serve removes until the context ends. What it does not finish it does at the next
// start of the sandbox.
func (r *remover) Serve(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.due:
		}
		if err := r.sweep(ctx); err != nil && ctx.Err() == nil {
			r.c.cfg.Log.Warn("not all could be removed", "computer", r.c.cfg.ID, "error", err)
		}
	}
}

// sweep removes everything that waits for it.
func (r *remover) sweep(ctx context.Context) error {
	client, err := r.c.roles.Guest(ctx)
	if err != nil {
		return err
	}
	defer r.since.Store(0)
	r.count.Store(0)
	for {
		waiting, err := waitingRemovals(ctx, client)
		if err != nil {
			return ignore(err, choir.CodeNotFound)
		}
		if len(waiting) == 0 {
			return r.close(ctx, client)
		}
		r.since.CompareAndSwap(0, int64(choir.TimeOf(time.Now())))
		for _, path := range waiting {
			before := r.count.Load()
			err := client.RemoveTree(ctx, path, func(n int64) { r.count.Store(before + n) })
			if err := ignore(err, choir.CodeNotFound); err != nil {
				return err
			}
		}
	}
}

// removingNote keeps git away from what is being removed.
const removingNote = snapshot.Removing + "/.gitignore"

// waitingRemovals lists what is to be removed.
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

// close removes the folder itself unless something new waits in it.
func (r *remover) close(ctx context.Context, client *guest.Client) error {
	unlock, err := r.c.lockTree(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	waiting, err := waitingRemovals(ctx, client)
	if len(waiting) > 0 {
		r.wake()
	}
	if err != nil || len(waiting) > 0 {
		return ignore(err, choir.CodeNotFound)
	}
	if err := ignore(client.Remove(ctx, removingNote, false), choir.CodeNotFound); err != nil {
		return err
	}
	return ignore(client.Remove(ctx, snapshot.Removing, false), choir.CodeConflict)
}

// work is what is being removed; nil for nothing.
func (r *remover) work() *Work {
	since := r.since.Load()
	if since == 0 {
		return nil
	}
	return &Work{Kind: workRemoving, Entries: r.count.Load(), Since: choir.Time(since)}
}

// removeLater takes a path out of the tree by rename and has it removed. The caller
// holds the tree.
func (c *Computer) removeLater(ctx context.Context, client *guest.Client, path string) error {
	id, err := c.newID()
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
	defer c.remover.wake()
	return client.Rename(ctx, path, to)
}
