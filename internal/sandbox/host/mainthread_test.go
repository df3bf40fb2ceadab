package host

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/sandbox"

	"golang.org/x/sys/unix"
)

const onMainThread = "CHOIR_TEST_ON_MAIN_THREAD"

// Only while a package is initialised does a goroutine have the main thread for
// certain.
func init() {
	if os.Getenv(onMainThread) != "" {
		runtime.LockOSThread()
		fmt.Println(startFromMainThread())
		os.Exit(0)
	}
}

// startFromMainThread says how it went: what looks for the process's own group
// while a sandbox starts must not find the sandbox's.
func startFromMainThread() string {
	before := hierarchies()
	l := newV1(before, "choir-test-main-thread")
	switch {
	case unix.Gettid() != unix.Getpid():
		return "this is not the main thread"
	case l == nil:
		return "no version 1"
	}
	g, err := l.Create("x", sandbox.Limits{Processes: 10, MemoryBytes: 1 << 28, CPUMilli: 1000})
	if err != nil {
		return err.Error()
	}
	defer g.Remove()
	said := "it did not start"
	err = g.Start(func(*syscall.SysProcAttr) error {
		said = "ok"
		if now := hierarchies(); !reflect.DeepEqual(now, before) {
			said = fmt.Sprintf("the process was said to be in %+v, not in %+v", now, before)
		}
		return nil
	})
	if err != nil {
		return err.Error()
	}
	return said
}

func TestAStartOnTheMainThreadMovesAnotherOne(t *testing.T) {
	if newV1(hierarchies(), "choir-test") == nil {
		t.Skip("cgroups of version 1 are not ours here")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), onMainThread+"=yes")
	out, err := cmd.CombinedOutput()
	if said := strings.TrimSpace(string(out)); err != nil || said != "ok" {
		t.Errorf("%v: %s", err, said)
	}
}

func TestItNeverKillsItself(t *testing.T) {
	if err := KillAndWait(t.Context(), os.Getpid()); err == nil {
		t.Error("it would have")
	}
}
