package bench

import (
	"context"
	"os/exec"
	"strings"
	"testing"
)

// TestTheFloorOfCheckpointsWritesWhatGitReads has git check what the floor's program
// wrote: objects, branch and index, with nothing left to commit.
func TestTheFloorOfCheckpointsWritesWhatGitReads(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not on this machine: ", err)
	}
	l := &lab{dir: t.TempDir()}
	f, err := l.newCommitFloor(t.Context(), 120)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	for range 3 {
		if _, err := f.sample(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"fsck --strict --full", ""},
		{"status --porcelain", ""},
		{"diff-index --cached HEAD", ""},
		{"log --format=%s", "change\nchange\nchange\nchange\n"},
		{"rev-list --count HEAD", "4\n"},
	} {
		out, err := quiet(t.Context(), f.dir, append([]string{"git"}, strings.Fields(c.args)...)...).CombinedOutput()
		if err != nil || string(out) != c.want {
			t.Errorf("git %s: %q, %v", c.args, out, err)
		}
	}
}
