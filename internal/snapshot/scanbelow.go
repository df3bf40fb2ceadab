package snapshot

import (
	"context"
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// ScanBelow scans only the given folders (raw paths below the root) with everything in
// them, see Scan. For the rest of the tree, including the folders above them, it assumes
// what the last scan saw; the next Scan sees changes there. It scans everything if the
// last scan does not know one of the folders.
func (s *Scanner) ScanBelow(ctx context.Context, folders []string, emit func(Object) error) (Result, error) {
	fd, err := openRoot(s.path)
	if err != nil {
		return Result{}, err
	}
	defer unix.Close(fd)
	return s.run(ctx, fd, emit, folders)
}

// errUnknown is the error for a folder that is not in the cache, or that is no folder any
// more.
var errUnknown = errors.New("a folder that the last scan does not know")

// below updates the given folders (raw paths), or the whole tree if one of them is
// unknown or gone.
func (s *scan) below(fd int, root *folder, folders []string) error {
	for _, path := range folders {
		_, err := s.along(fd, root, strings.Split(path, "/"))
		if err == errUnknown || err == unix.ENOENT {
			s.everything = true
			_, err = s.folder(fd, root)
			return err
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// along updates the folder at the path names below f, which is open as fd, and the
// digests of the folders on the way. It reports whether f's digest changed.
func (s *scan) along(fd int, f *folder, names []string) (bool, error) {
	if !f.written {
		return false, errUnknown
	}
	if len(names) == 0 {
		return s.folder(fd, f)
	}
	n := f.find(names[0])
	if n == nil || n.Kind != Dir {
		return false, errUnknown
	}
	changed := false
	err := s.withName(n.Name, func() error {
		child, err := openAnyway(fd, n.Name, openDir)
		switch err {
		case nil:
		case unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.EACCES:
			return errUnknown
		default:
			return s.fail("open", err)
		}
		defer unix.Close(child)
		s.depth++
		changed, err = s.along(child, n.dir, names[1:])
		s.depth--
		return err
	})
	if err != nil || !changed {
		return false, err
	}
	n.Sum = n.dir.sum
	f.recount()
	return s.seal(f)
}

// ScanOnly converts escaped paths to the raw paths that ScanBelow takes. A path that is
// not below the root is code invalid.
func ScanOnly(escaped []string) ([]string, error) {
	raw := make([]string, 0, len(escaped))
	for _, p := range escaped {
		b, err := UnescapePath(p)
		if err != nil {
			return nil, err
		}
		for name := range strings.SplitSeq(string(b), "/") {
			if name == "" || name == "." || name == ".." {
				return nil, choir.Invalid("path", "%q is no path below the root", p)
			}
		}
		raw = append(raw, string(b))
	}
	return raw, nil
}
