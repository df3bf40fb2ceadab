package git_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// plainRepo makes a repository whose files are older than its index.
func (l lab) plainRepo(dir string, files ...string) {
	l.Helper()
	l.mkdir(dir)
	l.git(dir, "init", "-q")
	for _, f := range files {
		l.write(filepath.Join(dir, f), f+"\n")
		l.age(filepath.Join(dir, f))
	}
	l.git(dir, "add", "-A")
	l.git(dir, "commit", "-q", "-m", "base")
}

// age makes a file look as if it had been written a minute ago.
func (l lab) age(name string) {
	l.Helper()
	then := time.Now().Add(-time.Minute)
	if err := os.Chtimes(filepath.Join(l.dir, name), then, then); err != nil {
		l.Fatal(err)
	}
}

// sound checks a repository after a checkpoint: all objects there, the index
// what HEAD is.
func (l lab) sound(dir string) {
	l.Helper()
	if out := l.git(dir, "fsck", "--strict", "--no-dangling"); strings.Contains(out, "error") {
		l.Errorf("fsck: %s", out)
	}
	if out := l.git(dir, "diff-index", "--cached", "HEAD"); out != "" {
		l.Errorf("the index differs from HEAD: %s", out)
	}
	if got, want := l.git(dir, "write-tree"), l.git(dir, "rev-parse", "HEAD^{tree}"); got != want {
		l.Errorf("the index makes tree %s, HEAD is %s", got, want)
	}
}

func TestAPlainRepositoryIsCommittedWithoutGit(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.g.Env = append(l.g.Env, "GIT_SSL_CAINFO=/run/choir-trust/bundle.pem") // as in every Associate's sandbox
	l.plainRepo("workspace/app", "edit", "gone", "mode", "same", "only/one", "a/b/c", "a/b.c", "a/b-c")
	l.commit() // makes nothing
	l.write("workspace/app/edit", "2")
	l.write("workspace/app/a/b/c", "2")
	l.write("workspace/app/new/deep/er", "new")
	for _, gone := range []string{"gone", "only"} {
		if err := os.RemoveAll(filepath.Join(l.dir, "workspace/app", gone)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(l.dir, "workspace/app/mode"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"edit", "a/b/c", "new/deep/er"} {
		l.age("workspace/app/" + p)
	}
	base := strings.TrimSpace(l.git("workspace/app", "rev-parse", "HEAD"))
	made := l.commit("workspace/app/edit", "workspace/app/gone", "workspace/app/mode", "workspace/app/same",
		"workspace/app/only/one", "workspace/app/a/b/c", "workspace/app/new/deep/er", "workspace/app/never/was")
	if l.g.Runs() != 0 || len(made.Commits) != 1 {
		t.Fatalf("git ran %d times and made %+v", l.g.Runs(), made)
	}
	l.sound("workspace/app")
	if out := l.git("workspace/app", "diff-files"); out != "" {
		t.Errorf("the index does not know the files' stat: %s", out)
	}
	want := "D gone\nD only/one\nM a/b/c\nM edit\nM mode\nA new/deep/er\n"
	if got := strings.ReplaceAll(l.git("workspace/app", "show", "--no-renames", "--name-status", "--format=", "HEAD"), "\t", " "); !sameLines(got, want) {
		t.Errorf("committed\n%s", got)
	}
	if got := l.git("workspace/app", "log", "-1", "--format=%P|%s|%an|%ce"); got != base+"|checkpoint: 20260102-030405|Choir Associate|associate@choir.invalid\n" {
		t.Errorf("commit %q", got)
	}
	for _, ref := range []string{"HEAD", "main"} {
		if got := strings.TrimSpace(l.git("workspace/app", "rev-parse", ref+"@{0}", ref+"@{1}")); got != made.Commits[0].Commit+"\n"+base {
			t.Errorf("the log of %s has %q", ref, got)
		}
	}
	if again := l.commit("workspace/app/edit"); len(again.Commits) != 0 || l.g.Runs() != 0 {
		t.Errorf("nothing to commit gave %+v after %d runs of git", again, l.g.Runs())
	}
}

func sameLines(a, b string) bool {
	lines := func(s string) map[string]bool {
		set := map[string]bool{}
		for line := range strings.Lines(s) {
			set[line] = true
		}
		return set
	}
	return cmp.Equal(lines(a), lines(b))
}

// Whatever is written, moved and removed, the index and the trees are those that
// git makes.
func TestDirectCommitsAreGits(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	var names []string
	for _, dir := range []string{"", "a/", "a.b/", "a/c/", "a-/", "z/z/z/"} {
		for i := range 4 {
			names = append(names, dir+"f"+strconv.Itoa(i))
		}
	}
	l.plainRepo("workspace/app", names...)
	random := rand.New(rand.NewPCG(1, 2))
	for step := range 40 {
		var paths []string
		for range 1 + random.IntN(4) {
			name := "workspace/app/" + names[random.IntN(len(names))]
			paths = append(paths, name)
			if random.IntN(3) == 0 {
				os.Remove(filepath.Join(l.dir, name))
				continue
			}
			l.write(name, strconv.Itoa(random.IntN(5)))
			l.age(name)
		}
		l.commit(paths...)
		if l.g.Runs() != 0 {
			t.Fatalf("step %d: git ran for %q", step, paths)
		}
		l.sound("workspace/app")
		if out := l.git("workspace/app", "status", "--short"); out != "" {
			t.Fatalf("step %d: %q left %q", step, paths, out)
		}
	}
}

// What is not plain is left to git, which gives the right answer.
func TestUnusualRepositoriesAreLeftToGit(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args  []string          // of git, before the change
		files map[string]string // written before the change
		want  string            // content in HEAD; default as written
	}{
		"line ends":        {args: []string{"config", "core.autocrlf", "input"}, want: "1\n2\n"},
		"attributes":       {files: map[string]string{".gitattributes": "* text\n"}, want: "1\n2\n"},
		"private ones":     {files: map[string]string{".git/info/attributes": "* text\n"}, want: "1\n2\n"},
		"included":         {args: []string{"config", "include.path", "/dev/null"}},
		"flagged":          {args: []string{"update-index", "--assume-unchanged", "other"}},
		"other version":    {args: []string{"update-index", "--index-version", "4"}},
		"packed":           {args: []string{"gc", "-q"}},
		"something staged": {args: []string{"rm", "-q", "--cached", "other"}},
		"split index":      {args: []string{"update-index", "--split-index"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.plainRepo("workspace/app", "dir/edit", "other")
			for file, content := range c.files {
				l.write("workspace/app/"+file, content)
			}
			if c.args != nil {
				l.git("workspace/app", c.args...)
			}
			l.write("workspace/app/dir/edit", "1\r\n2\r\n")
			made := l.commit("workspace/app/dir/edit")
			if c.want == "" {
				c.want = "1\r\n2\r\n"
			}
			if got := l.git("workspace/app", "show", "HEAD:dir/edit"); got != c.want || len(made.Commits) != 1 || l.g.Runs() == 0 {
				t.Errorf("%+v, %q, git ran %d times", made, got, l.g.Runs())
			}
			if out := l.git("workspace/app", "show", "--name-only", "--format=", "HEAD"); out != "dir/edit\n" {
				t.Errorf("committed %q", out)
			}
		})
	}
}

func TestAnotherHashIsLeftToGit(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.mkdir("workspace/app")
	l.git("workspace/app", "init", "-q", "--object-format=sha256")
	l.write("workspace/app/a", "1")
	l.git("workspace/app", "add", "-A")
	l.git("workspace/app", "commit", "-q", "-m", "base")
	l.write("workspace/app/a", "2")
	if made := l.commit("workspace/app/a"); len(made.Commits) != 1 || len(made.Commits[0].Commit) != 64 {
		t.Errorf("%+v", made)
	}
	l.sound("workspace/app")
}
