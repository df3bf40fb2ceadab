package snapshot

import (
	"context"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// RestoreOptions select what a restore changes.
type RestoreOptions struct {
	// Only restores the paths (escaped, below the root, "" for the root itself)
	// it is true for; nil restores everything.
	Only func(path string) bool
}

// RestoreResult is the result of a restore.
type RestoreResult struct {
	Root    choir.Digest // the tree as it is now
	Written int64        // files, links, fifos and folders made anew
	Changed int64        // paths of which only mode or time was set
	Removed int64        // paths removed
}

// restoreTries is the number of attempts of a restore while other processes write to the
// tree.
const restoreTries = 3

// Restore makes the tree equal to a snapshot, in place: it rewrites only the paths that
// differ, follows no symbolic link, and updates the cache. It scans the tree again
// afterwards, so without an error the tree is exactly the snapshot. Sockets, devices and
// caches over the limit are left on disk; the target then is the snapshot without the
// paths left out.
//
// Errors: not_found or corrupt from get; conflict if the tree kept changing meanwhile;
// no_space. After an error each path is in its former or its wanted state.
func (s *Scanner) Restore(ctx context.Context, target choir.Digest, get Getter, opts RestoreOptions) (RestoreResult, error) {
	if !target.Valid() {
		return RestoreResult{}, choir.Invalid("target", "%q is not a digest", target)
	}
	fd, err := openRoot(s.path)
	if err != nil {
		return RestoreResult{}, err
	}
	defer unix.Close(fd)
	r := &restore{ctx: ctx, get: get, only: opts.Only}
	m, err := readManifest(ctx, get, "", target, 0)
	if err != nil {
		return RestoreResult{}, err
	}
	s.needed = map[string]struct{}{}
	defer func() { s.needed = nil }()
	for i := range m.Entries {
		s.needed[m.Entries[i].Name] = struct{}{}
	}
	there, err := s.run(ctx, fd, nil, nil)
	if err != nil {
		return RestoreResult{}, err
	}
	for range restoreTries {
		r.left = there.Left
		want, err := Without(ctx, get, target, there.Left, nil)
		if err == nil && choir.DigestFrom(s.root.sum) != want {
			err = r.folder(fd, s.root, &m, "")
		}
		if err != nil {
			return r.result, err
		}
		if there, err = s.run(ctx, fd, nil, nil); err != nil {
			return r.result, err
		}
		r.result.Root = there.Root
		if there.Root == want || opts.Only != nil {
			return r.result, nil
		}
	}
	return r.result, choir.Refuse("snapshot.restore", choir.ReasonTreeKeptChanging)
}

// restore is the state of one call of Scanner.Restore.
type restore struct {
	ctx    context.Context
	get    Getter
	only   func(path string) bool
	left   leftOut
	result RestoreResult
	depth  int
	temps  int // temporary names given out
}

func (r *restore) wants(path string) bool { return r.only == nil || r.only(path) }

// folder makes the folder open as fd, whose cache entry is f, match the manifest m, with
// everything below it.
func (r *restore) folder(fd int, f *folder, m *Manifest, path string) (err error) {
	if f.mode&0o700 != 0o700 {
		if err := unix.Fchmod(fd, f.mode|0o700); err != nil {
			return pathError("make writable", path, err)
		}
	}
	r.depth++
	err = r.entries(fd, f, m.Entries, path)
	r.depth--
	mode, mtime := f.mode, f.mtime
	if r.wants(path) {
		mode, mtime = m.Mode, m.MTime
		if f.written && (mode != f.mode || mtime != f.mtime) {
			r.result.Changed++
		}
	}
	// Last, because what happens inside moves the folder's own time, and also
	// after an error, because it may have been made writable.
	if ferr := unix.Fchmod(fd, mode); ferr != nil && err == nil {
		err = pathError("set the mode of", path, ferr)
	}
	if ferr := setTime(fd, mtime); ferr != nil && err == nil {
		err = pathError("set the time of", path, ferr)
	}
	return err
}

// entries removes the names of a folder that want lacks, which frees space first, and
// then makes the others match want.
func (r *restore) entries(fd int, f *folder, want []Entry, path string) error {
	have := make(map[string]*node, len(f.nodes))
	for i := range f.nodes {
		have[f.nodes[i].Name] = &f.nodes[i]
	}
	wanted := make(map[string]struct{}, len(want))
	for i := range want {
		wanted[want[i].Name] = struct{}{}
	}
	for i := range f.nodes {
		n := &f.nodes[i]
		if _, ok := wanted[n.Name]; ok || n.Kind == 0 {
			continue
		}
		if err := r.remove(fd, n.Name, join(path, n.Name)); err != nil {
			return err
		}
	}
	for i := range want {
		e := &want[i]
		if err := r.entry(fd, have[e.Name], e, join(path, e.Name)); err != nil {
			return err
		}
	}
	return nil
}

// entry makes path match e: it creates, replaces or removes. n is the current node, nil
// if path does not exist.
func (r *restore) entry(fd int, n *node, e *Entry, path string) error {
	switch {
	case r.left.has(path) || n != nil && n.left && n.dir == nil:
		return nil
	case n != nil && n.left && e.Kind == Dir, n != nil && n.Kind == Dir && e.Kind == Dir:
		return r.descend(fd, n.dir, e, path)
	case r.left.below(path) && r.wants(path):
		return &choir.Error{Op: "snapshot.restore", Code: choir.CodeConflict, Path: path,
			Msg: "was no folder then, and now holds a cache that no snapshot has", Remedy: "remove the cache and try again"}
	case n != nil && n.Kind == Dir:
		// Also when the folder itself stays: what is in it may not.
		if err := r.remove(fd, e.Name, path); err != nil || !r.wants(path) {
			return err
		}
	case n != nil && n.Entry == *e || !r.wants(path):
		return nil
	case n != nil && sameButMeta(&n.Entry, e):
		done, err := setMeta(fd, e)
		if err != nil {
			return pathError("set mode and time of", path, err)
		}
		if done {
			r.result.Changed++
			return nil
		}
	case n != nil && e.Kind == Dir:
		if err := r.remove(fd, e.Name, path); err != nil {
			return err
		}
	}
	r.result.Written++
	if e.Kind == Dir {
		if err := unix.Mkdirat(fd, e.Name, 0o700); err != nil {
			return pathError("make the folder", path, err)
		}
		return r.descend(fd, &folder{mode: 0o700}, e, path)
	}
	return pathError("write", path, r.write(fd, e))
}

func (r *restore) descend(fd int, f *folder, e *Entry, path string) error {
	if f.written && f.sum == e.Sum {
		return nil
	}
	m, err := readManifest(r.ctx, r.get, path, e.Digest(), r.depth)
	if err != nil {
		return err
	}
	child, err := openWide(fd, e.Name)
	if err != nil {
		return pathError("open", path, err)
	}
	defer unix.Close(child)
	return r.folder(child, f, &m, path)
}

// sameButMeta reports whether two entries differ at most in mode and time.
func sameButMeta(a, b *Entry) bool {
	return a.Kind == b.Kind && a.Sum == b.Sum && a.Size == b.Size && a.Target == b.Target
}
