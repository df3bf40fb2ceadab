package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/sandbox/sandboxtest"
)

// TestNothingIsLeft stops a choir in order while a task runs, and then looks for
// everything it could have left on the host.
func TestNothingIsLeft(t *testing.T) {
	m := newMachine(t, "")
	r := m.up()
	r.healthy()
	computer := m.client().computer
	ended := make(chan ran, 1)
	began := len(m.client().log(t))
	go func() {
		ended <- m.runWith(`{"kind":"run","instruction":"Wait.","commands":[{"shell":"setsid sleep 600 & sleep 600"}]}`, "task", "-")
	}()
	m.eventually("the task began", func() error {
		for _, e := range m.client().log(t)[began:] {
			if e.Type == "task.started" {
				return nil
			}
		}
		return errors.New("it has not")
	})
	r.stop()
	if end := <-ended; end.code == 0 {
		t.Errorf("the task ended well: %s", end.out)
	}
	m.nothingLeft(string(computer))
}

// TestAnOrphanEndsItself kills the control plane and never starts it again: the
// sandboxes give up after their minute and leave nothing.
func TestAnOrphanEndsItself(t *testing.T) {
	if !soaking() {
		t.Skip("takes the minute that a sandbox waits for its control plane: make soak runs it")
	}
	m := newMachine(t, "")
	r := m.up()
	r.healthy()
	computer := string(m.client().computer)
	r.kill()
	if len(m.processes()) == 0 {
		t.Fatal("the sandboxes ended with their control plane")
	}
	for deadline := time.Now().Add(90 * time.Second); time.Now().Before(deadline) && len(m.processes()) > 0; {
		time.Sleep(time.Second)
	}
	if left := m.processes(); len(left) > 0 {
		t.Fatalf("left behind: %q", left)
	}
	// What only a control plane can take away it takes away when it comes back.
	r = m.up()
	r.healthy()
	r.stop()
	m.nothingLeft(computer)
}

// nothingLeft fails the test for each process, cgroup, mount and socket of a
// computer that has ended.
func (m *machine) nothingLeft(computer string) {
	m.t.Helper()
	for _, p := range m.processes() {
		m.t.Errorf("left behind: process %s", p)
	}
	for _, c := range cgroupsOf(computer) {
		m.t.Errorf("left behind: cgroup %s", c)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), m.data) {
		m.t.Errorf("left behind: a mount, %v", err)
	}
	err = filepath.WalkDir(m.data, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeSocket != 0 {
			m.t.Errorf("left behind: socket %s", path)
		}
		return err
	})
	if err != nil {
		m.t.Error(err)
	}
	listening, err := os.ReadFile("/proc/net/unix")
	if err != nil || strings.Contains(string(listening), m.data) {
		m.t.Errorf("left behind: a socket that listens, %v", err)
	}
}

// processes lists what runs in this machine's sandboxes or for them, by what is
// mounted in them and by their arguments.
func (m *machine) processes() []string {
	m.t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		m.t.Fatal(err)
	}
	bound := sandboxtest.Bound(m.t, m.data)
	var out []string
	for _, proc := range found {
		// One that has ended meanwhile has neither.
		args, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
		mounts, _ := os.ReadFile(filepath.Join(proc, "mountinfo"))
		if strings.Contains(string(args), m.data) || strings.Contains(string(mounts), bound) {
			out = append(out, filepath.Base(proc)+" "+strings.ReplaceAll(string(args), "\x00", " "))
		}
	}
	return out
}

func cgroupsOf(computer string) []string {
	var out []string
	// A group of another test may go while this walks.
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.Contains(d.Name(), computer) {
			out = append(out, path)
		}
		return nil
	})
	return out
}
