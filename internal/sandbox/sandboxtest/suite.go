package sandboxtest

import (
	"context"
	"flag"
	"io"
	"os"
	"strings"
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

// Run checks that a driver keeps the contract and isolates. It must be called from a
// test function with nothing before it, because it runs that function again in
// another process to see sandboxes outlive their control plane. It returns what was
// run.
func Run(t *testing.T, newDriver Maker) *Outcome { return RunWithout(t, newDriver, nil) }

// RunWithout is Run for a driver that does not meet some demands: the cases that make
// them are skipped, each with the reason that is given for the demand.
func RunWithout(t *testing.T, newDriver Maker, lacks map[Demand]string) *Outcome {
	out := newOutcome()
	if raw := os.Getenv(childVariable); raw != "" {
		runChild(t, newDriver, raw)
		return out
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
	s := suite{driver: d, newDriver: newDriver, limited: limitsHeld(report), lacks: lacks, out: out}
	t.Run("contract", s.contract)
	t.Run("profile", s.part(s.profile))
	t.Run("director", s.part(s.director))
	t.Run("calls", s.part(s.calls))
	t.Run("init", s.part(s.initIsClosed))
	t.Run("doors", s.part(s.doors))
	t.Run("inherited", s.part(s.inherited))
	t.Run("limits", s.part(s.limits))
	t.Run("lifecycle", s.lifecycle)
	t.Run("survival", s.survival)
	out.whole = !t.Failed() && !strings.Contains(flag.Lookup("test.run").Value.String(), "/")
	return out
}

// secret is in the environment and in the home folder of the host.
const secret = "choir-sandboxtest-secret"

type suite struct {
	driver    sandbox.Driver
	newDriver Maker
	limited   bool // cgroups, or what the rung has instead, hold all limits
	lacks     map[Demand]string
	out       *Outcome
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
	spec      sandbox.Spec
	functions bool // programs are no processes
}

// create makes a sandbox that is destroyed when the test ends. change, when
// given, alters the spec.
func (s suite) create(t *testing.T, role choir.Role, change func(*sandbox.Spec)) inside {
	t.Helper()
	spec := s.spec(t, role)
	if change != nil {
		change(&spec)
	}
	b, err := s.driver.Create(timeout(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { destroy(t, b) })
	return s.inside(b, spec)
}

func (s suite) inside(b sandbox.Sandbox, spec sandbox.Spec) inside {
	return inside{Sandbox: b, spec: spec, functions: s.lacks[Processes] != ""}
}

// spec describes a sandbox with the probe, which a driver without processes does not
// need as a binary.
func (s suite) spec(t *testing.T, role choir.Role) sandbox.Spec {
	t.Helper()
	if s.lacks[Processes] != "" {
		return SpecIn(t, DataDir(t), t.TempDir(), role)
	}
	return SpecIn(t, DataDir(t), ProbeDir(t), role)
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
