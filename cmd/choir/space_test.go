package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/sandbox/sandboxtest"
)

// smallDisks are the file systems that a test can have for itself.
var smallDisks = []struct {
	name string
	// mount mounts a disk of this many MiB; scratch is a folder beside it.
	mount func(t *testing.T, at, scratch string, mib int)
}{
	{"tmpfs", mountTmpfs}, {"ext4", mountExt4},
}

func mountTmpfs(t *testing.T, at, _ string, mib int) {
	t.Helper()
	if err := syscall.Mount("choir-test", at, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=711", mib)); err != nil {
		t.Skipf("this machine does not let root mount a tmpfs: %v", err)
	}
}

// mountExt4 mounts a file. The kernel gives the loop device back when the file
// system is no longer used.
func mountExt4(t *testing.T, at, scratch string, mib int) {
	t.Helper()
	image := filepath.Join(scratch, "image")
	f, err := os.Create(image)
	if err == nil {
		err = errors.Join(f.Truncate(int64(mib)<<20), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"mkfs.ext4", "-q", "-F", "-m", "0", image}, {"mount", "-o", "loop", image, at}} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Skipf("this machine does not let root mount an ext4 of a file: %s: %v %s", argv[0], err, out)
		}
	}
}

// onSmallDisk is a machine whose data folder is a file system of its own with
// this many MiB.
func onSmallDisk(t *testing.T, mib int, mount func(t *testing.T, at, scratch string, mib int)) *machine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	scratch := sandboxtest.DataDir(t)
	small := filepath.Join(scratch, "small")
	if err := os.Mkdir(small, 0o711); err != nil {
		t.Fatal(err)
	}
	mount(t, small, scratch, mib)
	t.Cleanup(func() {
		if err := syscall.Unmount(small, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(small, 0o711); err != nil {
		t.Fatal(err)
	}
	m := newMachine(t, "")
	m.data = filepath.Join(small, "data")
	if err := os.Mkdir(m.data, 0o711); err != nil {
		t.Fatal(err)
	}
	m.configure("[limits]\nprompt_burst = 1000\n") // the stream that is asked for is larger than the disk
	return m
}

// TestAFullDisk fills the disk below a choir that runs: what would be written
// is refused with its reason, reading goes on, and with room again so does
// writing.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	for _, disk := range smallDisks {
		t.Run(disk.name, func(t *testing.T) { aFullDisk(t, onSmallDisk(t, 96, disk.mount)) })
	}
}

func aFullDisk(t *testing.T, m *machine) {
	r := m.up()
	r.healthy()
	c := m.client()
	o := &office{m, c, 0}
	o.add(t, "plain", files{"a.txt": "a\n"})
	ballast := filepath.Join(filepath.Dir(m.data), "ballast")
	fill(t, ballast)
	before := len(c.log(t))
	var err error
	for err == nil {
		// Some appends may still fit into what the journal has reserved.
		err = c.post(t.Context(), c.path("/prompts"), api.PromptRequest{Text: strings.Repeat("x", 15_000)}, nil)
	}
	m.refuses(t, 1, choir.CodeNoSpace, "full", "prompt", strings.Repeat("x", 15_000))
	if n := len(c.log(t)); n < before {
		t.Errorf("of %d events %d can be read", before, n)
	}
	m.must("run")
	m.must("timeline")
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	m.eventually("writing goes on", func() error {
		if r := m.run("checkpoint", "-m", "room again"); r.code != 0 {
			return fmt.Errorf("%s%s", r.out, r.errOut)
		}
		return nil
	})
	o.ends(t, shellTask("edit_repo", "plain", "echo b >> a.txt", noVerify), 0, choir.StatusOK, "")
	noEffectTwice(t, c.log(t))
	m.must("log", "--verify")
}

// TestAStartOnAFullDisk: a choir that is started where nothing at all fits any
// more is refused with the reason. Where little fits it comes up, tells that the
// bus has no room and what to do, and keeps the log; with room again it works.
func TestAStartOnAFullDisk(t *testing.T) {
	t.Parallel()
	for _, disk := range smallDisks {
		t.Run(disk.name, func(t *testing.T) { aStartOnAFullDisk(t, onSmallDisk(t, 96, disk.mount)) })
	}
}

func aStartOnAFullDisk(t *testing.T, m *machine) {
	r := m.up()
	r.healthy()
	c := m.client()
	o := &office{m, c, 0}
	o.add(t, "plain", files{"a.txt": "a\n"})
	before := len(c.log(t))
	r.stop()
	small := filepath.Dir(m.data)
	ballast := filepath.Join(small, "ballast")
	for _, computer := range m.computers() {
		// With its note the computer would stay closed, and the first request be refused.
		if err := os.RemoveAll(filepath.Join(computer, "closed.json")); err != nil {
			t.Fatal(err)
		}
		// With its write-ahead log the database could be opened on a full disk.
		if _, err := os.Stat(filepath.Join(computer, "store.sqlite-wal")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a choir that ended in order left the write-ahead log of %s: %v", computer, err)
		}
	}
	for more := int64(1); more > 0; {
		m.eventually("the removed files are gone", func() error { return settled(small) })
		more = fill(t, ballast)
	}
	m.refuses(t, 1, choir.CodeNoSpace, "full", "up")
	shrink(t, ballast, 3<<20) // less than the bus needs
	r = m.up()
	c = m.client()
	if said := r.failing(); !strings.Contains(said["bus"], "no room for its store") {
		t.Errorf("health says %v", said)
	}
	if n := len(c.log(t)); n < before {
		t.Errorf("of %d events %d can be read", before, n)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	r.healthy()
	o.c = c
	o.ends(t, shellTask("edit_repo", "plain", "echo b >> a.txt", noVerify), 0, choir.StatusOK, "")
	m.must("log", "--verify")
}

// settled is an error as long as a file of this file system is open for writing or
// removed and still in use: the kernel takes the mounts of an ended sandbox apart
// after its last process, and gives back the room of its removed files only then.
func settled(small string) error {
	if err := syscall.Mount("", small, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("make %s read-only: %w", small, err)
	}
	return syscall.Mount("", small, "", syscall.MS_REMOUNT, "")
}

// shrink gives some bytes of the disk back.
func shrink(t *testing.T, path string, by int64) {
	t.Helper()
	info, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, info.Size()-by)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// failing is what health says of the parts that fail.
func (r *running) failing() map[string]string {
	r.m.t.Helper()
	var h api.Health
	if err := r.m.client().get(r.m.t.Context(), "/api/health", &h); err != nil {
		r.m.t.Fatal(err)
	}
	return h.Failing
}

// fill appends to a file until nothing fits any more, and returns the bytes it wrote.
func fill(t *testing.T, path string) (written int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 64<<10); ; {
		n, err := f.Write(block)
		written += int64(n)
		if err == nil {
			continue
		}
		if len(block) == 1 {
			return written
		}
		block = block[:len(block)/2]
	}
}
