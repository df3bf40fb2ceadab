package workspace

import (
	"context"
	"strings"
	"testing"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/guest"
)

func TestOneAtATimeHasTheTree(t *testing.T) {
	l := newLab(t)
	unlock := must(l.Lock(l.within()))(t)
	given, cancel := context.WithCancel(t.Context())
	cancel()
	for name, lock := range map[string]func(context.Context) (func(), error){"Lock": l.Lock, "LockIdle": l.LockIdle} {
		_, err := lock(given)
		l.wantCode(err, choir.CodeTimeout)
		if err == nil {
			t.Errorf("%s gave the tree to two", name)
		}
	}
	_, err := l.WriteFile(given, choir.RoleShell, "x", strings.NewReader("x"), Expect{})
	if err == nil || l.exists("x") {
		t.Errorf("a file was written without the tree: %v", err)
	}
	unlock()
	must(l.LockIdle(l.within()))(t)()
	l.write("x", "x")
}

func TestWhatOthersChangeBesideAPersonIsNotThePersons(t *testing.T) {
	l := newLab(t)
	l.write("d/mine", "1")
	before := l.head()
	l.outside("d/other", "x")
	l.write("d/mine", "2")
	told := l.told(before)
	if len(told) != 2 || told["d/mine"] != choir.SourceUser || told["d/other"] != choir.SourceSystem {
		t.Errorf("the log says %v", told)
	}
}

// TestWhatNobodyRecordedIsTheOwners looks at a new tree, which is nobody's change,
// and at one that was changed while nobody looked.
func TestWhatNobodyRecordedIsTheOwners(t *testing.T) {
	l := newLab(t)
	for i, want := range []choir.Source{choir.SourceSystem, choir.SourceUser} {
		before := l.head()
		path := string(rune('a' + i))
		l.outside(path, "x")
		if err := l.RecordOwners(l.within(), l.scanned()); err != nil {
			t.Fatal(err)
		}
		if told := l.told(before); len(told) != 1 || told[path] != want {
			t.Errorf("the log says %v, want %s", told, want)
		}
	}
	if before := l.head(); l.RecordNow(l.within()) != nil || l.head() != before {
		t.Errorf("what is known was told again, or not read")
	}
}

func TestASandboxThatSleepsHasNothingToTell(t *testing.T) {
	l := newLab(t)
	w := New(l.log, l.events, mem.New(mem.Config{}), l.keeper, asleep{}, l.cfg)
	before := l.head()
	if err := w.RecordNow(l.within()); err != nil || l.head() != before {
		t.Errorf("%v, and %d events", err, l.head()-before)
	}
	_, err := w.MakeFolder(l.within(), choir.RoleShell, "d")
	l.wantCode(err, choir.CodeUnavailable)
	_, err = w.ListFolder(l.within(), "", "", 10)
	l.wantCode(err, choir.CodeUnavailable)
	if w.Work() != nil {
		t.Errorf("it works: %+v", w.Work())
	}
}

// TestARestoreLeavesALargeCacheAlone goes back to a moment at which a cache was
// small, while it is too large for a snapshot.
func TestARestoreLeavesALargeCacheAlone(t *testing.T) {
	l := newLab(t, func(cfg *Config) { cfg.CacheLimit = 1 << 16 })
	l.outside("app/node_modules/x", "small")
	l.write("app/main.js", "one\n")
	then := must(l.LastSnapshot(l.within()))(t)
	large := string(make([]byte, 1<<17))
	l.outside("app/node_modules/x", large)
	l.write("app/main.js", "two\n")
	left := must(l.log.LeftOut(l.within(), 0))(t)
	if len(left.Paths) != 1 || left.Paths[0] != "app/node_modules" || left.Limit != 1<<16 {
		t.Fatalf("left out: %+v", left)
	}
	unlock := must(l.Lock(l.within()))(t)
	defer unlock()
	target := must(l.Without(l.within(), then, left.Paths))(t)
	if _, err := l.RestoreTree(l.within(), l.client, target, guest.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	if l.has("app/main.js") != "one\n" || l.has("app/node_modules/x") != large {
		t.Error("the file did not go back, or the cache did")
	}
}

// TestFilesAreARolesAndSnapshotsTheControlPlanes records a change as a role's.
func TestFilesAreARolesAndSnapshotsTheControlPlanes(t *testing.T) {
	l := newLab(t)
	l.outside("a", "x")
	drafts := must(l.Record(l.within(), l.scanned(), "repo_added", true))(t)
	before := l.head()
	if err := l.AppendChanges(l.within(), choir.RoleDesktop, drafts); err != nil {
		t.Fatal(err)
	}
	sources := map[choir.Type]choir.Source{}
	for e, err := range l.log.Events(l.within(), before+1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		sources[e.Type] = e.Source
	}
	if len(sources) != 2 || sources[choir.TypeFileWritten] != choir.SourceDesktop || sources[choir.TypeSnapshotTaken] != choir.SourceSystem {
		t.Errorf("the log says %v", sources)
	}
}
