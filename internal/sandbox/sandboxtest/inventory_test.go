package sandboxtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"

	"golang.org/x/sys/unix"
)

// TestWhatIsLeftIsFound plants one thing after another that a sandbox could leave on the host.
func TestWhatIsLeftIsFound(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount and make cgroups")
	}
	dir := DataDir(t)
	spec := SpecIn(t, dir, dir, choir.RoleDirector)
	id := string(spec.Computer)
	if left := leftOf(t, spec); len(left) > 0 {
		t.Fatalf("before, there are %v", left)
	}
	for _, c := range []struct {
		found string
		plant func() (remove func() error, err error)
	}{
		{"process ", func() (func() error, error) {
			cmd := exec.Command("sleep", "1000")
			cmd.Args[0] = "sleep-" + id
			return func() error { cmd.Process.Kill(); cmd.Wait(); return nil }, cmd.Start() // it was killed
		}},
		{"in the folder of doors ", file(filepath.Join(spec.Doors, sandbox.ControlSocket))},
		{"temporary ", file("/tmp/choir-" + id)},
		{"temporary ", file("/dev/shm/" + id)},
		{"mount ", mounted(dir, "tmpfs-"+id, "tmpfs", 0)},
		{"mount ", mounted(dir, "network-"+id, "/proc/self/ns/net", unix.MS_BIND)},
		{"cgroup ", func() (func() error, error) {
			groups, err := filepath.Glob("/sys/fs/cgroup/*/cgroup.procs")
			if err != nil || len(groups) == 0 {
				groups = []string{"/sys/fs/cgroup/cgroup.procs"}
			}
			group := filepath.Join(filepath.Dir(groups[0]), "choir-test-"+id)
			return func() error { return unix.Rmdir(group) }, os.Mkdir(group, 0o755)
		}},
	} {
		remove, err := c.plant()
		if err != nil {
			t.Errorf("plant a %s: %v", c.found, err)
			continue
		}
		left := leftOf(t, spec)
		if err := remove(); err != nil {
			t.Error(err)
		}
		if len(left) != 1 || !strings.HasPrefix(left[0], c.found) {
			t.Errorf("of a planted %sthere is found %q", c.found, left)
		}
		if left := leftOf(t, spec); len(left) > 0 {
			t.Errorf("after a %swas removed, there are %q", c.found, left)
		}
	}
}

// file plants a file.
func file(path string) func() (func() error, error) {
	return func() (func() error, error) {
		return func() error { return os.Remove(path) }, os.WriteFile(path, nil, 0o600)
	}
}

// mounted plants a mount at a new file or, of a file system, at a new folder.
func mounted(dir, name, source string, flags uintptr) func() (func() error, error) {
	return func() (func() error, error) {
		at := filepath.Join(dir, name)
		err := os.WriteFile(at, nil, 0o600)
		if flags == 0 {
			os.Remove(at)
			err = os.Mkdir(at, 0o700)
		}
		if err == nil {
			err = unix.Mount(source, at, source, flags, "")
		}
		return func() error { return unix.Unmount(at, 0) }, err
	}
}

// TestNewNetworksAreFound plants a route, a rule and an interface in a network namespace of its own.
func TestNewNetworksAreFound(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a network namespace")
	}
	runtime.LockOSThread() // until its goroutine ends, and with it the thread and the namespace
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		plant []string
		found string
	}{
		{[]string{"ip", "link", "set", "lo", "up"}, "LOOPBACK,UP"},
		{[]string{"ip", "address", "add", "192.0.2.77/32", "dev", "lo"}, "192.0.2.77"},
		{[]string{"ip", "rule", "add", "to", "192.0.2.78", "lookup", "77"}, "192.0.2.78"},
		{[]string{"iptables", "-A", "INPUT", "-s", "192.0.2.79", "-j", "DROP"}, "192.0.2.79"},
	} {
		if _, err := exec.LookPath(c.plant[0]); err != nil {
			t.Logf("%s is not there, so it was not tried", c.plant[0])
			continue
		}
		before := networkOf()
		if out, err := exec.Command(c.plant[0], c.plant[1:]...).CombinedOutput(); err != nil {
			t.Logf("not tried: %v: %v %s", c.plant, err, out)
			continue
		}
		if lines := strings.Join(newNetworks(before), "\n"); !strings.Contains(lines, c.found) {
			t.Errorf("after %v there is found %q", c.plant, lines)
		}
		if lines := newNetworks(networkOf()); len(lines) > 0 {
			t.Errorf("%q is found although nothing has changed", lines)
		}
	}
}
