package git

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"choiros/internal/fault"
)

// objectID names an object of a repository that hashes with SHA-1.
type objectID [sha1.Size]byte

func (id objectID) String() string { return hex.EncodeToString(id[:]) }

// objects is the loose objects of a repository.
type objects struct {
	dir string // .git/objects
	zip *zlib.Writer
}

// named is an object as git hashes and keeps it.
func named(kind string, content []byte) (objectID, []byte) {
	whole := append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...)
	return sha1.Sum(whole), whole
}

// write adds an object, unless it is there, and returns its name. Like git
// does by default, it does not wait until the object is on the disk.
func (o *objects) write(kind string, content []byte) (objectID, error) {
	id, whole := named(kind, content)
	folder, name := filepath.Join(o.dir, id.String()[:2]), id.String()[2:]
	if exists(filepath.Join(folder, name)) {
		return id, nil
	}
	f, err := os.CreateTemp(folder, "tmp_obj_")
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.Mkdir(folder, 0o777); err == nil {
			f, err = os.CreateTemp(folder, "tmp_obj_")
		}
	}
	if err != nil {
		return id, err
	}
	err = errors.Join(o.compress(f, whole), f.Chmod(0o444), f.Close())
	if err == nil {
		fault.Point("git.object.rename")
		err = os.Rename(f.Name(), filepath.Join(folder, name))
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return id, err
}

func (o *objects) compress(w io.Writer, content []byte) error {
	if o.zip == nil {
		z, err := zlib.NewWriterLevel(w, zlib.BestSpeed) // git's choice too
		if err != nil {
			return err
		}
		o.zip = z
	} else {
		o.zip.Reset(w)
	}
	_, err := o.zip.Write(content)
	return errors.Join(err, o.zip.Close())
}

// maxCommitHead is how much of a commit is read for its first line.
const maxCommitHead = 256

// treeOf is the tree of a commit that is kept loose.
func (o *objects) treeOf(commit objectID) (tree objectID, ok bool) {
	f, err := os.Open(filepath.Join(o.dir, commit.String()[:2], commit.String()[2:]))
	if err != nil {
		return tree, false
	}
	defer f.Close()
	z, err := zlib.NewReader(f)
	if err != nil {
		return tree, false
	}
	defer z.Close()
	head, _ := io.ReadAll(io.LimitReader(z, maxCommitHead)) // what is missing is not found below
	kind, rest, _ := bytes.Cut(head, []byte{0})
	line, _, _ := bytes.Cut(rest, []byte{'\n'})
	digits, isTree := bytes.CutPrefix(line, []byte("tree "))
	if !bytes.HasPrefix(kind, []byte("commit ")) || !isTree {
		return tree, false
	}
	return parseID(string(digits))
}

func parseID(digits string) (id objectID, ok bool) {
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) != len(id) {
		return id, false
	}
	return objectID(raw), true
}
