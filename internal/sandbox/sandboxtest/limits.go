package sandboxtest

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/sandboxtest/probed"
)

// limits checks that a sandbox cannot exceed its limits.
func (s suite) limits(t *testing.T) {
	const maxProcesses, maxMemory, hogged, maxFiles = 100, 256 << 20, 1 << 30, 256
	createWith := func(cpu int, memory int64) inside {
		return s.create(t, choir.RoleAssociate, func(spec *sandbox.Spec) {
			spec.Limits = sandbox.Limits{Processes: maxProcesses, MemoryBytes: memory, CPUMilli: cpu, OpenFiles: maxFiles}
		})
	}
	create := func(cpu int) inside { return createWith(cpu, maxMemory) }
	b := create(2000)
	t.Run("within the limits", func(t *testing.T) {
		for what, n := range map[string]int{"fork": maxProcesses / 2, "hog": maxMemory / 4} {
			if r := b.probe(t, what, strconv.Itoa(n)); r.Error != "" || string(r.Value) != strconv.Itoa(n) {
				t.Errorf("%s %d: it got %s, %s", what, n, r.Value, r.Error)
			}
		}
	})
	t.Run("fork bomb", func(t *testing.T) {
		// Room for the processes: to the sentry each costs some mebibytes, because it copies what a
		// child writes to in pieces of two.
		bomb := createWith(2000, 4*maxMemory)
		r := bomb.probe(t, "fork", strconv.Itoa(10*maxProcesses))
		if r.Error == "" {
			t.Errorf("it got %s processes", r.Value)
		}
		n, err := strconv.Atoi(string(r.Value))
		if err != nil || n > 2*maxProcesses {
			t.Errorf("it got %s processes, over twice %d", r.Value, maxProcesses)
		}
		t.Run("to the last process", s.part(func(t *testing.T) {
			if n > maxProcesses {
				t.Errorf("it got %d processes, over %d", n, maxProcesses)
			}
		}))
		bomb.facts(t) // its sandbox lives on
		b.facts(t)    // and so does another
	})
	t.Run("fork bomb in little memory", func(t *testing.T) { s.bombInLittleMemory(t, maxMemory, b) })
	t.Run("memory hog", func(t *testing.T) {
		hog := create(2000)
		// A sandbox may end with it, so that there is no answer.
		if out, err := hog.client.Run(timeout(t), guest.ExecSpec{Argv: play("hog", strconv.Itoa(hogged))}, nil, 1<<20); err == nil && parseResult(t, out).Error == "" {
			t.Error("it got four times the limit")
		}
		b.facts(t) // another sandbox does not
		if bound, can := hog.Sandbox.(sandbox.MemoryBound); can && s.lacks[OneVictim] != "" {
			<-hog.Done()
			if !bound.RanOutOfMemory() {
				t.Error("it does not say that it ended for its memory")
			}
		}
		t.Run("ends alone", s.part(func(t *testing.T) { hog.facts(t) }))
	})
	t.Run("flood of files", func(t *testing.T) { s.floods(t, func() inside { return create(2000) }, b) })
	t.Run("zombies", func(t *testing.T) { s.zombies(t, func() inside { return createWith(2000, 4*maxMemory) }, b) })
	t.Run("signals to the first process", s.part(s.signalsToInit))
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
		busy := create(250)
		before, began := busy.cpu(t), time.Now()
		value[probed.Burnt](t, busy.probe(t, "burn", "1000"))
		used, wall := busy.cpu(t)-before, time.Since(began).Milliseconds()
		// The limit is held on average, so twice of it is allowed here; without
		// a limit it would be four to eight times.
		if used > wall/2 {
			t.Errorf("%d ms of CPU in %d ms at a quarter of a core", used, wall)
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

// cpu returns the CPU time of a sandbox in milliseconds, as the host counts it.
func (b inside) cpu(t *testing.T) int64 {
	t.Helper()
	u, err := b.Usage(timeout(t))
	if err != nil {
		t.Fatal(err)
	}
	return u.CPUMillis
}
