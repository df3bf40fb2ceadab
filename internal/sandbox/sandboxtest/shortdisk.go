package sandboxtest

import (
	"fmt"
	"path/filepath"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"

	"golang.org/x/sys/unix"
)

// smallDisk is a file system in memory, in a mount namespace of this process, whose room can be
// changed.
type smallDisk struct{ at string }

// ample are the bytes and inodes of a file system with room for everything.
const (
	ampleBytes  = 1 << 30
	ampleInodes = 100_000
)

// mountSmallDisk mounts one.
func mountSmallDisk(t *testing.T) smallDisk {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	d := smallDisk{DataDir(t)}
	if err := unix.Mount("small", d.at, "tmpfs", 0, "mode=711"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(d.at, 0); err != nil {
			t.Errorf("unmount the small file system: %v", err)
		}
	})
	d.resize(t, ampleBytes, ampleInodes)
	return d
}

func (d smallDisk) resize(t *testing.T, bytes, inodes int64) {
	options := fmt.Sprintf("size=%d,nr_inodes=%d", bytes, inodes)
	if err := unix.Mount("small", d.at, "tmpfs", unix.MS_REMOUNT, options); err != nil {
		t.Fatalf("%s: %v", options, err)
	}
}

// limitInodes leaves room for some more files.
func (d smallDisk) limitInodes(t *testing.T, spare int) (lift func()) {
	s := d.stat(t)
	d.resize(t, ampleBytes, int64(s.Files-s.Ffree)+int64(spare))
	return func() { d.resize(t, ampleBytes, ampleInodes) }
}

// limitPages leaves room for some more pages of content.
func (d smallDisk) limitPages(t *testing.T, spare int) (lift func()) {
	s := d.stat(t)
	// 0 is no limit, and of an empty file system also what is in use.
	d.resize(t, max(1, int64(s.Blocks-s.Bfree)+int64(spare))*s.Bsize, ampleInodes)
	return func() { d.resize(t, ampleBytes, ampleInodes) }
}

func (d smallDisk) stat(t *testing.T) unix.Statfs_t {
	var s unix.Statfs_t
	if err := unix.Statfs(d.at, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// createOnSmallDisk creates sandboxes with everything of theirs on a disk with little room, by
// drivers that have nothing there yet and then by the same ones once more.
func createOnSmallDisk(t *testing.T, newDriver Maker, o orders) {
	disk := mountSmallDisk(t)
	for _, of := range []struct {
		name  string
		limit limit
	}{{"inodes", disk.limitInodes}, {"pages", disk.limitPages}} {
		o := o
		o.Setup.StateDir = filepath.Join(disk.at, "state-"+of.name)
		workspace, _ := o.Spec.Workspace()
		o.Spec = SpecIn(t, disk.at, o.Spec.Guest, o.Spec.Role)
		o.Spec.Mounts[0] = sandbox.Workspace(o.Spec.WorkspaceFolder(), workspace.Transport)
		d := newDriver(t, o.Setup)
		defer closeDriver(t, d)
		r := ration{of.limit, choir.ReasonHostNoSpace, 1 << 20}
		for _, when := range []string{"to set up", "after it was set up"} {
			refused, spare := createWith(t, d, o, r)
			t.Logf("%d creations were refused with too few %s %s, and one with %d to spare was not", refused, of.name, when, spare)
			if refused == 0 && (of.name == "inodes" || when == "to set up") {
				t.Error("the limit had no effect")
			}
		}
	}
}

// nothingUnfinished fails the test if a driver's folder has things in it that are there only while
// a sandbox, or what all share, is made.
func nothingUnfinished(t *testing.T, o orders) {
	t.Helper()
	id := "*" + string(o.Spec.Computer) + "*"
	for _, pattern := range []string{"new-*", ".new-*", ".disk-*", filepath.Join("boxes", id), filepath.Join("machines", "*", id)} {
		left, err := filepath.Glob(filepath.Join(o.Setup.StateDir, pattern))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
}
