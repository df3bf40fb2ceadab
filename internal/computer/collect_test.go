package computer

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"choiros/internal/blob/fs"
	"choiros/internal/choir"
)

func TestACollectionComesByItself(t *testing.T) {
	l := newLab(t, func(cfg *labConfig) { cfg.KeepCalls, cfg.Collect = 1, 20*time.Millisecond })
	c := l.working()
	_, _, first := c.call("bash", true, "echo 1 > x")
	c.call("bash", true, "echo 2 > x")
	if _, err := l.Moments().Tree(l.within(), first); err != nil {
		t.Fatal(err)
	}
	// Everything was stored long ago.
	old := time.Now().Add(-48 * time.Hour)
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
	if _, err := l.Rewinder().Rewind(l.within(), choir.RoleCLI, first, false); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("a rewind to it: %v", err)
	}
}
