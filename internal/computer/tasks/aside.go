package tasks

import (
	"context"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// Offered is the change that a started task would leave in the workspace.
type Offered struct {
	Task eventstore.Task
	// Snapshot is the task's base with what the task changed, without what the owner and other
	// tasks changed meanwhile.
	Snapshot choir.Digest
	Changes  []snapshot.Change // from the base to Snapshot, without times
	// Conflicts are paths that both the task and the owner wrote; they are not in Snapshot.
	Conflicts []string
}

// TakeAside calls decide with what a started task changed. If that returns a draft, it rolls the
// task back and appends the draft, of the task, in place of the task's result, and reports that
// it did. With drop it rolls the task back and appends nothing. It holds the tree's lock
// meanwhile. Errors are those of Rollback; what one cuts off, as a crash does, the next call or
// start of the task ends, without another decision.
func (c *Changes) TakeAside(ctx context.Context, id choir.ID, decide func(context.Context, Offered) (held choir.Payload, drop bool, err error)) (bool, error) {
	t, unlock, err := c.lockStarted(ctx, id)
	if err != nil {
		return false, err
	}
	defer unlock()
	if found, held, err := c.finishAside(ctx, &t); found || err != nil {
		return held, err
	}
	var offered Offered
	if t.InWorktree() {
		offered, _, err = c.copies.offeredByCopy(ctx, &t)
	} else if now, _, serr := c.workspace.Scan(ctx); serr != nil {
		return false, serr
	} else {
		offered, err = c.offered(ctx, &t, now.Root)
	}
	if err != nil || len(offered.Changes) == 0 {
		return false, err
	}
	held, drop, err := decide(ctx, offered)
	if err != nil || held == nil && !drop {
		return false, err
	}
	var note asideNote
	if held != nil {
		d, err := choir.NewDraft(choir.DeriveID(id, "held"), held)
		if err != nil {
			return false, err
		}
		d = d.ForRun(t.Run, t.ID)
		note.Held = &d
	}
	if t.InWorktree() { // nothing of it is in the workspace
		if note.Held != nil {
			_, err = c.events.AppendAs(ctx, choir.RoleControl, *note.Held)
		}
		return note.Held != nil && err == nil, err
	}
	if err := c.notes.write(id, note); err != nil {
		return false, err
	}
	return c.carryOutAside(ctx, &t, note)
}

// offered returns what a started task changed up to the tree now.
func (c *Changes) offered(ctx context.Context, t *eventstore.Task, now choir.Digest) (Offered, error) {
	out := Offered{Task: *t}
	w, err := c.rollbacks.writersOf(ctx, t, now)
	if err != nil {
		return out, err
	}
	all, err := snapshot.Diff(ctx, c.keeper, t.Base, now)
	if err != nil {
		return out, err
	}
	out.Conflicts = w.conflicts(nil)
	var paths []string
	for _, ch := range snapshot.Apart(c.workspace.Scope(t).Within(all)) {
		_, owners := w.owner[ch.Path]
		if !owners && !w.others[ch.Path] {
			paths = append(paths, ch.Path)
		}
	}
	if out.Snapshot, err = timeline.Graft(ctx, c.keeper, t.Base, now, paths); err != nil {
		return out, err
	}
	changes, err := snapshot.Diff(ctx, c.keeper, t.Base, out.Snapshot)
	out.Changes = slices.DeleteFunc(changes, func(ch snapshot.Change) bool { return ch.Path == "" || ch.TimeOnly() })
	return out, err
}
