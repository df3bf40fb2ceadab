package host

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// freezableGroups makes a group of each version of cgroups that this machine has, by the name of
// its limiter. Version 2 needs no controller for that.
func freezableGroups(t *testing.T) map[string]Group {
	t.Helper()
	groups := map[string]Group{}
	all, name := hierarchies(), "choir-freezer-test-"+strconv.Itoa(os.Getpid())
	if l := newV1(all, name); l != nil {
		g, err := l.Create("v1", sandbox.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		groups[LimitsV1] = g
	}
	for _, h := range all {
		dir := filepath.Join(h.own, name)
		if h.version == 2 && os.Mkdir(dir, 0o755) == nil {
			groups[LimitsV2] = &v2Group{dir: dir}
		}
	}
	for _, g := range groups {
		t.Cleanup(func() {
			if err := g.Remove(); err != nil {
				t.Error(err)
			}
		})
	}
	return groups
}

// TestAGroupStandsStillAndGoesOn pauses a process that spends processor time.
func TestAGroupStandsStillAndGoesOn(t *testing.T) {
	groups := freezableGroups(t)
	if len(groups) == 0 {
		t.Skip("no cgroups can be made here")
	}
	for name, g := range groups {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("/bin/sh", "-c", "while :; do :; done")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Wait() // it is killed
			defer cmd.Process.Kill()
			for _, dir := range g.Folders() {
				if err := writeKnob(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(cmd.Process.Pid)); err != nil {
					t.Fatal(err)
				}
			}
			var p Pausing
			for range 2 {
				if err := p.Pause(t.Context(), g); err != nil {
					t.Fatal(err)
				}
				before := UsageOf(cmd.Process.Pid).CPUMillis
				<-time.After(200 * time.Millisecond)
				if spent := UsageOf(cmd.Process.Pid).CPUMillis - before; spent > 0 {
					t.Errorf("it spent %d ms while it was paused", spent)
				}
				if err := p.Resume(g); err != nil {
					t.Fatal(err)
				}
				spends(t, cmd.Process.Pid, before)
			}
			if err := p.Pause(t.Context(), g); err != nil {
				t.Fatal(err)
			}
			if err := KillAll(t.Context(), g); err != nil {
				t.Errorf("what is paused cannot be killed: %v", err)
			}
			if err := p.Resume(g); err != nil {
				t.Error(err)
			}
		})
	}
}

// spends waits until a process has spent more processor time than before.
func spends(t *testing.T, pid int, before int64) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(20 * time.Second); UsageOf(pid).CPUMillis <= before; {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("it does not go on")
		}
	}
}

// TestTheEndOfTheGuardsPipeResumes closes the pipe as the kernel does when choir is killed.
func TestTheEndOfTheGuardsPipeResumes(t *testing.T) {
	for name, g := range freezableGroups(t) {
		t.Run(name, func(t *testing.T) {
			var p Pausing
			if err := p.Pause(t.Context(), g); err != nil {
				t.Fatal(err)
			}
			f, _ := g.findFreezer()
			if err := p.guard.held.Close(); err != nil {
				t.Fatal(err)
			}
			if state, err := p.guard.process.Wait(); err != nil || !state.Success() {
				t.Errorf("the guard ended with %v, %v", state, err)
			}
			if f.frozen() {
				t.Error("the group is frozen still")
			}
		})
	}
}

// TestAGroupThatIsRemovedMeanwhileNeedsNoResume removes the groups between the opening of their knob and the writing.
func TestAGroupThatIsRemovedMeanwhileNeedsNoResume(t *testing.T) {
	for name, g := range freezableGroups(t) {
		t.Run(name, func(t *testing.T) {
			f, _ := g.findFreezer()
			knob, err := os.OpenFile(f.file, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer knob.Close()
			if err := g.Remove(); err != nil {
				t.Fatal(err)
			}
			if _, err := knob.WriteString(f.run); err == nil || !groupGone(err) {
				t.Errorf("the knob of a removed group: %v", err)
			}
			if err := resumeGroup(g); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWithoutAFreezerNothingIsPaused asks for a pause where there are no cgroups.
func TestWithoutAFreezerNothingIsPaused(t *testing.T) {
	var p Pausing
	for _, g := range []Group{noGroup{}, &v1Group{dirs: []string{t.TempDir()}}, &v2Group{dir: t.TempDir()}} {
		if err := p.Pause(context.Background(), g); choir.CodeOf(err) != choir.CodeUnavailable {
			t.Errorf("%T: %v", g, err)
		}
		if err := p.Resume(g); err != nil {
			t.Errorf("%T: %v", g, err)
		}
	}
}

// withoutDescriptors calls do while this process can open no file.
func withoutDescriptors(t *testing.T, do func()) {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 0
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			t.Error(err)
		}
	}()
	do()
}

// TestAResumeWithoutFileDescriptorsFails resumes a paused group while no file can be opened, and says
// that it does not go on; the guard stays for it until a resume succeeds.
func TestAResumeWithoutFileDescriptorsFails(t *testing.T) {
	for name, g := range freezableGroups(t) {
		t.Run(name, func(t *testing.T) {
			var p Pausing
			if err := p.Pause(t.Context(), g); err != nil {
				t.Fatal(err)
			}
			withoutDescriptors(t, func() {
				if err := p.Resume(g); !errors.Is(err, unix.EMFILE) {
					t.Errorf("the resume: %v", err)
				}
				if err := KillAll(t.Context(), g); !errors.Is(err, unix.EMFILE) {
					t.Errorf("the end of its processes: %v", err)
				}
				if pids, err := g.Processes(); !errors.Is(err, unix.EMFILE) {
					t.Errorf("its processes are %v, %v", pids, err)
				}
			})
			if p.guard == nil || p.guard.process.Signal(syscall.Signal(0)) != nil {
				t.Fatal("its guard has ended")
			}
			if err := p.Resume(g); err != nil || p.guard != nil {
				t.Errorf("once there are descriptors: %v, guard %v", err, p.guard)
			}
			if f, err := g.findFreezer(); err != nil || f.frozen() {
				t.Errorf("it is frozen still, %v", err)
			}
		})
	}
}
