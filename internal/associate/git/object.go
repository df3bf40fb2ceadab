package git

import (
	"bytes"
	"compress/zlib"
	"crypto/rand"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"choiros/internal/fault"
)

// objectID is the SHA-1 id of a git object.
type objectID [sha1.Size]byte

func (id objectID) String() string { return hex.EncodeToString(id[:]) }

// objects reads and writes the loose objects of a repository.
type objects struct {
	root *os.Root // the repository; no link leads outside of it
	dir  string   // the objects' folder below root, such as .git/objects
	zip  *zlib.Writer
}

// encodeObject returns the id of an object and its encoding (header and content) as git hashes
// it.
func encodeObject(kind string, content []byte) (objectID, []byte) {
	whole := append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...)
	return sha1.Sum(whole), whole
}

// write stores an object as a loose object, unless it exists, and returns its id. Like
// git by default, it does not sync the file.
func (o *objects) write(kind string, content []byte) (objectID, error) {
	id, whole := encodeObject(kind, content)
	folder, name := path.Join(o.dir, id.String()[:2]), id.String()[2:]
	if _, err := o.root.Lstat(path.Join(folder, name)); err == nil {
		return id, nil
	}
	temp := path.Join(folder, "tmp_obj_"+rand.Text())
	f, err := o.create(temp)
	if errors.Is(err, fs.ErrNotExist) {
		if err = o.root.Mkdir(folder, 0o777); err == nil {
			f, err = o.create(temp)
		}
	}
	if err != nil {
		return id, err
	}
	err = errors.Join(o.compress(f, whole), f.Chmod(0o444), f.Close())
	if err == nil {
		fault.Point("git.object.rename")
		err = o.root.Rename(temp, path.Join(folder, name))
	}
	if err != nil {
		err = errors.Join(err, o.root.Remove(temp))
	}
	return id, err
}

func (o *objects) create(name string) (*os.File, error) {
	return o.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
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

// maxCommitHead is how many bytes of a commit treeOf reads to find its first line.
const maxCommitHead = 256

// treeOf returns the tree id of a commit; ok is false if it is not a loose commit object.
func (o *objects) treeOf(commit objectID) (tree objectID, ok bool) {
	f, err := o.root.Open(path.Join(o.dir, commit.String()[:2], commit.String()[2:]))
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

// parseID parses an object id in hex; false if it is none.
func parseID(digits string) (id objectID, ok bool) {
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) != len(id) {
		return id, false
	}
	return objectID(raw), true
}
