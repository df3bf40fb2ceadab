package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// fullOfHistory brings a project in that has much more past than present, lets
// a task write to that past and delete it, and goes back. CHOIR_TEST_LARGE makes
// it 20,000 commits.
func (o *office) fullOfHistory(t *testing.T) {
	o = o.in(t)
	commits := 300
	if os.Getenv("CHOIR_TEST_LARGE") != "" {
		commits = 20_000
	}
	source := repoOf(t, "aged", commits)
	o.must("repo", "add", source)
	brought := filepath.Join(o.workspace(), "workspace", "aged")
	if diff, err := exec.Command("diff", "-r", "--no-dereference", source, brought).CombinedOutput(); err != nil {
		t.Fatalf("what was brought in differs: %v\n%.2000s", err, diff)
	}
	then := o.c.log(t)
	was := exact(t, o.workspace())
	// A commit starts git gc of its own in the background, which the one here meets.
	script := "echo more >> file1 && git -c gc.auto=0 -c maintenance.auto=false -c user.name=x -c user.email=x@x commit -qam more && git tag -d v0 && git gc -q --prune=now && rm -rf .git file2 && git init -q -b main && git add -A && git -c gc.auto=0 -c maintenance.auto=false -c user.name=x -c user.email=x@x commit -qm anew"
	o.ends(t, shellTask("edit_repo", "aged", script, noVerify), 0, choir.StatusOK, "")
	o.must("rewind", strconv.FormatUint(then[len(then)-1].Seq, 10))
	sameTree(t, was, exact(t, o.workspace()))
	r := o.ends(t, shellTask("run", "aged", "git fsck --strict && git rev-list --count --all && git tag | wc -l", ""), 0, choir.StatusOK, "")
	want := fmt.Sprintf("%d\n%d\n", commits, commits/10)
	if got := r.CommandsRun[0].StdoutTail; got != want {
		t.Errorf("the past has commits and tags\n%swant\n%s", got, want)
	}
}

// repoOf is a repository with so many commits, a tenth of them with a tag. Half of
// the objects are packed.
func repoOf(t *testing.T, name string, commits int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	gitIn(t, filepath.Dir(dir), "init", "-q", "-b", "main", name)
	var packed, loose bytes.Buffer
	for i := range commits {
		into := &packed
		if i >= commits/2 {
			into = &loose
		}
		from := ""
		if i == commits/2 {
			from = "from refs/heads/main^0\n"
		}
		content := fmt.Sprintf("line %d\n", i)
		fmt.Fprintf(into, "commit refs/heads/main\nmark :%d\ncommitter A <a@localhost> %d +0000\ndata 1\nx\n%sM 100644 inline file%d\ndata %d\n%s\n",
			i+1, 1_700_000_000+i, from, i%50, len(content), content)
		if i%10 == 0 {
			fmt.Fprintf(into, "reset refs/tags/v%d\nfrom :%d\n\n", i/10, i+1)
		}
	}
	fastImport(t, dir, "1", &packed)
	fastImport(t, dir, "1000000", &loose)
	gitIn(t, dir, "checkout", "-q", "main")
	return dir
}

// fastImport takes in a stream; up to limit objects of it stay loose.
func fastImport(t *testing.T, dir, limit string, stream *bytes.Buffer) {
	t.Helper()
	c := exec.Command("git", "-C", dir, "-c", "fastimport.unpackLimit="+limit, "fast-import", "--quiet")
	c.Stdin = stream
	var said strings.Builder
	c.Stderr = &said
	if err := c.Run(); err != nil {
		t.Fatalf("git fast-import: %v\n%s", err, said.String())
	}
}
