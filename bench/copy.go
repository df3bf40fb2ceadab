package bench

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"choiros/internal/associate/verify"
	"choiros/internal/choir"
)

const copyPeer = "cp -a of the same tree to the same file system"

// benchCopy measures the copy of a whole tree in which a task works whose result the owner may
// have to approve, and what it takes. The copy is in memory, as in a sandbox.
func benchCopy(ctx context.Context, l *lab, emit func(Row)) error {
	for _, size := range []treeSize{{1_000, 30}, {10_000, 15}} {
		if l.quick && size.files > 1_000 {
			emit(Row{Case: size.name(), Unit: "ms", Peer: copyPeer, Skipped: "--quick"})
			continue
		}
		from, err := l.folder()
		if err != nil {
			return err
		}
		if _, err := newGitPeer(ctx, from, size.files); err != nil {
			return err
		}
		// The repository is left to git in both copies.
		if err := os.RemoveAll(filepath.Join(from, ".git")); err != nil {
			return choir.Wrap("bench.copy", choir.CodeUnavailable, err, "remove a repository")
		}
		if err := l.copies(ctx, size, from, emit); err != nil {
			return err
		}
	}
	return nil
}

// copies measures copies of the folder from to memory.
func (l *lab) copies(ctx context.Context, size treeSize, from string, emit func(Row)) error {
	top, err := os.MkdirTemp("/dev/shm", "choir-copies-")
	if err != nil {
		return choir.Wrap("bench.copy", choir.CodeUnavailable, err, "make a folder")
	}
	defer os.RemoveAll(top) // what is left of a sample that failed
	var ours, theirs samples
	copied := func(taken *samples, do func(to string) error) sample {
		return func(context.Context) (float64, error) {
			to := filepath.Join(top, "copy")
			if err := os.Mkdir(to, 0o755); err != nil {
				return 0, choir.Wrap("bench.copy", choir.CodeUnavailable, err, "make a folder")
			}
			began := time.Now()
			err := do(to)
			took := millis(time.Since(began))
			used, usedErr := usedBy(to)
			*taken = append(*taken, used)
			return took, errors.Join(err, usedErr, os.RemoveAll(to))
		}
	}
	t := turns{n: l.count(size.n), warmup: 2}
	t.ours = copied(&ours, func(to string) error { return verify.CopyTree(ctx, from, to, ".", true) })
	t.peer = copied(&theirs, func(to string) error { return quiet(ctx, from, "cp", "-a", from+"/.", to).Run() })
	row, err := t.measure(ctx, Row{Case: size.name(), Unit: "ms", Peer: copyPeer})
	if err != nil {
		return err
	}
	emit(row)
	room := Row{Case: size.name() + ", what they take", Unit: "MB", Peer: copyPeer}
	room.numbers(ours, theirs, false)
	emit(room)
	return nil
}

// usedBy returns the MB of blocks of everything below a folder.
func usedBy(dir string) (float64, error) {
	var blocks int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			blocks += info.Sys().(*syscall.Stat_t).Blocks
		}
		return err
	})
	return float64(blocks) * 512 / (1 << 20), choir.Wrap("bench.copy", choir.CodeUnavailable, err, "weigh a copy")
}
