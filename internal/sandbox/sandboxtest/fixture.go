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
	"runtime"
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

// firstUID is where the host users of test sandboxes begin, above those that a
// control plane on this machine gives out. Each test process has a thousand.
const firstUID = 600_000

var nextUID atomic.Int32

// DataDir makes a folder that other users can traverse, as a data folder is,
// and removes it when the test ends.
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

// Bound is how the mountinfo of a sandbox names a folder that is bound in it: from
// the root of the folder's own file system, which need not be that of the host.
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

// NewSpec makes the folders of a sandbox with the right owners below a new data
// folder, and describes it. An associate gets a workspace. The guest folder has
// choir-init only; a test that starts roles puts GuestDir there.
func NewSpec(t testing.TB, role choir.Role) sandbox.Spec {
	t.Helper()
	return SpecIn(t, DataDir(t), InitDir(t), role)
}

// SpecIn is NewSpec below a given data folder, with given guest binaries.
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
	give(t, spec.Doors, os.Geteuid(), spec.UID, 0o750)
	if role == choir.RoleAssociate {
		spec.Workspace = filepath.Join(dir, string(id), "workspace")
		if err := os.Mkdir(spec.Workspace, 0o700); err != nil {
			t.Fatal(err)
		}
		give(t, spec.Workspace, spec.UID, spec.UID, 0o700)
	}
	return spec
}

// give sets owner and mode; an ordinary user keeps what is theirs.
func give(t testing.TB, path string, uid, gid int, mode os.FileMode) {
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

// InitDir builds choir-init, once, and returns the folder it lies in.
func InitDir(t testing.TB) string {
	t.Helper()
	return built(t, initOnly)
}

// GuestDir builds the guest binaries that have sources, once, and returns the
// folder they lie in. Folders of the same content are shared between test runs.
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

// buildShared lets build fill a new folder, and moves it to a name that follows
// from its content, below a folder of this user that others can traverse.
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

// dropOld removes builds that no test run has asked for in a long time.
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

// finish sets the modes of what was built and returns a checksum of it.
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

// goBuild builds a program as the Makefile does.
func goBuild(out, pkg string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
	cmd.Dir = repoRoot()
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return choir.Wrap("sandboxtest.build", choir.CodeInternal, err, "build %s: %s", pkg, text)
	}
	return nil
}

// repoRoot is where go.mod lies.
func repoRoot() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}
