package sandboxtest

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox/host"
)

// killedWhileMaking kills a control plane whose sandbox will never answer.
func (s suite) killedWhileMaking(t *testing.T) {
	o := s.newOrders(t, 0)
	o.Alone = true
	o.Spec = SpecIn(t, DataDir(t), hangingGuest(t), choir.RoleDirector)
	maker, out := startChild(t, o)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := timeout(t); len(processesOf(t, o.Spec)) == 0; {
		select {
		case <-tick.C:
		case <-deadline.Done():
			maker.Process.Kill()
			said, _ := io.ReadAll(out) // which explains this failure
			maker.Wait()               // it was killed
			t.Fatalf("the sandbox has no processes; its maker says %s", said)
		}
	}
	killMaker(t, maker, o)
}

// killedUndialled kills a control plane that has a sandbox and has not used it yet.
func (s suite) killedUndialled(t *testing.T) {
	o := s.newOrders(t, 0)
	o.Alone = true
	maker, out := startChild(t, o)
	readHandle(t, out)
	killMaker(t, maker, o)
}

// killMaker kills a control plane and checks that its sandbox ends at once. As a control it
// stops the control plane's guard meanwhile, without which the sandbox must live on.
func killMaker(t *testing.T, maker *exec.Cmd, o orders) {
	t.Helper()
	guard := guardOf(t, maker.Process.Pid)
	signal(t, guard, syscall.SIGSTOP)
	maker.Process.Kill()
	maker.Wait() // it was killed
	<-time.After(time.Second)
	if len(processesOf(t, o.Spec)) == 0 {
		t.Error("the sandbox ended without the guard, so that this test says nothing")
	}
	began := time.Now()
	signal(t, guard, syscall.SIGCONT)
	waitForExit(t, guard)
	t.Logf("removed within %v", time.Since(began).Round(time.Millisecond))
	nothingLeft(t, o.Spec)
	for _, pattern := range []string{"boxes/*", "machines/*/*"} { // not every driver has them
		left, err := filepath.Glob(filepath.Join(o.Setup.StateDir, pattern))
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
}

// atOnce is much shorter than the time a sandbox outlives its control plane.
const atOnce = 15 * time.Second

// waitForExit waits until a process that is no child has ended.
func waitForExit(t *testing.T, pid int) {
	t.Helper()
	p, err := host.OpenProcess(pid, 0)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(t.Context(), atOnce)
	defer cancel()
	if err := p.Wait(ctx); err != nil {
		t.Errorf("the guard is not done: %v", err)
	}
}

// guardOf returns the pid of a control plane's guard.
func guardOf(t *testing.T, maker int) int {
	t.Helper()
	for _, pid := range host.Children(maker) {
		line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		if err == nil && bytes.HasPrefix(line, []byte("choir-guard\x00")) {
			return pid
		}
	}
	t.Fatal("the control plane has no guard")
	return 0
}

func signal(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
}

// hangingGuest returns a folder of guest binaries whose choir-init does nothing.
func hangingGuest(t *testing.T) string {
	dir := brokenGuest(t)
	if err := os.WriteFile(filepath.Join(dir, "choir-init"), []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
