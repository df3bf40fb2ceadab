package local_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/sandboxtest"
)

// TestASandboxThatCannotBeHeldHasNotEnded looks for a living sandbox while no file can
// be opened: whoever is told that it has ended makes a second one on its workspace. No
// other test runs meanwhile.
func TestASandboxThatCannotBeHeldHasNotEnded(t *testing.T) {
	dir := sandboxtest.DataDir(t)
	first := local.New(local.Config{StateDir: dir})
	b, err := first.Create(t.Context(), spec(t, choir.RoleAssociate))
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	d := local.New(local.Config{StateDir: dir})
	defer d.Close()
	if _, err := d.Recover(t.Context(), sandbox.Handle{Driver: local.Name}); choir.CodeOf(err) != choir.CodeInvalid { // sets up
		t.Fatal(err)
	}
	if _, err := withoutFiles(t, func() (sandbox.Sandbox, error) { return d.Recover(t.Context(), b.Handle()) }); err == nil || choir.CodeOf(err) == choir.CodeNotFound {
		t.Errorf("with no file to be opened: %v", err)
	}
	found, err := d.Recover(t.Context(), b.Handle())
	if err != nil {
		t.Fatalf("the sandbox was ended: %v", err)
	}
	if err := found.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
}

// withoutFiles does something while this process can open no file.
func withoutFiles(t *testing.T, do func() (sandbox.Sandbox, error)) (sandbox.Sandbox, error) {
	t.Helper()
	var had unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &had); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: had.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &had); err != nil {
			t.Error(err)
		}
	}()
	return do()
}
