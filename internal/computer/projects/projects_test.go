package projects

import (
	"archive/tar"
	"bytes"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/computer/workspace/workspacetest"
)

// lab is projects in a workspace of which nothing else runs. Git runs in the test's own
// folders, without a sandbox: what it is given here is the test's own.
type lab struct {
	*workspacetest.Lab
	*Projects
}

func newLab(t *testing.T, change ...func(*workspace.Config)) *lab {
	t.Helper()
	t.Parallel()
	l := &lab{Lab: workspacetest.New(t, mem.New(mem.Config{}), change...)}
	if err := l.Client.Mkdir(l.Within(), Folder, 0o755); err != nil {
		t.Fatal(err)
	}
	l.Projects = New(l.Log, l.Events, l.Keeper, l.Workspace, workspacetest.Awake{Client: l.Client}, l.Dir, PushConfig{})
	return l
}

// add adds a project of one role from files.
func (l *lab) add(role choir.Role, n NewProject, files ...[2]string) error {
	_, err := l.Add(l.Within(), role, n, archive(l.T, files...))
	return err
}

// mustAdd adds a project of the owner's.
func (l *lab) mustAdd(n NewProject, files ...[2]string) {
	l.T.Helper()
	if err := l.add(choir.RoleCLI, n, files...); err != nil {
		l.T.Fatal(err)
	}
}

// wantCode fails the test when an error has another code.
func (l *lab) wantCode(err error, want choir.Code) {
	l.T.Helper()
	if choir.CodeOf(err) != want {
		l.T.Errorf("%v, want the code %q", err, want)
	}
}

// archive is a tar stream of files.
func archive(t testing.TB, files ...[2]string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f[0], Mode: 0o755, Size: int64(len(f[1])), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

// broken is a tar stream that ends in the middle of a file.
func broken(t testing.TB) *bytes.Buffer {
	b := archive(t, [2]string{"new.txt", strings.Repeat("x", 4000)})
	b.Truncate(2000)
	return b
}

func TestAProjectIsReplacedWholeOrNotAtAll(t *testing.T) {
	l := newLab(t)
	l.mustAdd(NewProject{Name: "p"}, [2]string{"old.txt", "old"})
	l.wantCode(l.add(choir.RoleCLI, NewProject{Name: "p"}, [2]string{"new.txt", "new"}), choir.CodeConflict)
	before := l.Files("")
	for name, stream := range map[string]*bytes.Buffer{"broken": broken(t), "leads out": archive(t, [2]string{"../../x", "x"})} {
		if _, err := l.Add(l.Within(), choir.RoleCLI, NewProject{Name: "p", Replace: true}, stream); err == nil {
			t.Errorf("%s: no error", name)
		}
		if now := l.Files(""); !maps.Equal(now, before) {
			t.Errorf("%s: the old project is not what it was: %q", name, now)
		}
	}
	l.wantCode(l.add(choir.RoleCLI, NewProject{Name: "big"}, [2]string{"x", strings.Repeat("x", 2<<20)}), choir.CodeTooLarge)
	l.mustAdd(NewProject{Name: "p", Replace: true}, [2]string{"new.txt", "new"})
	if now := l.Files(Folder + "/p"); !maps.Equal(now, map[string]string{"new.txt": "new"}) {
		t.Errorf("it has %q", now)
	}
	if list, err := l.List(l.Within()); err != nil || len(list) != 1 || list[0].Name != "p" || list[0].Files != 1 {
		t.Errorf("the list is %+v, %v", list, err)
	}
	if left, err := filepath.Glob(filepath.Join(l.Data, ".upload-*")); err != nil || len(left) > 0 {
		t.Errorf("left %q, %v", left, err)
	}
}

// TestWhatNoMomentHoldsOfAReplacedProjectIsInTheTrash replaces a project with a cache
// that is too large for a moment: it is lost neither when that fails nor when it is
// done.
func TestWhatNoMomentHoldsOfAReplacedProjectIsInTheTrash(t *testing.T) {
	l := newLab(t, func(cfg *workspace.Config) { cfg.CacheLimit = 50_000 })
	l.mustAdd(NewProject{Name: "p"}, [2]string{"old.txt", "old"})
	l.WriteOutside("workspace/p/lib/node_modules/x/big", strings.Repeat("x", 100_000))
	l.WriteOutside("workspace/p/lib/index.js", "mine\n")
	before := l.Files("")

	if _, err := l.Add(l.Within(), choir.RoleDesktop, NewProject{Name: "p", Replace: true}, broken(t)); err == nil {
		t.Error("a broken stream is no error")
	}
	if now := l.Files(""); !maps.Equal(now, before) {
		t.Errorf("after a failure the workspace has %q", slices.Sorted(maps.Keys(now)))
	}

	then := l.Head()
	if err := l.add(choir.RoleDesktop, NewProject{Name: "p", Replace: true}, [2]string{"new.txt", "new"}); err != nil {
		t.Fatal(err)
	}
	if now := l.Files(Folder + "/p"); !maps.Equal(now, map[string]string{"new.txt": "new"}) {
		t.Errorf("it has %q", now)
	}
	items, err := l.Trash(l.Within())
	if err != nil || len(items) != 1 || items[0].From != "workspace/p/lib/node_modules" {
		t.Fatalf("the trash: %+v, %v", items, err)
	}
	for _, e := range append(l.All(choir.TypeRepoAdded), l.All(choir.TypeFileWritten)...) {
		isOfIt := e.Type == choir.TypeRepoAdded || strings.Contains(string(e.Payload), "workspace/p/new.txt")
		if e.Seq > then && isOfIt && e.Source != choir.SourceDesktop {
			t.Errorf("%s is told of the %s", e.Type, e.Source)
		}
	}
}

// TestOnlyAProjectOfGivenSourcesIsReplaced has folders of the owner's in the place of
// a project that somebody else brings again and again.
func TestOnlyAProjectOfGivenSourcesIsReplaced(t *testing.T) {
	l := newLab(t)
	again := NewProject{Name: "p", Replace: true, Of: []choir.Source{choir.SourceSystem, choir.SourceDesktop}}
	content := [2]string{"new.txt", "new"}
	refused := func(what string) {
		t.Helper()
		before, head := l.Files(""), l.Head()
		err := l.add(choir.RoleControl, again, content)
		if choir.CodeOf(err) != choir.CodeConflict || !strings.Contains(err.Error(), "there is a workspace/p already, which would be replaced") {
			t.Errorf("%s: %v", what, err)
		}
		if now := l.Files(""); !maps.Equal(now, before) || l.Head() != head {
			t.Errorf("%s: a refusal left %d events, and %q", what, l.Head()-head, now)
		}
	}
	l.Write("workspace/p/thesis.md", "mine")
	refused("a folder")
	l.remove("workspace/p")
	l.WriteOutside("workspace/p", "x\n")
	refused("a file")
	l.remove("workspace/p")
	for _, role := range []choir.Role{choir.RoleControl, choir.RoleDesktop, choir.RoleControl} {
		if err := l.add(role, again, content); err != nil {
			t.Errorf("%s: %v", role, err)
		}
	}
	l.mustAdd(NewProject{Name: "p", Replace: true}, content)
	refused("a project of the owner's")
}

// remove removes a path of the tree as a program in the sandbox would.
func (l *lab) remove(path string) {
	l.T.Helper()
	if err := os.RemoveAll(filepath.Join(l.Dir, path)); err != nil {
		l.T.Fatal(err)
	}
}

func TestWhatIsExportedIsTheWorkSinceAProjectWasAdded(t *testing.T) {
	l := newLab(t)
	l.mustAdd(NewProject{Name: "p", Commit: &FirstCommit{Message: "Begin", At: time.Unix(1e9, 0)}}, [2]string{"a.txt", "a\n"})
	var out bytes.Buffer
	export := func(name, format string) error {
		out.Reset()
		return l.Export(l.Within(), choir.RoleCLI, name, format, &out)
	}
	l.wantCode(export("p", "patch"), choir.CodeNotFound) // nothing was done yet
	l.wantCode(export("q", "patch"), choir.CodeNotFound)
	l.wantCode(export("p", "zip"), choir.CodeInvalid)
	l.wantCode(export("../p", "patch"), choir.CodeInvalid)

	l.Write("workspace/p/b.txt", "b\n")
	for _, args := range [][]string{{"add", "--all"}, {"-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "--quiet", "-m", "more"}} {
		if said, err := exec.CommandContext(l.Within(), "git", append([]string{"-C", filepath.Join(l.Dir, "workspace/p")}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v %s", args[0], err, said)
		}
	}
	if err := export("p", "patch"); err != nil || !strings.Contains(out.String(), "+b\n") || strings.Contains(out.String(), "+a\n") {
		t.Errorf("patch: %v %s", err, out.String())
	}
	if err := export("p", "bundle"); err != nil || !strings.HasPrefix(out.String(), "# v2 git bundle") {
		t.Errorf("bundle: %v %.40q", err, out.String())
	}
	if told := l.All(choir.TypeRepoExported); len(told) != 2 {
		t.Errorf("the log has %+v", told)
	}
}

// commit commits everything in the project p.
func (l *lab) commit(message string) {
	l.T.Helper()
	for _, args := range [][]string{{"add", "--all"}, {"-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "--quiet", "--allow-empty", "-m", message}} {
		if said, err := exec.CommandContext(l.Within(), "git", append([]string{"-C", filepath.Join(l.Dir, "workspace/p")}, args...)...).CombinedOutput(); err != nil {
			l.T.Fatalf("git %s: %v %s", args[0], err, said)
		}
	}
}

// TestWhatWasTakenBackIsNotExported until a checkpoint has committed the project without
// it, and is again once a rewind went back before that. Another project is not held up.
func TestWhatWasTakenBackIsNotExported(t *testing.T) {
	l := newLab(t)
	for _, name := range []string{"p", "q"} {
		l.mustAdd(NewProject{Name: name, Commit: &FirstCommit{Message: "Begin", At: time.Unix(1e9, 0)}}, [2]string{"a.txt", "a\n"})
	}
	export := func(name string) error { return l.Export(l.Within(), choir.RoleCLI, name, "bundle", io.Discard) }
	tree := func() choir.Digest {
		now, _, err := l.Workspace.Scan(l.Within())
		if err != nil {
			l.T.Fatal(err)
		}
		return now.Root
	}
	say := func(role choir.Role, p choir.Payload) uint64 {
		t.Helper()
		receipts, err := l.Events.Append(l.Within(), role, p)
		if err != nil {
			t.Fatal(err)
		}
		return receipts[0].Seq
	}
	l.Write("workspace/p/b.txt", "b\n")
	l.commit("more")
	if err := export("p"); err != nil {
		t.Fatal(err)
	}
	before := tree()
	l.remove("workspace/p/b.txt")
	undone := say(choir.RoleCLI, choir.TimelineUndone{Of: workspacetest.NewID(t), Before: before, Snapshot: tree(), Files: 1})
	err := export("p")
	l.wantCode(err, choir.CodeConflict)
	if !strings.Contains(err.Error(), "something in project p was undone") {
		t.Error(err)
	}
	l.wantCode(export("q"), choir.CodeNotFound) // nothing was done in it
	checkpoint := func(trigger string, commits ...choir.Commit) uint64 {
		return say(choir.RoleAssociate, choir.CheckpointCreated{Checkpoint: workspacetest.NewID(t), Snapshot: tree(), Subject: "x", Trigger: trigger, Commits: commits})
	}
	checkpoint("task", choir.Commit{Repo: "q", Commit: strings.Repeat("0", 40)})
	l.wantCode(export("p"), choir.CodeConflict)
	l.commit("taken back")
	at := checkpoint("manual")
	if err := export("p"); err != nil {
		t.Error(err)
	}
	say(choir.RoleCLI, choir.TimelineRewound{ToSeq: at - 1, Snapshot: before, Before: tree()})
	l.wantCode(export("p"), choir.CodeConflict)
	say(choir.RoleCLI, choir.TimelineRewound{ToSeq: undone - 1, Snapshot: before, Before: tree()})
	if err := export("p"); err != nil {
		t.Error(err)
	}
}

// TestABrokenRepositoryIsSaidToBeOne and not that nothing was done.
func TestABrokenRepositoryIsSaidToBeOne(t *testing.T) {
	l := newLab(t)
	l.mustAdd(NewProject{Name: "p", Commit: &FirstCommit{Message: "Begin", At: time.Unix(1e9, 0)}}, [2]string{"a.txt", "a\n"})
	l.remove("workspace/p/.git/refs")
	err := l.Export(l.Within(), choir.RoleCLI, "p", "bundle", io.Discard)
	l.wantCode(err, choir.CodeConflict)
	if !strings.Contains(err.Error(), "git cannot read the repository of project p") {
		t.Error(err)
	}
}

func TestAProjectThatIsNotThereIsRefused(t *testing.T) {
	l := newLab(t)
	l.mustAdd(NewProject{Name: "p"}, [2]string{"a.txt", "a\n"})
	if err := l.MustHave(l.Within(), "p"); err != nil {
		t.Error(err)
	}
	l.wantCode(l.MustHave(l.Within(), "q"), choir.CodeNotFound)
	l.wantCode(l.MustHave(l.Within(), "../p"), choir.CodeInvalid)
	l.wantCode(l.add(choir.RoleCLI, NewProject{Name: "../q"}), choir.CodeInvalid)
}
