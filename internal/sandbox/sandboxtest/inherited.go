package sandboxtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"

	"golang.org/x/sys/unix"
)

// inherited checks that no process inside has an open file of the process that starts the
// driver, even a file that children inherit.
func (s suite) inherited(t *testing.T) {
	open := openInheritable(t)
	control, err := exec.Command("/bin/ls", "-l", "/proc/self/fd").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, control)
	}
	for name, target := range open {
		if !hasTarget(string(control), target) {
			t.Fatalf("the control, a plain child of this process, has no %s (%s):\n%s", name, target, control)
		}
	}
	for _, role := range []choir.Role{choir.RoleDirector, choir.RoleAssociate} {
		b := s.create(t, role, nil)
		seen := string(b.run(t, "/bin/ls", "-l", "/proc/self/fd").Stdout)
		if !hasTarget(seen, "/dev/null") {
			t.Errorf("the listing inside the %s's sandbox names no descriptor at all:\n%s", role, seen)
		}
		for name, target := range open {
			if hasTarget(seen, target) {
				t.Errorf("%s of the host is open inside the %s's sandbox:\n%s", name, role, seen)
			}
		}
		b.notHeld(t, open)
	}
}

// openInheritable opens a folder, a file that only its owner may read, and a socket pair,
// all inheritable, and returns their targets in /proc/self/fd by description.
func openInheritable(t *testing.T) map[string]string {
	t.Helper()
	path := filepath.Join(DataDir(t), "owner-only")
	if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	file, err := unix.Open(path, unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, fd := range []int{folder, file, pair[0], pair[1]} {
			unix.Close(fd)
		}
	})
	open := map[string]string{"an open folder": "/", "a file of mode 0600": path}
	for i, fd := range pair {
		target, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		if err != nil {
			t.Fatal(err)
		}
		open[fmt.Sprintf("a socket's end %d", i+1)] = target
	}
	return open
}

// hasTarget reports whether the output of ls -l has a symbolic link to target.
func hasTarget(listing, target string) bool {
	return strings.Contains(listing, " -> "+target+"\n")
}

// notHeld checks from the host that no process inside has one of the open files, which a
// tool inside could not see of choir-init. The monitors of bubblewrap and runsc, outside of
// the pid namespace, do not count. Without root it checks nothing.
func (b inside) notHeld(t *testing.T, open map[string]string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return // what choir-init has open can be seen by root only
	}
	looked := 0
	for _, p := range processesOf(t, b.spec) {
		pid, name, _ := strings.Cut(p, " ")
		if name == "bwrap" || name == "runsc" {
			continue
		}
		links, err := filepath.Glob("/proc/" + pid + "/fd/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links {
			target, err := os.Readlink(link)
			if err != nil {
				continue // closed meanwhile
			}
			looked++
			for what, held := range open {
				if target == held && sameFile(link, held) {
					t.Errorf("process %s inside holds %s of the host", p, what)
				}
			}
		}
	}
	if looked == 0 {
		t.Error("no descriptor of a process inside was seen, so nothing was checked")
	}
}

// sameFile reports whether an open file of another process is the file that a path names
// here: a process with a root folder of its own has another file at that path. A socket
// has no path and counts as the same.
func sameFile(link, path string) bool {
	theirs, err := os.Stat(link)
	ours, oursErr := os.Stat(path)
	return err != nil || oursErr != nil || os.SameFile(theirs, ours)
}
