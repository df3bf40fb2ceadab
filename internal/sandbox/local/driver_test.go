package local_test

import (
	"testing"

	"choiros/internal/sandbox"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/sandboxtest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newDriver(t testing.TB, s sandboxtest.Setup) sandbox.Driver {
	return local.New(local.Config{StateDir: s.StateDir, Orphan: s.Orphan})
}

// TestLocal runs every case, also those that a driver for tests skips.
func TestLocal(t *testing.T) {
	t.Parallel()
	sandboxtest.Run(t, newDriver).Check(t)
}
