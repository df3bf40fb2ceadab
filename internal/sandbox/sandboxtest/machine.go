package sandboxtest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"choiros/internal/filelock"
	"choiros/internal/machineimage"
)

// imagePatience is how long a test waits for another test that builds the image.
const imagePatience = 10 * time.Minute

var builtImage = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(repoRoot(), ".cache", "microvm")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := filelock.Acquire(lock, imagePatience, time.Sleep); err != nil {
		return "", err
	}
	out := filepath.Join(dir, "image")
	if m, err := machineimage.Load(out); err == nil && m.HasModule(machineimage.VsockModule) && m.AsksForNames() {
		return out, nil
	}
	_, err = machineimage.Build(context.Background(), machineimage.Config{Out: out, Environ: os.Environ()})
	return out, err
})

// MachineImage returns the path of an image for virtual machines, without guest binaries.
// It is built once in the repository's .cache, from this machine's packages; where that
// cannot be done the test is skipped.
func MachineImage(t testing.TB) string {
	t.Helper()
	out, err := builtImage()
	if err != nil {
		t.Skipf("no image of a virtual machine can be built here: %v", err)
	}
	return out
}

// BuildProgram builds the program pkg, once per process, and returns a folder in which it is
// under each of the names, for other users too.
func BuildProgram(t testing.TB, pkg string, names ...string) string {
	t.Helper()
	key := strings.Join(append(names, pkg), " ")
	build, _ := programs.LoadOrStore(key, sync.OnceValues(func() (string, error) {
		return buildShared("choir-program-", 0o755, func(dir string) error {
			first := filepath.Join(dir, names[0])
			if err := goBuild(first, pkg); err != nil {
				return err
			}
			for _, name := range names[1:] {
				if err := os.Link(first, filepath.Join(dir, name)); err != nil {
					return err
				}
			}
			return nil
		})
	}))
	return built(t, build.(func() (string, error)))
}

var programs sync.Map // of functions that build, by what they build
