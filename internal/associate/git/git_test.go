package git_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"choiros/internal/associate/git"
	"choiros/internal/associate/proctree"
	"choiros/internal/choir"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "tree" {
		if err := proctree.Serve(os.NewFile(3, "owner"), os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

type lab struct {
	testing.TB
	g   *git.Git
	dir string
}

func newLab(t testing.TB) lab {
	t.Helper()
	home := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GORACE=" + os.Getenv("GORACE")}
	tree, err := proctree.Start([]string{os.Args[0], "tree", t.Name() + strconv.Itoa(os.Getpid())}, env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	l := lab{t, &git.Git{Tree: tree, Env: env, Temp: home}, t.TempDir()}
	l.mkdir("workspace")
	return l
}

func (l lab) mkdir(name string) {
	l.Helper()
	if err := os.MkdirAll(filepath.Join(l.dir, name), 0o755); err != nil {
		l.Fatal(err)
	}
}

func (l lab) write(name, content string) {
	l.Helper()
	l.mkdir(filepath.Dir(name))
	if err := os.WriteFile(filepath.Join(l.dir, name), []byte(content), 0o644); err != nil {
		l.Fatal(err)
	}
}

// git runs git the way a person would, in a folder of the workspace.
func (l lab) git(dir string, args ...string) string {
	l.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=P", "-c", "user.email=p@x", "-c", "init.defaultBranch=main", "-c", "gc.auto=0"}, args...)...)
	cmd.Dir = filepath.Join(l.dir, dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (l lab) repo(dir string, files ...string) {
	l.Helper()
	l.mkdir(dir)
	l.git(dir, "init", "-q")
	for _, f := range files {
		l.write(filepath.Join(dir, f), f+"\n")
	}
	l.git(dir, "add", "-A")
	l.git(dir, "commit", "-q", "-m", "base")
}

func (l lab) commit(paths ...string) git.Made {
	l.Helper()
	made, err := l.g.Commit(context.Background(), git.Checkpoint{
		Workspace: l.dir, Paths: paths, Subject: "checkpoint: 20260102-030405", Body: "words", Seq: 7,
		Run: "01890000-0000-7000-8000-000000000001", Task: "01890000-0000-7000-8000-000000000002", At: 1_700_000_000_000,
	})
	if err != nil {
		l.Fatal(err)
	}
	return made
}

func TestCommitTakesTheChangeAndNothingElse(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo("workspace/app", "kept", "staged", "gone", "dir/file", "turns")
	hook := filepath.Join(l.dir, "hook-ran")
	for _, h := range []string{"pre-commit", "post-commit", "reference-transaction", "post-index-change"} {
		l.write("workspace/app/.git/hooks/"+h, "#!/bin/sh\ntouch '"+hook+"'\n")
		if err := os.Chmod(filepath.Join(l.dir, "workspace/app/.git/hooks", h), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l.write("workspace/app/staged", "by a person")
	l.git("workspace/app", "-c", "core.hooksPath=/dev/null", "add", "staged")
	odd := "new \"quoted\"\n\tname\\ä"
	l.write("workspace/app/"+odd, "new")
	l.write("workspace/app/untouched", "not mine")
	for _, p := range []string{"gone", "turns", "dir"} {
		if err := os.RemoveAll(filepath.Join(l.dir, "workspace/app", p)); err != nil {
			t.Fatal(err)
		}
	}
	l.write("workspace/app/turns/into", "a folder")
	l.write("workspace/app/dir", "a file now")
	made := l.commit("workspace/app/gone", "workspace/app/"+odd, "workspace/app/turns", "workspace/app/turns/into",
		"workspace/app/dir", "workspace/app/dir/file", "workspace/app/.git/index")
	if len(made.Commits) != 1 || made.Commits[0].Repo != "app" {
		t.Fatalf("made %+v", made)
	}
	if _, err := os.Stat(hook); err == nil {
		t.Error("a hook ran")
	}
	got := l.git("workspace/app", "show", "--no-renames", "--name-status", "-z", "--format=%s|%an|%b|", "HEAD")
	want := "checkpoint: 20260102-030405|Choir Associate|words\n\nChoir-Seq: 7\nChoir-Run: 01890000-0000-7000-8000-000000000001\nChoir-Task: 01890000-0000-7000-8000-000000000002\n|\x00\n" +
		"A\x00dir\x00D\x00dir/file\x00D\x00gone\x00A\x00" + odd + "\x00D\x00turns\x00A\x00turns/into\x00"
	if got := strings.Replace(got, "\x00\n", "\x00\n", 1); got != want && strings.ReplaceAll(got, "|\n\x00", "|\x00\n") != want {
		t.Errorf("commit\n%q\nwant\n%q", got, want)
	}
	if status := l.git("workspace/app", "status", "--short"); status != "M  staged\n?? untouched\n" {
		t.Errorf("status afterwards: %q", status)
	}
	if made := l.commit("workspace/app/dir"); len(made.Commits) != 0 {
		t.Errorf("nothing to commit gave %+v", made)
	}
}

func TestNestedRepositoriesGetTheirOwnCommits(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo("workspace/app", "a")
	l.repo("workspace/app/vendor/lib", "b")
	l.git("workspace/app/vendor/lib", "checkout", "-q", "--detach")
	l.write("workspace/app/a", "2")
	l.write("workspace/app/vendor/lib/b", "2")
	l.write("artifacts/c", "new")
	made := l.commit("artifacts/c", "workspace/app/a", "workspace/app/vendor/lib/b")
	var repos []string
	for _, c := range made.Commits {
		repos = append(repos, c.Repo)
	}
	if diff := cmp.Diff([]string{"", "app", "app/vendor/lib"}, repos); diff != "" {
		t.Fatal(diff)
	}
	for dir, want := range map[string]string{"workspace/app": "a\n", "workspace/app/vendor/lib": "b\n", ".": "artifacts/c\n"} {
		if got := l.git(dir, "show", "--name-only", "--format=", "HEAD"); got != want {
			t.Errorf("%s has %q", dir, got)
		}
	}
	if got := l.git(".", "ls-files", "-s"); strings.Contains(got, "160000") {
		t.Errorf("a nested repository became a link: %s", got)
	}
	if got := l.git("workspace/app/vendor/lib", "rev-parse", "HEAD"); strings.TrimSpace(got) != made.Commits[2].Commit {
		t.Errorf("the detached HEAD is %s, made %+v", got, made)
	}
}

func TestIgnoredPathsAndKeysStayOut(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo("workspace/app", "tracked.pem")
	l.write("workspace/app/.gitignore", "*.log\n")
	l.write("workspace/app/.choirignore", "cache/\n")
	l.write("workspace/app/x.log", "x")
	l.write("workspace/app/cache/x", "x")
	l.write("workspace/app/.env", "TOKEN=1")
	l.write("workspace/app/.env.example", "TOKEN=")
	l.write("workspace/app/notes", "-----BEGIN OPENSSH PRIVATE KEY-----\n")
	l.write("workspace/app/tracked.pem", "changed")
	paths := []string{"workspace/app/.gitignore", "workspace/app/x.log", "workspace/app/cache/x", "workspace/app/.env",
		"workspace/app/.env.example", "workspace/app/notes", "workspace/app/tracked.pem"}
	ignored, err := l.g.Ignored(context.Background(), l.dir, paths)
	if err != nil || len(ignored) != 1 || !ignored["workspace/app/x.log"] {
		t.Errorf("ignored %v, %v", ignored, err)
	}
	made := l.commit(paths...)
	if diff := cmp.Diff([]string{"workspace/app/.env", "workspace/app/notes"}, made.Withheld); diff != "" {
		t.Error(diff)
	}
	if got := l.git("workspace/app", "show", "--name-only", "--format=", "HEAD"); got != ".env.example\n.gitignore\ntracked.pem\n" {
		t.Errorf("committed %q", got)
	}
}

// TestDiffAppliesWithGit compares few files, and so many that git stores them.
func TestDiffAppliesWithGit(t *testing.T) {
	for _, more := range []int{0, 150} {
		t.Run(fmt.Sprint("with more: ", more), func(t *testing.T) { testDiff(t, more) })
	}
}

func testDiff(t *testing.T, more int) {
	t.Parallel()
	l := newLab(t)
	long := strings.Repeat("line\n", 40)
	before := []git.File{
		{Path: "edit", Content: []byte("a\nb\nc")}, {Path: "old name", Content: []byte(long)}, {Path: "mode", Content: []byte("x\n")},
		{Path: "bin", Content: []byte("\x00\x01\x02")}, {Path: "gone", Content: nil}, {Path: "link", Link: true, Content: []byte("edit")},
		{Path: "nested/.hidden", Content: []byte("1")},
	}
	after := []git.File{
		{Path: "edit", Content: []byte("a\nB\nc")}, {Path: "new\tname \"ä\"", Content: []byte(long + "more\n")}, {Path: "mode", Exec: true, Content: []byte("x\n")},
		{Path: "bin", Content: []byte("\x00\xff\x02")}, {Path: "empty", Content: nil}, {Path: "link", Link: true, Content: []byte("bin")},
		{Path: "nested/.hidden", Content: []byte("1\n")},
	}
	for i := range more {
		name := fmt.Sprintf("many/%d/f%d", i%7, i)
		before = append(before, git.File{Path: name, Content: []byte(name)})
		after = append(after, git.File{Path: name, Content: []byte(name + " changed")})
	}
	before, after = append(before, git.File{Path: "swap/x", Content: []byte("in a folder\n")}), append(after, git.File{Path: "swap", Content: []byte("a file\n")})
	diff, err := l.g.Diff(context.Background(), before, after)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(diff, []byte("rename from old name\n")) {
		t.Errorf("no rename:\n%s", diff)
	}
	put := func(dir string, files []git.File) {
		for _, f := range files {
			l.write(dir+"/"+f.Path, string(f.Content))
			full := filepath.Join(l.dir, dir, f.Path)
			if f.Link {
				os.Remove(full)
				if err := os.Symlink(string(f.Content), full); err != nil {
					t.Fatal(err)
				}
			}
			if f.Exec {
				os.Chmod(full, 0o755)
			}
		}
	}
	put("old", before)
	put("new", after)
	l.write("patch", string(diff))
	l.git("old", "init", "-q") // else git apply looks for the outer repository
	l.git("old", "apply", "../patch")
	os.RemoveAll(filepath.Join(l.dir, "old/.git"))
	if out, err := exec.Command("diff", "-r", "--no-dereference", filepath.Join(l.dir, "old"), filepath.Join(l.dir, "new")).CombinedOutput(); err != nil {
		t.Errorf("after git apply:\n%s", out)
	}
	if same, err := l.g.Diff(context.Background(), before, before); err != nil || len(same) != 0 {
		t.Errorf("no change gives %q, %v", same, err)
	}
}

// TestALargeChangeIsCommitted has git's own index make the tree: on a branch
// that has commits and on one that has none.
func TestALargeChangeIsCommitted(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo("workspace/app", "gone", "becomes a folder", "was/a folder", "mode", "staged")
	l.write("workspace/app/staged", "staged by a person")
	l.git("workspace/app", "add", "staged")
	l.write("workspace/app/staged", "and written again")
	paths := []string{"gone", "becomes a folder", "becomes a folder/x", "was/a folder", "was", "mode", "link", "new\n\"line\"\t\xff"}
	for _, p := range paths[:4] {
		os.RemoveAll(filepath.Join(l.dir, "workspace/app", p))
	}
	os.Remove(filepath.Join(l.dir, "workspace/app/was"))
	l.write("workspace/app/becomes a folder/x", "x")
	l.write("workspace/app/was", "a file now")
	l.write("workspace/app/"+paths[7], "a name that is hard to write")
	os.Chmod(filepath.Join(l.dir, "workspace/app/mode"), 0o755)
	if err := os.Symlink("mode", filepath.Join(l.dir, "workspace/app/link")); err != nil {
		t.Fatal(err)
	}
	for i := range 150 {
		p := fmt.Sprintf("many/%d/f%d", i%3, i)
		l.write("workspace/app/"+p, p)
		l.write("own/"+p, p)
		paths = append(paths, p)
	}
	var below, own []string
	for _, p := range paths {
		below = append(below, "workspace/app/"+p)
		own = append(own, "own/"+p)
	}
	before := strings.TrimSpace(l.git("workspace/app", "rev-parse", "HEAD"))
	made := l.commit(append(below, own[8:]...)...)
	if len(made.Commits) != 2 {
		t.Fatalf("made %+v", made)
	}
	if got := l.git("workspace/app", "log", "-1", "--format=%P %an %ae %at %ct %s"); got != before+" Choir Associate associate@choir.invalid 1700000000 1700000000 checkpoint: 20260102-030405\n" {
		t.Errorf("the commit is %q", got)
	}
	// What a person staged is still staged, and nothing else differs.
	if got := l.git("workspace/app", "status", "--short", "--untracked-files=all"); got != "MM staged\n" {
		t.Errorf("status %q", got)
	}
	want := []string{"120000 link", "100755 mode", "100644 was", "100644 becomes a folder/x", "100644 staged", "100644 " + paths[7]}
	for _, p := range paths[8:] {
		want = append(want, "100644 "+p)
	}
	var got []string
	for _, e := range strings.Split(strings.TrimSuffix(l.git("workspace/app", "ls-tree", "-r", "-z", "HEAD"), "\x00"), "\x00") {
		meta, p, _ := strings.Cut(e, "\t")
		got = append(got, meta[:7]+p)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := l.git(".", "rev-list", "--count", "HEAD"); got != "1\n" {
		t.Errorf("the workspace's own repository has %q commits", got)
	}
	if again := l.commit(below...); len(again.Commits) != 0 {
		t.Errorf("nothing to commit gave %+v", again)
	}
}

func TestASmallChangeIsCommittedLikeALargeOne(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repo("workspace/app", "edit", "gone", "mode", "same", "log", "dir/deep/file")
	l.write("workspace/app/.gitignore", "new.log\n")
	l.write("workspace/app/edit", "2")
	l.write("workspace/app/new.log", "ignored")
	l.write("workspace/app/brand new", "new")
	l.write("workspace/app/dir/deep/file", "2")
	os.Remove(filepath.Join(l.dir, "workspace/app/gone"))
	os.Chmod(filepath.Join(l.dir, "workspace/app/mode"), 0o755)
	made := l.commit("workspace/app/.gitignore", "workspace/app/edit", "workspace/app/new.log", "workspace/app/brand new",
		"workspace/app/dir/deep/file", "workspace/app/gone", "workspace/app/mode", "workspace/app/same", "workspace/app/never was")
	got := l.git("workspace/app", "show", "--no-renames", "--raw", "--abbrev=4", "--format=", "HEAD")
	var kinds []string
	for _, line := range strings.Split(strings.TrimSpace(got), "\n") {
		f := strings.SplitN(line, " ", 5)
		kinds = append(kinds, f[1]+" "+f[4])
	}
	want := []string{"100644 A\t.gitignore", "100644 A\tbrand new", "100644 M\tdir/deep/file", "100644 M\tedit", "000000 D\tgone", "100755 M\tmode"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	if status := l.git("workspace/app", "status", "--short"); status != "" || len(made.Commits) != 1 {
		t.Errorf("%+v, status %q", made, status)
	}
	if again := l.commit("workspace/app/edit", "workspace/app/gone"); len(again.Commits) != 0 {
		t.Errorf("nothing to commit gave %+v", again)
	}
}

func TestActions(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ctx, dir := context.Background(), filepath.Join(l.dir, "workspace/app")
	l.repo("workspace/app", "a")
	base := strings.TrimSpace(l.git("workspace/app", "rev-parse", "HEAD"))
	l.write("workspace/app/a", "2")
	l.write("workspace/app/new", "n")
	pending, err := l.g.Pending(ctx, l.dir, "workspace/app")
	if diff := cmp.Diff([]string{"workspace/app/a", "workspace/app/new"}, pending); diff != "" || err != nil {
		t.Error(diff, err)
	}
	l.commit(pending...)
	for _, args := range [][]string{{"--quiet"}, {"absent"}, {"HEAD", "HEAD"}} {
		if err := l.g.Reset(ctx, dir, args); choir.CodeOf(err) != choir.CodeInvalid {
			t.Errorf("reset %v: %v", args, err)
		}
	}
	if err := l.g.Checkout(ctx, dir, []string{base, "--", "a"}); err != nil {
		t.Error(err)
	}
	if err := l.g.Reset(ctx, dir, []string{base}); err != nil {
		t.Error(err)
	}
	if got, err := l.g.Status(ctx, dir); got != "## main\n" || err != nil {
		t.Errorf("status %q, %v", got, err)
	}
	if got := git.Repos(l.dir, "."); len(got) != 1 || got[0] != "workspace/app" {
		t.Errorf("repositories %v", got)
	}
}

// BenchmarkCheckpoint is one changed file among 10,000.
func BenchmarkCheckpoint(b *testing.B) {
	l := newLab(b)
	names := make([]string, 10_000)
	for i := range names {
		names[i] = fmt.Sprintf("d%03d/f%03d", i/100, i%100)
	}
	l.repo("workspace/app", names...)
	l.write("workspace/app/.gitignore", "*.log\n")
	n := 0
	for b.Loop() {
		n++
		l.write("workspace/app/d050/f050", strconv.Itoa(n))
		if made := l.commit("workspace/app/d050/f050"); len(made.Commits) != 1 {
			b.Fatal(made)
		}
	}
}
