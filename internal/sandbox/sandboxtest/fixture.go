// Package sandboxtest is the conformance suite of isolation drivers, and what
// other tests need to run real sandboxes.
package sandboxtest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/guestbin"
	"choiros/internal/sandbox"
)

// firstUID is the first host user of test sandboxes, above the users that a control plane
// on this machine assigns. Each test process has a thousand.
const firstUID = 600_000

var nextUID atomic.Int32

// DataDir returns a new folder that other users can traverse, as a data folder is. It is
// removed when the test ends.
func DataDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "choir-")
	if err != nil {
		t.Fatal(err)
	}
	// os.RemoveAll keeps every folder above open, too many for a deep tree.
	t.Cleanup(func() {
		if out, err := exec.Command("rm", "-rf", "--", dir).CombinedOutput(); err != nil {
			t.Errorf("%v: %.300s", err, out)
		}
	})
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Bound returns the path of a folder relative to the root of its file system, as it
// appears in the mountinfo of a sandbox that has the folder bound.
func Bound(t testing.TB, dir string) string {
	t.Helper()
	device := func(path string) (dev uint64) {
		var s unix.Stat_t
		if err := unix.Stat(path, &s); err != nil {
			t.Fatal(err)
		}
		return s.Dev
	}
	root := dir
	for root != "/" && device(filepath.Dir(root)) == device(dir) {
		root = filepath.Dir(root)
	}
	return filepath.Join("/", strings.TrimPrefix(dir, root))
}

// NewSpec creates the folders of a sandbox below a new data folder and returns its spec.
// An associate gets a workspace. The guest folder has only choir-init; tests that start
// roles use GuestDir.
func NewSpec(t testing.TB, role choir.Role) sandbox.Spec {
	t.Helper()
	return SpecIn(t, DataDir(t), InitDir(t), role)
}

// SpecIn creates the folders of a sandbox below dir, with the given folder of guest
// binaries, and returns its spec. An associate gets a workspace.
func SpecIn(t testing.TB, dir, guest string, role choir.Role) sandbox.Spec {
	t.Helper()
	id, err := choir.NewID(1, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	spec := sandbox.Spec{
		Computer: id, Role: role, Guest: guest,
		Doors: filepath.Join(dir, string(id), "doors"),
		UID:   firstUID + os.Getpid()*1000 + int(nextUID.Add(1)),
	}
	if err := os.MkdirAll(spec.Doors, 0o711); err != nil {
		t.Fatal(err)
	}
	setOwner(t, spec.Doors, os.Geteuid(), spec.UID, 0o750)
	if role == choir.RoleAssociate {
		folder := filepath.Join(dir, string(id), "workspace")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		setOwner(t, folder, spec.UID, spec.UID, 0o700)
		spec.Mounts = []sandbox.Mount{sandbox.Workspace(folder, sandbox.TransportBind)}
	}
	return spec
}

// setOwner sets the owner, if the test runs as root, and the mode of a path.
func setOwner(t testing.TB, path string, uid, gid int, mode os.FileMode) {
	t.Helper()
	if os.Geteuid() == 0 {
		if err := os.Chown(path, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

var (
	initOnly = sync.OnceValues(func() (string, error) { return buildGuests(guestbin.Init) })
	guests   = sync.OnceValues(func() (string, error) { return buildGuests(guestbin.Names()...) })
)

// InitDir builds choir-init, once per process, and returns its folder.
func InitDir(t testing.TB) string {
	t.Helper()
	return built(t, initOnly)
}

// GuestDir builds the guest binaries, once per process, and returns their folder. Test
// runs with equal binaries share one folder.
func GuestDir(t testing.TB) string {
	t.Helper()
	return built(t, guests)
}

func built(t testing.TB, build func() (string, error)) string {
	t.Helper()
	dir, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func buildGuests(names ...string) (string, error) {
	return buildShared("choir-guest-", 0o111, func(dir string) error {
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(repoRoot(), "cmd", name, "main.go")); err != nil {
				continue // not written yet
			}
			if err := goBuild(filepath.Join(dir, name), "./cmd/"+name); err != nil {
				return err
			}
		}
		return nil
	})
}

// buildShared calls build with a new folder and renames the folder to prefix and the
// checksum of its content, below a folder of this user that others can traverse. It
// returns the new path.
func buildShared(prefix string, mode os.FileMode, build func(dir string) error) (string, error) {
	base := filepath.Join(os.TempDir(), "choir-test-"+hex.EncodeToString([]byte{byte(os.Geteuid() >> 8), byte(os.Geteuid())}))
	if err := os.MkdirAll(base, 0o711); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(base, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	if err := build(tmp); err != nil {
		return "", err
	}
	sum, err := finish(tmp, mode)
	if err != nil {
		return "", err
	}
	target := filepath.Join(base, prefix+sum)
	if err := os.Rename(tmp, target); err != nil && os.Chtimes(target, time.Time{}, time.Now()) != nil {
		return "", err
	}
	return target, dropOld(base)
}

// dropOld removes the builds in base that no test run has used for six hours.
func dropOld(base string) error {
	const old = 6 * time.Hour
	entries, err := os.ReadDir(base)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < old {
			continue // another test run may have removed it
		}
		if err := os.RemoveAll(filepath.Join(base, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// finish sets the modes of the built files and returns a checksum of their names and
// content.
func finish(dir string, mode os.FileMode) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		io.WriteString(h, e.Name()+"\n")
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return "", err
		}
		if err := os.Chmod(path, mode); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), os.Chmod(dir, 0o755)
}

// goBuild builds the program pkg as the Makefile does, to the file out.
func goBuild(out, pkg string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
	cmd.Dir = repoRoot()
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return choir.Wrap("sandboxtest.build", choir.CodeInternal, err, "build %s: %s", pkg, text)
	}
	return nil
}

// repoRoot returns the folder with go.mod: the working folder of the test, or a folder above it.
func repoRoot() string {
	folder, err := os.Getwd()
	for ; err == nil && folder != "/"; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
	}
	return folder
}
