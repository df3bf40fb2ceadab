package proctree_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/associate/proctree"
)

// hostile are commands that reach for another project; they run in a project beside it.
var hostile = map[string]string{
	"write":            "echo owned > ../other/file",
	"append":           "echo owned >> ../other/file",
	"create":           "echo owned > ../other/new",
	"truncate by name": "python3 -c 'import os; os.truncate(\"../other/file\", 0)'",
	"remove":           "rm -f ../other/file",
	"remove a folder":  "rmdir ../other/empty",
	"make a folder":    "mkdir ../other/made",
	"rename inside":    "mv ../other/file ../other/moved",
	"rename out":       "mv ../other/file taken",
	"rename into":      "mv own ../other/given",
	"rename over":      "mv own ../other/file",
	"the project":      "mv ../other ../gone",
	"itself":           "mv ../mine ../gone",
	"hard link out":    "ln ../other/file linked && echo owned > linked",
	"hard link into":   "ln own ../other/linked",
	"symbolic link":    "ln -s ../other/file led && echo owned > led",
	"linked folder":    "ln -s ../other led2 && echo owned > led2/new",
	"link into":        "ln -s /etc/passwd ../other/led",
	"a pipe":           "mkfifo ../other/pipe",
	"a new project":    "mkdir ../third",
	"through proc":     "echo owned > /proc/self/cwd/../other/file",
	"a daemon":         "setsid sh -c 'sleep 0.1; echo owned > ../other/file' & wait; setsid sh -c 'echo owned > ../other/new' &",
}

// projects makes two projects beside each other and returns the first.
func projects(t *testing.T) string {
	t.Helper()
	top := t.TempDir()
	for _, dir := range []string{"mine", "other/empty"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for file, content := range map[string]string{"mine/own": "mine\n", "other/file": "untouched\n"} {
		if err := os.WriteFile(filepath.Join(top, file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(top, "mine")
}

// stateOf lists the other project with its contents, and what lies beside it.
func stateOf(t *testing.T, mine string) string {
	t.Helper()
	var b strings.Builder
	entries, err := os.ReadDir(filepath.Dir(mine))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b.WriteString(e.Name() + "\n")
	}
	err = filepath.Walk(filepath.Join(filepath.Dir(mine), "other"), func(p string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		b.WriteString(p + " " + info.Mode().String())
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			b.WriteString(" " + string(content))
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		return err.Error()
	}
	return b.String()
}

// A command in one project cannot change another one. Each command does change it from
// a tree without folders, so that the test can fail.
func TestACommandCannotChangeAnotherProject(t *testing.T) {
	t.Parallel()
	if !proctree.Confines() {
		t.Skip("this kernel has no Landlock that covers every way of writing")
	}
	for name, command := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lock := t.Name() + strconv.Itoa(os.Getpid())
			for _, walled := range []bool{false, true} {
				mine := projects(t)
				before := stateOf(t, mine)
				tree := start(t, lock+strconv.FormatBool(walled))
				if walled {
					tree = start(t, lock+"walls", mine)
				}
				spec := sh(command, newSink(), newSink())
				spec.Dir = mine
				if _, err := tree.Run(context.Background(), spec); err != nil {
					t.Fatal(err)
				}
				if _, err := tree.Clear(); err != nil {
					t.Fatal(err)
				}
				if changed := stateOf(t, mine) != before; changed == walled {
					t.Errorf("%q changed the other project: %t, with walls: %t", command, changed, walled)
				}
			}
		})
	}
}

// What a task needs works within the walls.
func TestACommandWorksInItsOwnFolders(t *testing.T) {
	t.Parallel()
	mine, temp := projects(t), t.TempDir()
	tree := start(t, t.Name()+strconv.Itoa(os.Getpid()), mine, temp)
	out := newSink()
	spec := sh("set -e; echo a > own; mkdir -p a/b; mv own a/b/own; ln a/b/own hard; ln -s own soft; mkfifo pipe; : > hard; rm -r a; "+
		"cat ../other/file; echo x > /dev/null; t=$(mktemp); echo y > $t; mv $t taken; cat taken", out, nil)
	spec.Dir, spec.Env = mine, append(os.Environ(), "TMPDIR="+temp)
	if exit, err := tree.Run(context.Background(), spec); err != nil || exit.Code != 0 || out.String() != "untouched\ny\n" {
		t.Errorf("exit %v, error %v: %q", exit, err, out.String())
	}
}

// A command writes to the devices that programs need and to terminals that it makes, and
// to nothing else in /dev.
func TestACommandWritesToTheDevicesThatProgramsNeed(t *testing.T) {
	t.Parallel()
	if !proctree.Confines() {
		t.Skip("this kernel has no Landlock that covers every way of writing")
	}
	other, err := os.CreateTemp("/dev", "choir-test-")
	if err != nil {
		t.Skip("only root can make a device for others: ", err)
	}
	other.Close()
	defer os.Remove(other.Name())
	for _, walled := range []bool{false, true} {
		mine, lock := projects(t), t.Name()+strconv.Itoa(os.Getpid())+strconv.FormatBool(walled)
		tree := start(t, lock)
		if walled {
			tree = start(t, lock+"walls", mine)
		}
		out := newSink()
		spec := sh("for d in null zero urandom; do echo x > /dev/$d && echo $d; done; "+
			`python3 -c 'import os, pty; pty.spawn(["sh", "-c", "test -t 0 && echo own > /dev/tty && echo named > $(tty)"])'; `+
			"echo x > "+other.Name()+" && echo other", out, newSink())
		spec.Dir = mine
		if _, err := tree.Run(context.Background(), spec); err != nil {
			t.Fatal(err)
		}
		want := "null zero urandom own named"
		if !walled {
			want += " other" // the control
		}
		if got := strings.Join(strings.Fields(out.String()), " "); got != want {
			t.Errorf("with walls %t: wrote to %q, want %q", walled, got, want)
		}
	}
}

// Commands of one tree can neither end nor stop those of another.
func TestATreeCannotEndCommandsOfAnother(t *testing.T) {
	t.Parallel()
	if !proctree.Confines() {
		t.Skip("this kernel has no Landlock that covers every way of writing")
	}
	name, mine := t.Name()+strconv.Itoa(os.Getpid()), projects(t)
	victim, other := start(t, name+"victim", mine), start(t, name+"other", mine)
	out := newSink()
	ended := make(chan proctree.Exit, 1)
	go func() {
		exit, _ := victim.Run(context.Background(), sh("echo $$; exec sleep 1000", out, nil))
		ended <- exit
	}()
	<-out.first
	pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	said := newSink()
	if _, err := other.Run(context.Background(), sh("kill -9 "+strconv.Itoa(pid)+" && echo killed", said, newSink())); err != nil {
		t.Fatal(err)
	}
	if said.String() != "" {
		t.Error("a command of another tree was killed")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil { // the control: from outside it works
		t.Errorf("the victim had ended before: %v", err)
	}
	if exit := <-ended; exit.Signal != "SIGKILL" {
		t.Errorf("the victim ended with %v", exit)
	}
}
