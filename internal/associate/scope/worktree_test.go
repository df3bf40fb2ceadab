package scope_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"choiros/internal/associate/proctree"
	"choiros/internal/associate/scope"
	"choiros/internal/choir"
)

const taskA, taskB = choir.ID("01890000-0000-7000-8000-00000000000a"), choir.ID("01890000-0000-7000-8000-00000000000b")

// withWorktrees returns a set with a project of a file, a repository, packages, build results and
// a closed folder, and the folder of its worktrees.
func withWorktrees(t *testing.T) (set *scope.Set, project, worktrees string, again func() *scope.Set) {
	t.Helper()
	workspace, scratch := t.TempDir(), t.TempDir()
	worktrees = filepath.Join(t.TempDir(), "worktrees")
	project = filepath.Join(workspace, "workspace/app")
	for name, content := range map[string]string{
		"script": "x", "target/CACHEDIR.TAG": "", "target/built": "1", "sub/target/source": "2", "node_modules/lib/index.js": "3",
		".git/HEAD": "ref: refs/heads/main\n", ".git/objects/aa/bb": "4", "closed/file": "5",
	} {
		file := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"script": 0o555, "closed": 0o500} {
		if err := os.Chmod(filepath.Join(project, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(project, "closed"), 0o700) })
	at := time.Unix(1_700_000_000, 5)
	for _, name := range []string{"script", "sub"} {
		if err := os.Chtimes(filepath.Join(project, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	again = func() *scope.Set {
		set, err := scope.NewSet(scope.Config{
			Workspace: workspace, Scratch: scratch, Worktrees: worktrees, TreeArgv: []string{os.Args[0], "tree"}, Lock: t.Name() + strconv.Itoa(os.Getpid()), Env: os.Environ(),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { set.Close() })
		return set
	}
	return again(), project, worktrees, again
}

// A worktree is the project, with modes and times; packages and build results are links, and
// the repository finds its objects in the project.
func TestAWorktreeIsACopyOfItsProject(t *testing.T) {
	t.Parallel()
	set, project, worktrees, _ := withWorktrees(t)
	s, err := set.OpenWorktree(t.Context(), taskA, "app")
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(worktrees, string(taskA)); s.Top != want || s.Root != filepath.Join(want, "workspace/app") || !s.Worktree {
		t.Errorf("it is at %s in %s", s.Root, s.Top)
	}
	for _, name := range []string{"script", "sub", "sub/target/source", "closed"} {
		is, err := os.Lstat(filepath.Join(s.Root, name))
		was, err2 := os.Lstat(filepath.Join(project, name))
		if err != nil || err2 != nil || is.Mode() != was.Mode() || !is.ModTime().Equal(was.ModTime()) {
			t.Errorf("%s: %v, %v; %v %v", name, is, was, err, err2)
		}
	}
	for _, name := range []string{"target", "node_modules/lib"} {
		if to, err := os.Readlink(filepath.Join(s.Root, name)); err != nil || to != filepath.Join(project, name) {
			t.Errorf("%s leads to %q, %v", name, to, err)
		}
	}
	if from, err := os.ReadFile(filepath.Join(s.Root, ".git/objects/info/alternates")); err != nil || strings.TrimSpace(string(from)) != filepath.Join(project, ".git/objects") {
		t.Errorf("the objects are in %q, %v", from, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(worktrees, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left are %q, %v", left, err)
	}
}

// Commands in a worktree write in it and nowhere else: not in the project, not in the folders
// that are links there, not in another worktree of the project nor in its scratch folders.
func TestAWorktreeIsAScopeOfItsOwn(t *testing.T) {
	t.Parallel()
	if !proctree.Confines() {
		t.Skip("this kernel has no Landlock that covers every way of writing")
	}
	set, project, _, _ := withWorktrees(t)
	var scopes []*scope.Scope
	for _, id := range []choir.ID{taskA, taskB} {
		s, err := set.OpenWorktree(t.Context(), id, "app")
		if err != nil {
			t.Fatal(err)
		}
		scopes = append(scopes, s)
	}
	a, b := scopes[0], scopes[1]
	for _, path := range []string{project + "/script", project + "/new", a.Root + "/target/built", a.Root + "/node_modules/lib/index.js", a.Root + "/.git/../../../new", b.Root + "/new", b.Temp + "/new"} {
		if out, code := run(t, a, "chmod u+w "+path+"; echo x > "+path); code == 0 {
			t.Errorf("it wrote %s: %s", path, out)
		}
	}
	if out, code := run(t, a, "echo x > new && echo x > $TMPDIR/new && echo x > $HOME/new && mkdir target2 && rm -rf sub"); code != 0 {
		t.Errorf("it cannot work: %s", out)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if out, code := run(t, b, "cat script sub/target/source"); code != 0 || out != "x2" {
		t.Errorf("the other has %q", out)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// What a process that was killed left is removed by the next one.
func TestWorktreesOfAFormerProcessAreRemoved(t *testing.T) {
	t.Parallel()
	set, _, worktrees, again := withWorktrees(t)
	if _, err := set.OpenWorktree(t.Context(), taskA, "app"); err != nil {
		t.Fatal(err)
	}
	if err := set.Close(); err != nil { // as the kernel does when the process is killed
		t.Fatal(err)
	}
	again()
	if _, err := os.Lstat(worktrees); !os.IsNotExist(err) {
		t.Errorf("they are there: %v", err)
	}
}

// A project that is none, or too large, has no worktree, and nothing is left of the try.
func TestWhatCannotBeCopiedHasNoWorktree(t *testing.T) {
	t.Parallel()
	set, project, worktrees, _ := withWorktrees(t)
	if err := os.Truncate(filepath.Join(project, "sub/target/source"), 64<<30); err != nil {
		t.Fatal(err)
	}
	var codes []choir.Code
	for _, repo := range []string{"app", "none"} {
		_, err := set.OpenWorktree(t.Context(), taskA, repo)
		codes = append(codes, choir.CodeOf(err))
	}
	if !slices.Equal(codes, []choir.Code{choir.CodeTooLarge, choir.CodeNotFound}) {
		t.Errorf("codes %q", codes)
	}
	if left, err := filepath.Glob(filepath.Join(worktrees, "*")); err != nil || len(left) > 0 {
		t.Errorf("left are %q, %v", left, err)
	}
}

// A whole copy has packages and build results as they are, and that of the workspace all projects;
// commands write in it and nowhere else.
func TestACopyIsWhole(t *testing.T) {
	t.Parallel()
	if !proctree.Confines() {
		t.Skip("this kernel has no Landlock that covers every way of writing")
	}
	set, project, worktrees, _ := withWorktrees(t)
	for _, repo := range []string{"app", ""} {
		s, err := set.OpenCopy(t.Context(), taskA, repo)
		if err != nil {
			t.Fatal(err)
		}
		top := filepath.Join(worktrees, string(taskA))
		if want := filepath.Join(top, "workspace/app"); s.Top != top || repo == "app" && s.Root != want || repo == "" && s.Root != top || !s.Confined || !s.Worktree {
			t.Errorf("it is at %s in %s", s.Root, s.Top)
		}
		for name, want := range map[string]string{"target/built": "1", "node_modules/lib/index.js": "3", ".git/objects/info/alternates": project + "/.git/objects\n"} {
			if got, err := os.ReadFile(filepath.Join(top, "workspace/app", name)); err != nil || string(got) != want {
				t.Errorf("%s is %q, %v", name, got, err)
			}
		}
		if out, code := run(t, s, "cd "+top+"/workspace/app && echo x > target/built && echo x > node_modules/lib/index.js && echo x > $TMPDIR/new"); code != 0 {
			t.Errorf("it cannot work: %s", out)
		}
		for _, path := range []string{project + "/new", project + "/target/built", top + "/../new"} {
			if out, code := run(t, s, "echo x > "+path); code == 0 {
				t.Errorf("it wrote %s: %s", path, out)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(worktrees, "*")); err != nil || len(left) > 0 {
		t.Errorf("left are %q, %v", left, err)
	}
}

// A project without a repository of its own is copied with the workspace's, and its rules.
func TestACopyHasTheRepositoryAboveIt(t *testing.T) {
	t.Parallel()
	set, project, worktrees, _ := withWorktrees(t)
	workspace := filepath.Dir(filepath.Dir(project))
	if err := os.RemoveAll(filepath.Join(project, ".git")); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/objects/aa/bb": "4", ".choirignore": "big\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(workspace, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(workspace, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := set.OpenCopy(t.Context(), taskA, "app")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, want := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", ".git/objects/info/alternates": workspace + "/.git/objects\n", ".choirignore": "big\n"} {
		if got, err := os.ReadFile(filepath.Join(worktrees, string(taskA), name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
}
