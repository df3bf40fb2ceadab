package taskrunner

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"choiros/internal/choir"
)

// busyProject refuses a change as the control plane does while another task works in the
// project, until a time, and then replies.
type busyProject struct {
	until time.Time
	reply choir.TaskLandReply
	left  []string
}

func (b *busyProject) Land(_ context.Context, _ choir.ID, leave []string) (choir.TaskLandReply, error) {
	if b.left = leave; time.Now().Before(b.until) {
		return choir.TaskLandReply{}, choir.E("land", choir.CodeUnavailable, "another task works there")
	}
	return b.reply, nil
}

func (b *busyProject) LandCommitted(ctx context.Context, task choir.ID) (choir.TaskLandReply, error) {
	return b.Land(ctx, task, nil)
}

func (b *busyProject) Commit(context.Context, choir.ID, string, []string) (choir.TaskCommitReply, error) {
	return choir.TaskCommitReply{Snapshot: "of the copy"}, nil
}

// TestALandingWaitsWithoutWorking has another task work in the project for longer than all the
// time that the task may work, and then change the same paths.
func TestALandingWaitsWithoutWorking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		work, clock := startClock(context.Background(), time.Minute, time.Hour)
		defer clock.stop()
		project := &busyProject{until: time.Now().Add(10 * time.Minute), reply: choir.TaskLandReply{Conflicts: []string{"a"}}}
		l := &landing{life: context.Background(), tree: project, gate: gate{&pauses{}, "run"}, work: work, clock: clock}
		_, err := l.merge([]string{"cache"})
		var f *failure
		if !errors.As(err, &f) || f.code != choir.ResultConflict || !slices.Equal(f.conflicts, []string{"a"}) {
			t.Errorf("it ended with %v", err)
		}
		if left := clock.workLeft(); left != time.Minute || !slices.Equal(project.left, []string{"cache"}) {
			t.Errorf("%s of the work are left, and %q was left out", left, project.left)
		}
	})
}

// TestALandingGivesUp has another task never end.
func TestALandingGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		work, clock := startClock(context.Background(), time.Minute, time.Hour)
		defer clock.stop()
		l := &landing{life: context.Background(), tree: &busyProject{until: time.Now().Add(time.Hour)}, gate: gate{&pauses{}, "run"}, work: work, clock: clock}
		began := time.Now()
		_, err := l.bringCommitted()
		var f *failure
		if !errors.As(err, &f) || f.code != choir.ResultLimit || time.Since(began) != landPatience {
			t.Errorf("it ended after %s with %v", time.Since(began), err)
		}
	})
}

// TestAHeldResultStaysInItsCopy: the control plane leaves the change there, of which a snapshot
// is taken. A project that moved on gives the copy another base.
func TestAHeldResultStaysInItsCopy(t *testing.T) {
	t.Parallel()
	work, clock := startClock(context.Background(), time.Minute, time.Hour)
	defer clock.stop()
	project := &busyProject{reply: choir.TaskLandReply{Aside: true}}
	var base choir.Digest
	l := &landing{life: context.Background(), tree: project, gate: gate{&pauses{}, "run"}, work: work, clock: clock, rebase: func(d choir.Digest) { base = d }}
	if at, err := l.bringCommitted(); err != nil || at != "of the copy" || base != "" {
		t.Errorf("the result has %q on the base %q: %v", at, base, err)
	}
	project.reply = choir.TaskLandReply{Moved: true, Base: "newer"}
	if _, err := l.bringCommitted(); !errors.Is(err, errMovedOn) || base != "newer" {
		t.Errorf("the base is %q: %v", base, err)
	}
}
