package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// errUnusual means that git has to make the commit. At most unreferenced objects were
// written.
var errUnusual = errors.New("git must do it")

// direct commits a small change to an ordinary repository without starting git: it writes
// loose objects, branch, reflog and index, in git's order and under git's locks.
type direct struct {
	*Git
	ctx     context.Context
	dir     string   // the repository's work tree
	root    *os.Root // dir; writes stay below it, even through a task's links
	ignore  string   // file with further ignore rules, or empty
	paths   []string
	present map[string]bool
	ref     string // the branch
	objects objects
	index   *index
}

// direct commits the paths without starting git and returns the commit's id, "" if nothing
// differs from HEAD. done is false if the change or the repository is not simple enough;
// then nothing was committed and git has to do it.
func (g *Git) direct(ctx context.Context, dir string, paths []string, ignoreFile string, c Checkpoint) (id string, done bool, err error) {
	present, ok := smallFiles(dir, paths)
	ref, onBranch := branchOf(dir)
	if !ok || !onBranch || !strings.HasPrefix(ref, "refs/heads/") || !filepath.IsLocal(ref) || len(paths) == 0 || !g.plain(dir, paths) {
		return "", false, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", false, nil // what is wrong, git says better
	}
	defer root.Close()
	d := &direct{
		Git: g, ctx: ctx, dir: dir, root: root, ignore: ignoreFile, paths: paths, present: map[string]bool{}, ref: ref,
		objects: objects{root: root, dir: ".git/objects"},
	}
	for _, p := range present {
		d.present[p] = true
	}
	id, err = d.commit(c)
	if err != nil && id == "" {
		return "", false, nil // what is wrong, git says better
	}
	return id, true, err
}

// file returns the path of a file in .git, relative to d.root.
func (d *direct) file(name string) string { return path.Join(".git", name) }

// commit makes the commit and returns its id, "" if nothing differs from HEAD. An error
// with an empty id means that git has to do it.
func (d *direct) commit(c Checkpoint) (string, error) {
	lock, err := lockFile(d.root, d.file("index"))
	if err != nil {
		return "", err
	}
	defer lock.drop()
	head, before, err := d.open()
	if err != nil {
		return "", err
	}
	if err := d.update(); err != nil {
		return "", err
	}
	after, err := d.trees(before)
	if err != nil || after.id == before.id {
		return "", err
	}
	d.index.tree = after
	who := fmt.Sprintf("%s <%s> %d +0000", authorName, authorEmail, c.At.Std().Unix())
	id, err := d.objects.write("commit", fmt.Appendf(nil, "tree %s\nparent %s\nauthor %s\ncommitter %s\n\n%s", after.id, head, who, who, c.message()))
	if err == nil {
		err = d.move(head, id, who, c.logLine())
	}
	if err == nil {
		err = lock.replace(d.index.encode())
		return id.String(), choir.Wrap("git.commit", choir.CodeInternal, err, "write the index")
	}
	return "", err
}

// open reads the index into d.index and returns the commit at HEAD and the cached tree of
// the index. It returns errUnusual if they differ, because then something is staged.
func (d *direct) open() (head objectID, tree *cachedTree, err error) {
	f, err := d.root.Open(d.file("index"))
	if err != nil {
		return head, nil, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return head, nil, err
	}
	raw := make([]byte, st.Size)
	if _, err := f.ReadAt(raw, 0); err != nil {
		return head, nil, err
	}
	ix, ok := parseIndex(raw)
	if !ok || !d.settled(ix, st.Mtim) {
		return head, nil, errUnusual
	}
	d.index = ix
	commit, known := Head(d.dir)
	head, isID := parseID(commit)
	was, loose := d.objects.treeOf(head)
	if !known || !isID || !loose {
		return head, nil, errUnusual
	}
	// Trees that are the same as HEAD's are in the repository already.
	m := treeMaker{write: func(content []byte) (objectID, error) {
		id, _ := encodeObject("tree", content)
		return id, nil
	}}
	tree, err = m.make("", ix.entries, ix.tree)
	if err == nil && tree.id != was {
		err = errUnusual
	}
	return head, tree, err
}

// settled reports whether every index entry is either among d.paths or older than the
// index's modification time written; git would first check newer files. It returns false
// if the index has a .gitattributes above the paths.
func (d *direct) settled(ix *index, written unix.Timespec) bool {
	mine := map[string]bool{}
	for _, p := range d.paths {
		mine[p] = true
	}
	for _, e := range ix.entries {
		if !e.before(written) && !mine[string(e.name)] {
			return false
		}
	}
	for _, folder := range foldersOf(d.paths) {
		if _, there := ix.find(path.Join(folder, attributesFile)); there {
			return false
		}
	}
	return true
}

// update adds the present paths to the index and their contents to the objects, except new ignored
// ones, and removes absent paths from the index.
func (d *direct) update() error {
	ignored, err := d.ignoredNew()
	if err != nil {
		return err
	}
	var put []string
	for _, p := range d.paths {
		switch {
		case !d.present[p]:
			d.index.remove(p)
		case !ignored[p]:
			put = append(put, p)
		}
	}
	for _, p := range put {
		e, err := d.add(p)
		if err != nil {
			return err
		}
		d.index.put(e)
	}
	return d.consistent(put)
}

// ignoredNew returns which of d.paths are ignored. Paths in the index never are.
func (d *direct) ignoredNew() (map[string]bool, error) {
	var fresh []string
	for _, p := range d.paths {
		if _, there := d.index.find(p); d.present[p] && !there {
			fresh = append(fresh, p)
		}
	}
	if len(fresh) == 0 {
		return nil, nil
	}
	return d.ignored(d.ctx, d.dir, fresh, d.ignore)
}

// add stores the content of the file p as a blob and returns its index entry. errUnusual: it is not
// a small regular file.
func (d *direct) add(p string) (e indexEntry, err error) {
	f, err := os.OpenFile(filepath.Join(d.dir, p), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return e, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return e, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size > smallBytes {
		return e, errUnusual
	}
	content := make([]byte, st.Size)
	if n, err := f.ReadAt(content, 0); n != len(content) {
		return e, errors.Join(errUnusual, err)
	}
	mode := uint32(0o100644)
	if st.Mode&0o100 != 0 {
		mode = 0o100755
	}
	id, err := d.objects.write("blob", content)
	return newEntry(p, mode, id, &st), err
}

// consistent returns errUnusual if the index would have a path in put both as a file and a folder.
func (d *direct) consistent(put []string) error {
	for _, p := range put {
		if d.index.hasBelow(p) {
			return errUnusual
		}
	}
	for _, folder := range foldersOf(put) {
		if _, there := d.index.find(folder); there {
			return errUnusual
		}
	}
	return nil
}

// trees writes the tree objects that differ from before and returns the index's cached tree.
func (d *direct) trees(before *cachedTree) (*cachedTree, error) {
	m := treeMaker{changed: map[string]bool{}, write: func(content []byte) (objectID, error) {
		return d.objects.write("tree", content)
	}}
	for _, folder := range foldersOf(d.paths) {
		m.changed[folder] = true
	}
	return m.make("", d.index.entries, before)
}

// move sets the branch from commit from to commit to and appends the reflog entry said. errUnusual: the
// branch is not at from.
func (d *direct) move(from, to objectID, who, said string) error {
	lock, err := lockFile(d.root, d.file(d.ref))
	if err != nil {
		return err
	}
	defer lock.drop()
	if now, ok := Head(d.dir); !ok || now != from.String() {
		return errUnusual
	}
	line := fmt.Sprintf("%s %s %s\t%s\n", from, to, who, said)
	for _, name := range []string{"logs/HEAD", "logs/" + d.ref} {
		if err := appendLine(d.root, d.file(name), line); err != nil {
			return err
		}
	}
	return lock.replace([]byte(to.String() + "\n"))
}

// appendLine appends a line to a file below root, creating file and folder if missing.
func appendLine(root *os.Root, name, line string) error {
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}
