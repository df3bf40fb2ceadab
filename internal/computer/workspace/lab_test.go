package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/guest/guesttest"
	"choiros/internal/snapshot"
)

// lab is a workspace on a real log, with content in memory and choir-init's server
// in the test's process. Nothing else runs.
type lab struct {
	*Workspace
	t      *testing.T
	dir    string // of the tree
	log    *eventstore.Store
	events *appender.Appender
	keeper *snapshot.Keeper
	client *guest.Client
}

func newLab(t *testing.T, change ...func(*Config)) *lab {
	t.Helper()
	return newReplicatedLab(t, nil, change...)
}

// newReplicatedLab is newLab with a replica of the log.
func newReplicatedLab(t *testing.T, replica eventstore.Replica, change ...func(*Config)) *lab {
	t.Helper()
	t.Parallel()
	blobs, data := mem.New(mem.Config{}), t.TempDir()
	log := must(eventstore.Open(t.Context(), data, eventstore.Config{
		Computer: must(newTestID())(t), User: must(newTestID())(t), Blobs: blobs, Replica: replica, Now: func() choir.Time { return choir.TimeOf(time.Now()) },
	}))(t)
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	quiet := slog.New(slog.DiscardHandler)
	l := &lab{t: t, dir: t.TempDir(), log: log, keeper: snapshot.NewKeeper(blobs), events: appender.New(log, must(newTestID())(t), newTestID, quiet)}
	must(l.events.Append(t.Context(), choir.RoleControl, choir.ComputerCreated{Name: "lab", Format: 1}))(t)
	cfg := Config{Dir: data, Moment: l.moment, MaxUpload: 1 << 20, Logger: quiet}
	for _, c := range change {
		c(&cfg)
	}
	l.client = guesttest.Serve(t, l.dir)
	l.Workspace = New(log, l.events, blobs, l.keeper, awake{l.client}, cfg)
	l.Limit(l.client)
	l.serve()
	return l
}

// moment is the tree after an event, as the log knows it.
func (l *lab) moment(ctx context.Context, seq uint64) (choir.Digest, error) {
	taken, _, err := l.log.SnapshotAt(ctx, seq)
	return taken.Snapshot, err
}

// serve runs the workspace's services until the test ends.
func (l *lab) serve() {
	ctx, stop := context.WithCancel(context.WithoutCancel(l.t.Context()))
	var running sync.WaitGroup
	for _, s := range l.Services() {
		running.Go(func() {
			if err := s.Serve(ctx); err != nil {
				l.t.Error(err)
			}
		})
	}
	l.t.Cleanup(func() {
		stop()
		running.Wait()
	})
}

// awake is a sandbox that runs.
type awake struct{ client *guest.Client }

func (a awake) Guest(context.Context) (*guest.Client, error)    { return a.client, nil }
func (a awake) LookedAt(context.Context) (*guest.Client, error) { return a.client, nil }

// asleep is a sandbox that does not.
type asleep struct{}

func (asleep) Guest(context.Context) (*guest.Client, error) {
	return nil, choir.E("lab", choir.CodeUnavailable, "the sandbox does not run")
}

func (a asleep) LookedAt(ctx context.Context) (*guest.Client, error) { return a.Guest(ctx) }

func newTestID() (choir.ID, error) { return choir.NewID(choir.TimeOf(time.Now()), rand.Reader) }

// within is a context that ends with the test's patience.
func (l *lab) within() context.Context {
	ctx, cancel := context.WithTimeout(l.t.Context(), 30*time.Second)
	l.t.Cleanup(cancel)
	return ctx
}

// write writes a file as the owner.
func (l *lab) write(path, content string) choir.FileState {
	l.t.Helper()
	return must(l.WriteFile(l.within(), choir.RoleShell, path, strings.NewReader(content), Expect{}))(l.t)
}

// outside writes a file as a program in the sandbox would, which tells nobody.
func (l *lab) outside(path, content string) {
	l.t.Helper()
	path = filepath.Join(l.dir, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		l.t.Fatal(err)
	}
}

// has reads a file of the tree.
func (l *lab) has(path string) string {
	l.t.Helper()
	return string(must(os.ReadFile(filepath.Join(l.dir, path)))(l.t))
}

// exists reports whether something lies at a path of the tree.
func (l *lab) exists(path string) bool {
	_, err := os.Lstat(filepath.Join(l.dir, path))
	return err == nil
}

// head is the newest event's number.
func (l *lab) head() uint64 {
	seq, _ := l.log.Head()
	return seq
}

// told lists the paths of file events after an event, with their sources.
func (l *lab) told(after uint64) map[string]choir.Source {
	l.t.Helper()
	out := map[string]choir.Source{}
	for e, err := range l.log.Events(l.within(), after+1, 0) {
		if err != nil {
			l.t.Fatal(err)
		}
		switch p := must(choir.ReadPayload(e.Type, e.Payload))(l.t).(type) {
		case *choir.FileWritten:
			for _, f := range p.Files {
				out[f.Path] = e.Source
			}
		case *choir.FileRemoved:
			for _, path := range p.Paths {
				out[path] = e.Source
			}
		}
	}
	return out
}

// scanned is the tree as it is, by hash.
func (l *lab) scanned() snapshot.Result {
	l.t.Helper()
	unlock := must(l.Lock(l.within()))(l.t)
	defer unlock()
	now, _, err := l.Scan(l.within())
	if err != nil {
		l.t.Fatal(err)
	}
	return now
}

// wantCode fails the test when an error has another code.
func (l *lab) wantCode(err error, want choir.Code) {
	l.t.Helper()
	if choir.CodeOf(err) != want {
		l.t.Errorf("%v, want the code %q", err, want)
	}
}

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
