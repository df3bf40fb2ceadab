package sandboxtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// wide are limits of a child's cgroup that nothing meets.
var wide = sandbox.Limits{Processes: 10_000, MemoryBytes: 16 << 30, CPUMilli: 64_000}

// makeGroup makes a cgroup for the child, around those of its sandboxes.
func (o *orders) makeGroup(t *testing.T) {
	limits := host.FindLimiter(false, "short")
	if limits.Name() == host.LimitsRlimits {
		t.Skip("no cgroup can be made here, by which process ids would become scarce")
	}
	var err error
	if o.group, err = limits.Create(strconv.Itoa(o.Spec.UID), wide); err != nil {
		t.Fatal(err)
	}
	o.Group = o.group.Folders()
	t.Cleanup(func() {
		for _, dir := range o.Group {
			removeTree(t, dir)
		}
	})
}

// removeTree removes a cgroup with the groups in it, which are empty.
func removeTree(t *testing.T, dir string) {
	var found []string
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			found = append(found, path)
		}
		return nil
	})
	for _, path := range slices.Backward(found) {
		if err := syscall.Rmdir(path); err != nil {
			t.Errorf("remove the cgroup %s: %v", path, err)
		}
	}
}

// knob returns the path of the first of the files that a folder of the group has.
func (o *orders) knob(t *testing.T, names ...string) string {
	for _, dir := range o.Group {
		for _, name := range names {
			path := filepath.Join(dir, name)
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	t.Fatalf("the cgroup %v has none of %v", o.Group, names)
	return ""
}

// limitProcesses limits the processes and threads of the group.
func (o *orders) limitProcesses(t *testing.T, spare int) (lift func()) {
	endGuard(t)
	most := o.knob(t, "pids.max")
	write(t, most, number(t, o.knob(t, "pids.current"))+int64(spare))
	return func() { write(t, most, int64(wide.Processes)) }
}

// endGuard ends the guard of this process, if it has one, so that the next creation has to start
// another.
func endGuard(t *testing.T) {
	for _, pid := range host.Children(os.Getpid()) {
		line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		if err == nil && strings.HasPrefix(string(line), "choir-guard\x00") {
			signal(t, pid, syscall.SIGKILL)
			if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func number(t *testing.T, path string) int64 {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func write(t *testing.T, path string, value int64) {
	if err := os.WriteFile(path, []byte(strconv.FormatInt(value, 10)), 0); err != nil {
		t.Fatal(err)
	}
}

// manyThreads is more threads than a process with one creation under way needs at once.
const manyThreads = 24

// makeThreads makes the Go runtime have that many threads. It ends the process where it cannot make
// one more, see docs/THREATS.md.
func makeThreads() {
	var held, done sync.WaitGroup
	held.Add(manyThreads)
	for range manyThreads {
		done.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			held.Done()
			held.Wait()
		})
	}
	done.Wait()
}
