package host

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"choiros/internal/sandbox"
)

// TestTheEndOfThePipeEndsMakings closes the pipe of a guard as the kernel does when choir is
// killed, after a first guard was killed itself.
func TestTheEndOfThePipeEndsMakings(t *testing.T) {
	var m Makings
	dir := t.TempDir()
	kept, left := filepath.Join(dir, "kept"), filepath.Join(dir, "a left")
	for _, doors := range []string{kept, left} {
		if err := os.MkdirAll(doors, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(doors, sandbox.ControlSocket), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done, err := m.StartMaking(kept)
	if err != nil {
		t.Fatal(err)
	}
	m.guard.process.Kill()
	m.guard.process.Wait() // killed, as intended
	k, err := m.StartMaking(left)
	if err != nil {
		t.Fatal(err)
	}
	done.EndMaking()
	done.EndMaking() // once more does nothing
	ours, another := sleeper(t), sleeper(t)
	for cmd, later := range map[*exec.Cmd]uint64{ours: 0, another: 1} {
		s, err := ReadStat(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		if err := k.NoteProcess(ProcessName{PID: cmd.Process.Pid, Start: s.Start + later}); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.NoteFile("a\nb"); err == nil {
		t.Error("a path of two lines is taken")
	}
	g := m.guard
	if err := g.held.Close(); err != nil {
		t.Fatal(err)
	}
	if state, err := g.process.Wait(); err != nil || !state.Exited() {
		t.Errorf("the guard ended with %v, %v", state, err)
	}
	if ours.Wait() == nil {
		t.Error("the process was not killed")
	}
	if s, err := ReadStat(another.Process.Pid); err != nil || s.State == 'Z' {
		t.Errorf("a process with the number of one that has ended was killed: %c, %v", s.State, err)
	}
	if _, err := os.Stat(doorIn(left)); !os.IsNotExist(err) {
		t.Errorf("the door of the sandbox is there still: %v", err)
	}
	if _, err := os.Stat(doorIn(kept)); err != nil {
		t.Errorf("the door of a sandbox that was made is gone: %v", err)
	}
}

// TestAnEngineThatDoesNotAnswerEndsTheGuard ends the pipe of a guard that has to ask an engine which
// takes connections and says nothing.
func TestAnEngineThatDoesNotAnswerEndsTheGuard(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes what a guard waits for an engine, three times")
	}
	t.Parallel()
	if _, err := exec.LookPath("podman"); err != nil {
		t.Skip("podman is not installed")
	}
	var m Makings
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	silent, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	k, err := m.StartMaking(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.NoteContainer(socket, "name"); err != nil {
		t.Fatal(err)
	}
	behind := filepath.Join(dir, "behind it")
	if err := os.Mkdir(behind, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := k.NoteFile(behind); err != nil {
		t.Fatal(err)
	}
	g := m.guard
	if err := g.held.Close(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := g.process.Wait()
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(2 * 3 * 2 * engineSeconds * time.Second):
		g.process.Kill()
		t.Fatal("the guard waits on for the engine")
	}
	if _, err := os.Stat(behind); !os.IsNotExist(err) {
		t.Errorf("what stood behind the container is there still: %v", err)
	}
}

// sleeper starts a process that is killed when the test ends.
func sleeper(t *testing.T) *exec.Cmd {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait() // killed, as intended
	})
	return cmd
}

// BenchmarkMaking measures what the registration of a sandbox costs its start.
func BenchmarkMaking(b *testing.B) {
	var c Calls
	defer c.Makings.close()
	doors := b.TempDir()
	for b.Loop() {
		k, err := c.StartMaking(doors)
		if err != nil {
			b.Fatal(err)
		}
		for range 3 {
			if err := k.NoteFile(doors + "/group"); err != nil {
				b.Fatal(err)
			}
		}
		k.EndMaking()
	}
}
