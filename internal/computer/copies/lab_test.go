package copies

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"choiros/internal/blob"
	"choiros/internal/blob/fs"
	"choiros/internal/choir"
	"choiros/internal/computer/collection"
	"choiros/internal/computer/moments"
	"choiros/internal/computer/treemerge"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/guest"
	"choiros/internal/timeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lab is the Copier of a computer with a workspace, of which nothing else runs.
type lab struct {
	*workspacetest.Lab
	*Copier
	collector *collection.Collector
}

// newLab makes a new computer.
func newLab(t *testing.T) *lab {
	t.Helper()
	t.Parallel()
	l := openLab(t, workspacetest.NewID(t), workspacetest.NewID(t), memoryDir(t))
	if _, err := l.Events.Append(l.Within(), choir.RoleControl, choir.ComputerCreated{Name: "lab", Format: 1}); err != nil {
		t.Fatal(err)
	}
	return l
}

// openLab opens the computer in a folder.
func openLab(t *testing.T, user, id choir.ID, dir string) *lab {
	t.Helper()
	blobs := must(openFS(filepath.Join(dir, "blobs")))(t)
	t.Cleanup(func() {
		if err := blob.Close(blobs); err != nil {
			t.Error(err)
		}
	})
	l := &lab{Lab: workspacetest.Open(t, blobs, user, id, dir)}
	all := func(_ context.Context, root choir.Digest) (choir.Digest, []string, error) { return root, nil, nil }
	past := moments.New(l.Log, l.Log, l.Keeper, all)
	merger := treemerge.New(l.Log, l.Events, l.Workspace, l.Keeper, noTerminals{}, time.Now)
	l.collector = collection.New(l.Log, blobs, l.Keeper, l.Workspace, collection.Config{Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	l.Copier = New(l.Log, l.Events, blobs, l.Keeper, l.collector, l.Workspace, past, merger, Config{Computer: id, Name: "lab", Available: all})
	return l
}

func openFS(dir string) (blob.Store, error) { return fs.Open(dir) }

// noTerminals has none open.
type noTerminals struct{}

func (noTerminals) Stop(choir.TerminalReason, string) (int, func()) { return 0, func() {} }

func (noTerminals) Count() int { return 0 }

// holds makes these files all that the workspace has, and records them.
func (l *lab) holds(files map[string]string) {
	l.T.Helper()
	for _, e := range must(os.ReadDir(l.Dir))(l.T) {
		if err := os.RemoveAll(filepath.Join(l.Dir, e.Name())); err != nil {
			l.T.Fatal(err)
		}
	}
	for path, content := range files {
		l.WriteOutside(path, content)
	}
	l.Record(nil)
}

// prompt begins a run with a task that nobody answers.
func (l *lab) prompt() {
	l.T.Helper()
	run, task := workspacetest.NewID(l.T), workspacetest.NewID(l.T)
	prompted := must(l.Events.Draft(choir.PromptSubmitted{Text: "Do it."}))(l.T)
	must(l.Log.Append(l.Within(), choir.RoleCLI, prompted.ForRun(run, "")))(l.T)
	dispatched := must(l.Events.Draft(choir.TaskDispatched{Task: choir.DirectorTask{
		Version: choir.ContractVersion, TaskID: task, RunID: run, Kind: choir.TaskRun, Instruction: "x", Commands: []choir.Command{{Shell: "true"}},
	}}))(l.T)
	must(l.Log.Append(l.Within(), choir.RoleControl, dispatched.ForRun(run, task)))(l.T)
}

// archived is a small computer with a past, and its export.
func archived(t *testing.T) (*lab, *Export, []byte) {
	t.Helper()
	l := newLab(t)
	l.holds(map[string]string{"a.txt": "first\n", "gone.txt": "x\n"})
	l.prompt()
	l.holds(map[string]string{"a.txt": "second\n", "b/c.txt": strings.Repeat("c\n", 2000), ".env": "SECRET=1\n", "note": "-----BEGIN RSA PRIVATE KEY-----\n"})
	e := must(l.PrepareExport(l.Within()))(t)
	t.Cleanup(e.Close)
	var b bytes.Buffer
	if err := e.Write(l.Within(), &b); err != nil {
		t.Fatal(err)
	}
	return l, e, b.Bytes()
}

// fork makes a second computer of the first as it is now, and wakes it.
func (l *lab) fork(t *testing.T) *lab {
	t.Helper()
	n := newOne(t)
	n.User = l.User
	if err := l.ForkInto(l.Within(), must(l.FindFork(l.Within(), 0))(t), n); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(n.Dir, RestoreFile)); err != nil {
		t.Errorf("its workspace is not to be filled: %v", err)
	}
	second := openLab(t, n.User, n.ID, n.Dir)
	root := must(second.LastSnapshot(l.Within()))(t)
	must(second.RestoreTree(l.Within(), second.Client, root, guest.RestoreOptions{}))(t)
	return second
}

// newOne is a computer to be made in a folder of its own.
func newOne(t testing.TB) NewComputer {
	t.Helper()
	dir := filepath.Join(memoryDir(t), "new")
	if err := os.Mkdir(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	now := func() choir.Time { return choir.TimeOf(time.Now()) }
	return NewComputer{
		ID: workspacetest.NewID(t), User: workspacetest.NewID(t), Name: "new", Dir: dir, OpenBlobs: openFS, Now: now,
		NewID: func() (choir.ID, error) { return choir.NewID(now(), rand.Reader) },
	}
}

// memoryDir is a folder in memory where that can be had: how durable an import is
// is not what these tests are about.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "choir-copies-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func anyName(timeline.Archive) (string, error) { return "new", nil }

// must ends the test at an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
