package computer

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"choiros/internal/blob/fs"
	"choiros/internal/choir"
)

func TestACollectionLetsGoOfOldToolCallsOnly(t *testing.T) {
	l := newLab(t)
	l.write("kept", "kept")
	c := l.working()
	var middle []uint64
	for i := range 4 {
		_, _, returned := c.call("bash", true, fmt.Sprintf("echo %d > counter; echo big-%d > only-%d; rm -f only-%d", i, i, i, i-1))
		middle = append(middle, returned)
	}
	c.finish()
	ended, _ := l.store.Head()
	boundary, now := must(l.Moments().Tree(l.within(), ended))(t), l.root()
	const day = 24 * time.Hour
	later := time.Now().Add(60 * day)
	// What is fresh stays, and so does what a preview finds.
	for _, dry := range []bool{false, true} {
		at := time.Now()
		if dry {
			at = later
		}
		got := must(l.collect(l.within(), at, 30*day, dry))(t)
		if dry == (got.Removed == 0) || dry == (got.Moments == 0) {
			t.Errorf("dry run %v: %+v", dry, got)
		}
		for _, seq := range middle {
			if _, err := l.Moments().Tree(l.within(), seq); err != nil {
				t.Errorf("dry run %v took event %d: %v", dry, seq, err)
			}
		}
	}
	got := must(l.collect(l.within(), later, 30*day, false))(t)
	if got.Moments != 3 || got.Removed == 0 || got.Bytes == 0 {
		t.Errorf("%+v", got)
	}
	for _, seq := range middle[:3] {
		if _, err := l.Moments().Tree(l.within(), seq); choir.CodeOf(err) != choir.CodeNotFound {
			t.Errorf("event %d is still there: %v", seq, err)
		}
		if m := must(l.Moments().At(l.within(), seq))(t); !m.Collected {
			t.Errorf("event %d: %+v", seq, m)
		}
		if _, err := l.Rewind(l.within(), choir.RoleCLI, seq, false); choir.CodeOf(err) != choir.CodeNotFound {
			t.Errorf("a rewind to event %d: %v", seq, err)
		}
	}
	for _, root := range []choir.Digest{boundary, now} {
		if _, _, err := l.keeper.Verify(l.within(), root); err != nil {
			t.Errorf("%s is not whole: %v", root, err)
		}
	}
	for _, e := range l.all("snapshot.taken", "task.started") {
		root, err := l.Moments().Tree(l.within(), e.Seq)
		if err != nil {
			continue
		}
		if _, _, err := l.keeper.Verify(l.within(), root); err != nil {
			t.Errorf("the moment of event %d is there and not whole: %v", e.Seq, err)
		}
	}
	// What was removed is stored again when it comes back, though init has seen it.
	l.sh("echo big-0 > only-0; echo 1 > counter")
	l.write("other", "x")
	head, _ := l.store.Head()
	root := must(l.Moments().Tree(l.within(), head))(t)
	if _, _, err := l.keeper.Verify(l.within(), root); err != nil {
		t.Errorf("after the collection: %v", err)
	}
	again := must(l.collect(l.within(), later, 30*day, false))(t)
	if again.Removed != 0 {
		t.Errorf("once more it removes %+v", again)
	}
	rewound(t, l, ended)
	if l.sh("cat counter only-3") != "3\nbig-3\n" {
		t.Error("the boundary of the task is not what it was")
	}
}

func TestACollectionComesByItself(t *testing.T) {
	l := newLab(t, func(cfg *labConfig) { cfg.KeepCalls, cfg.Collect = 1, 20*time.Millisecond })
	c := l.working()
	_, _, first := c.call("bash", true, "echo 1 > x")
	c.call("bash", true, "echo 2 > x")
	if _, err := l.Moments().Tree(l.within(), first); err != nil {
		t.Fatal(err)
	}
	// Everything was stored long ago.
	old := time.Now().Add(-2 * fresh)
	if err := l.blobs.(*fs.Store).Flush(); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(filepath.Join(l.cfg.Data, string(l.cfg.Computer), "blobs"), func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return os.Chtimes(name, old, old)
	})
	if err != nil {
		t.Fatal(err)
	}
	c.finish()
	for ctx := l.within(); ; {
		_, err := l.Moments().Tree(ctx, first)
		if choir.CodeOf(err) == choir.CodeNotFound {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("the moment is still there: %v", err)
		}
		runtime.Gosched()
	}
}
