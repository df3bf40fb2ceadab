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
	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// Setup configures a driver under test.
type Setup struct {
	StateDir string        // a folder of the driver's own, which survives it
	Orphan   time.Duration // how long a sandbox outlives its control plane; 0 is the contract's
	// Apart says that another program that makes sandboxes for the driver, as a container engine
	// does, must be a child of this process, in its cgroup and its mount namespace.
	Apart bool
}

// Maker returns a new driver. The suite closes a driver that implements io.Closer.
type Maker func(t testing.TB, s Setup) sandbox.Driver

// Run checks that a driver satisfies the contract and isolates, and returns which cases
// were run. It must be the first statement of a test function, because it runs that
// function again in another process, which it kills, to check that sandboxes outlive
// their control plane.
func Run(t *testing.T, newDriver Maker) *Outcome { return RunWithout(t, newDriver, nil) }

// RunSome runs the named cases alone, but for those with one of the demands in lacks, and
// skips the others for the given reason.
func RunSome(t *testing.T, newDriver Maker, lacks map[Demand]string, why string, names ...string) {
	run(t, newDriver, suite{lacks: lacks, only: names, why: why})
}

// RunWithout runs the suite as Run does, and skips the cases with one of the demands in
// lacks, for the given reason.
func RunWithout(t *testing.T, newDriver Maker, lacks map[Demand]string) *Outcome {
	return run(t, newDriver, suite{lacks: lacks})
}

func run(t *testing.T, newDriver Maker, s suite) *Outcome {
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
	s.driver, s.newDriver, s.limited, s.out = d, newDriver, limitsHeld(report), out
	networks := networkOf()
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
	t.Run("started beforehand", s.part(s.prestart))
	t.Run("paused", s.paused)
	for _, line := range newNetworks(networks) {
		t.Errorf("left behind: %s", line)
	}
	out.whole = !t.Failed() && !strings.Contains(flag.Lookup("test.run").Value.String(), "/")
	return out
}

// secret is a text in the host's environment and home folder that must not be visible
// inside.
const secret = "choir-sandboxtest-secret"

type suite struct {
	driver    sandbox.Driver
	newDriver Maker
	limited   bool // cgroups, or what the rung has instead, hold all limits
	lacks     map[Demand]string
	only      []string // cases that alone are run; nil for all
	why       string   // the others are not
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
	client    *guest.Client
	mux       *guest.Mux // nil if the driver has many streams
	functions bool       // programs are no processes
}

// connect returns a sandbox with a client. If the driver has only one stream, all
// connections share it.
func connect(t testing.TB, d sandbox.Driver, b sandbox.Sandbox, spec sandbox.Spec) inside {
	dial := b.Dial
	var m *guest.Mux
	if !d.Capabilities().Streams {
		m = guest.NewMux(dial)
		t.Cleanup(func() { m.Close() })
		dial = m.Dial
	}
	return inside{Sandbox: b, spec: spec, client: guest.NewClient(dial), mux: m}
}

// create creates a sandbox that is destroyed when the test ends. change, if not nil,
// alters its spec first.
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
	return s.inside(t, b, spec)
}

func (s suite) inside(t testing.TB, b sandbox.Sandbox, spec sandbox.Spec) inside {
	in := connect(t, s.driver, b, spec)
	in.functions = s.lacks[Processes] != ""
	return in
}

// spec returns the spec of a sandbox with the probe; a driver without processes does not
// need its binary.
func (s suite) spec(t *testing.T, role choir.Role) sandbox.Spec {
	t.Helper()
	var spec sandbox.Spec
	if s.lacks[Processes] != "" {
		spec = SpecIn(t, DataDir(t), t.TempDir(), role)
	} else {
		spec = SpecIn(t, DataDir(t), ProbeDir(t), role)
	}
	if transport := s.driver.Capabilities().Transports[0]; role == choir.RoleAssociate && transport != sandbox.TransportBind {
		spec.Mounts[0] = sandbox.Workspace(spec.WorkspaceFolder(), transport)
	}
	return spec
}

func destroy(t testing.TB, b sandbox.Sandbox) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := b.Destroy(ctx); err != nil {
		t.Error(err)
	}
}

// patience is the time after which a test gives up waiting.
var patience = 30 * time.Second

// SetPatience sets the time after which a test gives up waiting, for drivers whose
// sandboxes are emulated. Call it in TestMain.
func SetPatience(d time.Duration) { patience = d }

func timeout(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}
