package scope_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"choiros/internal/associate/proctree"
	"choiros/internal/associate/scope"
	"choiros/internal/choir"
)

// The test binary is also the tree process: it is started again with "tree".
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "tree" {
		if err := proctree.Serve(os.NewFile(3, "owner"), os.Args[2], os.Args[3:]...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// sink drops output.
type sink struct{ strings.Builder }

func (*sink) Idle() {}

func newSet(t *testing.T, projects ...string) (set *scope.Set, workspace string) {
	t.Helper()
	workspace = t.TempDir()
	for _, p := range projects {
		if err := os.MkdirAll(filepath.Join(workspace, "workspace", p), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	set, err := scope.NewSet(scope.Config{
		Workspace: workspace, Scratch: t.TempDir(), TreeArgv: []string{os.Args[0], "tree"}, Lock: t.Name() + strconv.Itoa(os.Getpid()),
		Env: append(os.Environ(), "http_proxy=http://127.0.0.1:8801", "NO_PROXY=localhost", "BASE=http://127.0.0.1:8801/v1"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set, workspace
}

func open(t *testing.T, set *scope.Set, repo string) *scope.Scope {
	t.Helper()
	s, err := set.Open(repo)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs a shell command in the scope and returns its output and exit code.
func run(t *testing.T, s *scope.Scope, command string) (string, int) {
	t.Helper()
	out := &sink{}
	exit, err := s.Tree().Run(t.Context(), proctree.Spec{Argv: []string{"sh", "-c", command}, Dir: s.Root, Env: s.Env("task", 3), Stdout: out})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), exit.Code
}

// Two scopes that are open at once neither write in each other's project, scratch and
// home folders, nor end each other's processes, and the end of one ends its own only.
func TestTwoScopesAtOnceLeaveEachOtherAlone(t *testing.T) {
	t.Parallel()
	if !proctree.Confines() {
		t.Skip("this kernel has no Landlock that covers every way of writing")
	}
	set, _ := newSet(t, "one", "two")
	one, two := open(t, set, "one"), open(t, set, "two")
	defer two.Close()
	out, code := run(t, two, `echo two > own; echo x > "$TMPDIR/x"; setsid sh -c 'echo $$ > pid; exec sleep 1000' >/dev/null & until [ -s pid ]; do :; done; echo "$TMPDIR $HOME $(cat pid)"`)
	words := strings.Fields(out)
	if code != 0 || len(words) != 3 {
		t.Fatalf("%d: %q", code, out)
	}
	out, _ = run(t, one, fmt.Sprintf("(echo x > ../two/own; echo x > %s/x; echo x > %s/x; kill -9 %s && echo killed; echo one > own) 2>/dev/null", words[0], words[1], words[2]))
	if out != "" {
		t.Errorf("a process of another scope was %s", out)
	}
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	if out, code := run(t, two, "cat own ../one/own $TMPDIR/x; kill -0 "+words[2]); code != 0 || out != "two\none\nx\n" {
		t.Errorf("after the other scope: %d, %q", code, out)
	}
	if err := two.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("/proc/" + words[2]); err == nil {
		t.Error("a daemon outlived its scope")
	}
}

// The rules hold for a folder: a project that was removed and made again gets new ones.
func TestAProjectThatIsMadeAgainCanBeWritten(t *testing.T) {
	t.Parallel()
	set, workspace := newSet(t, "app")
	for range 3 {
		s := open(t, set, "app")
		if out, code := run(t, s, "echo x > file"); code != 0 {
			t.Errorf("%d: %q", code, out)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		project := filepath.Join(workspace, "workspace/app")
		if err := os.Rename(project, project+"-old"); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(project, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(project + "-old"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheWayOutSaysOnWhoseBehalf(t *testing.T) {
	t.Parallel()
	set, _ := newSet(t, "app")
	s := open(t, set, "app")
	defer s.Close()
	at := choir.MarkOf("task", 3).Addr().String()
	env := s.Env("task", 3)
	for _, want := range []string{"http_proxy=http://" + at + ":8801", "BASE=http://" + at + ":8801/v1", "NO_PROXY=localhost," + at, "LOCALDOMAIN=" + choir.MarkOf("task", 3).SearchDomain(), "RES_OPTIONS=ndots:15"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %q", want, env)
		}
	}
	if again := s.Env("task", 0); slices.Contains(again, "http_proxy=http://"+at+":8801") {
		t.Error("a second call has the address of the first")
	}
}

// The name of a project may have as many characters as choir.DirectorTask allows.
func TestAProjectMayHaveALongName(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("n", 100)
	set, workspace := newSet(t, name, name[1:])
	for _, repo := range []string{name, name[1:]} {
		s := open(t, set, repo)
		defer s.Close()
		if out, code := run(t, s, "echo x > file"); code != 0 {
			t.Errorf("%d: %q", code, out)
		}
		if _, err := os.Stat(filepath.Join(workspace, "workspace", repo, "file")); err != nil {
			t.Error(err)
		}
	}
}

// A command can close every folder that it can name, for its mode is not its content;
// the next task opens them again.
func TestFoldersThatATaskClosedAreOpenToTheNext(t *testing.T) {
	t.Parallel()
	set, workspace := newSet(t, "app")
	s := open(t, set, "app")
	out, code := run(t, s, `cd ../..; of=${TMPDIR%/tmp}; chmod 1777 "${of%/*/*/*}"; echo "$of"; chmod 0 "$of"/* "$of" "${of%/*}" "${of%/*/*}" workspace/app workspace .`)
	if code != 0 {
		t.Fatalf("%d: %q", code, out)
	}
	of := strings.TrimSpace(out)
	scratch := filepath.Dir(filepath.Dir(of))
	ways := []string{workspace, filepath.Join(workspace, "workspace"), filepath.Join(workspace, "workspace/app")}
	own := []string{scratch, filepath.Dir(of), of, of + "/tmp", of + "/home", of + "/cache", of + "/role"}
	for _, dir := range append(ways, own...) {
		if mode := modeOf(t, dir); mode != 0 {
			t.Fatalf("%s was not closed: %o", dir, mode)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if mode := modeOf(t, ways[2]); mode != 0o700 {
		t.Errorf("the project has the mode %o", mode)
	}
	if err := os.Chmod(ways[2], 0o555); err != nil { // as its owner may want it
		t.Fatal(err)
	}
	again := open(t, set, "app")
	defer again.Close()
	if mode := modeOf(t, ways[2]); mode != 0o555 {
		t.Errorf("a project that its owner only reads has the mode %o", mode)
	}
	ways = ways[:2]
	for _, dir := range append(ways, own...) {
		if mode := modeOf(t, dir); mode != 0o700 {
			t.Errorf("%s has the mode %o", dir, mode)
		}
	}
	// A folder that leads there keeps what others may do with it.
	if mode := modeOf(t, filepath.Dir(scratch)); mode != 0o777 {
		t.Errorf("%s has the mode %o", filepath.Dir(scratch), mode)
	}
}

// modeOf returns the permissions of a folder.
func modeOf(t *testing.T, dir string) os.FileMode {
	t.Helper()
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}
