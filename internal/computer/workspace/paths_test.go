package workspace

import "testing"

// TestWhatGitKeepsIsNothingThatItRuns tells the paths of a repository's objects and branches from
// those that make git run programs.
func TestWhatGitKeepsIsNothingThatItRuns(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"app/.git/objects/ab/cdef0123": true, "app/.git/objects/pack/pack-0aF.idx": false, "app/.git/objects/pack/pack-0af.idx": true,
		"app/.git/refs/heads/main": true, "app/.git/logs/HEAD": true, "app/.git/index": true, "app/.git/HEAD": true, "app/.git/ORIG_HEAD": true,
		".git/packed-refs": true, "app/.git/hooks/pre-commit.sample": true,
		"app/.git/hooks/pre-commit": false, "app/.git/config": false, "app/.git/config.worktree": false, "app/.git/info/attributes": false,
		"app/.git/objects/info/alternates": false, "app/.git/modules/x/config": false, "app/.git/payload.py": false, "app/.git": false,
		"app/.git/objects/x.py": false, "app/.git/hooks/x.sample/y": false, "app/git/index": false, "app/x.git/index": false, "index": false,
	} {
		if got := IsKeptByGit(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
