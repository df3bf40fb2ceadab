package selfsource

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/computer/selfsource/selfsourcetest"
	"choiros/internal/computer/treemerge"
	"choiros/internal/computer/workspace/workspacetest"
)

// lab is the source of a desktop in a workspace of which nothing else runs.
type lab struct {
	*workspacetest.Lab
	*Source
	running choir.ID // of the run whose task works
	open    terminals
}

// newLab has a workspace into which a source was shipped.
func newLab(t *testing.T, files map[string]string) *lab {
	t.Helper()
	t.Parallel()
	l := &lab{Lab: workspacetest.New(t, mem.New(mem.Config{}))}
	l.wake(files)
	return l
}

// wake wakes the computer with a choir that carries a source, in the order of package
// computer: ship, record what the workspace has, renew.
func (l *lab) wake(files map[string]string) {
	l.T.Helper()
	merger := treemerge.New(l.Log, l.Events, l.Workspace, l.Keeper, &l.open, time.Now)
	l.Source = New(l.Log, l.Events, l.Keeper, l.Workspace, merger, Config{
		Computer: l.Computer, Archive: selfsourcetest.Pack(l.T, files), Version: "test",
		Available: func(_ context.Context, root choir.Digest) (choir.Digest, error) { return root, nil },
		Running:   func(context.Context) choir.ID { return l.running },
		Now:       time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	err := l.Ship(l.Within(), l.Client)
	now, scanErr := l.ScanWith(l.Within(), l.Client, nil)
	if err = errors.Join(err, scanErr); err == nil {
		err = errors.Join(l.RecordOwners(l.Within(), now), l.Renew(l.Within(), l.Client))
	}
	if err != nil {
		l.T.Fatal(err)
	}
}

// terminals are so many that are open.
type terminals int

func (n *terminals) Stop(choir.TerminalReason, string) (int, func()) {
	ended := int(*n)
	*n = 0
	return ended, func() {}
}

func (n *terminals) Count() int { return int(*n) }

// now finds the source as the log knows it.
func (l *lab) now() state {
	l.T.Helper()
	return must(l.state(l.Within()))(l.T)
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
