package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// lab is the Reconciler of a workspace of which nothing else runs.
type lab struct {
	*workspacetest.Lab
	*Reconciler
	source stubSource
	note   string
}

func newLab(t *testing.T) *lab {
	t.Helper()
	t.Parallel()
	l := &lab{Lab: workspacetest.New(t, mem.New(mem.Config{}))}
	l.note = filepath.Join(l.Data, "restore")
	l.Reconciler = l.reconcilerOf(l.Workspace)
	return l
}

// reconcilerOf is the Reconciler of the lab for a workspace.
func (l *lab) reconcilerOf(w Workspace) *Reconciler {
	return New(l.Log, l.Events, l.Keeper, w, &l.source, neverCollects{}, Config{
		Computer: l.Computer, Folders: []string{"artifacts", "workspace"}, RestoreNote: l.note, Logger: slog.New(slog.DiscardHandler),
	})
}

// start does what the host of the roles does when the sandbox has come up.
func (l *lab) start(recovered bool) {
	l.T.Helper()
	err := l.LayOut(l.Within(), l.Client, recovered, false)
	if err == nil {
		err = l.FirstLook(l.Within(), l.Client, recovered)
	}
	if err != nil {
		l.T.Fatal(err)
	}
}

// mayRewrite reports whether the next look may.
func (l *lab) mayRewrite() bool {
	l.T.Helper()
	may, err := l.MayRewrite(l.Within())
	if err != nil {
		l.T.Fatal(err)
	}
	return may
}

// remove removes a path of the tree as a program in the sandbox would.
func (l *lab) remove(path string) {
	l.T.Helper()
	if err := os.RemoveAll(filepath.Join(l.Dir, path)); err != nil {
		l.T.Fatal(err)
	}
}

// sourcesOf are the sources of the file events after an event, by path.
func (l *lab) sourcesOf(after uint64) map[string]choir.Source {
	l.T.Helper()
	out := map[string]choir.Source{}
	for _, e := range l.All(choir.TypeFileWritten) {
		p, err := choir.ReadPayload(e.Type, e.Payload)
		if err != nil {
			l.T.Fatal(err)
		}
		for _, f := range p.(*choir.FileWritten).Files {
			if e.Seq > after {
				out[f.Path] = e.Source
			}
		}
	}
	return out
}

// stubSource counts what is asked of it.
type stubSource struct {
	shipped, renewed int
	may              bool
}

func (s *stubSource) Ship(context.Context, *guest.Client) error { s.shipped++; return nil }

func (s *stubSource) MayRenew(context.Context) (bool, error) { return s.may, nil }

func (s *stubSource) Renew(context.Context, *guest.Client) error { s.renewed++; return nil }

func TestANewWorkspaceIsLaidOutAndRecorded(t *testing.T) {
	l := newLab(t)
	l.start(false)
	for _, dir := range []string{"artifacts", "workspace"} {
		if info, err := os.Stat(filepath.Join(l.Dir, dir)); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if l.source != (stubSource{shipped: 1, renewed: 1}) {
		t.Errorf("the source was %+v", l.source)
	}
	last, err := l.LastSnapshot(l.Within())
	if now, scanErr := l.Client.Scan(l.Within(), l.Keeper); errors.Join(err, scanErr) != nil || now.Root != last {
		t.Errorf("the log has %s, %v", last, errors.Join(err, scanErr))
	}
}

func TestTheWorkspaceOfARecoveredSandboxIsLaidOutOnlyWhenNobodyEverLookedAtIt(t *testing.T) {
	l := newLab(t)
	l.start(true) // the control plane was killed before the first look
	if l.source.shipped != 1 {
		t.Error("a workspace that nobody ever looked at is not laid out")
	}
	l.Write("x", "x")
	l.remove("artifacts")
	l.start(true)
	if _, err := os.Stat(filepath.Join(l.Dir, "artifacts")); err == nil || l.source.shipped != 1 {
		t.Error("a recovered workspace was laid out again")
	}
}

func TestChangesBetweenSessionsAreTheOwners(t *testing.T) {
	l := newLab(t)
	l.Write("x", "1")
	l.start(false)
	head := l.Head()
	l.WriteOutside("x", "2")
	if l.mayRewrite() {
		t.Error("it may rewrite the workspace")
	}
	l.start(false)
	if got, want := l.sourcesOf(head), map[string]choir.Source{"x": choir.SourceUser}; !maps.Equal(got, want) {
		t.Errorf("changed by %v", got)
	}
	if back := l.All(choir.TypeTimelineRewound); len(back) > 0 {
		t.Errorf("it went back by itself: %+v", back)
	}
}

// TestChangesOfARecoveredSandboxAreLeftToTheTask has the control plane killed while
// programs ran.
func TestChangesOfARecoveredSandboxAreLeftToTheTask(t *testing.T) {
	l := newLab(t)
	l.start(false)
	head := l.Head()
	l.WriteOutside("x", "2")
	l.start(true)
	if l.Head() != head {
		t.Errorf("%d events", l.Head()-head)
	}
}

// TestAMachineThatWentDownLosesNothing comes up with a workspace that is older than the
// log and torn. The acknowledged one is put back, the one that was found is kept.
func TestAMachineThatWentDownLosesNothing(t *testing.T) {
	l := newLab(t)
	l.start(false)
	l.Write("x", "new")
	l.Write("y", "new")
	acknowledged := l.Files("")
	l.WriteOutside("x", "")
	l.remove("y")
	found, err := l.Client.Scan(l.Within(), l.Keeper)
	if err != nil {
		t.Fatal(err)
	}
	l.DistrustWorkspace()
	if !l.mayRewrite() {
		t.Error("the look is not said to rewrite the workspace")
	}
	l.start(false)
	if got := l.Files(""); !maps.Equal(got, acknowledged) {
		t.Errorf("the workspace has %q", got)
	}
	back := l.All(choir.TypeTimelineRewound)
	if len(back) != 1 || back[0].Source != choir.SourceSystem {
		t.Fatalf("%+v", back)
	}
	if kept, _, err := l.Log.SnapshotAt(l.Within(), back[0].Seq-1); err != nil || kept.Snapshot != found.Root || kept.Reason != "power_cut" {
		t.Errorf("kept is %+v, %v; found was %s", kept, err, found.Root)
	}
	// Changes from then on are somebody's.
	head := l.Head()
	l.WriteOutside("z", "mine")
	l.start(false)
	if got := l.Files(""); got["z"] != "mine" || l.sourcesOf(head)["z"] != choir.SourceUser {
		t.Errorf("the workspace has %q, changed by %v", got, l.sourcesOf(head))
	}
}

func TestAMachineThatWentDownUnderAWholeWorkspaceChangesNothing(t *testing.T) {
	l := newLab(t)
	l.start(false)
	l.Write("x", "new")
	head := l.Head()
	l.DistrustWorkspace()
	l.start(false)
	if l.Head() != head {
		t.Errorf("%d events", l.Head()-head)
	}
}

// TestAWorkspaceIsFilledOnceWithTheSnapshotThatItsLogEndsWith is what a fork and an import
// begin with.
func TestAWorkspaceIsFilledOnceWithTheSnapshotThatItsLogEndsWith(t *testing.T) {
	l := newLab(t)
	l.Write("x", "past")
	l.remove("x")
	if err := os.WriteFile(l.note, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.start(false)
	if got := l.Files(""); got["x"] != "past" {
		t.Errorf("the workspace has %q", got)
	}
	if _, err := os.Stat(l.note); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the note is still there: %v", err)
	}
	l.remove("x")
	l.start(false)
	if got := l.Files(""); len(got) > 0 {
		t.Errorf("it was filled again: %q", got)
	}
}

func TestASandboxIsGivenOutWhereTheWorkspaceCannotBeRead(t *testing.T) {
	l := newLab(t)
	l.start(false)
	unread := l.reconcilerOf(&unreadWorkspace{l.Workspace})
	if err := unread.FirstLook(l.Within(), l.Client, false); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(l.Within())
	cancel()
	if err := unread.FirstLook(ended, l.Client, false); err == nil {
		t.Error("a look that was stopped is no error")
	}
}

// unreadWorkspace is a workspace that cannot be scanned.
type unreadWorkspace struct{ *workspace.Workspace }

func (w *unreadWorkspace) ScanWith(context.Context, *guest.Client, []string) (snapshot.Result, error) {
	return snapshot.Result{}, choir.E("x", choir.CodeForbidden, "it cannot be read")
}

// TestContentIsNotCollectedUnderALook pauses collections while it scans and while the
// source is renewed.
func TestContentIsNotCollectedUnderALook(t *testing.T) {
	l := newLab(t)
	var held []bool
	paused := &watchedCollector{}
	r := New(l.Log, l.Events, l.Keeper, &scannedWorkspace{l.Workspace, func() { held = append(held, paused.held) }},
		&renewedSource{func() { held = append(held, paused.held) }}, paused, l.cfg)
	if err := r.FirstLook(l.Within(), l.Client, false); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(held, []bool{true, true}) || paused.held {
		t.Errorf("it is held %v, and after that %v", held, paused.held)
	}
}

// watchedCollector is a collector of one goroutine.
type watchedCollector struct{ held bool }

func (c *watchedCollector) Pause() (resume func()) {
	c.held = true
	return func() { c.held = false }
}

type scannedWorkspace struct {
	*workspace.Workspace
	scanned func()
}

func (w *scannedWorkspace) ScanWith(ctx context.Context, client *guest.Client, only []string) (snapshot.Result, error) {
	w.scanned()
	return w.Workspace.ScanWith(ctx, client, only)
}

type renewedSource struct{ renewed func() }

func (*renewedSource) Ship(context.Context, *guest.Client) error { return nil }

func (*renewedSource) MayRenew(context.Context) (bool, error) { return false, nil }

func (s *renewedSource) Renew(context.Context, *guest.Client) error { s.renewed(); return nil }

// neverCollects is a collector that has nothing to wait with.
type neverCollects struct{}

func (neverCollects) Pause() (resume func()) { return func() {} }
