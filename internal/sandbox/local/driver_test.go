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
