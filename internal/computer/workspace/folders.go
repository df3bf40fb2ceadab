package workspace

import (
	"context"
	"crypto/sha256"
	"io"
	"os"
	"slices"
	"strings"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// FolderPage is one page of the entries of a folder.
type FolderPage struct {
	Folder  choir.FileState   `json:"folder"`
	Entries []choir.FileState `json:"entries" doc:"In the byte order of their names; a file's digest is given when the last snapshot knows it."`
	More    bool              `json:"more" doc:"There are entries after the last one."`
}

// ListFolder lists up to limit entries of a folder of the workspace whose names come
// after a name, in byte order. The empty path is the workspace itself.
func (f *files) ListFolder(ctx context.Context, path, after string, limit int) (FolderPage, error) {
	if path != "" {
		if err := checkPath(path); err != nil && choir.CodeOf(err) != choir.CodeRefused {
			return FolderPage{}, err
		}
	}
	client, err := f.tree.sandbox.Guest(ctx)
	if err != nil {
		return FolderPage{}, err
	}
	page := FolderPage{}
	if page.Folder, err = client.Stat(ctx, path); err != nil {
		return page, err
	}
	if page.Folder.Kind != "dir" {
		return page, choir.Refuse("computer.folder", choir.ReasonPathNoFolder, choir.TextOf("path", path)).At(path)
	}
	list, err := client.List(ctx, path, after, limit)
	if err != nil {
		return page, err
	}
	page.Entries, page.More = list.Entries, list.More
	return page, f.addDigests(ctx, path, page.Entries)
}

// addDigests sets the digests of files from the last snapshot where size and time agree
// with it.
func (f *files) addDigests(ctx context.Context, path string, files []choir.FileState) error {
	known, err := f.lastFolder(ctx, path)
	if err != nil {
		return err
	}
	fillDigests(known, files)
	return nil
}

// fillDigests sets the digests of files from known, which is sorted by name. It
// searches known by bisection, because a page is small and the folder may be large.
func fillDigests(known []snapshot.Entry, files []choir.FileState) {
	for i := range files {
		f := &files[i]
		name, err := snapshot.UnescapePath(f.Path[strings.LastIndexByte(f.Path, '/')+1:])
		if err != nil || f.Kind != "file" {
			continue
		}
		at, ok := slices.BinarySearchFunc(known, string(name), func(e snapshot.Entry, name string) int { return strings.Compare(e.Name, name) })
		if ok && unchanged(&known[at], *f) {
			f.Digest = known[at].Digest()
		}
	}
}

// lastFolder returns the entries of a folder in the last snapshot, sorted by name; nil
// if the folder is not in it.
func (f *files) lastFolder(ctx context.Context, path string) ([]snapshot.Entry, error) {
	root, err := f.tree.LastSnapshot(ctx)
	if err != nil || root == "" {
		return nil, err
	}
	sum, _ := root.Bytes()
	dir := &snapshot.Entry{Kind: snapshot.Dir, Sum: sum}
	if path != "" {
		if dir, err = f.tree.Lookup(ctx, root, path); err != nil || dir == nil || dir.Kind != snapshot.Dir {
			return nil, Ignore(err, choir.CodeRefused)
		}
	}
	return f.tree.Entries(ctx, dir.Digest())
}

func unchanged(e *snapshot.Entry, f choir.FileState) bool {
	return e.Kind == snapshot.File && e.Size == f.Size && e.MTime.UnixMilli() == f.MTime
}

// OpenFile opens a file of the workspace for reading and returns its state; the caller
// closes it. The content is that of a snapshot or of a copy, so it agrees with the
// digest and does not change meanwhile. Code conflict: the path is no file.
func (f *files) OpenFile(ctx context.Context, path string) (choir.FileState, io.ReadSeekCloser, error) {
	if err := checkPath(path); err != nil {
		return choir.FileState{}, nil, err
	}
	client, err := f.tree.sandbox.Guest(ctx)
	if err != nil {
		return choir.FileState{}, nil, err
	}
	state, err := client.Stat(ctx, path)
	if err != nil {
		return state, nil, err
	}
	if state.Kind != "file" {
		return state, nil, choir.Refuse("computer.file", choir.ReasonPathNoFile, choir.TextOf("path", path)).At(path)
	}
	e, err := f.inLastSnapshot(ctx, path, state)
	if err != nil {
		return state, nil, err
	}
	if e == nil {
		return f.copyCurrent(ctx, client, path, state)
	}
	return e.State(path), &blobReader{ctx: ctx, store: f.blobs, digest: e.Digest(), size: e.Size}, nil
}

// inLastSnapshot returns the entry of a file in the last snapshot; nil if the file has
// changed since.
func (f *files) inLastSnapshot(ctx context.Context, path string, state choir.FileState) (*snapshot.Entry, error) {
	root, err := f.tree.LastSnapshot(ctx)
	if err != nil || root == "" {
		return nil, err
	}
	e, err := f.tree.Lookup(ctx, root, path)
	if err != nil || e == nil || !unchanged(e, state) {
		return nil, err
	}
	return e, nil
}

// copyCurrent copies a file that is in no snapshot to an unnamed file outside the
// workspace, so that it does not change while it is read. Code too_large: the file
// exceeds the limit of a snapshot.
func (f *files) copyCurrent(ctx context.Context, client *guest.Client, path string, state choir.FileState) (choir.FileState, io.ReadSeekCloser, error) {
	if limit := f.tree.cfg.Hold.FileBytes; limit > 0 && state.Size > limit {
		return state, nil, choir.Refuse("computer.file", choir.ReasonPathTooLongToShow, choir.TextOf("path", path), choir.BytesOf("most", limit)).At(path)
	}
	if err := f.mustFit(state.Size); err != nil {
		return state, nil, err
	}
	r, err := client.ReadFile(ctx, path)
	if err != nil {
		return state, nil, err
	}
	defer r.Close()
	state = r.State
	state.Path = path
	hash := sha256.New()
	copied, err := f.unnamed(func(file *os.File) error {
		_, err := io.Copy(io.MultiWriter(file, hash), r)
		return err
	})
	if err != nil {
		return state, nil, err
	}
	state.Digest = choir.DigestFrom([32]byte(hash.Sum(nil)))
	return state, copied, nil
}

// mustFit returns an error if size bytes do not fit on the disk beside the reserved
// space.
func (f *files) mustFit(size int64) error {
	if store, ok := f.blobs.(blob.Roomer); ok {
		return store.RoomFor(size)
	}
	return nil
}

// blobReader is an io.ReadSeekCloser over a blob.
type blobReader struct {
	ctx    context.Context
	store  blob.Store
	digest choir.Digest
	size   int64
	at     int64
	open   io.ReadCloser // at at; nil after a seek
}

// Read implements io.Reader.
func (p *blobReader) Read(b []byte) (int, error) {
	if p.at >= p.size {
		return 0, io.EOF
	}
	if p.open == nil {
		if err := p.openAtOffset(); err != nil {
			return 0, err
		}
	}
	n, err := p.open.Read(b)
	p.at += int64(n)
	return n, err
}

// openAtOffset opens the blob at the current position.
func (p *blobReader) openAtOffset() (err error) {
	if s, ok := p.store.(blob.Piecer); ok && p.at > 0 {
		p.open, err = s.OpenAt(p.ctx, p.digest, p.at)
		return err
	}
	if p.open, err = p.store.Open(p.ctx, p.digest); err == nil {
		_, err = io.CopyN(io.Discard, p.open, p.at)
	}
	return err
}

// Seek implements io.Seeker.
func (p *blobReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += p.at
	case io.SeekEnd:
		offset += p.size
	}
	if offset < 0 {
		return 0, choir.RefuseField("offset", choir.ReasonFieldBeforeStart)
	}
	if offset == p.at {
		return offset, nil
	}
	p.at = offset
	return offset, p.Close()
}

// Close implements io.Closer.
func (p *blobReader) Close() error {
	if p.open == nil {
		return nil
	}
	open := p.open
	p.open = nil
	return open.Close()
}

// Find searches a folder of the workspace for files and skips the trash. It returns up
// to limit of them.
func (f *files) Find(ctx context.Context, path string, spec guest.FindSpec, limit int) (guest.Found, error) {
	if path != "" {
		if err := checkPath(path); err != nil {
			return guest.Found{}, err
		}
	}
	client, err := f.tree.sandbox.Guest(ctx)
	if err != nil {
		return guest.Found{}, err
	}
	return client.Find(ctx, path, spec, []string{trashDir}, limit)
}

// MakeFolder creates an empty folder and missing parent folders; code conflict if the
// path exists.
func (f *files) MakeFolder(ctx context.Context, role choir.Role, path string) (choir.FileState, error) {
	if err := checkPath(path); err != nil {
		return choir.FileState{}, err
	}
	return f.editPath(ctx, role, path, Expect{Absent: true}, func(client *guest.Client) error {
		if err := makeParents(ctx, client, path); err != nil {
			return err
		}
		return client.Mkdir(ctx, path, 0)
	})
}

// Transfer is one path to move or copy.
type Transfer struct {
	From, To string
	Want     Expect  // of what is at From
	Replace  *Expect // of what is at To, which goes to the trash; nil for nothing
}

// Move moves paths one after the other, after checking all. Code conflict: a path has
// other content than expected; not_found: there is nothing at a source; invalid: a
// folder would be moved into itself. With these errors nothing was moved.
func (f *files) Move(ctx context.Context, role choir.Role, items []Transfer) ([]choir.FileState, error) {
	return f.transfer(ctx, role, items, true, func(client *guest.Client, t Transfer) error { return client.Rename(ctx, t.From, t.To) })
}

// Copy copies paths with everything below them, with the checks of Move.
func (f *files) Copy(ctx context.Context, role choir.Role, items []Transfer) ([]choir.FileState, error) {
	return f.transfer(ctx, role, items, false, func(client *guest.Client, t Transfer) error {
		_, _, err := client.Copy(ctx, t.From, t.To)
		return err
	})
}

func (f *files) transfer(ctx context.Context, role choir.Role, items []Transfer, move bool, do func(*guest.Client, Transfer) error) ([]choir.FileState, error) {
	var paths, to []string
	for _, t := range items {
		if err := t.check(); err != nil {
			return nil, err
		}
		if slices.Contains(to, t.To) {
			return nil, choir.Refuse("computer.file", choir.ReasonTargetTwice, choir.TextOf("path", t.To)).At("to")
		}
		to = append(to, t.To)
		if move {
			paths = append(paths, t.From)
		}
	}
	var replaced []string
	after, err := f.edits.applyEdit(ctx, role, change{
		paths: append(append(paths, to...), trashDir),
		check: func(root choir.Digest) (err error) {
			replaced, err = f.checkTransfers(ctx, root, items)
			return err
		},
		do: func(client *guest.Client) error {
			for _, t := range items {
				if slices.Contains(replaced, t.To) {
					if _, err := f.trash.discard(ctx, client, t.To); err != nil {
						return err
					}
				}
				if err := makeParents(ctx, client, t.To); err != nil {
					return err
				}
				if err := do(client, t); err != nil {
					return err
				}
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	return f.statesOf(ctx, after.Root, to)
}

func (f *files) statesOf(ctx context.Context, root choir.Digest, paths []string) ([]choir.FileState, error) {
	states := make([]choir.FileState, 0, len(paths))
	for _, path := range paths {
		e, err := f.tree.Lookup(ctx, root, path)
		if err != nil {
			return nil, err
		}
		states = append(states, stateOf(path, e))
	}
	return states, nil
}

// check validates the paths of a transfer without looking at the workspace.
func (t Transfer) check() error {
	if err := checkPath(t.From); err != nil {
		return choir.Under("from", err)
	}
	if err := checkPath(t.To); err != nil {
		return choir.Under("to", err)
	}
	switch {
	case t.From == t.To:
		return choir.Refuse("computer.file", choir.ReasonAlreadyThere, choir.TextOf("path", t.To)).At("to")
	case Below(t.To, []string{t.From}):
		return choir.Refuse("computer.file", choir.ReasonIntoItself, choir.TextOf("path", t.To), choir.TextOf("from", t.From)).At("to")
	case Below(t.From, []string{t.To}) && t.Replace != nil:
		return choir.Refuse("computer.file", choir.ReasonHoldsItself, choir.TextOf("path", t.To), choir.TextOf("from", t.From)).At("to")
	}
	return nil
}

// checkTransfers checks all transfers against the snapshot root. It returns the target
// paths that are to be replaced.
func (f *files) checkTransfers(ctx context.Context, root choir.Digest, items []Transfer) (replaced []string, err error) {
	for _, t := range items {
		from, err := f.tree.Lookup(ctx, root, t.From)
		if err != nil {
			return nil, err
		}
		if from == nil {
			return nil, choir.Refuse("computer.file", choir.ReasonPathMissing, choir.TextOf("path", t.From)).At(t.From)
		}
		if err := t.Want.check(t.From, from); err != nil {
			return nil, err
		}
		to, err := f.tree.Lookup(ctx, root, t.To)
		if err != nil {
			return nil, err
		}
		want := Expect{Absent: true}
		if t.Replace != nil {
			want = *t.Replace
		}
		if err := want.check(t.To, to); err != nil {
			return nil, err
		}
		if to != nil {
			replaced = append(replaced, t.To)
		}
	}
	return replaced, nil
}
