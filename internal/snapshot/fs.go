package snapshot

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"choiros/internal/choir"
)

// FS is a folder of a snapshot as a read-only fs.FS, for one goroutine. Names are raw
// bytes. Links are listed and lead nowhere.
type FS struct {
	*reading
	root choir.Digest // the folder's manifest
}

// reading is the state that the folders of one snapshot share.
type reading struct {
	ctx  context.Context // of the one reading that the FS is made for
	get  Getter
	left int // manifests that may still be read
	read map[choir.Digest][]Entry
}

// maxReadFile is the maximum size of a file that FS reads whole.
const maxReadFile = 1 << 20

// NewFS returns the tree of a snapshot. It reads at most folders manifests; after that,
// each folder not yet read is code too_large.
func NewFS(ctx context.Context, get Getter, root choir.Digest, folders int) *FS {
	return &FS{&reading{ctx: ctx, get: get, left: folders, read: map[choir.Digest][]Entry{}}, root}
}

// Sub implements fs.SubFS. The result counts the manifests it reads with f.
func (f *FS) Sub(dir string) (fs.FS, error) { return f.Folder(dir) }

// Folder is Sub with the type of its result.
func (f *FS) Folder(dir string) (*FS, error) {
	e, err := f.find(dir)
	if err == nil && e.Kind != Dir {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, &fs.PathError{Op: "sub", Path: dir, Err: err}
	}
	return &FS{f.reading, e.Digest()}, nil
}

// entries returns the entries of a folder, which must not be changed.
func (r *reading) entries(d choir.Digest) ([]Entry, error) {
	if list, ok := r.read[d]; ok {
		return list, nil
	}
	if r.left--; r.left < 0 {
		return nil, choir.E("snapshot.fs", choir.CodeTooLarge, "more folders than may be read")
	}
	m, err := readManifest(r.ctx, r.get, "", d, 0)
	if err != nil {
		return nil, err
	}
	r.read[d] = m.Entries
	return m.Entries, nil
}

// find returns the entry at a path; fs.ErrNotExist if there is none.
func (f *FS) find(name string) (*Entry, error) {
	sum, ok := f.root.Bytes()
	if !ok {
		return nil, fs.ErrNotExist
	}
	at := &Entry{Name: ".", Kind: Dir, Sum: sum}
	if name = path.Clean(name); name == "." {
		return at, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if at.Kind != Dir {
			return nil, fs.ErrNotExist
		}
		list, err := f.entries(at.Digest())
		if err != nil {
			return nil, err
		}
		i, found := slices.BinarySearchFunc(list, part, func(e Entry, name string) int { return strings.Compare(e.Name, name) })
		if !found {
			return nil, fs.ErrNotExist
		}
		at = &list[i]
	}
	return at, nil
}

// ReadDir implements fs.ReadDirFS.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	dir, err := f.Folder(name)
	if err != nil {
		return nil, err
	}
	list, err := dir.entries(dir.root)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	out := make([]fs.DirEntry, len(list))
	for i := range list {
		out[i] = fs.FileInfoToDirEntry(info{&list[i]})
	}
	return out, nil
}

// Stat implements fs.StatFS. The mode and time of a folder are zero, see Entry.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	e, err := f.find(name)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return info{e}, nil
}

// ReadFile implements fs.ReadFileFS. A file over maxReadFile is code too_large.
func (f *FS) ReadFile(name string) ([]byte, error) {
	e, err := f.find(name)
	switch {
	case err == nil && e.Kind != File:
		err = fs.ErrNotExist
	case err == nil && e.Size > maxReadFile:
		err = choir.E("snapshot.fs", choir.CodeTooLarge, "%d bytes", e.Size)
	}
	var r io.ReadCloser
	if err == nil {
		r, err = f.get.Content(f.ctx, e.Digest())
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, maxReadFile))
}

// Open implements fs.FS. A file is read whole, see ReadFile; a folder can be asked for
// its Stat only.
func (f *FS) Open(name string) (fs.File, error) {
	e, err := f.find(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	o := &opened{info: info{e}}
	if e.Kind == File {
		raw, err := f.ReadFile(name)
		if err != nil {
			return nil, err
		}
		o.Reader.Reset(raw)
	}
	return o, nil
}

// opened is an open path.
type opened struct {
	bytes.Reader
	info
}

func (o *opened) Size() int64                { return o.info.Size() }
func (o *opened) Stat() (fs.FileInfo, error) { return o.info, nil }
func (o *opened) Close() error               { return nil }

// info is an entry as a fs.FileInfo.
type info struct{ e *Entry }

func (i info) Name() string       { return i.e.Name }
func (i info) Size() int64        { return i.e.Size }
func (i info) ModTime() time.Time { return time.Unix(i.e.MTime.Sec, int64(i.e.MTime.Nsec)) }
func (i info) IsDir() bool        { return i.e.Kind == Dir }
func (i info) Sys() any           { return nil }

// Mode returns the kind and the permissions, as fs.FileMode has them.
func (i info) Mode() fs.FileMode {
	kinds := map[Kind]fs.FileMode{Dir: fs.ModeDir, Symlink: fs.ModeSymlink, Fifo: fs.ModeNamedPipe}
	return kinds[i.e.Kind] | fs.FileMode(i.e.Mode&0o777)
}
