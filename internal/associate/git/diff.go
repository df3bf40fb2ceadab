package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"choiros/internal/choir"
)

// File is one side of a change. Content is the target of a link.
type File struct {
	Path    string // raw, as the diff shall name it
	Link    bool
	Exec    bool
	Content []byte
}

func (f *File) mode() string {
	switch {
	case f.Link:
		return "120000"
	case f.Exec:
		return "100755"
	}
	return "100644"
}

// Diff makes a unified diff that `git apply` accepts: renames, modes, links,
// binary files and missing final newlines included. It works on the two sides
// alone, in a scratch repository, so that it is the same for tracked, untracked
// and nested files, and nothing of the owner's configuration takes part. It is
// empty when git sees no difference.
func (g *Git) Diff(ctx context.Context, before, after []File) ([]byte, error) {
	if len(before)+len(after) == 0 {
		return nil, nil
	}
	dir, err := g.scratchRepo()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var in bytes.Buffer
	side(&in, "refs/heads/a", before)
	side(&in, "refs/heads/b", after)
	in.WriteString("done\n")
	if _, err := g.run(ctx, dir, in.Bytes(), "fast-import", "--quiet", "--done"); err != nil {
		return nil, choir.Wrap("git.diff", choir.CodeInternal, err, "read the two sides of the change")
	}
	out, err := g.run(ctx, dir, nil, "diff-tree", "-p", "--binary", "--find-renames", "--no-ext-diff", "--no-textconv",
		"--no-color", "--src-prefix=a/", "--dst-prefix=b/", "refs/heads/a", "refs/heads/b")
	return out, choir.Wrap("git.diff", choir.CodeInternal, err, "compare the two sides of the change")
}

// scratchRepo makes an empty bare repository without starting git.
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

func side(in *bytes.Buffer, ref string, files []File) {
	fmt.Fprintf(in, "commit %s\ncommitter %s <%s> 0 +0000\ndata 0\n\n", ref, authorName, authorEmail)
	for _, f := range files {
		fmt.Fprintf(in, "M %s inline %s\ndata %d\n", f.mode(), quote(f.Path), len(f.Content))
		in.Write(f.Content)
		in.WriteByte('\n')
	}
	in.WriteByte('\n')
}
