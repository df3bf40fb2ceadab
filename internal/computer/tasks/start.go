package tasks

import (
	"context"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/snapshot"
)

// Start appends that a task begins. The current snapshot becomes its base, to which a
// rollback leads; a redelivered task keeps its first base. The reply lists the changes
// between the snapshot since and the base, unless since is empty. Nothing has begun with a
// reply that has Aside. Code unavailable: another task works whose scope overlaps this one's.
func (c *Changes) Start(ctx context.Context, id choir.ID, since choir.Digest) (choir.TaskBeginReply, error) {
	return c.start(ctx, id, since, undecided)
}

// StartCopied is Start for a task with worktree, or after a reply with Aside, with a copy of its
// project. Where commands are confined to it the task works there, and begins anew with each
// delivery.
func (c *Changes) StartCopied(ctx context.Context, id choir.ID) (choir.TaskBeginReply, error) {
	return c.start(ctx, id, "", copied)
}

// StartUncopied is Start after a reply with Aside, where what the task is to work in cannot
// be copied.
func (c *Changes) StartUncopied(ctx context.Context, id choir.ID) (choir.TaskBeginReply, error) {
	return c.start(ctx, id, "", uncopied)
}

// copyState says whether there is a copy in which a task can work.
type copyState int

const (
	undecided copyState = iota // nobody has tried to make one
	copied
	uncopied // it cannot be made
)

func (c *Changes) start(ctx context.Context, id choir.ID, since choir.Digest, state copyState) (choir.TaskBeginReply, error) {
	unlock, err := c.workspace.Lock(ctx)
	if err != nil {
		return choir.TaskBeginReply{}, err
	}
	defer unlock()
	t, err := c.history.openTask(ctx, id) // with the lock, see IfUnbegun
	if err != nil {
		return choir.TaskBeginReply{}, err
	}
	if _, held, err := c.finishAside(ctx, &t); err != nil || held {
		if err == nil {
			err = choir.Refuse("computer.task", choir.ReasonEffectHeld)
		}
		return choir.TaskBeginReply{}, err
	}
	if state == undecided && c.belongsAside(&t) {
		last, err := c.workspace.LastSnapshot(ctx)
		return choir.TaskBeginReply{Base: last, Attempt: max(1, t.Attempt), Aside: true}, err
	}
	if err := c.enterWorktree(ctx, &t, state == copied); err != nil {
		return choir.TaskBeginReply{}, err
	}
	beside, err := c.mustFit(ctx, &t)
	if err != nil {
		return choir.TaskBeginReply{}, err
	}
	c.scopes.remember(append(beside, t))
	reply := choir.TaskBeginReply{Base: t.Base, Attempt: t.Attempt + 1, Resumed: t.Attempt > 0, InWorktree: t.InWorktree()}
	var drafts []choir.Draft
	if reply.Resumed {
		if reply.Calls, reply.UnfinishedCalls, err = c.history.formerCalls(ctx, t); err != nil {
			return reply, err
		}
		if reply.OutOfMemory, err = c.history.outOfMemory(ctx, t); err != nil {
			return reply, err
		}
		if reply.GoesOn, err = c.history.pastOf(ctx, t); err != nil {
			return reply, err
		}
	}
	if reply.InWorktree {
		reply.GoesOn = nil // what it had done lay in the former copy
	}
	if !reply.Resumed || reply.InWorktree {
		now, _, err := c.workspace.Scan(ctx)
		if err != nil {
			return reply, err
		}
		reply.Base = now.Root
		if drafts, err = c.workspace.Record(ctx, now, "task_started", false); err != nil {
			return reply, err
		}
	}
	if reply.Cancelled, err = c.history.isCancelled(ctx, id); err != nil {
		return reply, err
	}
	if reply.PausedSeq, err = c.history.pausedSeq(ctx, t.Run); err != nil {
		return reply, err
	}
	reply.Changed, reply.Compared = c.since(ctx, since, reply.Base)
	started, err := c.startedEvents(ctx, &t, choir.TaskStarted{Base: reply.Base, Attempt: reply.Attempt, Worktree: worktreeOf(&t)})
	if err != nil {
		return reply, err
	}
	err = c.workspace.AppendAll(ctx, choir.RoleControl, append(drafts, started...))
	c.log.CatchUp() // while commands run; the look after them asks about the task
	return reply, err
}

// startedEvents returns the event that a task starts, and the last snapshot once more if
// that is not the task's base: the event says that the workspace is the base, which a task
// that is taken up again, and tasks beside it, have changed since.
func (c *Changes) startedEvents(ctx context.Context, t *eventstore.Task, p choir.TaskStarted) ([]choir.Draft, error) {
	payloads := []choir.Payload{p}
	if p.Attempt > 1 && p.Worktree == "" {
		last, _, err := c.log.SnapshotAt(ctx, 0)
		if err != nil {
			return nil, err
		}
		if last.Snapshot != p.Base {
			last.Reason = "task_started"
			payloads = append(payloads, last)
		}
	}
	drafts, err := c.events.Drafts(payloads)
	return workspace.ForTask(drafts, t), err
}

// IfUnbegun calls do if nothing of the task is in the workspace: it has neither begun nor an
// answer, or its result waits for the owner. It reports whether it called it, and holds the
// tree's lock meanwhile, so that the task cannot begin and its result cannot land. Code
// unavailable: an unfinished intent may be the landing of the result that waits. It
// implements dispatch.Workspace.
func (c *Changes) IfUnbegun(ctx context.Context, id choir.ID, do func() error) (bool, error) {
	unlock, err := c.workspace.Lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	t, err := c.log.Task(ctx, id)
	if err != nil || t.Base != "" && !t.Waits() || t.Result != nil {
		return false, err
	}
	if t.Waits() {
		if unfinished, err := c.workspace.UnfinishedIntent(); err != nil || unfinished {
			if err == nil {
				err = choir.Refuse("computer.task", choir.ReasonComputerNotStarted)
			}
			return false, err
		}
	}
	return true, do()
}

// mustFit returns the other tasks at work. Code unavailable: a task that has not begun
// could change what one of them can change, so its base would contain half of that one's
// changes.
func (c *Changes) mustFit(ctx context.Context, t *eventstore.Task) (beside []eventstore.Task, err error) {
	beside, err = c.workspace.TasksAtWork(ctx)
	if err != nil {
		return nil, err
	}
	beside = slices.DeleteFunc(beside, func(other eventstore.Task) bool { return other.ID == t.ID })
	scope := c.workspace.Scope(t)
	for i := range beside {
		if t.Base == "" && scope.Overlaps(c.workspace.Scope(&beside[i])) {
			return nil, choir.E("computer.task", choir.CodeUnavailable, "another task works in the workspace").WithRemedy("ask again after that")
		}
	}
	return beside, nil
}

// maxCompared limits the total size of the paths in the reply to a task's start, in bytes.
const maxCompared = 256 << 10

// since returns the files outside of .git that differ between two snapshots. whole is
// false if from is empty or unreadable, or too much differs: then the caller must scan.
func (c *Changes) since(ctx context.Context, from, to choir.Digest) (paths []string, whole bool) {
	if from == "" {
		return nil, false
	}
	changes, err := snapshot.Diff(ctx, c.keeper, from, to)
	if err != nil {
		return nil, false // a snapshot that the caller made up, or that is gone
	}
	size := 0
	for _, ch := range snapshot.FileChanges(changes) {
		for _, p := range []string{ch.From, ch.Path} {
			if p != "" && !workspace.InGit(p) {
				paths = append(paths, p)
				size += len(p) + 8
			}
		}
	}
	if size > maxCompared {
		return nil, false
	}
	return paths, true
}
