package bench

import (
	"context"
	"errors"
	"time"

	"choiros/internal/choir"
)

// benchCheckpoint measures a checkpoint after one file changed, as somebody who
// asks for one gets it: the task through the bus, the git commit inside the
// sandbox, the snapshot and the durable result.
func benchCheckpoint(ctx context.Context, l *lab, emit func(Row)) error {
	why := l.cannotServe(ctx)
	for _, size := range l.treeSizes() {
		row := Row{Case: size.name(), Unit: "ms", Peer: gitCommitPeer, Isolated: true, Durable: l.onDisk()}
		if why != "" {
			row.Skipped = why
			emit(row)
			continue
		}
		row, err := l.checkpoints(ctx, size, row)
		if err != nil {
			return err
		}
		emit(row)
	}
	l.leftOut(gitCommitPeer, emit)
	return nil
}

func (l *lab) checkpoints(ctx context.Context, size treeSize, row Row) (_ Row, err error) {
	m, err := l.start(ctx, size.files)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, m.stop()) }()
	peer, err := l.gitTree(ctx, size.files)
	if err != nil {
		return row, err
	}
	t := turns{n: l.count(size.n), warmup: 3, peer: peer}
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
	return t.measure(ctx, row)
}
