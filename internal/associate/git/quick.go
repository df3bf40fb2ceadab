package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Bounds of a change that is committed the quick way.
const (
	quickPaths = 100
	quickBytes = 8 << 20
)

// quickFiles looks at the paths for a quick commit: few, small, plain files or
// gone, no suspected keys, and names that fit git's line format.
func quickFiles(dir string, paths []string) (present []string, ok bool) {
	// While the index is locked, the long way fails before it commits anything.
	if len(paths) > quickPaths || exists(filepath.Join(dir, ".git/index.lock")) {
		return nil, false
	}
	var total int64
	for _, p := range paths {
		info, err := os.Lstat(filepath.Join(dir, p))
		switch {
		case strings.ContainsAny(p, "\n\r\"") || LooksLikeKey(dir, p):
			return nil, false
		case os.IsNotExist(err):
			continue
		case err != nil || !info.Mode().IsRegular():
			return nil, false
		}
		total += info.Size()
		present = append(present, p)
	}
	return present, total <= quickBytes
}

// quickHead is the branch that is checked out, when that can be read without
// git: an ordinary repository, on a branch.
func quickHead(dir string) (ref string, ok bool) {
	raw, err := os.ReadFile(filepath.Join(dir, ".git/HEAD"))
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(strings.TrimSpace(string(raw)), "ref: ")
}

// Head is the commit a repository stands at, when that can be read without git.
func Head(dir string) (id string, ok bool) {
	ref, ok := quickHead(dir)
	if !ok || !filepath.IsLocal(ref) {
		return "", false
	}
	raw, err := os.ReadFile(filepath.Join(dir, ".git", ref))
	return strings.TrimSpace(string(raw)), err == nil
}

// quick commits a small change with two waits for git instead of five: what is
// ignored is asked while the contents are stored and compared with HEAD, and
// the index is updated while the commit is written. done is false when the
// change or the repository is not of the simple kind; then nothing was changed.
func (g *Git) quick(ctx context.Context, dir string, paths []string, ignoreFile string, c Checkpoint) (id string, done bool, err error) {
	present, ok := quickFiles(dir, paths)
	head, onBranch := quickHead(dir)
	if !ok || !onBranch || len(paths) == 0 {
		return "", false, nil
	}
	var ignored map[string]bool
	var ids, before []byte
	ask, actx := errgroup.WithContext(ctx)
	ask.Go(func() (err error) {
		ignored, err = g.ignored(actx, dir, paths, ignoreFile)
		return err
	})
	ask.Go(func() (err error) {
		if len(present) > 0 {
			ids, err = g.run(actx, dir, []byte(strings.Join(present, "\n")+"\n"), "hash-object", "-w", "--stdin-paths")
		}
		return err
	})
	ask.Go(func() (err error) {
		before, err = g.run(actx, dir, nil, append([]string{"--literal-pathspecs", "ls-tree", "-z", head, "--"}, paths...)...)
		return err
	})
	if ask.Wait() != nil {
		return "", false, nil // no commit yet, or something the long way says better
	}
	lines, chosen, ok := quickLines(dir, paths, present, ignored, strings.Fields(string(ids)), split(before))
	if !ok || len(lines) == 0 {
		return "", ok, nil
	}
	work, wctx := errgroup.WithContext(ctx)
	work.Go(func() error { return g.index(wctx, dir, chosen) })
	work.Go(func() (err error) {
		id, err = g.fastImport(wctx, dir, head, true, lines, c)
		return err
	})
	return id, true, work.Wait()
}

// quickLines are fast-import's commands for what differs from HEAD.
func quickLines(dir string, paths, present []string, ignored map[string]bool, ids, before []string) (lines [][]byte, chosen []string, ok bool) {
	if len(ids) != len(present) {
		return nil, nil, false
	}
	was := map[string]string{} // mode and id in HEAD
	for _, e := range before {
		meta, p, found := strings.Cut(e, "\t")
		f := strings.Fields(meta) // mode type id
		if !found || len(f) != 3 || f[1] != "blob" {
			return nil, nil, false
		}
		was[p] = f[0] + " " + f[2]
	}
	is := map[string]string{}
	for i, p := range present {
		info, err := os.Lstat(filepath.Join(dir, p))
		if err != nil {
			return nil, nil, false
		}
		mode := "100644 "
		if info.Mode()&0o100 != 0 {
			mode = "100755 "
		}
		is[p] = mode + ids[i]
	}
	for _, p := range paths {
		switch {
		case ignored[p] || is[p] == was[p]:
			continue
		case is[p] == "":
			lines = append(lines, []byte("D "+quote(p)+"\n"))
		default:
			lines = append(lines, []byte("M "+is[p]+" "+quote(p)+"\n"))
		}
		chosen = append(chosen, p)
	}
	return lines, chosen, true
}
