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
// of the one before. The peers of the same samples are one flow of as many durable
// steps, and the floor of as many tasks, see taskFloor.
func benchTask(ctx context.Context, l *lab, emit func(Row)) (err error) {
	cases := []string{"one task", "flow of three"}
	if why := l.cannotServe(ctx); why != "" {
		for _, name := range cases {
			beside, above := l.taskRows(name)
			beside.Skipped, above.Skipped = why, why
			emit(beside)
			emit(above)
		}
		return nil
	}
	busy := tooBusyForFloor(ctx)
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
	floor, err := l.newTaskFloor(m)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, floor.close()) }()
	for i, tasks := range []int{1, 3} {
		t := turns{n: l.count(200 / tasks), warmup: l.count(20)}
		beside, above := l.taskRows(cases[i])
		above.Skipped = busy
		steps := against{row: beside}
		if steps.row.Skipped = why; peer != nil {
			steps.peer = peer.sample(tasks)
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
		rows, err := t.measureBeside(ctx, steps, against{above, floor.sample(tasks)})
		if err != nil {
			return err
		}
		for _, row := range rows {
			emit(row)
		}
	}
	return nil
}

// taskRows returns the rows of one case: beside the Restate server, and above the floor.
func (l *lab) taskRows(name string) (beside, above Row) {
	beside = Row{Case: name, Unit: "ms", Peer: taskPeer, Isolated: true, Durable: l.onDisk()}
	above = beside
	above.Case, above.Peer = name+", above its floor", floorPeer
	return beside, above
}

// nothing is the smallest task there is.
func nothing() choir.DirectorTask {
	return choir.DirectorTask{
		Kind: choir.TaskRun, Instruction: "Run true.", Repo: project,
		Commands:      []choir.Command{{Argv: []string{"true"}}},
		VerifyProfile: &choir.VerifyProfile{Mode: choir.VerifyNone},
	}
}
