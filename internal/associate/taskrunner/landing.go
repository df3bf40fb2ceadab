package taskrunner

import (
	"context"
	"errors"
	"strings"
	"time"

	"choiros/internal/choir"
)

// lander brings what a task did in its copy into the workspace; see Tree.
type lander interface {
	Land(ctx context.Context, task choir.ID, leave []string) (choir.TaskLandReply, error)
	LandCommitted(ctx context.Context, task choir.ID) (choir.TaskLandReply, error)
	Commit(ctx context.Context, task choir.ID, reason string, only []string) (choir.TaskCommitReply, error)
}

// landing brings the change of one task from its copy into the workspace, once no other task
// works there.
type landing struct {
	life context.Context
	task choir.ID
	tree lander
	gate gate
	// rebase is called with the base that the copy has after a merge.
	rebase func(base choir.Digest)

	work  context.Context // ends with the task's budgets
	clock *clock          // of the task's times
}

// errMovedOn is returned when the project has changed since a change was verified in its
// copy, where both are merged now.
var errMovedOn = errors.New("the project has changed, and was merged into the copy")

// merge merges what changed in the copy into the project, without the paths in leave. It returns
// a *failure if both sides changed the same.
func (l *landing) merge(leave []string) (choir.TaskLandReply, error) {
	landed, err := l.retryLanding(func() (choir.TaskLandReply, error) { return l.tree.Land(l.life, l.task, leave) })
	if err == nil && len(landed.Conflicts) > 0 {
		err = conflictWith(landed)
	}
	return landed, err
}

// bringCommitted brings exactly what is in the copy into the workspace, unless it will be held, and
// returns the snapshot with it. It returns errMovedOn if the project has changed, or a *failure
// if both sides changed the same.
func (l *landing) bringCommitted() (choir.Digest, error) {
	landed, err := l.retryLanding(func() (choir.TaskLandReply, error) { return l.tree.LandCommitted(l.life, l.task) })
	switch {
	case err != nil:
		return "", err
	case len(landed.Conflicts) > 0:
		return "", conflictWith(landed)
	case landed.Moved:
		l.rebase(landed.Base)
		return "", errMovedOn
	case landed.Aside:
		done, err := l.tree.Commit(l.life, l.task, "checkpoint", nil)
		return done.Snapshot, err
	}
	return landed.Snapshot, nil
}

// bringKept brings what a task of kind run may leave from the copy into the workspace, and returns
// the snapshot with it.
func (l *landing) bringKept() (choir.Digest, error) {
	for {
		if at, err := l.bringCommitted(); !errors.Is(err, errMovedOn) {
			return at, err
		}
	}
}

// conflictWith returns the failure of a change that cannot be merged.
func conflictWith(landed choir.TaskLandReply) error {
	f := fail(choir.ResultConflict, "the change was not merged, because the project was changed at the same places meanwhile: %s", strings.Join(first(landed.Conflicts, 10), ", "))
	f.conflicts = first(landed.Conflicts, maxConflicts)
	return f
}

// maxConflicts limits the paths that a result lists.
const maxConflicts = 100

// The wait before the change is offered again that has to wait for another task, and for how
// long it is offered.
const (
	landRetry    = 200 * time.Millisecond
	landPatience = 20 * time.Minute
)

// retryLanding calls land until no other task works in the project. The wait does
// not count as the task's work. It returns a *failure if it takes too long.
func (l *landing) retryLanding(land func() (choir.TaskLandReply, error)) (choir.TaskLandReply, error) {
	if err := l.gate.waitUntilResumed(l.work); err != nil {
		return choir.TaskLandReply{}, err
	}
	l.clock.change(waiting)
	defer l.clock.change(working)
	patience, cancel := context.WithTimeout(l.work, landPatience)
	defer cancel()
	retry := time.NewTicker(landRetry)
	defer retry.Stop()
	for {
		landed, err := land()
		if choir.CodeOf(err) != choir.CodeUnavailable {
			return landed, err
		}
		select {
		case <-retry.C:
		case <-patience.Done():
			if l.work.Err() != nil {
				return landed, context.Cause(l.work)
			}
			return landed, fail(choir.ResultLimit, "the change was not merged, because another task worked in the project for more than %s", landPatience)
		}
	}
}
