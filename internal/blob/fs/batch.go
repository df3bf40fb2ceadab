package fs

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/fault"
)

const (
	// fewFiles is up to how many files a sync of each is cheaper than one of the
	// whole file system, which also waits for what others wrote.
	fewFiles = 64
	// syncs is how many run at the same time: the file system makes one
	// transaction of those that wait together.
	syncs = 16
)

// Batch implements blob.Batcher.
func (s *Store) Batch(ctx context.Context) (blob.Batch, error) {
	return &batch{ctx: ctx, store: s, added: map[choir.Digest]*temporary{}}, nil
}

// batch holds content in temporary files. A nil entry was there already.
type batch struct {
	ctx   context.Context
	store *Store
	added map[choir.Digest]*temporary
	made  int // how many of added are not nil
}

// Add implements blob.Batch.
func (b *batch) Add(d choir.Digest, content []byte) error {
	if err := b.ctx.Err(); err != nil {
		return fail("blob.batch", err, string(d))
	}
	if choir.DigestOf(content) != d {
		return choir.E("blob.batch", choir.CodeCorrupt, "content has digest %s, not %s", choir.DigestOf(content), d)
	}
	if _, ok := b.added[d]; ok {
		return nil
	}
	if b.store.has(d, int64(len(content))) {
		b.added[d] = nil
		return nil
	}
	t, err := b.store.create()
	if err != nil {
		return fail("blob.batch", err, b.store.dir)
	}
	if _, err := t.file.Write(content); err != nil {
		t.drop()
		return fail("blob.batch", err, b.store.dir)
	}
	b.added[d] = t
	if b.made++; b.made > fewFiles {
		t.file.Close() // one sync of the file system covers it; open files are few
	}
	return nil
}

// Commit implements blob.Batch: all content first, then the names.
func (b *batch) Commit() error {
	defer b.Discard()
	if err := b.syncContent(); err != nil {
		return fail("blob.batch", err, b.store.dir)
	}
	folders := map[string]bool{}
	for d, t := range b.added {
		if t != nil {
			if err := b.store.settle(t, d); err != nil {
				return fail("blob.batch", err, b.store.dir)
			}
		}
		folders[b.store.folder(d)] = true
	}
	if len(folders) > fewFiles {
		return fail("blob.batch", syncFileSystem(b.store.dir), b.store.dir)
	}
	return fail("blob.batch", together(slices.Collect(maps.Keys(folders)), syncDir), b.store.dir)
}

func (b *batch) syncContent() error {
	fault.Point("blob.batch.sync")
	if b.made > fewFiles {
		return syncFileSystem(filepath.Join(b.store.dir, tempDir))
	}
	files := make([]*os.File, 0, b.made)
	for _, t := range b.added {
		if t != nil {
			files = append(files, t.file)
		}
	}
	return together(files, (*os.File).Sync)
}

// together syncs all at about the same time and gives the first error.
func together[T any](all []T, sync func(T) error) error {
	if len(all) == 1 {
		return sync(all[0])
	}
	var g errgroup.Group
	g.SetLimit(syncs)
	for _, one := range all {
		g.Go(func() error { return sync(one) })
	}
	return g.Wait()
}

// Discard implements blob.Batch.
func (b *batch) Discard() {
	for _, t := range b.added {
		if t != nil {
			t.drop()
		}
	}
	clear(b.added)
	b.made = 0
}

func syncFileSystem(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	fault.Point("blob.syncfs")
	return unix.Syncfs(int(d.Fd()))
}
