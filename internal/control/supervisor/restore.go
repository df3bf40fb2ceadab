package supervisor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"choiros/internal/choir"
	"choiros/internal/durablefile"
	"choiros/internal/eventstore"
	"choiros/internal/replica"
)

// RestoreFromCluster creates a data folder with one computer, whose log is the cluster's
// copy. It returns the computer's name and the last event of the log. Blobs are not in
// the cluster, so the files and documents they contain are missing until they come from
// a backup. Code conflict: there is a data folder already.
func RestoreFromCluster(ctx context.Context, cfg Config, id choir.ID) (name string, last choir.Event, err error) {
	from := cfg.Cluster
	switch {
	case from == nil:
		return "", last, choir.RefuseField("storage.durability", choir.ReasonNoClusterNamed)
	case !id.Valid():
		return "", last, choir.RefuseField("restore-from-cluster", choir.ReasonNotAComputerID, choir.TextOf("given", id))
	}
	f := &folder{path: cfg.Data}
	if _, err := os.Stat(filepath.Join(cfg.Data, "owner.json")); !errors.Is(err, fs.ErrNotExist) {
		return "", last, choir.Refuse("choir.restore", choir.ReasonFolderIsData, choir.TextOf("path", cfg.Data))
	}
	if err := errors.Join(f.mustBePossible(), f.closeToOthers()); err != nil {
		return "", last, err
	}
	if err := f.makeFolders(); err != nil {
		return "", last, choir.Wrap("choir.data", choir.CodeUnavailable, err, "make the data folder %s", cfg.Data)
	}
	if err := f.lockFolder(); err != nil {
		return "", last, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	return f.restore(ctx, from, id, cfg.Random)
}

// restore creates the computer from the cluster's copy in the order of System.create:
// unfinished folder, owner.json, final name.
func (f *folder) restore(ctx context.Context, from replica.Cluster, id choir.ID, random io.Reader) (name string, last choir.Event, err error) {
	dir := f.unfinished(id)
	if err := os.RemoveAll(dir); err != nil { // of an attempt that was killed
		return "", last, choir.Wrap("choir.restore", choir.CodeUnavailable, err, "remove %s", dir)
	}
	last, err = eventstore.Restore(dir, func(take func(uint64, []byte) error) error {
		return from.Read(ctx, id, func(seq uint64, raw []byte) error {
			if n := nameIn(raw); n != "" {
				name = n
			}
			return take(seq, raw)
		})
	})
	if err == nil && last.Computer != id {
		err = choir.Refuse("choir.restore", choir.ReasonCopyOfOther, choir.TextOf("id", last.Computer))
	}
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err == nil {
		err = errors.Join(durablefile.SyncFolder(dir), durablefile.SyncFolder(f.computers()))
	}
	if err != nil {
		return "", last, errors.Join(err, os.RemoveAll(dir))
	}
	o := owner{User: last.User, Computers: []entry{{ID: id, Name: name}}}
	if IsRoot() {
		users, err := newUIDAllocator(random)
		if err == nil {
			_, err = o.assignUIDs(users)
		}
		if err != nil {
			return "", last, errors.Join(err, os.RemoveAll(dir))
		}
	}
	if err := f.addToOwner(id, o); err != nil {
		return "", last, err
	}
	return name, last, f.nameFolder(id)
}

// nameIn returns the name that an encoded event gives its computer; "" if it gives none.
func nameIn(raw []byte) string {
	if !bytes.Contains(raw, []byte(`"type":"computer.`)) {
		return "" // most events, without decoding them
	}
	e, err := choir.DecodeEvent(raw)
	if err != nil {
		return "" // whoever takes the event says so
	}
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return ""
	}
	switch p := p.(type) {
	case *choir.ComputerCreated:
		return p.Name
	case *choir.ComputerForked:
		return p.Name
	case *choir.ComputerImported:
		return p.Name
	}
	return ""
}
