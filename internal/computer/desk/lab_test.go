package desk

import (
	"crypto/rand"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"choiros/internal/blob/fs"
	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/desk/drafts"
	"choiros/internal/eventstore"
)

// lab is a desk on a real log, in a folder of the test's own. Nothing else runs.
type lab struct {
	*Desk
	t      testing.TB
	log    *eventstore.Store
	events *appender.Appender
	told   []drafts.Draft // what the pages heard of drafts
}

func newLab(t *testing.T, change ...func(*Config)) *lab {
	t.Helper()
	t.Parallel()
	return openLab(t, change...)
}

// openLab is newLab for a test or a benchmark that runs alone.
func openLab(t testing.TB, change ...func(*Config)) *lab {
	t.Helper()
	dir := t.TempDir()
	blobs := must(fs.Open(filepath.Join(dir, "blobs")))(t)
	log := must(eventstore.Open(t.Context(), dir, eventstore.Config{
		Computer: must(newTestID())(t), User: must(newTestID())(t), Blobs: blobs, Now: func() choir.Time { return choir.TimeOf(time.Now()) },
	}))(t)
	l := &lab{t: t, log: log, events: appender.New(log, must(newTestID())(t), newTestID, slog.New(slog.DiscardHandler))}
	must(l.events.Append(t.Context(), choir.RoleControl, choir.ComputerCreated{Name: "lab", Format: 1}))(t)
	cfg := Config{
		Themes: "choiros/themes", Drafts: filepath.Join(dir, "drafts.sqlite"), Now: time.Now,
		DraftChanged: func(d drafts.Draft) { l.told = append(l.told, d) },
	}
	for _, c := range change {
		c(&cfg)
	}
	l.Desk = New(log, l.events, blobs, cfg)
	t.Cleanup(func() {
		for _, closed := range []interface{ Close() error }{l.Desk, log, blobs} {
			if err := closed.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return l
}

func newTestID() (choir.ID, error) { return choir.NewID(choir.TimeOf(time.Now()), rand.Reader) }

func (l *lab) newID() choir.ID {
	l.t.Helper()
	return must(l.events.NewID())(l.t)
}

// head is the newest event's number.
func (l *lab) head() uint64 {
	seq, _ := l.log.Head()
	return seq
}

// wantCode fails the test when an error has another code.
func (l *lab) wantCode(err error, want choir.Code) {
	l.t.Helper()
	if choir.CodeOf(err) != want {
		l.t.Errorf("%v, want the code %s", err, want)
	}
}

// wrote appends the event of a file that was written to the workspace.
func (l *lab) wrote(path string) {
	l.t.Helper()
	must(l.events.Append(l.t.Context(), choir.RoleShell, choir.FileWritten{
		Files: []choir.FileState{{Path: path, Kind: "file", Digest: choir.ZeroHash}}, Snapshot: choir.ZeroHash,
	}))(l.t)
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
