package snapshot

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// Fetch calls emit with the wanted objects of the tree as the last scan saw it. It
// returns the digests that the tree no longer contains, after which the caller must scan
// again. An error of emit ends it and is returned.
func (s *Scanner) Fetch(ctx context.Context, want []choir.Digest, emit func(Object) error) ([]choir.Digest, error) {
	fd, err := openRoot(s.path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	f := &fetch{ctx: ctx, rootFD: fd, emit: emit, want: map[Sum]bool{}, changed: s.fetchChanged}
	for _, d := range want {
		sum, ok := d.Bytes()
		if !ok {
			return nil, choir.Invalid("want", "%q is not a digest", d)
		}
		f.want[sum] = true
	}
	if err := f.folder(s.root, ""); err != nil {
		return nil, err
	}
	var missing []choir.Digest
	for sum := range f.want {
		missing = append(missing, choir.DigestFrom(sum))
	}
	return missing, nil
}

// fetchTries is the number of times a file may change between hashing and sending before
// it is left out.
const fetchTries = 3

func (s *Scanner) fetchChanged(path string) {
	if s.restless == nil {
		s.restless = map[string]int{}
	}
	if s.restless[path]++; s.restless[path] >= fetchTries {
		delete(s.restless, path)
		s.LeaveOut(path, choir.LeftChanging)
	}
}

// fetch is the state of one call of Scanner.Fetch.
type fetch struct {
	ctx    context.Context
	rootFD int
	emit   func(Object) error
	want   map[Sum]bool
	// changed is told of a file that was not as it was when it was hashed.
	changed func(path string)
}

func (f *fetch) folder(dir *folder, path string) error {
	if err := f.ctx.Err(); err != nil {
		return choir.Wrap("snapshot.fetch", choir.CodeCancelled, err, "ended")
	}
	if dir.written && f.want[dir.sum] {
		raw := dir.encode()
		if err := f.emit(Object{Digest: choir.DigestFrom(dir.sum), Manifest: true, Size: int64(len(raw)), Content: raw}); err != nil {
			return err
		}
		delete(f.want, dir.sum)
	}
	for i := range dir.nodes {
		n := &dir.nodes[i]
		if len(f.want) == 0 {
			return nil
		}
		var err error
		switch {
		case n.Kind == Dir:
			err = f.folder(n.dir, path+n.Name+"/")
		case n.Kind == File && f.want[n.Sum]:
			err = f.file(n, path+n.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file emits the content of one file and removes its digest from want. If the file is
// gone or has changed since the scan it stays in want, and that is no error.
func (f *fetch) file(n *node, path string) error {
	o := Object{Digest: choir.DigestFrom(n.Sum), Size: n.Size}
	r, err := openChecked(f.rootFD, path, n.Sum, n.Size)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	if n.Size <= smallFile {
		if o.Content, err = readExactly(r, n.Size); err == nil {
			err = f.emit(o)
		}
	} else {
		o.Open = func() (io.ReadCloser, error) { return openChecked(f.rootFD, path, n.Sum, n.Size) }
		err = f.emit(o)
	}
	if errors.Is(err, ErrChanged) {
		f.changed(path)
		return nil
	}
	if err == nil {
		delete(f.want, n.Sum)
	}
	return err
}
