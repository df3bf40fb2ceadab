package supervisor_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
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

// mountSmall puts a data folder on a small file system of its own.
func mountSmall(t *testing.T) (data string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	data = newData(t)
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("choir-test", data, "tmpfs", 0, "size=96m,mode=700"); err != nil {
		t.Skipf("this machine does not let root mount a tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(data, unix.MNT_DETACH) })
	return data
}

// fill fills the file system of a data folder and returns a function that makes room again.
func fill(t *testing.T, data string) (empty func()) {
	t.Helper()
	filler, err := os.Create(filepath.Join(data, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { filler.Close() })
	for size := 1 << 20; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = filler.Write(make([]byte, size))
		}
		if !errors.Is(err, unix.ENOSPC) {
			t.Fatal(err)
		}
	}
	return func() {
		t.Helper()
		if _, err := filler.Seek(0, io.SeekStart); err != nil || filler.Truncate(0) != nil {
			t.Fatal("the disk stays full")
		}
	}
}

// TestAFullDiskKeepsNobodyFromClosingTheNetwork chooses policies on a full disk: one that lets less
// out is in force, though it cannot be kept, and one that lets more out is not.
func TestAFullDiskKeepsNobodyFromClosingTheNetwork(t *testing.T) {
	data := mountSmall(t)
	p := choosing(t, data)
	if _, err := p.System.ChooseEgress(t.Context(), choir.EgressGitPkg); err != nil {
		t.Fatal(err)
	}
	empty := fill(t, data)
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
	empty()
	if _, err := p.System.ChooseEgress(t.Context(), choir.EgressNone); err != nil {
		t.Error(err)
	}
	if now, kept := inForce(t, p, data); now != "none" || kept != "none" {
		t.Errorf("with room %s is in force, and a start has %q", now, kept)
	}
}

// TestAReloadKeepsChoicesThatTheDiskDidNotTake closes the network on a full disk, and a host before
// it, and has the configuration read again: the choices stay in force, and a reload with room keeps
// them for the next start.
func TestAReloadKeepsChoicesThatTheDiskDidNotTake(t *testing.T) {
	data := mountSmall(t)
	p := choosing(t, data)
	if _, err := p.System.ChooseEgress(t.Context(), choir.EgressGitPkg); err != nil {
		t.Fatal(err)
	}
	empty := fill(t, data)
	const host = "github.com"
	reload := func(now, kept string) {
		t.Helper()
		done, err := p.System.ReloadEgress(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		gotNow, gotKept := inForce(t, p, data)
		if done.Mode != now || gotNow != now || gotKept != kept {
			t.Errorf("after a reload that says %s, %s is in force, and a start has %s", done.Mode, gotNow, gotKept)
		}
		n, err := config.LoadNetwork(data)
		if want := kept == "none"; err != nil || slices.Contains(n.Without, host) != want {
			t.Errorf("a start goes without %q, %v", n.Without, err)
		}
	}
	if _, err := p.System.ChooseListed(t.Context(), host, false); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Fatalf("it is kept on a full disk: %v", err)
	}
	reload("git+pkg", "git+pkg")
	if _, err := p.System.ChooseEgress(t.Context(), choir.EgressNone); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Fatalf("it is kept on a full disk: %v", err)
	}
	reload("none", "git+pkg")
	reload("none", "git+pkg")
	empty()
	reload("none", "none")
}
