package bench

import (
	"context"
	"errors"
	"time"

	"choiros/internal/choir"
)

const (
	taskPeer  = "durable steps of a Restate server, empty and not isolated"
	taskFiles = 1_000
)

// benchTask measures DirectorTask{kind run, commands [true], verify none}
// through bus, sandbox and log to the durable AssociateResult, with the check of
// the tree before and after; then three of them, each submitted after the result
// of the one before. The peer is one flow of as many durable steps.
func benchTask(ctx context.Context, l *lab, emit func(Row)) (err error) {
	rows := []Row{{Case: "one task"}, {Case: "flow of three"}}
	for i := range rows {
		rows[i].Unit, rows[i].Peer, rows[i].Isolated, rows[i].Durable = "ms", taskPeer, true, l.onDisk()
	}
	if why := l.cannotServe(ctx); why != "" {
		for _, r := range rows {
			r.Skipped = why
			emit(r)
		}
		return nil
	}
	m, err := l.start(ctx, taskFiles)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.stop()) }()
	peer, why, err := l.startRestate(ctx)
	if err != nil {
		return err
	}
	if peer != nil {
		defer peer.close()
	}
	for i, tasks := range []int{1, 3} {
		t := turns{n: l.count(200 / tasks), warmup: l.count(20)}
		if rows[i].Skipped = why; peer != nil {
			t.peer = peer.sample(tasks)
		}
		t.ours = func(ctx context.Context) (float64, error) {
			began := time.Now()
			for range tasks {
				if _, err := m.do(ctx, nothing()); err != nil {
					return 0, err
				}
			}
			return millis(time.Since(began)), nil
		}
		row, err := t.measure(ctx, rows[i])
		if err != nil {
			return err
		}
		emit(row)
	}
	return nil
}

// nothing is the smallest task there is.
func nothing() choir.DirectorTask {
	return choir.DirectorTask{
		Kind: choir.TaskRun, Instruction: "Run true.", Repo: project,
		Commands:      []choir.Command{{Argv: []string{"true"}}},
		VerifyProfile: &choir.VerifyProfile{Mode: choir.VerifyNone},
	}
}
