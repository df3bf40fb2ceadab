// Package quotatest mounts file systems with project quotas for tests.
package quotatest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// size of an image in bytes, which is a sparse file. XFS needs at least 300 MiB.
const size = 400 << 20

// makers are the commands that create an image of each kind.
var makers = map[string][]string{
	"ext4": {"mkfs.ext4", "-q", "-O", "project,quota"},
	"xfs":  {"mkfs.xfs", "-q"},
}

// Mount creates a file system of a kind, mounts it with the given options, by default project quotas, and
// returns its folder, which other users can enter. It is unmounted at the end of the test. It skips the
// test if mounting is impossible.
func Mount(t testing.TB, kind string, options ...string) string {
	t.Helper()
	const elsewhere = "; the part quota of make soak tries it"
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a file system" + elsewhere)
	}
	base, err := os.MkdirTemp("", "choir-quota-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) }) // nothing but the image and an empty folder
	image, dir := filepath.Join(base, "image"), filepath.Join(base, "mount")
	if err := os.Chmod(base, 0o711); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, size); err != nil {
		t.Fatal(err)
	}
	option := "loop,prjquota"
	for i, o := range options {
		if i == 0 {
			option = "loop"
		}
		option += "," + o
	}
	for _, argv := range [][]string{append(makers[kind][:len(makers[kind]):len(makers[kind])], image), {"mount", "-t", kind, "-o", option, image, dir}} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no %s with project quotas can be mounted here%s: %v %s", kind, elsewhere, err, out)
		}
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("unmount: %v %s", err, out)
		}
	})
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}
