package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// commitTree commits any number of entries on top of a branch, which may be
// unborn. The tree is made in an index of its own, so that the repository's
// keeps what a person staged; fast-import would take a time that grows with the
// square of the files in a folder.
func (g *Git) commitTree(ctx context.Context, dir, head string, born bool, changed []entry, c Checkpoint) (string, error) {
	scratch, err := os.MkdirTemp(g.Temp, "index-")
	if err != nil {
		return "", choir.Wrap("git", choir.CodeNoSpace, err, "make a scratch folder")
	}
	defer os.RemoveAll(scratch) // what is left behind there does no harm
	date := fmt.Sprintf("@%d +0000", c.At.Std().Unix())
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(scratch, "index"), "GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date}
	from, parent := "", []string(nil)
	if born {
		id, err := g.run(ctx, dir, nil, "rev-parse", "--verify", head+"^0")
		if err == nil {
			from = strings.TrimSpace(string(id))
			parent = []string{"-p", from}
			_, err = g.runWith(ctx, dir, env, nil, "read-tree", from)
		}
		if err != nil {
			return "", err
		}
	}
	if _, err := g.runWith(ctx, dir, env, indexInfo(changed, len(from)), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	tree, err := g.runWith(ctx, dir, env, nil, "write-tree")
	if err != nil {
		return "", err
	}
	commit := append([]string{"commit-tree", strings.TrimSpace(string(tree)), "-F", "-"}, parent...)
	made, err := g.runWith(ctx, dir, env, []byte(c.message()), commit...)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(made))
	fault.Point("git.move")
	// An empty old value says that the branch must not be there yet.
	_, err = g.run(ctx, dir, nil, "update-ref", "-m", c.logLine(), head, id, from)
	if err != nil {
		return "", err
	}
	return id, nil
}

// indexInfo is update-index's input; an object's name has digits digits, which
// only what is removed needs to know.
func indexInfo(changed []entry, digits int) []byte {
	var in bytes.Buffer
	for _, e := range changed {
		if e.id == "" {
			e.mode, e.id = "0", strings.Repeat("0", digits)
		}
		fmt.Fprintf(&in, "%s %s\t%s\x00", e.mode, e.id, e.path)
	}
	return in.Bytes()
}
