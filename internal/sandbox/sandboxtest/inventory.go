package sandboxtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"choiros/internal/sandbox"
)

// nothingLeft fails the test if an ended sandbox has left something on the host, see leftOf.
func nothingLeft(t testing.TB, specs ...sandbox.Spec) {
	t.Helper()
	for _, what := range leftOf(t, specs...) {
		t.Errorf("left behind: %s", what)
	}
}

// temporaryFolders are the folders in which programs put what they need for a while.
var temporaryFolders = []string{"/tmp", "/var/tmp", "/run", "/run/netns", "/dev/shm"}

// leftOf returns what sandboxes have on the host: processes, cgroups, mounts, also of the file of a
// namespace, sockets, and what has the name of their computer in a folder for temporary files.
func leftOf(t testing.TB, specs ...sandbox.Spec) []string {
	t.Helper()
	var out []string
	for _, dir := range cgroupsOf(specs) {
		out = append(out, "cgroup "+dir)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range specs {
		for _, p := range processesOf(t, spec) {
			out = append(out, "process "+p)
		}
		entries, err := os.ReadDir(spec.Doors)
		if err != nil {
			t.Error(err)
		}
		for _, e := range entries {
			out = append(out, "in the folder of doors "+e.Name())
		}
		for line := range strings.Lines(string(mounts)) {
			if strings.Contains(line, string(spec.Computer)) {
				out = append(out, "mount "+line)
			}
		}
		for _, dir := range append(temporaryFolders, os.TempDir()) {
			found, err := filepath.Glob(filepath.Join(dir, "*"+string(spec.Computer)+"*"))
			if err != nil {
				t.Error(err)
			}
			for _, path := range found {
				if path+"/" != strings.TrimSuffix(spec.Doors, "doors") {
					out = append(out, "temporary "+path)
				}
			}
		}
	}
	return out
}

// processesOf returns pid and name of the processes of a sandbox's host user, and of processes
// that have its computer's id in their arguments: a runtime's own have other users. Without
// root, only processes with the names of a sandbox's programs count.
func processesOf(t testing.TB, spec sandbox.Spec) []string {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	uid, root := spec.UID, os.Geteuid() == 0
	if !root {
		uid = os.Geteuid()
	}
	var out []string
	for _, e := range entries {
		status, err := os.ReadFile("/proc/" + e.Name() + "/status")
		if err != nil || !strings.Contains(string(status), "\nUid:\t"+strconv.Itoa(uid)+"\t") && !(root && hasArgument(e.Name(), spec)) {
			continue // no process, one that has ended, or another's
		}
		if strings.Contains(string(status), "\nState:\tZ") && !strings.Contains(string(status), "\nPPid:\t"+strconv.Itoa(os.Getpid())+"\n") {
			continue // it has ended, and reaping it is another's business
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(string(status), "Name:\t"), "\n")
		if root || slices.Contains([]string{"bwrap", "choir-init", probeName}, name) {
			out = append(out, e.Name()+" "+name)
		}
	}
	return out
}

// hasArgument reports whether the id of a sandbox's computer is in the arguments of a
// process.
func hasArgument(pid string, spec sandbox.Spec) bool {
	line, err := os.ReadFile("/proc/" + pid + "/cmdline")
	return err == nil && strings.Contains(string(line), string(spec.Computer))
}

// cgroupsOf returns the cgroups whose name contains the id of one of the sandboxes'
// computers. It looks into no group of another sandbox: a machine on which many were
// killed has thousands of folders there.
func cgroupsOf(specs []sandbox.Spec) []string {
	own, _ := os.ReadFile("/proc/self/cgroup") // this test may itself run in a group of choir's
	var out []string
	filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // a file, or gone meanwhile, of another test
		}
		if slices.ContainsFunc(specs, func(s sandbox.Spec) bool { return strings.Contains(d.Name(), string(s.Computer)) }) {
			out = append(out, path)
		}
		if strings.HasPrefix(d.Name(), "choir-") && !strings.Contains(string(own), d.Name()) {
			return fs.SkipDir
		}
		return nil
	})
	return out
}

// NothingLeft fails the test if ended sandboxes have left something on the host, see leftOf.
func NothingLeft(t testing.TB, specs ...sandbox.Spec) {
	t.Helper()
	nothingLeft(t, specs...)
}
