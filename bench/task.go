package bench

import (
	"context"
	"errors"
	"time"

	"choiros/internal/choir"
)

const (
	taskPeer    = "Restate 4.1 ms, Temporal 119 ms for three durable steps (published medians, other hosts)"
	taskSkipped = "the peer was not run: neither Restate nor Temporal is on this machine"
	taskFiles   = 1_000
)

// benchTask measures DirectorTask{kind run, commands [true], verify none}
// through bus, sandbox and log to the durable AssociateResult, with the check of
// the tree before and after; then three of them, each submitted after the result
// of the one before.
func benchTask(ctx context.Context, l *lab, emit func(Row)) (err error) {
	rows := []Row{{Case: "one task"}, {Case: "flow of three"}}
	for i := range rows {
		rows[i].Unit, rows[i].Peer, rows[i].Skipped = "ms", taskPeer, taskSkipped
		rows[i].Isolated, rows[i].Durable = true, l.onDisk()
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
	for i, tasks := range []int{1, 3} {
		t := turns{n: l.count(200 / tasks), warmup: l.count(20)}
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
