package sandboxtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Runsc returns the path of gVisor's runsc that tools/runsc.sh has built, or else of the
// one in PATH. It skips the test where there is none, or where sandboxes cannot be made
// with it because the test is not root.
func Runsc(t testing.TB) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("gVisor's sandboxes need a control plane that is root")
	}
	built := filepath.Join(repoRoot(), ".cache", "runsc", "runsc")
	if _, err := os.Stat(built); err == nil {
		return built
	}
	path, err := exec.LookPath("runsc")
	if err != nil {
		t.Skip("runsc is not there; build it with: tools/runsc.sh")
	}
	return path
}
