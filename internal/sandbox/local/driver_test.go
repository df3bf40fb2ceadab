package local_test

import (
	"fmt"
	"os"
	"testing"

	"choiros/internal/sandbox"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/sandboxtest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if raw := os.Getenv(killedOwner); raw != "" {
		fmt.Fprintln(os.Stderr, createForOrder(raw))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func newDriver(t testing.TB, s sandboxtest.Setup) sandbox.Driver {
	return local.New(local.Config{StateDir: s.StateDir, Orphan: s.Orphan})
}

// TestLocal runs every case, also those that a driver for tests skips.
func TestLocal(t *testing.T) {
	t.Parallel()
	sandboxtest.Run(t, newDriver).Check(t)
}

// TestLocalOverOneStream runs every case with sandboxes that can be dialled once.
func TestLocalOverOneStream(t *testing.T) {
	t.Parallel()
	runNarrow(t, sandbox.Capabilities{Transports: []sandbox.Transport{sandbox.TransportBind, sandbox.TransportCopy}, Mounts: true})
}

// TestLocalThatCopiesOnly runs every case with workspaces that no folder of the host has.
func TestLocalThatCopiesOnly(t *testing.T) {
	t.Parallel()
	runNarrow(t, sandbox.Capabilities{Transports: []sandbox.Transport{sandbox.TransportCopy}, Streams: true})
}

// runNarrow runs the suite with a driver that can do less. What isolates is the same, and
// is left to TestLocal where time is short.
func runNarrow(t *testing.T, c sandbox.Capabilities) {
	var lacks map[sandboxtest.Demand]string
	var lacking []sandboxtest.Demand
	if testing.Short() {
		lacks = map[sandboxtest.Demand]string{sandboxtest.Isolation: "TestLocal tries the same isolation"}
		lacking = []sandboxtest.Demand{sandboxtest.Isolation}
	}
	sandboxtest.RunWithout(t, sandboxtest.Narrow(newDriver, c), lacks).Check(t, lacking...)
}
