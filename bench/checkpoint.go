package bench

import (
	"context"
	"errors"
	"time"

	"choiros/internal/choir"
)

// mostFloorFiles is the size of the largest tree whose floor is measured.
const mostFloorFiles = 10_000

// benchCheckpoint measures a checkpoint after one file changed, as somebody who
// asks for one gets it: the task through the bus, the git commit inside the
// sandbox, the snapshot and the durable result. The peers of the same samples are git and
// the floor, see commitFloor.
func benchCheckpoint(ctx context.Context, l *lab, emit func(Row)) error {
	why := l.cannotServe(ctx)
	for _, size := range l.treeSizes() {
		beside := Row{Case: size.name(), Unit: "ms", Peer: gitCommitPeer, Isolated: true, Durable: l.onDisk()}
		above := beside
		above.Case, above.Peer = above.Case+", above its floor", commitFloorPeer
		rows := []Row{beside, above}
		if why != "" {
			rows[0].Skipped, rows[1].Skipped = why, why
		} else {
			var err error
			if rows, err = l.checkpoints(ctx, size, beside, above); err != nil {
				return err
			}
		}
		for _, row := range rows {
			emit(row)
		}
	}
	l.leftOut(gitCommitPeer, emit)
	return nil
}

func (l *lab) checkpoints(ctx context.Context, size treeSize, beside, above Row) (_ []Row, err error) {
	if above.Skipped = tooBusyForFloor(ctx); size.files > mostFloorFiles {
		above.Skipped = "no target is about it, and one more such tree takes minutes to lay"
	}
	m, err := l.start(ctx, size.files)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.stop()) }()
	git, err := l.gitTree(ctx, size.files)
	if err != nil {
		return nil, err
	}
	lowest := against{row: above}
	if above.Skipped == "" {
		floor, err := l.newCommitFloor(ctx, size.files)
		if err != nil {
			lowest.row.Skipped = err.Error()
		} else {
			lowest.peer = floor.sample
			defer floor.close() // only its log and store, which go with the lab
		}
	}
	t := turns{n: l.count(size.n), warmup: 3}
	t.ours = func(ctx context.Context) (float64, error) {
		if err := change(m.file(changedFile(size.files))); err != nil {
			return 0, err
		}
		began := time.Now()
		res, err := m.c.Tasks().Checkpoint(ctx, choir.RoleCLI, project, "change")
		took := millis(time.Since(began))
		if err == nil && (res.Status != choir.StatusOK || res.Checkpoint == nil) {
			err = choir.E("bench.checkpoint", choir.CodeInternal, "no commit was made: %s: %s", res.Status, res.Summary)
		}
		return took, err
	}
	return t.measureBeside(ctx, against{beside, git}, lowest)
}
