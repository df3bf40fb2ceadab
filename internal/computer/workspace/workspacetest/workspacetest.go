// Package workspacetest makes a workspace for the tests of the parts of a computer that
// work on one: on a real log, with choir-init's server in the test's own process.
// Nothing else runs.
package workspacetest

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/guest/guesttest"
	"choiros/internal/snapshot"
)

// Lab is a workspace with its log, store and sandbox.
type Lab struct {
	*workspace.Workspace
	T              testing.TB
	User, Computer choir.ID
	Dir            string // of the tree
	Data           string // the computer's folder
	Log            *eventstore.Store
	Events         *appender.Appender // appends to Log
	Keeper         *snapshot.Keeper
	Client         *guest.Client
}

// New makes a workspace with content in blobs, until the test ends.
func New(t testing.TB, blobs blob.Store, change ...func(*workspace.Config)) *Lab {
	t.Helper()
	l := Open(t, blobs, NewID(t), NewID(t), t.TempDir(), change...)
	if _, err := l.Events.Append(t.Context(), choir.RoleControl, choir.ComputerCreated{Name: "lab", Format: 1}); err != nil {
		t.Fatal(err)
	}
	return l
}

// Open makes the workspace of a computer whose log lies in the folder data, or will, until
// the test ends. Its tree is empty.
func Open(t testing.TB, blobs blob.Store, user, computer choir.ID, data string, change ...func(*workspace.Config)) *Lab {
	t.Helper()
	l := &Lab{T: t, User: user, Computer: computer, Dir: t.TempDir(), Data: data, Keeper: snapshot.NewKeeper(blobs)}
	var err error
	if l.Log, err = eventstore.Open(t.Context(), l.Data, eventstore.Config{
		Computer: l.Computer, User: user, Blobs: blobs, Now: func() choir.Time { return choir.TimeOf(time.Now()) },
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Log.Close(); err != nil {
			t.Error(err)
		}
	})
	quiet := slog.New(slog.DiscardHandler)
	l.Events = appender.New(l.Log, l.Computer, newID, quiet)
	cfg := workspace.Config{Dir: l.Data, Moment: l.moment, MaxUpload: 1 << 20, Computer: l.Computer, Logger: quiet}
	for _, c := range change {
		c(&cfg)
	}
	l.Client = guesttest.Serve(t, l.Dir)
	l.Workspace = workspace.New(l.Log, l.Events, blobs, l.Keeper, Awake{l.Client}, cfg)
	l.Limit(l.Client)
	return l
}

// NewID makes an id.
func NewID(t testing.TB) choir.ID {
	t.Helper()
	id, err := newID()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func newID() (choir.ID, error) { return choir.NewID(choir.TimeOf(time.Now()), rand.Reader) }

// moment is the tree after an event, as the log knows it.
func (l *Lab) moment(ctx context.Context, seq uint64) (choir.Digest, error) {
	taken, _, err := l.Log.SnapshotAt(ctx, seq)
	return taken.Snapshot, err
}

// Awake is a sandbox that runs.
type Awake struct{ Client *guest.Client }

// Guest implements workspace.Sandbox.
func (a Awake) Guest(context.Context) (*guest.Client, error) { return a.Client, nil }

// LookedAt implements workspace.Sandbox.
func (a Awake) LookedAt(context.Context) (*guest.Client, error) { return a.Client, nil }

// Within is a context that ends with the test's patience.
func (l *Lab) Within() context.Context {
	ctx, cancel := context.WithTimeout(l.T.Context(), 30*time.Second)
	l.T.Cleanup(cancel)
	return ctx
}

// Write writes a file as the owner.
func (l *Lab) Write(path, content string) {
	l.T.Helper()
	if _, err := l.WriteFile(l.Within(), choir.RoleShell, path, strings.NewReader(content), workspace.Expect{}); err != nil {
		l.T.Fatal(err)
	}
}

// WriteOutside writes a file as a program in the sandbox would, which tells nobody.
func (l *Lab) WriteOutside(path, content string) {
	l.T.Helper()
	path = filepath.Join(l.Dir, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		l.T.Fatal(err)
	}
}

// Record appends what differs from the last snapshot, as a start or as a task does.
func (l *Lab) Record(task *eventstore.Task) {
	l.T.Helper()
	unlock, err := l.Lock(l.Within())
	if err != nil {
		l.T.Fatal(err)
	}
	defer unlock()
	now, _, err := l.Scan(l.Within())
	if err == nil {
		err = l.RecordFor(l.Within(), now, workspace.ReasonOutside, task)
	}
	if err != nil {
		l.T.Fatal(err)
	}
}

// WantFiles fails the test unless the tree has these files and no others.
func (l *Lab) WantFiles(want map[string]string) {
	l.T.Helper()
	if got := l.Files(""); !maps.Equal(got, want) {
		l.T.Errorf("the tree has %q, want %q", got, want)
	}
}

// Files reads every file of the tree below a folder, by path.
func (l *Lab) Files(folder string) map[string]string {
	l.T.Helper()
	out := map[string]string{}
	top := filepath.Join(l.Dir, folder)
	err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(top, path)
		out[name] = string(content)
		return err
	})
	if err != nil {
		l.T.Fatal(err)
	}
	return out
}

// All reads the events of a type.
func (l *Lab) All(of choir.Type) (out []choir.Event) {
	l.T.Helper()
	for e, err := range l.Log.Events(l.Within(), 1, 0) {
		if err != nil {
			l.T.Fatal(err)
		}
		if e.Type == of {
			out = append(out, e)
		}
	}
	return out
}

// Head is the newest event's number.
func (l *Lab) Head() uint64 {
	seq, _ := l.Log.Head()
	return seq
}
