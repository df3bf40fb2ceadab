package sandbox_test

import (
	"path/filepath"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/fake"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/sandboxtest"
)

func registryOf(t testing.TB, wanted string, s sandboxtest.Setup) *sandbox.Registry {
	t.Helper()
	r, err := sandbox.NewRegistry(wanted, local.New(local.Config{StateDir: s.StateDir, Orphan: s.Orphan}), fake.NewMachine(t, fake.Config{}).Driver())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestASandboxIsFoundByTheDriverThatMadeIt makes a sandbox on one rung and takes it up
// again with a choir that makes its new ones on another.
func TestASandboxIsFoundByTheDriverThatMadeIt(t *testing.T) {
	t.Parallel()
	dir := sandboxtest.DataDir(t)
	setup := sandboxtest.Setup{StateDir: filepath.Join(dir, "state")}
	before := registryOf(t, local.Name, setup)
	b, err := before.Create(t.Context(), sandboxtest.SpecIn(t, dir, sandboxtest.InitDir(t), choir.RoleAssociate))
	if err != nil {
		t.Fatal(err)
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	after := registryOf(t, fake.Name, setup)
	defer after.Close()
	found, err := after.Recover(t.Context(), b.Handle())
	if err != nil {
		t.Fatal(err)
	}
	if after.Name() != fake.Name || found.Handle().Driver != local.Name {
		t.Errorf("new ones are of %s, the one found of %s", after.Name(), found.Handle().Driver)
	}
	if err := found.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestADriverThatIsNotThereIsNamed asks for rungs and sandboxes of drivers that a
// choir does not have.
func TestADriverThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	d := fake.NewMachine(t, fake.Config{}).Driver()
	if _, err := sandbox.NewRegistry("microvm", d); choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("a rung that is not there: %v", err)
	}
	if _, err := sandbox.NewRegistry(fake.Name, d, d); choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("two drivers of one rung: %v", err)
	}
	r, err := sandbox.NewRegistry(fake.Name, d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Recover(t.Context(), sandbox.Handle{Driver: "microvm", Version: 1}); choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("a handle of a driver that is not there: %v", err)
	}
	if tools := r.Tools(t.Context()); len(tools) != 0 {
		t.Errorf("a driver that cannot say: %v", tools)
	}
}
