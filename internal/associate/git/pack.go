package git

import (
	"context"
	"os"
	"path/filepath"

	"choiros/internal/fault"
)

// looseMost is about how many loose objects a repository may have: every scan of
// the workspace looks at each of their files.
const looseMost = 2048

// pack puts a repository's loose objects into a pack when there are many; what
// is packed already, and what nothing leads to, stays as it is. No deltas are
// looked for, which can take minutes: `git gc` does.
func (g *Git) pack(ctx context.Context, dir string) {
	if !manyLoose(dir) {
		return
	}
	fault.Point("git.pack")
	// The commit is made; where there is no room to pack, nothing is lost.
	_, _ = g.run(ctx, dir, nil, "repack", "-d", "-l", "-q", "--window=0", "--no-write-bitmap-index")
}

// manyLoose looks into one of the 256 folders of loose objects, as git does.
func manyLoose(dir string) bool {
	sample, err := os.ReadDir(filepath.Join(dir, ".git/objects/17"))
	return err == nil && len(sample) > looseMost/256
}
