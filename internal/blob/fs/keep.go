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
	// syncs is how many run at the same time: the file system makes one
	// transaction of those that wait together.
	syncs = 16
)

// parts are content that is to be kept together.
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

// spill moves content from memory into temporary files.
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

// keep makes content durable. What is small goes into the log if there is room,
// at the same time as what is large into its files.
func (s *Store) keep(p *parts) error {
	defer p.drop()
	if len(p.files) == 0 {
		if err := s.keepLogged(p.small, p.known); !errors.Is(err, errNoRoom) {
			return err
		}
	} else if len(p.small) > 0 {
		var logged error
		var both sync.WaitGroup
		both.Go(func() { logged = s.keepLogged(p.small, nil) })
		err := s.keepSynced(p.files, p.known)
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
	return s.keepSynced(p.files, p.known)
}

// keepLogged makes content durable in the log.
func (s *Store) keepLogged(small []record, known []choir.Digest) error {
	if len(small) > 0 {
		if err := s.wal.append(small); err != nil {
			return err
		}
	}
	if s.unsynced.Load() == 0 {
		return nil
	}
	return together(s.foldersOf(known), syncDir)
}

// keepSynced makes content durable before it has its names, and then the names.
func (s *Store) keepSynced(files map[choir.Digest]*temporary, known []choir.Digest) error {
	if err := s.wal.begin(); err != nil {
		return err
	}
	if err := s.syncContent(files); err != nil {
		return err
	}
	s.unsynced.Add(1)
	for d, t := range files {
		if err := s.place(t, d); err != nil {
			return err
		}
		known = append(known, d)
	}
	return s.syncNames(s.foldersOf(known))
}

// syncNames ends what raised unsynced. After an error it stays raised, because
// names are there that nobody knows to be durable.
func (s *Store) syncNames(folders []string) error {
	var err error
	if len(folders) > fewFiles && syncsWhole(s.dir) {
		err = syncFileSystem(s.dir)
	} else {
		err = together(folders, syncDir)
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
	return together(slices.Collect(maps.Values(content)), (*temporary).sync)
}

// sync makes the content durable, also after its file was closed.
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

// syncsWhole reports whether a sync of the whole file system is one: Linux does
// not pass it on to a file system in user space, and reports success.
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

func syncFileSystem(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	fault.Point("blob.syncfs")
	return unix.Syncfs(int(d.Fd()))
}
