package bench

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"choiros/internal/blob/fs"
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// benchSnapshot measures a snapshot after one file changed: the scan by
// choir-init in a sandbox, through the control door, into the durable store.
func benchSnapshot(ctx context.Context, l *lab, emit func(Row)) error {
	why := l.cannotIsolate(ctx)
	for _, size := range l.treeSizes() {
		row := Row{Case: size.name(), Unit: "ms", Peer: gitCommitPeer, Isolated: true, Durable: l.onDisk()}
		if why != "" {
			row.Skipped = why
			emit(row)
			continue
		}
		row, err := l.snapshots(ctx, size, row)
		if err != nil {
			return err
		}
		emit(row)
	}
	l.leftOut(gitCommitPeer, emit)
	return nil
}

func (l *lab) snapshots(ctx context.Context, size treeSize, row Row) (_ Row, err error) {
	spec, err := l.spec()
	if err != nil {
		return row, err
	}
	b, err := l.create(ctx, spec)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, b.end(ctx)) }()
	keep, err := b.client.Attach(ctx) // else the sandbox ends itself after a while
	if err != nil {
		return row, err
	}
	defer keep.Close()
	tar, err := tarOf(size.files)
	if err != nil {
		return row, err
	}
	if _, _, err := b.client.Unpack(ctx, "tree", tar); err != nil {
		return row, err
	}
	store, err := fs.Open(filepath.Join(filepath.Dir(spec.WorkspaceFolder()), "blobs"))
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	keeper := snapshot.NewKeeper(store)
	peer, err := l.gitTree(ctx, size.files)
	if err != nil {
		return row, err
	}
	file := filepath.Join(spec.WorkspaceFolder(), "tree", changedFile(size.files))
	var last choir.Digest
	t := turns{n: l.count(size.n), warmup: 3, peer: peer}
	t.ours = func(ctx context.Context) (float64, error) {
		if err := change(file); err != nil {
			return 0, err
		}
		began := time.Now()
		got, err := b.client.Scan(ctx, keeper)
		took := millis(time.Since(began))
		if err == nil && (got.Root == last || got.Files != int64(size.files)) {
			err = choir.E("bench.snapshot", choir.CodeInternal, "the snapshot has %d files and is %s after %s", got.Files, got.Root, last)
		}
		last = got.Root
		return took, err
	}
	return t.measure(ctx, row)
}

// gitTree makes git's tree; where git is missing the peer says so.
func (l *lab) gitTree(ctx context.Context, files int) (sample, error) {
	dir, err := l.folder()
	if err != nil {
		return nil, err
	}
	g, err := newGitPeer(ctx, dir, files)
	if err != nil {
		return func(context.Context) (float64, error) { return 0, err }, ctx.Err()
	}
	return g.sample, nil
}
