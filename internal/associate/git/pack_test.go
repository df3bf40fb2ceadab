package git_test

import (
	"fmt"
	"path/filepath"
	"testing"
)

// loose counts the files of loose objects.
func (l lab) loose(dir string) int {
	l.Helper()
	found, err := filepath.Glob(filepath.Join(l.dir, dir, ".git/objects/[0-9a-f][0-9a-f]/*"))
	if err != nil {
		l.Fatal(err)
	}
	return len(found)
}

func TestManyObjectsArePacked(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo("workspace/app", "a")
	l.write("workspace/app/unnamed", "nothing leads to it\n")
	unnamed := l.git("workspace/app", "hash-object", "-w", "unnamed")[:40]
	var paths []string
	for i := range 4000 {
		name := fmt.Sprintf("workspace/app/many/%04d", i)
		l.write(name, fmt.Sprintf("content of %d\n", i))
		paths = append(paths, name)
	}
	first := l.commit(paths...)
	if n := l.loose("workspace/app"); n > 10 {
		t.Errorf("%d objects are loose", n)
	}
	l.git("workspace/app", "fsck", "--strict")
	if kind := l.git("workspace/app", "cat-file", "-t", unnamed); kind != "blob\n" {
		t.Errorf("what nothing leads to is %q", kind)
	}
	// A commit on top of a packed one, and one on top of that.
	for i := range 2 {
		l.write("workspace/app/a", fmt.Sprint(i))
		if made := l.commit("workspace/app/a"); len(made.Commits) != 1 || made.Commits[0].Commit == first.Commits[0].Commit {
			t.Fatalf("commit %d: %+v", i, made)
		}
	}
	if n := l.loose("workspace/app"); n == 0 || n > 20 {
		t.Errorf("%d objects are loose: few are to be left alone", n)
	}
	if status := l.git("workspace/app", "status", "--porcelain"); status != "?? unnamed\n" {
		t.Errorf("git sees %q", status)
	}
	l.git("workspace/app", "fsck", "--strict")
}
