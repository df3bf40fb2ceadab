package fs

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

const (
	// fewFiles is up to how many files a sync of each is cheaper than one of the
	// whole file system, which also waits for what others wrote.
	fewFiles = 64
	// syncs bounds the concurrent syncs: the file system makes one transaction of the
	// syncs that wait together.
	syncs = 16
)

// parts is the content of one batch, which is stored together.
type parts struct {
	known []choir.Digest              // there already
	small []record                    // in memory
	files map[choir.Digest]*temporary // in temporary files; more than fewFiles are closed
}

func (p *parts) drop() {
	for _, t := range p.files {
		t.drop()
	}
}

// spill moves content of a batch from memory into temporary files.
func (s *Store) spill(p *parts) error {
	for _, r := range p.small {
		if err := s.spillOne(p, r); err != nil {
			return err
		}
	}
	p.small = nil
	return nil
}

func (s *Store) spillOne(p *parts, r record) error {
	if err := s.roomFor(int64(len(r.content))); err != nil {
		return err
	}
	t, err := s.create()
	if err != nil {
		return err
	}
	if _, err := t.file.Write(r.content); err != nil {
		t.drop()
		return err
	}
	if p.files == nil {
		p.files = map[choir.Digest]*temporary{}
	}
	p.files[r.digest] = t
	if len(p.files) > fewFiles {
		t.file.Close() // one sync of the file system covers it; open files are few
	}
	return nil
}

// storeParts makes the content of a batch durable. Small content goes into the
// write-ahead log if there is room, concurrently with large content, which goes into
// its files.
func (s *Store) storeParts(p *parts) error {
	defer p.drop()
	if len(p.files) == 0 {
		if err := s.storeLogged(p.small, p.known); !errors.Is(err, errNoRoom) {
			return err
		}
	} else if len(p.small) > 0 {
		var logged error
		var both sync.WaitGroup
		both.Go(func() { logged = s.storeLogged(p.small, nil) })
		err := s.storeFiles(p.files, p.known)
		both.Wait()
		if err != nil || !errors.Is(logged, errNoRoom) {
			return errors.Join(err, logged)
		}
		p.drop()
		p.known, p.files = nil, nil
	}
	if err := s.spill(p); err != nil {
		return err
	}
	return s.storeFiles(p.files, p.known)
}

// storeLogged makes small content durable in the write-ahead log. It also syncs the
// folders of known, content that was stored before, unless all names are synced.
func (s *Store) storeLogged(small []record, known []choir.Digest) error {
	if len(small) > 0 {
		if err := s.wal.append(small); err != nil {
			return err
		}
	}
	if s.unsynced.Load() == 0 {
		return nil
	}
	return s.syncFolders(s.foldersOf(known))
}

// storeFiles makes content durable as files: it syncs the temporary files, renames them
// to their digests and syncs the folders.
func (s *Store) storeFiles(files map[choir.Digest]*temporary, known []choir.Digest) error {
	if err := s.wal.markDirty(); err != nil {
		return err
	}
	if err := s.syncContent(files); err != nil {
		return err
	}
	s.unsynced.Add(1)
	for d, t := range files {
		if err := s.publish(t, d); err != nil {
			return err
		}
		known = append(known, d)
	}
	return s.syncNames(s.foldersOf(known))
}

// syncNames syncs the folders and decrements unsynced. After an error unsynced stays
// raised: some names may not be durable.
func (s *Store) syncNames(folders []string) error {
	var err error
	if len(folders) > fewFiles && syncsWhole(s.dir) {
		err = syncFileSystem(s.dir)
	} else {
		err = s.syncFolders(folders)
	}
	if err == nil {
		s.unsynced.Add(-1)
	}
	return err
}

func (s *Store) syncContent(content map[choir.Digest]*temporary) error {
	fault.Point("blob.batch.sync")
	if len(content) > fewFiles && syncsWhole(s.dir) {
		return syncFileSystem(filepath.Join(s.dir, tempDir))
	}
	return syncAll(slices.Collect(maps.Values(content)), (*temporary).sync)
}

// sync syncs the temporary file, which may already be closed.
func (t *temporary) sync() error {
	err := t.file.Sync()
	if !errors.Is(err, os.ErrClosed) {
		return err
	}
	f, err := os.Open(t.name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncsWhole reports whether syncfs is effective in dir. Linux does not forward it to
// FUSE file systems, and reports success.
func syncsWhole(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && st.Type != unix.FUSE_SUPER_MAGIC
}

func (s *Store) foldersOf(digests []choir.Digest) []string {
	folders := map[string]bool{}
	for _, d := range digests {
		folders[s.folder(d)] = true
	}
	return slices.Collect(maps.Keys(folders))
}

// syncAll calls sync concurrently for each element and returns the first error.
func syncAll[T any](all []T, sync func(T) error) error {
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

func syncFileSystem(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	fault.Point("blob.syncfs")
	return unix.Syncfs(int(d.Fd()))
}
