package selfsource

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"time"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// carriedTree is the snapshot objects of an archived source: the tree that unpacking
// the archive into Folder of an empty workspace gives.
type carriedTree struct {
	root    choir.Digest // of a workspace with nothing else in it
	source  choir.Digest // of the folder
	objects []snapshot.Object
}

// readArchive reads the archive that tools/packdesktop wrote. Code corrupt when it is
// none.
func readArchive(archive []byte) (carriedTree, error) {
	top := newPackedFolder()
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var content []byte
		if err == nil {
			content, err = io.ReadAll(r)
		}
		if err == nil {
			err = top.add(h, content)
		}
		if err != nil {
			return carriedTree{}, choir.Wrap("computer.source", choir.CodeCorrupt, err, "read the desktop's source in this choir")
		}
	}
	var out carriedTree
	sum := top.addTo(&out)
	out.source = choir.DigestFrom(sum)
	out.root = out.addManifest(loneSource(sum))
	return out, nil
}

// loneTime dates the root of a workspace with nothing but a source, as
// tools/packdesktop dates what is in it.
var loneTime = snapshot.Stamp{Sec: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Unix()}

// loneSource is the root of a workspace with nothing but a source. Its mode and
// time are always the same, so that they never differ.
func loneSource(sum snapshot.Sum) snapshot.Manifest {
	return snapshot.Manifest{Mode: 0o755, MTime: loneTime, Entries: []snapshot.Entry{{Name: Folder, Kind: snapshot.Dir, Sum: sum}}}
}

// addManifest adds the manifest of a folder and returns its digest.
func (c *carriedTree) addManifest(m snapshot.Manifest) choir.Digest {
	raw := m.Encode()
	d := choir.DigestOf(raw)
	c.objects = append(c.objects, snapshot.Object{Digest: d, Manifest: true, Size: int64(len(raw)), Content: raw})
	return d
}

// storeTree stores the objects of a tree in the computer's blob store.
func (s *Source) storeTree(ctx context.Context, root choir.Digest, objects []snapshot.Object) error {
	in, err := s.keeper.NewIntake(ctx)
	if err != nil {
		return err
	}
	defer in.Discard()
	for _, o := range objects {
		if err := in.Add(ctx, o); err != nil {
			return err
		}
	}
	_, _, err = in.Commit(ctx, root)
	return err
}

// packedFolder is a folder of the archive.
type packedFolder struct {
	mode    uint32
	mtime   snapshot.Stamp
	folders map[string]*packedFolder
	files   map[string]packedFile
}

type packedFile struct {
	entry   snapshot.Entry
	content []byte
}

func newPackedFolder() *packedFolder {
	return &packedFolder{mode: 0o755, folders: map[string]*packedFolder{}, files: map[string]packedFile{}}
}

// subfolder returns the folder at a path below f, in memory, and creates it if it is missing.
func (f *packedFolder) subfolder(dir string) *packedFolder {
	if dir == "." {
		return f
	}
	parent, name := path.Split(dir)
	up := f.subfolder(path.Clean("./" + parent))
	if up.folders[name] == nil {
		up.folders[name] = newPackedFolder()
	}
	return up.folders[name]
}

func (f *packedFolder) add(h *tar.Header, content []byte) error {
	name := path.Clean(h.Name)
	mode, mtime := uint32(h.Mode&0o7777), snapshot.Stamp{Sec: h.ModTime.Unix(), Nsec: uint32(h.ModTime.Nanosecond())}
	e := snapshot.Entry{Name: path.Base(name), Mode: mode, MTime: mtime}
	switch h.Typeflag {
	case tar.TypeDir:
		dir := f.subfolder(name)
		dir.mode, dir.mtime = mode, mtime
		return nil
	case tar.TypeReg:
		e.Kind, e.Size = snapshot.File, int64(len(content))
		e.Sum, _ = choir.DigestOf(content).Bytes()
	case tar.TypeSymlink:
		e.Kind, e.Mode, e.Target = snapshot.Symlink, 0o777, h.Linkname
	default:
		return choir.E("computer.source", choir.CodeCorrupt, "%q is neither folder, file nor link", h.Name)
	}
	f.subfolder(path.Dir(name)).files[e.Name] = packedFile{e, content}
	return nil
}

// addTo adds the folder with everything below it to out and returns its digest and
// size.
func (f *packedFolder) addTo(out *carriedTree) snapshot.Sum {
	m := snapshot.Manifest{Mode: f.mode, MTime: f.mtime}
	for name, below := range f.folders {
		m.Entries = append(m.Entries, snapshot.Entry{Name: name, Kind: snapshot.Dir, Sum: below.addTo(out)})
	}
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		file := f.files[name]
		m.Entries = append(m.Entries, file.entry)
		if file.entry.Kind == snapshot.File {
			out.objects = append(out.objects, snapshot.Object{Digest: file.entry.Digest(), Size: file.entry.Size, Content: file.content})
		}
	}
	slices.SortFunc(m.Entries, func(a, b snapshot.Entry) int { return cmp.Compare(a.Name, b.Name) })
	sum, _ := out.addManifest(m).Bytes()
	return sum
}
