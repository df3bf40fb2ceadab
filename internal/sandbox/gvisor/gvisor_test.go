package gvisor_test

import (
	"testing"

	"choiros/internal/sandbox"
	"choiros/internal/sandbox/gvisor"
	"choiros/internal/sandbox/sandboxtest"
)

// newDriver makes a driver of the suite.
func newDriver(t testing.TB, s sandboxtest.Setup) sandbox.Driver {
	return gvisor.New(gvisor.Config{StateDir: s.StateDir, Orphan: s.Orphan, Runsc: runsc(t)})
}

func TestGvisor(t *testing.T) {
	sandboxtest.Run(t, newDriver).Check(t)
}
