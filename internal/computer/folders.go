package computer

import (
	"context"
	"crypto/sha256"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// FolderPage is one page of a folder as it is.
type FolderPage struct {
	Folder  choir.FileState   `json:"folder"`
	Entries []choir.FileState `json:"entries" doc:"In the byte order of their names; a file's digest is given when the last snapshot knows it."`
	More    bool              `json:"more" doc:"There are entries after the last one."`
}

// ListFolder is one page of a folder of the workspace, beginning after a name;
// the empty path is the workspace itself. Names are in byte order.
func (c *Computer) ListFolder(ctx context.Context, path, after string, limit int) (FolderPage, error) {
	if path != "" {
		if err := checkPath(path); err != nil && choir.CodeOf(err) != choir.CodeRefused {
			return FolderPage{}, err
		}
	}
	client, err := c.roles.Guest(ctx)
	if err != nil {
		return FolderPage{}, err
	}
	page := FolderPage{}
	if page.Folder, err = client.Stat(ctx, path); err != nil {
		return page, err
	}
	if page.Folder.Kind != "dir" {
		return page, &choir.Error{Op: "computer.folder", Code: choir.CodeConflict, Path: path, Msg: "is a " + page.Folder.Kind + ", not a folder"}
	}
	list, err := client.List(ctx, path, after, limit)
	if err != nil {
		return page, err
	}
	page.Entries, page.More = list.Entries, list.More
	return page, c.addDigests(ctx, path, page.Entries)
}

// addDigests gives files the digest that the last snapshot has for them, when
// nothing else of them differs.
func (c *Computer) addDigests(ctx context.Context, path string, files []choir.FileState) error {
	known, err := c.lastFolder(ctx, path)
	if err != nil {
		return err
	}
	giveDigests(known, files)
	return nil
}

// giveDigests gives files what is known of them, which is in the byte order of
// names. A page is looked up by halves: a map would be made of the whole folder.
func giveDigests(known []snapshot.Entry, files []choir.FileState) {
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

// lastFolder is what lay in a folder in the last snapshot, in the byte order of
// names; nil when it was not there.
func (c *Computer) lastFolder(ctx context.Context, path string) ([]snapshot.Entry, error) {
	root, err := c.lastSnapshot(ctx)
	if err != nil || root == "" {
		return nil, err
	}
	sum, _ := root.Bytes()
	dir := &snapshot.Entry{Kind: snapshot.Dir, Sum: sum}
	if path != "" {
		if dir, err = c.lookup(ctx, root, path); err != nil || dir == nil || dir.Kind != snapshot.Dir {
			return nil, ignore(err, choir.CodeRefused)
		}
	}
	return c.entriesOf(ctx, dir.Digest())
}

// ignore is no error for one with this code.
func ignore(err error, code choir.Code) error {
	if choir.CodeOf(err) == code {
		return nil
	}
	return err
}

func unchanged(e *snapshot.Entry, f choir.FileState) bool {
	return e.Kind == snapshot.File && e.Size == f.Size && e.MTime.UnixMilli() == f.MTime
}

// OpenFile opens a file of the workspace as it is for reading; the caller
// closes. What is read is a snapshot's, so the digest is true of it and it does
// not change while it is read. Code conflict for what is no file.
func (c *Computer) OpenFile(ctx context.Context, path string) (choir.FileState, io.ReadSeekCloser, error) {
	if err := checkPath(path); err != nil {
		return choir.FileState{}, nil, err
	}
	client, err := c.roles.Guest(ctx)
	if err != nil {
		return choir.FileState{}, nil, err
	}
	state, err := client.Stat(ctx, path)
	if err != nil {
		return state, nil, err
	}
	if state.Kind != "file" {
		return state, nil, &choir.Error{Op: "computer.file", Code: choir.CodeConflict, Path: path, Msg: "is a " + state.Kind + ", not a file"}
	}
	e, err := c.known(ctx, path, state)
	if err != nil {
		return state, nil, err
	}
	if e == nil {
		return c.readNow(ctx, client, path, state)
	}
	return e.State(path), &pieces{ctx: ctx, store: c.blobs, digest: e.Digest(), size: e.Size}, nil
}

// known finds a file in the last snapshot; nil when it changed since.
func (c *Computer) known(ctx context.Context, path string, state choir.FileState) (*snapshot.Entry, error) {
	root, err := c.lastSnapshot(ctx)
	if err != nil || root == "" {
		return nil, err
	}
	e, err := c.lookup(ctx, root, path)
	if err != nil || e == nil || !unchanged(e, state) {
		return nil, err
	}
	return e, nil
}

// readNow copies a file that no snapshot has as it is, beside the workspace and
// without a name, so that it does not change while it is read. Code too_large for
// a file that no snapshot may hold.
func (c *Computer) readNow(ctx context.Context, client *guest.Client, path string, state choir.FileState) (choir.FileState, io.ReadSeekCloser, error) {
	if limit := c.cfg.Hold.FileBytes; limit > 0 && state.Size > limit {
		return state, nil, &choir.Error{Op: "computer.file", Code: choir.CodeTooLarge, Path: path,
			Msg: "is longer than " + strconv.FormatInt(limit>>20, 10) + " MiB", Remedy: "look at it in a terminal, or raise storage.file_mb"}
	}
	if err := c.mustFit(state.Size); err != nil {
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
	copied, err := c.unnamed(func(f *os.File) error {
		_, err := io.Copy(io.MultiWriter(f, hash), r)
		return err
	})
	if err != nil {
		return state, nil, err
	}
	state.Digest = choir.DigestFrom([32]byte(hash.Sum(nil)))
	return state, copied, nil
}

// mustFit refuses what would take the room that is left free on the disk.
func (c *Computer) mustFit(size int64) error {
	if store, ok := c.blobs.(blob.Roomer); ok {
		return store.RoomFor(size)
	}
	return nil
}

// pieces reads a blob from wherever it is asked to.
type pieces struct {
	ctx    context.Context
	store  blob.Store
	digest choir.Digest
	size   int64
	at     int64
	open   io.ReadCloser // at at; nil after a seek
}

// Read implements io.Reader.
func (p *pieces) Read(b []byte) (int, error) {
	if p.at >= p.size {
		return 0, io.EOF
	}
	if p.open == nil {
		if err := p.begin(); err != nil {
			return 0, err
		}
	}
	n, err := p.open.Read(b)
	p.at += int64(n)
	return n, err
}

func (p *pieces) begin() (err error) {
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
func (p *pieces) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += p.at
	case io.SeekEnd:
		offset += p.size
	}
	if offset < 0 {
		return 0, choir.Invalid("offset", "is before the beginning")
	}
	if offset == p.at {
		return offset, nil
	}
	p.at = offset
	return offset, p.Close()
}

// Close implements io.Closer.
func (p *pieces) Close() error {
	if p.open == nil {
		return nil
	}
	open := p.open
	p.open = nil
	return open.Close()
}

// Find looks for files below a folder of the workspace, but not in the trash.
func (c *Computer) Find(ctx context.Context, path string, spec guest.FindSpec, limit int) (guest.Found, error) {
	if path != "" {
		if err := checkPath(path); err != nil {
			return guest.Found{}, err
		}
	}
	client, err := c.roles.Guest(ctx)
	if err != nil {
		return guest.Found{}, err
	}
	return client.Find(ctx, path, spec, []string{trashDir}, limit)
}

// MakeFolder makes an empty folder, with those it lies in; code conflict when
// something is there.
func (c *Computer) MakeFolder(ctx context.Context, role choir.Role, path string) (choir.FileState, error) {
	if err := checkPath(path); err != nil {
		return choir.FileState{}, err
	}
	return c.edit(ctx, role, path, Expect{Absent: true}, func(client *guest.Client) error {
		if err := makeParents(ctx, client, path); err != nil {
			return err
		}
		return client.Mkdir(ctx, path, 0)
	})
}

// Transfer is one path that is to be moved or copied.
type Transfer struct {
	From, To string
	Want     Expect  // of what is at From
	Replace  *Expect // of what is at To, which goes to the trash; nil for nothing
}

// Move moves paths, one after the other. Nothing is done unless all of them can
// be: code conflict when something else is there than was expected, not_found
// when nothing is, invalid for a folder into itself.
func (c *Computer) Move(ctx context.Context, role choir.Role, items []Transfer) ([]choir.FileState, error) {
	return c.transfer(ctx, role, items, true, func(client *guest.Client, t Transfer) error { return client.Rename(ctx, t.From, t.To) })
}

// Copy copies paths with all that is below them, as Move moves them.
func (c *Computer) Copy(ctx context.Context, role choir.Role, items []Transfer) ([]choir.FileState, error) {
	return c.transfer(ctx, role, items, false, func(client *guest.Client, t Transfer) error {
		_, _, err := client.Copy(ctx, t.From, t.To)
		return err
	})
}

func (c *Computer) transfer(ctx context.Context, role choir.Role, items []Transfer, move bool, do func(*guest.Client, Transfer) error) ([]choir.FileState, error) {
	var paths, to []string
	for _, t := range items {
		if err := t.check(); err != nil {
			return nil, err
		}
		if slices.Contains(to, t.To) {
			return nil, choir.Invalid("to", "%q is given twice", t.To)
		}
		to = append(to, t.To)
		if move {
			paths = append(paths, t.From)
		}
	}
	var replaced []string
	after, err := c.change(ctx, role, change{
		paths: append(append(paths, to...), trashDir),
		check: func(root choir.Digest) (err error) {
			replaced, err = c.checkTransfers(ctx, root, items)
			return err
		},
		do: func(client *guest.Client) error {
			for _, t := range items {
				if slices.Contains(replaced, t.To) {
					if _, err := c.discard(ctx, client, t.To); err != nil {
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
	return c.statesOf(ctx, after.Root, to)
}

func (c *Computer) statesOf(ctx context.Context, root choir.Digest, paths []string) ([]choir.FileState, error) {
	states := make([]choir.FileState, 0, len(paths))
	for _, path := range paths {
		e, err := c.lookup(ctx, root, path)
		if err != nil {
			return nil, err
		}
		states = append(states, stateOf(path, e))
	}
	return states, nil
}

// check looks at what can be said without the workspace.
func (t Transfer) check() error {
	if err := checkPath(t.From); err != nil {
		return choir.Under("from", err)
	}
	if err := checkPath(t.To); err != nil {
		return choir.Under("to", err)
	}
	switch {
	case t.From == t.To:
		return choir.Invalid("to", "%q is where it is already", t.To)
	case below(t.To, []string{t.From}):
		return choir.Invalid("to", "%q lies in %q itself", t.To, t.From).WithRemedy("choose a folder outside of it")
	case below(t.From, []string{t.To}) && t.Replace != nil:
		return choir.Invalid("to", "%q holds %q: it cannot be replaced by a part of itself", t.To, t.From)
	}
	return nil
}

// checkTransfers holds all of them against a snapshot; it returns the places
// where something is to be replaced.
func (c *Computer) checkTransfers(ctx context.Context, root choir.Digest, items []Transfer) (replaced []string, err error) {
	for _, t := range items {
		from, err := c.lookup(ctx, root, t.From)
		if err != nil {
			return nil, err
		}
		if from == nil {
			return nil, &choir.Error{Op: "computer.file", Code: choir.CodeNotFound, Path: t.From, Msg: "is not there"}
		}
		if err := t.Want.check(t.From, from); err != nil {
			return nil, err
		}
		to, err := c.lookup(ctx, root, t.To)
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
