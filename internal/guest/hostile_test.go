package guest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"choiros/internal/blob/fs"
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// TestWhatThereIsNoRoomForIsLeftOut scans a workspace that is larger than the disk
// of the store: what does not fit is named, and the rest is held and can be restored.
func TestWhatThereIsNoRoomForIsLeftOut(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	small := t.TempDir()
	if err := syscall.Mount("choir-test", small, "tmpfs", 0, "size=48m"); err != nil {
		t.Skipf("this machine does not let root mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(small, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	store, err := fs.Open(small)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	in, k, ctx := serve(t, nil), snapshot.NewKeeper(store), within(t)
	put(t, in.workspace, "code", "1")
	put(t, in.workspace, "huge", strings.Repeat("x", 60<<20))
	first, err := in.Scan(ctx, k)
	if err != nil || len(first.Over) != 1 || first.Over[0].Path != "huge" || first.Over[0].Reason != choir.LeftNoSpace || first.Files != 1 {
		t.Fatalf("%v %+v", err, first)
	}
	put(t, in.workspace, "code", "2")
	if r, err := in.Restore(ctx, first.Root, k, RestoreOptions{}); err != nil || r.Root != first.Root {
		t.Fatalf("%v %+v", err, r)
	}
	if st, err := os.Stat(filepath.Join(in.workspace, "huge")); err != nil || st.Size() != 60<<20 {
		t.Errorf("the restore touched it: %v", err)
	}
}

// TestAFileThatIsRewrittenAllTheTimeIsLeftOut has a large file that is never the same
// when it is read a second time.
func TestAFileThatIsRewrittenAllTheTimeIsLeftOut(t *testing.T) {
	t.Parallel()
	in, k, ctx := serve(t, nil), newKeeper(t), within(t)
	put(t, in.workspace, "code", "1")
	put(t, in.workspace, "db", strings.Repeat("x", 4<<20))
	f, err := os.OpenFile(filepath.Join(in.workspace, "db"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	done, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for n := byte(0); ; n++ {
			select {
			case <-done:
				stopped <- nil
				return
			default:
			}
			if _, err := f.WriteAt([]byte{n}, 100); err != nil {
				stopped <- err
				return
			}
		}
	}()
	res, err := in.Scan(ctx, k)
	close(done)
	if err := errors.Join(err, <-stopped); err != nil {
		t.Fatal(err)
	}
	// It may have held still by chance; then all of it is there.
	left := slices.ContainsFunc(res.Over, func(l choir.LeftPath) bool { return l.Path == "db" && l.Reason == choir.LeftChanging })
	if !left && res.Files != 2 || left && res.Files != 1 {
		t.Errorf("%+v", res)
	}
}

// TestAScanEndsWithItsCaller hangs up in the middle of a scan that would take an
// hour: the next caller has the workspace at once.
func TestAScanEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	in, k, ctx := serve(t, nil), newKeeper(t), within(t)
	large := filepath.Join(in.workspace, "large")
	if err := os.WriteFile(large, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 4<<40); err != nil {
		t.Skipf("this file system holds no file of 4 TB: %v", err)
	}
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	if _, err := in.Scan(short, k); choir.CodeOf(err) != choir.CodeTimeout {
		t.Fatalf("got %v", err)
	}
	if err := os.Remove(large); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := in.Scan(ctx, k); err != nil || time.Since(began) > 10*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
}

// TestAScanSaysHowFarItIs waits for the first report of a scan that takes long.
func TestAScanSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	in, k := serve(t, nil), newKeeper(t)
	large := filepath.Join(in.workspace, "large")
	if err := os.WriteFile(large, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 4<<40); err != nil {
		t.Skipf("this file system holds no file of 4 TB: %v", err)
	}
	ctx, cancel := context.WithCancel(within(t))
	defer cancel()
	var heard snapshot.Progress
	in.ReportTo(func(p snapshot.Progress) {
		heard = p
		cancel()
	})
	if _, err := in.Scan(ctx, k); choir.CodeOf(err) != choir.CodeCancelled || heard.Entries == 0 {
		t.Errorf("%v %+v", err, heard)
	}
}
