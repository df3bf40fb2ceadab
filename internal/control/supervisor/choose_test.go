package supervisor_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/controltest"
	"choiros/internal/control/supervisor"
)

// loadChosen reads a configuration file with the policy that the owner chose in a data folder, as
// cmd does.
func loadChosen(file, data string) (config.Config, string, error) {
	c, from, err := config.Load(file)
	if err != nil {
		return c, from, err
	}
	chosen, err := config.LoadNetwork(data)
	if err == nil {
		c, err = c.WithNetwork(chosen)
	}
	return c, from, err
}

// choosing starts a control plane on a folder, whose configuration file gives no policy.
func choosing(t *testing.T, data string) *controltest.Plane {
	t.Helper()
	file := filepath.Join(t.TempDir(), "choir.toml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := controltest.Config(t, data)
	cfg.Outside = newInternet(t).outside()
	cfg.Reread = func() (config.Config, string, error) { return loadChosen(file, data) }
	return controltest.StartWith(t, cfg)
}

// inForce returns the policy in force and the one that a start would have.
func inForce(t *testing.T, p *controltest.Plane, data string) (now, kept string) {
	t.Helper()
	n, err := config.LoadNetwork(data)
	if err != nil {
		t.Fatal(err)
	}
	return string((supervisor.Edge{System: p.System}).Computers()[0].Egress), n.Mode
}

// TestTwoOwnersWhoChooseAtOnce has two choose policies again and again: the one in force is the one
// that a start has, whoever came last.
func TestTwoOwnersWhoChooseAtOnce(t *testing.T) {
	data := newData(t)
	p := choosing(t, data)
	for range 5 {
		var both sync.WaitGroup
		for _, mode := range []choir.EgressMode{choir.EgressNone, choir.EgressAllowlist, choir.EgressGitPkg} {
			both.Go(func() {
				for range 4 {
					if _, err := p.System.ChooseEgress(t.Context(), mode); err != nil {
						t.Error(err)
					}
					_, err := p.System.ReloadEgress(t.Context())
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		both.Wait()
		if now, kept := inForce(t, p, data); now != kept {
			t.Fatalf("%s is in force, and a start has %s", now, kept)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(data, ".network*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// TestAFullDiskKeepsNobodyFromClosingTheNetwork chooses policies on a full disk: one that lets less
// out is in force, though it cannot be kept, and one that lets more out is not.
func TestAFullDiskKeepsNobodyFromClosingTheNetwork(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	data := newData(t)
	if err := unix.Mount("choir-test", data, "tmpfs", 0, "size=96m"); err != nil {
		t.Skipf("this machine does not let root mount a tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(data, unix.MNT_DETACH) })
	p := choosing(t, data)
	if _, err := p.System.ChooseEgress(t.Context(), choir.EgressGitPkg); err != nil {
		t.Fatal(err)
	}
	filler, err := os.Create(filepath.Join(data, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer filler.Close()
	for size := 1 << 20; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = filler.Write(make([]byte, size))
		}
		if !errors.Is(err, unix.ENOSPC) {
			t.Fatal(err)
		}
	}
	choose := func(mode choir.EgressMode, inForceThen string) {
		t.Helper()
		if _, err := p.System.ChooseEgress(t.Context(), mode); choir.CodeOf(err) != choir.CodeUnavailable {
			t.Errorf("%s on a full disk: %v", mode, err)
		}
		if now, kept := inForce(t, p, data); now != inForceThen || kept != "git+pkg" {
			t.Errorf("%s on a full disk: %s is in force, and a start has %q", mode, now, kept)
		}
	}
	choose(choir.EgressAllowlist, "allowlist")
	choose(choir.EgressGitPkg, "allowlist")
	choose(choir.EgressNone, "none")
	choose(choir.EgressAllowlist, "none")
	if left, _ := filepath.Glob(filepath.Join(data, ".network*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if _, err := filler.Seek(0, io.SeekStart); err != nil || filler.Truncate(0) != nil {
		t.Fatal("the disk stays full")
	}
	if _, err := p.System.ChooseEgress(t.Context(), choir.EgressNone); err != nil {
		t.Error(err)
	}
	if now, kept := inForce(t, p, data); now != "none" || kept != "none" {
		t.Errorf("with room %s is in force, and a start has %q", now, kept)
	}
}
