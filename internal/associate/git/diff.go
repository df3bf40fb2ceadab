package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// File is one file before or after a change. Content is a link's target if Link is set.
type File struct {
	Path    string // raw, as named in the diff
	Link    bool
	Exec    bool
	Content []byte
}

// mode returns the file's mode in git's trees.
func (f *File) mode() uint32 {
	switch {
	case f.Link:
		return 0o120000
	case f.Exec:
		return 0o100755
	}
	return 0o100644
}

// Diff returns a unified diff that git apply accepts, with renames, modes, links and
// binary files; empty if there is no difference. It compares in a scratch repository, so
// tracked, untracked and nested files are treated alike and the owner's configuration
// has no effect.
func (g *Git) Diff(ctx context.Context, before, after []File) ([]byte, error) {
	if len(before)+len(after) == 0 {
		return nil, nil
	}
	dir, err := g.scratchRepo()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, choir.Wrap("git.diff", choir.CodeNoSpace, err, "open a scratch repository")
	}
	defer root.Close()
	two := sides{Git: g, dir: dir, objects: objects{root: root, dir: "objects"}}
	from, to, err := two.trees(ctx, before, after)
	if err != nil {
		return nil, choir.Wrap("git.diff", choir.CodeInternal, err, "read the two sides of the change")
	}
	out, err := g.run(ctx, dir, nil, "diff-tree", "-p", "--binary", "--find-renames", "--no-ext-diff", "--no-textconv",
		"--no-color", "--src-prefix=a/", "--dst-prefix=b/", from.String(), to.String())
	return out, choir.Wrap("git.diff", choir.CodeInternal, err, "compare the two sides of the change")
}

// scratchRepo creates an empty bare repository in a new folder and returns the folder.
func (g *Git) scratchRepo() (string, error) {
	dir, err := os.MkdirTemp(g.Temp, "diff-")
	for _, d := range []string{"objects", "refs/heads"} {
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, d), 0o700)
		}
	}
	for name, content := range map[string]string{"HEAD": "ref: refs/heads/a\n", "config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600)
		}
	}
	return dir, choir.Wrap("git.diff", choir.CodeNoSpace, err, "make a scratch repository")
}

// sides writes the files before and after a change into a scratch repository.
type sides struct {
	*Git
	dir     string
	objects objects
}

// trees writes the files before and after as tree objects and returns their ids.
func (s *sides) trees(ctx context.Context, before, after []File) (from, to objectID, err error) {
	write := s.many
	if len(before)+len(after) <= smallPaths {
		write = s.few
	}
	if err = write(ctx, append(before[:len(before):len(before)], after...)); err != nil {
		return from, to, err
	}
	if from, err = s.tree(before); err == nil {
		to, err = s.tree(after)
	}
	return from, to, err
}

// few writes the contents as blobs without starting git.
func (s *sides) few(_ context.Context, files []File) error {
	for _, f := range files {
		if _, err := s.objects.write("blob", f.Content); err != nil {
			return err
		}
	}
	return nil
}

// many writes the contents as blobs with git fast-import. It does not write trees, for
// which fast-import takes quadratic time in large folders.
func (s *sides) many(ctx context.Context, files []File) error {
	var in bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&in, "blob\ndata %d\n", len(f.Content))
		in.Write(f.Content)
		in.WriteByte('\n')
	}
	in.WriteString("done\n")
	_, err := s.run(ctx, s.dir, in.Bytes(), "fast-import", "--quiet", "--done")
	return err
}

// tree writes the tree objects of files and returns the root's id.
func (s *sides) tree(files []File) (objectID, error) {
	entries := make([]indexEntry, 0, len(files))
	for _, f := range files {
		id, _ := encodeObject("blob", f.Content)
		entries = append(entries, newEntry(f.Path, f.mode(), id, &unix.Stat_t{}))
	}
	slices.SortFunc(entries, func(a, b indexEntry) int { return bytes.Compare(a.name, b.name) })
	m := treeMaker{write: func(content []byte) (objectID, error) { return s.objects.write("tree", content) }}
	t, err := m.make("", entries, nil)
	if err != nil {
		return objectID{}, err
	}
	return t.id, nil
}
