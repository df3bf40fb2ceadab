package gvisor_test

import (
	"testing"

	"go.uber.org/goleak"

	"choiros/internal/sandbox"
	"choiros/internal/sandbox/gvisor"
	"choiros/internal/sandbox/sandboxtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newDriver makes a driver of the suite.
func newDriver(t testing.TB, s sandboxtest.Setup) sandbox.Driver {
	return gvisor.New(gvisor.Config{StateDir: s.StateDir, Orphan: s.Orphan, Runsc: sandboxtest.Runsc(t)})
}

// lacking says what cannot hold in a sandbox of gVisor, and why.
var lacking = map[sandboxtest.Demand]string{
	sandboxtest.HostKernel:     "the sentry's own kernel answers: what it says of its start and hardware is made up, and it lists the numbers of what another process has open, which cannot be read",
	sandboxtest.ClosedPrograms: "the sentry runs only programs that the user may read, so that the guest binaries can be; roles and init close their memory themselves",
	sandboxtest.FewNumbers:     "a fork takes the sentry some milliseconds, and there are 65,536 numbers",
	sandboxtest.ExactCount:     "the sentry lets through some processes more than its limit (a third more was seen) while others end, and counts none that has ended and is not asked for",
	sandboxtest.LastingInit:    "the sentry protects its first process from no signal, so that a program can end its own sandbox",
	sandboxtest.OneVictim:      "the memory of all programs inside is the sentry's, so that the host's kernel ends the sentry",
}

func TestGvisor(t *testing.T) {
	if testing.Short() {
		sandboxtest.RunSome(t, newDriver, lacking, "make soak runs the whole suite on gVisor", "profile", "contract/a second driver takes a sandbox up", "calls", "inherited", "doors", "init",
			"survival/ended with the maker while it was made", "survival/ended with the maker when nobody dialled it", "survival/refused without file descriptors", "survival/refused without process ids", "survival/refused without room on the disk", "survival/ends before the control plane")
		return
	}
	sandboxtest.RunWithout(t, newDriver, lacking).Check(t, sandboxtest.HostKernel, sandboxtest.ClosedPrograms, sandboxtest.FewNumbers, sandboxtest.ExactCount, sandboxtest.OneVictim, sandboxtest.LastingInit)
}
