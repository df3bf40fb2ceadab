package host

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"choiros/internal/choir"
)

// remains records how a sandbox was left. Its first removals fail.
type remains struct {
	failures, tries   int
	cleared, released bool
}

func (r *remains) Clear(context.Context) error {
	r.tries++
	if r.tries <= r.failures {
		return errors.New("the engine does not answer")
	}
	r.cleared = true
	return nil
}

func (r *remains) Release() { r.released = true }

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

// TestWhatCouldNotBeRemovedIsRemovedByTheNextDestroy has the removal of a sandbox fail when it ends and
// at the first Destroy.
func TestWhatCouldNotBeRemovedIsRemovedByTheNextDestroy(t *testing.T) {
	t.Parallel()
	calls, end, rest, main := NewCalls("test"), NewEnding("test"), &remains{failures: 2}, startSleeper(t)
	if err := calls.Watch(func(ctx context.Context) { end.watch(ctx, main, rest) }); err != nil {
		t.Fatal(err)
	}
	if err := end.destroy(t.Context(), main); err == nil || rest.cleared {
		t.Errorf("the removal failed, and Destroy says %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := end.clearAgain(ended); err == nil || rest.tries != 2 {
		t.Errorf("a Destroy whose time is over: %v after %d removals", err, rest.tries)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := end.destroy(t.Context(), main); err != nil {
				t.Errorf("Destroy once more: %v", err)
			}
		})
	}
	all.Wait()
	if !rest.cleared || rest.tries != 3 {
		t.Errorf("cleared %t, by %d removals and not 3", rest.cleared, rest.tries)
	}
	calls.Close()
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

// killed is a group in which the kernel has ended a number of processes for their memory.
type killed struct {
	noGroup
	n int64
}

func (k killed) countMemoryKills() int64 { return k.n }

// groupRemains removes the group of a sandbox and nothing else.
type groupRemains struct{ *Parts }

func (r groupRemains) Clear(ctx context.Context) error { return r.RemoveGroup(ctx) }

// TestADestroyedSandboxDidNotRunOutOfMemory destroys sandboxes in which the kernel has ended a program
// for its memory: one that ran on did not end for that, and one that had ended did.
func TestADestroyedSandboxDidNotRunOutOfMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kills       int64
		endedBefore bool
		want        bool
	}{
		"a program, and the sandbox ran on": {1, false, false},
		"the sandbox":                       {1, true, true},
		"nothing":                           {0, false, false},
		"nothing, and it had ended":         {0, true, false},
	} {
		p := NewParts("test", "")
		p.Main, p.Group = startSleeper(t), killed{n: c.kills}
		if p.Main.HasEnded() {
			t.Errorf("%s: its first process has ended while it runs", name)
		}
		if c.endedBefore {
			if err := p.Main.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := p.Main.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		var watching sync.WaitGroup
		watching.Go(func() { p.watch(t.Context(), groupRemains{p}) })
		if p.RanOutOfMemory() && !c.endedBefore {
			t.Errorf("%s: it says so while it runs", name)
		}
		if err := p.Destroy(t.Context()); err != nil {
			t.Fatal(err)
		}
		watching.Wait()
		if got := p.RanOutOfMemory(); got != c.want {
			t.Errorf("the kernel ended %s: RanOutOfMemory is %v", name, got)
		}
	}
}

// halfRemoved removes the group of a sandbox, and fails to remove something else.
type halfRemoved struct{ *Parts }

func (r halfRemoved) Clear(ctx context.Context) error {
	return errors.Join(r.RemoveGroup(ctx), errors.New("the engine does not answer"))
}

// TestRanOutOfMemoryIsSafeWhileTheRestIsRemoved asks a sandbox that ended for its memory while Destroy
// removes the rest of it again and again.
func TestRanOutOfMemoryIsSafeWhileTheRestIsRemoved(t *testing.T) {
	t.Parallel()
	p := NewParts("test", "")
	p.Main, p.Group = startSleeper(t), killed{n: 1}
	if err := errors.Join(p.Main.Kill(), p.Main.Wait(t.Context())); err != nil {
		t.Fatal(err)
	}
	p.watch(t.Context(), halfRemoved{p})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := p.Destroy(t.Context()); err == nil {
				t.Error("what could not be removed is said to be")
			}
		})
		all.Go(func() {
			if !p.RanOutOfMemory() {
				t.Error("it no longer says that it ran out of memory")
			}
		})
	}
	all.Wait()
}
