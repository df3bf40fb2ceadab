package bench

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"time"

	"choiros/internal/choir"
)

const floorPeer = "its floor: the same scans, start and syncs by the smallest program, not isolated"

// Sizes of the three records of a task, in bytes: what the journal writes for
// task.dispatched, task.started and task.returned of the task of this benchmark
// (strace -f shows the three writes and the fdatasync after each).
const (
	dispatchedBytes = 776
	startedBytes    = 626
	returnedBytes   = 1256
)

// taskFloor is the smallest program that does what the task of this benchmark cannot do
// without. It is one process that shares no code with the product, speaks to nobody, checks
// nothing and isolates nothing. Its steps, in their order:
//
//   - a durable record of the task, since a submitted task must not be lost;
//   - a scan of the tree, since the base of the task is the tree when it begins, which
//     the owner may have changed;
//   - a durable record that the task begins, since a command whose effects may be there
//     must not run once more after a crash;
//   - the start of the command, of which output and exit code are kept;
//   - a second scan, since the command may have changed any file;
//   - a durable record of the result, before anybody hears of it.
//
// strace -f of the product shows no more of these per task: 3 fdatasync in series, 1
// execve, and 2 scans, which are 4,112 newfstatat and at most 616 openat: 1,000 of the paths
// are the project's files, most others its .git.
type taskFloor struct {
	tree *floorTree
	log  *floorLog
}

// newTaskFloor makes the floor of tasks in the workspace of m, so that both scan the same
// files.
func (l *lab) newTaskFloor(m *machine) (*taskFloor, error) {
	dir, err := l.folder()
	if err != nil {
		return nil, err
	}
	tree, err := openFloorTree(filepath.Dir(filepath.Dir(m.file("x"))))
	if err != nil {
		return nil, err
	}
	log, err := newFloorLog(filepath.Join(dir, "log"))
	return &taskFloor{tree, log}, err
}

func (f *taskFloor) close() error { return f.log.close() }

// do does one task.
func (f *taskFloor) do(ctx context.Context) error {
	if err := f.log.append(floorRecord(dispatchedBytes)); err != nil {
		return err
	}
	if err := f.scan(); err != nil {
		return err
	}
	if err := f.log.append(floorRecord(startedBytes)); err != nil {
		return err
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "/usr/bin/true")
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join(f.tree.root, project), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	if err := f.scan(); err != nil {
		return err
	}
	return f.log.append(floorRecord(returnedBytes))
}

// scan scans the tree, which nobody changes.
func (f *taskFloor) scan() error {
	changed, err := f.tree.scan()
	if err == nil && len(changed) > 0 {
		err = choir.E("bench.floor", choir.CodeInternal, "%d files changed, the first is %s", len(changed), changed[0])
	}
	return err
}

// sample does so many tasks, each after the one before.
func (f *taskFloor) sample(tasks int) sample {
	return func(ctx context.Context) (float64, error) {
		began := time.Now()
		var err error
		for range tasks {
			err = errors.Join(err, f.do(ctx))
		}
		return millis(time.Since(began)), choir.Wrap("bench.floor", choir.CodeInternal, err, "do the floor's task")
	}
}
