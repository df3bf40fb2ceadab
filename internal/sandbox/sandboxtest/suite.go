package sandboxtest

import (
	"context"
	"io"
	"os"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// Setup is what a driver under test is made with.
type Setup struct {
	StateDir string        // a folder of the driver's own, which survives it
	Orphan   time.Duration // how long a sandbox outlives its control plane; 0 is the contract's
}

// Maker makes a driver. One that implements io.Closer is closed by the suite.
type Maker func(t testing.TB, s Setup) sandbox.Driver

// Run checks that a driver keeps the contract. It must be called from a test
// function with nothing before it, because it runs that function again in
// another process to see sandboxes outlive their control plane.
func Run(t *testing.T, newDriver Maker) {
	if raw := os.Getenv(childVariable); raw != "" {
		runChild(t, newDriver, raw)
		return
	}
	// Not t.Setenv: suites run at the same time, and all set the same.
	if err := os.Setenv("CHOIR_SANDBOXTEST_SECRET", secret); err != nil {
		t.Fatal(err)
	}
	d := newDriver(t, Setup{StateDir: DataDir(t)})
	t.Cleanup(func() { closeDriver(t, d) })
	report := d.Probe(t.Context())
	if !report.Usable {
		t.Skipf("this machine cannot isolate with %s: %+v", d.Name(), report.Checks)
	}
	s := suite{driver: d, newDriver: newDriver, limited: limitsHeld(report)}
	t.Run("profile", s.profile)
	t.Run("director", s.director)
	t.Run("calls", s.calls)
	t.Run("init", s.initIsClosed)
	t.Run("doors", s.doors)
	t.Run("inherited", s.inherited)
	t.Run("limits", s.limits)
	t.Run("lifecycle", s.lifecycle)
	t.Run("survival", s.survival)
}

// secret is in the environment and in the home folder of the host.
const secret = "choir-sandboxtest-secret"

type suite struct {
	driver    sandbox.Driver
	newDriver Maker
	limited   bool // cgroups, or what the rung has instead, hold all limits
}

func limitsHeld(r sandbox.Report) bool {
	for _, c := range r.Checks {
		if c.Name == "limits" {
			return c.OK
		}
	}
	return false
}

func closeDriver(t testing.TB, d sandbox.Driver) {
	if c, ok := d.(io.Closer); ok {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// inside is a sandbox under test.
type inside struct {
	sandbox.Sandbox
	spec sandbox.Spec
}

// create makes a sandbox that is destroyed when the test ends. change, when
// given, alters the spec.
func (s suite) create(t *testing.T, role choir.Role, change func(*sandbox.Spec)) inside {
	t.Helper()
	spec := SpecIn(t, DataDir(t), ProbeDir(t), role)
	if change != nil {
		change(&spec)
	}
	b, err := s.driver.Create(timeout(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { destroy(t, b) })
	return inside{Sandbox: b, spec: spec}
}

func destroy(t testing.TB, b sandbox.Sandbox) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := b.Destroy(ctx); err != nil {
		t.Error(err)
	}
}

// patience is how long anything may take before a test gives up.
const patience = 30 * time.Second

func timeout(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}
