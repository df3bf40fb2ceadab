package computer

import (
	"context"
	"errors"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// Moment is the computer as it was after an event, as far as the log knows it.
type Moment struct {
	Seq       uint64                `json:"seq"`
	At        choir.Time            `json:"at"`
	Text      string                `json:"text,omitempty" doc:"What happened then, in words."`
	Type      choir.Type            `json:"type" doc:"Type of the event."`
	Run       choir.ID              `json:"run,omitempty"`
	Task      choir.ID              `json:"task,omitempty"`
	Snapshot  choir.Digest          `json:"snapshot,omitempty" doc:"The whole workspace; absent before the first one was taken."`
	TakenSeq  uint64                `json:"taken_seq,omitempty" doc:"Event that recorded that snapshot."`
	Collected bool                  `json:"collected,omitempty" doc:"The files of this moment were collected: it was between two tool calls, long ago."`
	LeftOut   []string              `json:"left_out,omitempty" doc:"Caches over storage.cache_mb, which no snapshot has: a rewind leaves them as they are."`
	LeftOver  []choir.LeftPath      `json:"left_over,omitempty" doc:"Other paths that no snapshot has, with the reason: a rewind leaves them as they are."`
	Files     int64                 `json:"files" doc:"Files and links in the workspace."`
	Bytes     int64                 `json:"bytes" doc:"Bytes of their content."`
	Documents []eventstore.Document `json:"documents" doc:"At the versions they had, without content."`
	Windows   []eventstore.Window   `json:"windows" doc:"The lowest first."`
	Settings  []eventstore.Setting  `json:"settings" doc:"What is not at its default, the theme too."`
	Head      uint64                `json:"head" doc:"The newest event of the log now."`
}

// At describes the computer as it was after event seq. It reads the store only.
func (c *Computer) At(ctx context.Context, seq uint64) (m Moment, err error) {
	if err := c.store.MustHave(seq); err != nil {
		return m, err
	}
	e, err := c.store.At(ctx, seq)
	if err != nil {
		return m, err
	}
	m = Moment{Seq: seq, At: e.Time, Type: e.Type, Text: timeline.Say(&e), Run: e.Run, Task: e.Task}
	m.Head, _ = c.store.Head()
	if m.Documents, err = c.store.Documents(ctx, seq); err != nil {
		return m, err
	}
	if m.Windows, err = c.store.Windows(ctx, seq); err != nil {
		return m, err
	}
	if m.Settings, err = c.store.Settings(ctx, seq); err != nil {
		return m, err
	}
	left, err := c.store.LeftOut(ctx, seq)
	if err != nil {
		return m, err
	}
	m.LeftOut, m.LeftOver = left.Paths, left.Over
	m.Documents, m.Windows, m.Settings = orEmpty(m.Documents), orEmpty(m.Windows), orEmpty(m.Settings)
	taken, at, err := c.store.SnapshotAt(ctx, seq)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return m, nil
	}
	if err == nil {
		m.TakenSeq = at
		m.Snapshot, _, err = c.available(ctx, taken.Snapshot)
	}
	if err == nil {
		m.Files, m.Bytes, err = c.keeper.Verify(ctx, m.Snapshot)
	}
	if choir.CodeOf(err) == choir.CodeNotFound {
		m.Collected, err = true, nil
	}
	return m, err
}

// orEmpty is a list that is never null in JSON.
func orEmpty[V any](list []V) []V {
	if list == nil {
		return []V{}
	}
	return list
}

// Folder lists a folder of the workspace as it was after event seq, exactly and
// with what lies in .git; the empty path is the workspace itself. A path that is
// a file is its only entry.
func (c *Computer) Folder(ctx context.Context, seq uint64, path string) ([]choir.FileState, error) {
	e, entries, err := c.folderAt(ctx, seq, path)
	if err != nil {
		return nil, err
	}
	if e.Kind != snapshot.Dir {
		return []choir.FileState{e.State(path)}, nil
	}
	return statesIn(path, entries), nil
}

// ListFolderAt is one page of a folder of the workspace as it was after event
// seq, as ListFolder is of now.
func (c *Computer) ListFolderAt(ctx context.Context, seq uint64, path, after string, limit int) (workspace.FolderPage, error) {
	page := workspace.FolderPage{}
	from, err := snapshot.UnescapePath(after)
	if err != nil {
		return page, choir.Under("after", err)
	}
	e, entries, err := c.folderAt(ctx, seq, path)
	if err != nil {
		return page, err
	}
	dated, err := c.dateFolders(ctx, []snapshot.Entry{*e})
	if err != nil {
		return page, err
	}
	page.Folder = dated[0].State(path)
	if e.Kind != snapshot.Dir {
		return page, &choir.Error{Op: "computer.folder", Code: choir.CodeConflict, Path: path, Msg: "was a " + page.Folder.Kind + ", not a folder"}
	}
	if after != "" {
		entries = entries[sort.Search(len(entries), func(i int) bool { return entries[i].Name > string(from) }):]
	}
	page.More = len(entries) > limit
	if dated, err = c.dateFolders(ctx, entries[:min(limit, len(entries))]); err != nil {
		return page, err
	}
	page.Entries = statesIn(path, dated)
	return page, nil
}

// dateFolders returns entries in which folders have the mode and time that stand in
// their own manifests. The entries that are given stay as they are: they are cached.
func (c *Computer) dateFolders(ctx context.Context, entries []snapshot.Entry) ([]snapshot.Entry, error) {
	dated := slices.Clone(entries)
	for i := range dated {
		e := &dated[i]
		if e.Kind != snapshot.Dir {
			continue
		}
		manifest, err := c.keeper.Content(ctx, e.Digest())
		if err != nil {
			return nil, err
		}
		e.Mode, e.MTime, err = snapshot.ReadMeta(manifest)
		if err = errors.Join(err, manifest.Close()); err != nil {
			return nil, err
		}
	}
	return dated, nil
}

// folderAt is what was at a path after event seq, and what lay in it, in the byte
// order of names.
func (c *Computer) folderAt(ctx context.Context, seq uint64, path string) (*snapshot.Entry, []snapshot.Entry, error) {
	e, err := c.entryAt(ctx, seq, path)
	if err != nil || e.Kind != snapshot.Dir {
		return e, nil, err
	}
	entries, err := c.workspace.Entries(ctx, e.Digest())
	return e, entries, err
}

// statesIn describes entries of the folder at path.
func statesIn(path string, entries []snapshot.Entry) []choir.FileState {
	list := make([]choir.FileState, 0, len(entries))
	for i := range entries {
		name := snapshot.EscapePath([]byte(entries[i].Name))
		list = append(list, entries[i].State(strings.TrimPrefix(path+"/"+name, "/")))
	}
	return list
}

// ReadFileAt reads a file as it was after event seq; the caller closes. Code
// not_found when nothing was there, conflict when it was no file.
func (c *Computer) ReadFileAt(ctx context.Context, seq uint64, path string) (choir.FileState, io.ReadCloser, error) {
	e, err := c.entryAt(ctx, seq, path)
	if err != nil {
		return choir.FileState{}, nil, err
	}
	state := e.State(path)
	if e.Kind != snapshot.File {
		return state, nil, &choir.Error{Op: "computer.file", Code: choir.CodeConflict, Path: path, Msg: "was a " + state.Kind + ", not a file"}
	}
	content, err := c.keeper.Content(ctx, e.Digest())
	return state, content, err
}

func (c *Computer) entryAt(ctx context.Context, seq uint64, path string) (*snapshot.Entry, error) {
	if err := c.store.MustHave(seq); err != nil {
		return nil, err
	}
	root, err := c.Moment(ctx, seq)
	if err != nil {
		return nil, err
	}
	if path == "" {
		sum, _ := root.Bytes()
		return &snapshot.Entry{Kind: snapshot.Dir, Sum: sum}, nil
	}
	e, err := c.workspace.Lookup(ctx, root, path)
	if err == nil && e == nil {
		err = &choir.Error{Op: "computer.file", Code: choir.CodeNotFound, Path: path, Msg: "was not there after event " + strconv.FormatUint(seq, 10)}
	}
	return e, err
}
