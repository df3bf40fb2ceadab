package sandboxtest

import (
	"strconv"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/sandboxtest/probed"
)

// limits checks that a sandbox cannot exceed its limits.
func (s suite) limits(t *testing.T) {
	const maxProcesses, maxMemory, maxFiles = 100, 256 << 20, 256
	b := s.create(t, choir.RoleAssociate, func(spec *sandbox.Spec) {
		spec.Limits = sandbox.Limits{Processes: maxProcesses, MemoryBytes: maxMemory, CPUMilli: 250, OpenFiles: maxFiles}
	})
	t.Run("within the limits", func(t *testing.T) {
		for what, n := range map[string]int{"fork": maxProcesses / 2, "hog": maxMemory / 4} {
			if r := b.probe(t, what, strconv.Itoa(n)); r.Error != "" || string(r.Value) != strconv.Itoa(n) {
				t.Errorf("%s %d: it got %s, %s", what, n, r.Value, r.Error)
			}
		}
	})
	t.Run("fork bomb", func(t *testing.T) {
		r := b.probe(t, "fork", strconv.Itoa(10*maxProcesses))
		if r.Error == "" {
			t.Errorf("it got %s processes", r.Value)
		}
		if n, err := strconv.Atoi(string(r.Value)); err != nil || n > maxProcesses {
			t.Errorf("it got %s processes, over %d", r.Value, maxProcesses)
		}
	})
	t.Run("memory hog", func(t *testing.T) {
		if r := b.probe(t, "hog", strconv.Itoa(2*maxMemory)); r.Error == "" {
			t.Error("it got twice the limit")
		}
		b.facts(t) // the rest of the sandbox lives on
	})
	t.Run("open files and core files", func(t *testing.T) {
		got := value[string](t, b.probe(t, "read", "/proc/self/limits"))
		for what, want := range map[string]string{"Max open files": strconv.Itoa(maxFiles), "Max core file size": "0"} {
			if hard := limitIn(got, what); hard != want {
				t.Errorf("%s is %q, not %s", what, hard, want)
			}
		}
	})
	t.Run("cpu", func(t *testing.T) {
		if !s.limited {
			t.Skip("CPU time is not limited without cgroups, and the level says so")
		}
		got := value[probed.Burnt](t, b.probe(t, "burn", "1000"))
		// The limit is held on average, so twice of it is allowed here; without
		// a limit it would be four to eight times.
		if got.CPUMS > got.WallMS/2 {
			t.Errorf("%d ms of CPU in %d ms at a quarter of a core", got.CPUMS, got.WallMS)
		}
	})
	t.Run("usage", func(t *testing.T) {
		u, err := b.Usage(timeout(t))
		if err != nil || u.Processes < 1 || u.MemoryBytes <= 0 || u.MemoryBytes > maxMemory || u.CPUMillis <= 0 {
			t.Errorf("%+v, %v", u, err)
		}
	})
}

// limitIn returns the hard limit named what from the text of /proc/self/limits, whose
// columns have fixed widths.
func limitIn(text, what string) string {
	const hardColumn, width = 47, 21
	for line := range strings.Lines(text) {
		if len(line) >= hardColumn+width && strings.HasPrefix(line, what) {
			return strings.TrimSpace(line[hardColumn : hardColumn+width])
		}
	}
	return ""
}
