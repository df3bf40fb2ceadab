package host

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"choiros/internal/choir"
)

// remains records how a sandbox was left.
type remains struct{ cleared, released bool }

func (r *remains) Clear(context.Context) error { r.cleared = true; return nil }
func (r *remains) Release()                    { r.released = true }

// startSleeper starts a process that ends only when it is killed, and opens it.
func startSleeper(t *testing.T) *Process {
	t.Helper()
	cmd := exec.Command("sleep", "infinity")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	stat, err := ReadStat(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	p, err := OpenProcess(cmd.Process.Pid, stat.Start)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestASandboxThatEndsIsCleared(t *testing.T) {
	t.Parallel()
	calls, end, rest, main := NewCalls("test"), NewEnding("test"), &remains{}, startSleeper(t)
	if err := calls.Watch(func(ctx context.Context) { end.watch(ctx, main, rest) }); err != nil {
		t.Fatal(err)
	}
	if err := end.CheckRunning("test.usage"); err != nil {
		t.Fatalf("while it runs: %v", err)
	}
	if err := end.destroy(t.Context(), main); err != nil {
		t.Fatal(err)
	}
	if !rest.cleared {
		t.Error("destroy returned before the rest was removed")
	}
	if err := end.CheckRunning("test.usage"); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("after its end: %v, want not_found", err)
	}
	if !calls.Close() || calls.Close() {
		t.Error("Close must tell the first call from the second")
	}
}

func TestAClosedDriverLeavesItsSandboxes(t *testing.T) {
	t.Parallel()
	calls, end, rest, main := NewCalls("test"), NewEnding("test"), &remains{}, startSleeper(t)
	if err := calls.Watch(func(ctx context.Context) { end.watch(ctx, main, rest) }); err != nil {
		t.Fatal(err)
	}
	calls.Close()
	if rest.cleared || !rest.released {
		t.Errorf("after Close: cleared %t, released %t; want only released", rest.cleared, rest.released)
	}
	if _, err := os.Stat("/proc/" + strconv.Itoa(main.PID)); err != nil {
		t.Errorf("the sandbox did not live on: %v", err)
	}
	if err := end.destroy(t.Context(), main); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("destroy: %v, want unavailable", err)
	}
	if err := calls.BeginCall(); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("BeginCall: %v, want unavailable", err)
	}
}

func TestASandboxThatCannotBeRecoveredIsRemoved(t *testing.T) {
	t.Parallel()
	end, rest, main := NewEnding("test"), &remains{}, startSleeper(t)
	err := end.removeGone(t.Context(), main, rest, "it no longer answers")
	if choir.CodeOf(err) != choir.CodeNotFound || !rest.cleared {
		t.Errorf("%v, cleared %t; want not_found and cleared", err, rest.cleared)
	}
	if err := main.Wait(t.Context()); err != nil {
		t.Errorf("its process lives: %v", err)
	}
}
