package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"choiros/internal/fault"
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
	changed, ok := quickEntries(dir, paths, present, ignored, strings.Fields(string(ids)), split(before))
	if !ok || len(changed) == 0 {
		return "", ok, nil
	}
	var chosen []string
	for _, e := range changed {
		chosen = append(chosen, e.path)
	}
	work, wctx := errgroup.WithContext(ctx)
	work.Go(func() error { return g.index(wctx, dir, chosen) })
	work.Go(func() (err error) {
		id, err = g.fastImport(wctx, dir, head, changed, c)
		return err
	})
	return id, true, work.Wait()
}

// quickEntries are what differs from HEAD.
func quickEntries(dir string, paths, present []string, ignored map[string]bool, ids, before []string) (changed []entry, ok bool) {
	if len(ids) != len(present) {
		return nil, false
	}
	was := map[string]entry{} // in HEAD
	for _, e := range before {
		meta, p, found := strings.Cut(e, "\t")
		f := strings.Fields(meta) // mode type id
		if !found || len(f) != 3 || f[1] != "blob" {
			return nil, false
		}
		was[p] = entry{p, f[0], f[2]}
	}
	is := map[string]entry{}
	for i, p := range present {
		info, err := os.Lstat(filepath.Join(dir, p))
		if err != nil {
			return nil, false
		}
		mode := "100644"
		if info.Mode()&0o100 != 0 {
			mode = "100755"
		}
		is[p] = entry{p, mode, ids[i]}
	}
	for _, p := range paths {
		now, there := is[p]
		if !there {
			now = entry{path: p}
		}
		if before, known := was[p]; ignored[p] || !there && !known || now == before {
			continue
		}
		changed = append(changed, now)
	}
	return changed, true
}

// fastImport commits few entries on top of a branch with one start of git.
func (g *Git) fastImport(ctx context.Context, dir, head string, changed []entry, c Checkpoint) (string, error) {
	var in bytes.Buffer
	who := fmt.Sprintf("%s <%s> %d +0000", authorName, authorEmail, c.At.Std().Unix())
	message := c.message()
	fmt.Fprintf(&in, "commit %s\nmark :1\nauthor %s\ncommitter %s\ndata %d\n%s\nfrom %s^0\n", head, who, who, len(message), message, head)
	for _, e := range changed {
		if e.id == "" {
			fmt.Fprintf(&in, "D %s\n", quote(e.path))
		} else {
			fmt.Fprintf(&in, "M %s %s %s\n", e.mode, e.id, quote(e.path))
		}
	}
	in.WriteString("\nget-mark :1\ndone\n")
	fault.Point("git.import")
	out, err := g.run(ctx, dir, in.Bytes(), "fast-import", "--quiet", "--done")
	return strings.TrimSpace(string(out)), err
}

// quote writes a path in fast-import's C style.
func quote(p string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(p) {
		switch c := p[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
