package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// TestNothingThatChoirInheritsReachesATask starts choir as a careless script or
// supervisor does, with a file for root alone at 8 and the host's root folder at
// 9, and tries to use both from a task.
func TestNothingThatChoirInheritsReachesATask(t *testing.T) {
	const script = "ls -l /proc/self/fd; cat <&8; ls /proc/self/fd/9/; head -1 /proc/self/fd/9/etc/passwd"
	m := newMachine(t, "")
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("TOP"+"SECRET\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.inherited = make([]*os.File, 7)
	for fd, path := range map[int]string{8: secret, 9: "/"} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m.inherited[fd-3] = f
	}
	control := exec.Command("sh", "-c", script)
	control.ExtraFiles = m.inherited
	if out, err := control.CombinedOutput(); err != nil || !strings.Contains(string(out), "TOPSECRET") || !strings.Contains(string(out), "root:x:0:0") {
		t.Fatalf("the control, a plain program started the same way: %v\n%s", err, out)
	}
	r := m.up()
	r.healthy()
	if target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/8", r.cmd.Process.Pid)); err != nil || target != secret {
		t.Fatalf("choir itself was not given the file: %q, %v", target, err)
	}
	o := &office{m, m.client(), r.cmd.Process.Pid}
	o.add(t, "plain", files{"a.txt": "a\n"})
	m.inherited = nil
	result := o.ends(t, shellTask("run", "plain", "("+script+") 2>&1; true", ""), 0, choir.StatusOK, "")
	said := result.CommandsRun[0].StdoutTail
	if !strings.Contains(said, " -> ") {
		t.Errorf("the task listed no descriptor at all: %q", said)
	}
	for _, leak := range []string{"TOPSECRET", "root:x", secret, " -> /\n", "\netc\n"} {
		if strings.Contains(said, leak) {
			t.Errorf("the task has %q:\n%s", leak, said)
		}
	}
	t.Run("all that choir passes on is named", func(t *testing.T) { passesOnNothing(t, r.cmd.Process.Pid) })
}

// passesOnNothing checks that a running choir would hand none of its descriptors
// but the standard three to a program it starts.
func passesOnNothing(t *testing.T, pid int) {
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	if err != nil || len(all) < 10 {
		t.Fatalf("choir has %d descriptors open, %v", len(all), err)
	}
	for _, path := range all {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // closed meanwhile
		}
		const closeOnExec = 0o2000000 // as the kernel shows O_CLOEXEC
		var flags int
		for line := range strings.Lines(string(raw)) {
			if text, ok := strings.CutPrefix(line, "flags:"); ok {
				fmt.Sscanf(strings.TrimSpace(text), "%o", &flags)
			}
		}
		name := filepath.Base(path)
		if name != "0" && name != "1" && name != "2" && flags&closeOnExec == 0 {
			target, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, name)) // only for the message
			t.Errorf("descriptor %s, %s, would be passed on", name, target)
		}
	}
}
