package copies

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"golang.org/x/sys/unix"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/journal"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// Import creates in a new folder the computer of an archive. It checks all content
// against the archive's manifest, the log's hash chain, and that all content referred
// to by the log is there. accept is called first with the archive's description, and
// returns the computer's name or refuses the import.
func (n NewComputer) Import(ctx context.Context, r io.Reader, accept func(timeline.Archive) (name string, err error)) (a timeline.Archive, err error) {
	blobs, err := n.OpenBlobs(filepath.Join(n.Dir, "blobs"))
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, blob.Close(blobs)) }()
	var digest choir.Digest
	take := &archiveReceiver{dir: filepath.Join(n.Dir, "journal"), blobs: blobs}
	defer take.discard()
	err = timeline.Unpack(ctx, r, func(found timeline.Archive, d choir.Digest) (err error) {
		a, digest = found, d
		if n.Name, err = accept(a); err != nil {
			return err
		}
		return n.mustFit(a)
	}, take)
	if err == nil {
		err = take.flush()
	}
	if err != nil {
		return a, err
	}
	first := choir.ComputerImported{From: a.Computer, Seq: a.Seq, Hash: a.Hash, Archive: digest, Name: n.Name}
	return a, n.beginImported(ctx, blobs, a, first)
}

// mustFit returns an error if the archive's content does not fit on the disk.
func (n NewComputer) mustFit(a timeline.Archive) error {
	var need int64
	for _, m := range a.Members {
		need += m.Size
	}
	var st unix.Statfs_t
	if err := unix.Statfs(n.Dir, &st); err != nil {
		return choir.Wrap("computer.import", choir.CodeUnavailable, err, "look at the disk")
	}
	if free := int64(st.Bavail) * st.Bsize; need > free || need < 0 {
		return choir.Refuse("computer.import", choir.ReasonImportNoSpace, choir.BytesOf("need", need), choir.BytesOf("free", free))
	}
	return nil
}

func (n NewComputer) beginImported(ctx context.Context, blobs blob.Store, a timeline.Archive, first choir.ComputerImported) error {
	keeper := snapshot.NewKeeper(blobs)
	b := beginning{
		ForkPoint: ForkPoint{Seq: a.Seq, Hash: a.Hash, Snapshot: a.Workspace},
		first:     first, why: "The run belongs to the computer this one is a copy of.",
	}
	b.check = func(store *eventstore.Store) ([]string, error) {
		if why := store.ReadOnly(); why != "" {
			return nil, choir.Refuse("computer.import", choir.ReasonImportLogDamaged, choir.TextOf("why", why))
		}
		if err := checkPast(ctx, store, keeper, a); err != nil || a.Workspace == "" {
			return nil, err
		}
		return withheldPaths(ctx, store, keeper, a)
	}
	return n.initLog(ctx, blobs, b)
}

// withheldPaths returns the paths of the imported workspace whose content the archive
// lacks.
func withheldPaths(ctx context.Context, store *eventstore.Store, keeper *snapshot.Keeper, a timeline.Archive) ([]string, error) {
	s, _, err := store.SnapshotAt(ctx, a.Seq)
	if err != nil {
		return nil, choir.Wrap("computer.import", choir.CodeInvalid, err, "the file has a workspace, the log in it has none")
	}
	withheld := map[choir.Digest]bool{}
	for _, w := range a.Withheld {
		withheld[w.Digest] = true
	}
	changes, err := snapshot.Diff(ctx, keeper, s.Snapshot, a.Workspace)
	if err != nil {
		return nil, choir.Wrap("computer.import", "", err, "compare the workspace in the file with that in its log")
	}
	var paths []string
	for _, ch := range changes {
		if ch.After != nil || ch.Before.Kind != snapshot.File || !withheld[ch.Before.Digest()] {
			return nil, choir.Refuse("computer.import", choir.ReasonImportWorkspaceDiffers, choir.TextOf("path", ch.Path))
		}
		paths = append(paths, ch.Path)
	}
	return paths, nil
}

// checkPast checks that the content referred to by the imported log is complete, except
// what the archive lists as missing, and that there is no other content.
func checkPast(ctx context.Context, store *eventstore.Store, keeper *snapshot.Keeper, a timeline.Archive) error {
	last, err := store.At(ctx, a.Seq)
	if err != nil && choir.CodeOf(err) != choir.CodeNotFound {
		return err
	}
	if err != nil || last.Computer != a.Computer {
		return choir.Refuse("computer.import", choir.ReasonImportOtherComputer, choir.TextOf("id", a.Computer))
	}
	reached, err := timeline.ReachAll(ctx, store, keeper, a.Seq)
	if err != nil {
		return err
	}
	may := map[choir.Digest]bool{}
	for _, d := range a.Absent {
		may[d] = true
	}
	for _, w := range a.Withheld {
		may[w.Digest] = true
	}
	for _, d := range reached.Absent {
		if !may[d] {
			return choir.Refuse("computer.import", choir.ReasonImportBlobMissing, choir.TextOf("digest", d))
		}
	}
	known := map[choir.Digest]bool{}
	for _, d := range reached.Digests {
		known[d] = true
	}
	if a.Workspace != "" {
		tree, err := treeDigests(ctx, keeper, a.Workspace)
		if err != nil {
			return choir.Wrap("computer.import", choir.CodeCorrupt, err, "the workspace in the file is not whole")
		}
		for _, d := range tree {
			known[d] = true
		}
	}
	for _, m := range a.Members {
		if !m.IsSegment() && !known[m.SHA256] {
			return choir.Refuse("computer.import", choir.ReasonImportBlobSpare, choir.TextOf("digest", m.SHA256))
		}
	}
	return nil
}

// archiveReceiver stores the segments and blobs of an archive in the new computer's
// folder.
type archiveReceiver struct {
	dir   string
	blobs blob.Store
	batch blob.Batch // small content, or nil
	bytes int64
	count int
}

// Bounds of what is made durable together.
const (
	smallBlob  = 1 << 20
	batchBytes = 64 << 20
	batchCount = 4096
)

// Segment implements timeline.Taker.
func (t *archiveReceiver) Segment(name string, content []byte) error {
	return journal.WriteSegment(t.dir, name, content)
}

// Blob implements timeline.Taker.
func (t *archiveReceiver) Blob(ctx context.Context, d choir.Digest, size int64, content io.Reader) error {
	b, ok := t.blobs.(blob.Batcher)
	if !ok || size > smallBlob {
		_, _, err := t.blobs.Put(ctx, content)
		return err
	}
	whole, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	if t.batch == nil {
		if t.batch, err = b.Batch(ctx); err != nil {
			return err
		}
	}
	if err := t.batch.Add(d, whole); err != nil {
		return err
	}
	t.bytes, t.count = t.bytes+size, t.count+1
	if t.bytes > batchBytes || t.count >= batchCount {
		return t.flush()
	}
	return nil
}

// flush makes durable what came so far.
func (t *archiveReceiver) flush() error {
	if t.batch == nil {
		return nil
	}
	err := t.batch.Commit()
	t.batch, t.bytes, t.count = nil, 0, 0
	return err
}

func (t *archiveReceiver) discard() {
	if t.batch != nil {
		t.batch.Discard()
	}
}
