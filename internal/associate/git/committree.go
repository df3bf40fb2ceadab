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

// commitTree commits the changed entries on top of the branch head, or as its first
// commit if born is false, and returns the commit's id. It uses a temporary index, so
// that staged changes stay. (git fast-import would take quadratic time in large folders.)
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

// indexInfo returns the input for git update-index --index-info. digits is the length of
// an object id, needed for removed entries.
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
