package git

import (
	"context"
	"os"
	"path/filepath"

	"choiros/internal/fault"
)

// looseMost is the approximate number of loose objects above which a repository is
// packed: every scan of the workspace stats each of their files.
const looseMost = 2048

// pack moves the repository's loose objects into a pack if there are many. Existing packs
// and unreferenced objects stay. It computes no deltas, which could take minutes. Errors
// are ignored.
func (g *Git) pack(ctx context.Context, dir string) {
	if !manyLoose(dir) {
		return
	}
	fault.Point("git.pack")
	// The commit is made; where there is no room to pack, nothing is lost.
	_, _ = g.run(ctx, dir, nil, "repack", "-d", "-l", "-q", "--window=0", "--no-write-bitmap-index")
}

// manyLoose estimates from one of the 256 object folders whether the repository has more
// than looseMost loose objects.
func manyLoose(dir string) bool {
	sample, err := os.ReadDir(filepath.Join(dir, ".git/objects/17"))
	return err == nil && len(sample) > looseMost/256
}
