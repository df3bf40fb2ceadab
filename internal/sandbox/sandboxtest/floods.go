package sandboxtest

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/sandboxtest/probed"

	"golang.org/x/sys/unix"
)

// manyFiles are more empty files than the smallest limit on memory has room for.
const manyFiles = 1_000_000

// floods checks that empty files without end in a folder in memory stop the program that makes them
// and no other.
func (s suite) floods(t *testing.T, create func() inside, other inside) {
	if !s.limited {
		t.Skip("nothing limits the memory of a sandbox as a whole here, and the level says so")
	}
	folders := []string{"/tmp", "/home/choir", "/dev/shm"}
	if s.lacks[OneVictim] != "" {
		folders = folders[:1] // each takes long, and all are one to such a kernel
	}
	ends := map[string]error{}
	var flooded []inside
	for _, dir := range folders {
		b := create()
		made, err := b.flood(t, dir)
		if ends[dir] = err; err == nil || made > b.spec.Limits.FilesInMemory() {
			t.Errorf("%s took %d files, over %d: %v", dir, made, b.spec.Limits.FilesInMemory(), err)
		}
		t.Logf("%s took %d files: %v", dir, made, err)
		flooded = append(flooded, b)
		other.facts(t)
	}
	if s.lacks[OneVictim] != "" {
		return
	}
	for i, b := range flooded {
		if err := ends[folders[i]]; !errors.Is(err, unix.ENOSPC) {
			t.Errorf("%s: %v", folders[i], err)
		}
		b.facts(t) // its sandbox lives on
	}
}

// flood makes empty files in a folder until it is refused, and returns how many, and the error. A
// sandbox that has ended is an error too.
func (b inside) flood(t *testing.T, dir string) (int64, error) {
	t.Helper()
	out, err := b.client.Run(timeout(t), guest.ExecSpec{Argv: play("flood", dir, strconv.Itoa(manyFiles))}, nil, 1<<20)
	if err != nil {
		return 0, err
	}
	r := parseResult(t, out)
	if r.Error == "" {
		return manyFiles, nil
	}
	if r.Errno == 0 {
		return 0, errors.New(r.Error)
	}
	return value[int64](t, probed.Result{Value: r.Value}), unix.Errno(r.Errno)
}

// bombInLittleMemory checks that a fork bomb ends no other sandbox where there is memory for fewer
// processes than are allowed, and its own only where one victim is the whole sandbox.
func (s suite) bombInLittleMemory(t *testing.T, memory int64, other inside) {
	b := s.create(t, choir.RoleAssociate, func(spec *sandbox.Spec) { spec.Limits = sandbox.Limits{MemoryBytes: memory} })
	most := b.spec.Limits.OrDefaults().Processes
	began := time.Now()
	out, err := b.client.Run(timeout(t), guest.ExecSpec{Argv: play("fork", strconv.Itoa(most))}, nil, 1<<20)
	if err == nil {
		r := parseResult(t, out)
		t.Logf("in %d MiB it got %s of %d processes in %s: %s", memory>>20, r.Value, most, time.Since(began), r.Error)
	} else {
		t.Logf("in %d MiB it ended its sandbox within %s: %v", memory>>20, time.Since(began), err)
	}
	other.facts(t)
	if s.lacks[OneVictim] == "" {
		b.facts(t)
	}
}

// zombies checks that children whose parent never asks for them count as processes, and that those
// without a parent are gone at once, however many there were.
func (s suite) zombies(t *testing.T, create func() inside, other inside) {
	b := create()
	r := b.probe(t, "zombies", strconv.Itoa(5*b.spec.Limits.Processes))
	t.Run("count as processes", s.part(func(t *testing.T) {
		if left, err := strconv.Atoi(string(r.Value)); err != nil || r.Error == "" || left > b.spec.Limits.Processes {
			t.Errorf("it left %s zombies, over %d: %s", r.Value, b.spec.Limits.Processes, r.Error)
		}
	}))
	other.facts(t)
	orphans := 3 * b.spec.Limits.Processes
	if r := b.probe(t, "orphans", strconv.Itoa(orphans)); r.Error != "" || string(r.Value) != strconv.Itoa(orphans) {
		t.Errorf("it made %s of %d orphans, one after the other: %s", r.Value, orphans, r.Error)
	}
	onlyOwnProcesses(t, b.facts(t).Processes)
}

// signalsToInit checks that the first process goes on whatever signal a program sends it but those by
// which it may be asked to end, though the same ends or stops another process; also SIGKILL to all.
func (s suite) signalsToInit(t *testing.T) {
	b := s.create(t, choir.RoleAssociate, nil)
	const script = `import os, signal, time
asked = {"SIGHUP", "SIGINT", "SIGTERM", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGSYS", "SIGSTKFLT"}
ended = 0
for n in sorted(signal.valid_signals()):
    if isinstance(n, signal.Signals) and n.name in asked: continue
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, b"x")
        while True: signal.pause()
    os.read(reader, 1)
    os.kill(pid, n)
    os.kill(1, n)
    gone = 0
    for _ in range(20):
        gone, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
        if gone or n in (signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH): break
        time.sleep(0.01)
    ended += gone == pid
    if not gone or os.WIFSTOPPED(status):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
print(ended, flush=True)
os.kill(-1, signal.SIGKILL)
`
	out, err := b.client.Run(timeout(t), guest.ExecSpec{Argv: []string{"python3", "-c", script}}, nil, 1000)
	if ended, bad := strconv.Atoi(strings.TrimSpace(string(out.Stdout))); err != nil || bad != nil || ended < 40 {
		t.Errorf("%d signals ended or stopped a process: %v, %s", ended, err, out.Stderr)
	}
	if _, err := b.client.Hello(timeout(t)); err != nil {
		t.Errorf("after the signals: %v", err)
	}
	b.facts(t)
}
