package microvm_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"choiros/internal/sandbox"
	"choiros/internal/sandbox/microvm"
	"choiros/internal/sandbox/sandboxtest"
)

// thawVariable has the orders of a test process that thaws a sandbox and is killed.
const thawVariable = "CHOIR_THAWTEST_CHILD"

// thawOrders describe the sandbox that such a process thaws.
type thawOrders struct {
	Config microvm.Config
	Spec   sandbox.Spec
	Folder string
}

// thawed is the line that such a process prints when the sandbox runs.
const thawed = "the sandbox runs again"

// TestAThawedMachineThatNobodyUsedEndsWithItsMaker kills a control plane that has thawed a machine and
// has not used it: its guard ends the machine, of which no other control plane has a handle.
func TestAThawedMachineThatNobodyUsedEndsWithItsMaker(t *testing.T) {
	if raw := os.Getenv(thawVariable); raw != "" {
		thawAndWait(t, raw)
		return
	}
	t.Parallel()
	dir := sandboxtest.DataDir(t)
	o := thawOrders{Config: standInConfig(t, dir), Spec: copied(t), Folder: filepath.Join(dir, "frozen")}
	o.Config.Jailer, o.Config.WithoutTrial = microvm.NoJailer, true
	freeze(t, o.Config, o.Spec, o.Folder)
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	maker := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	maker.Env, maker.Stderr = append(os.Environ(), thawVariable+"="+string(raw)), os.Stderr
	out, err := maker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := maker.Start(); err != nil {
		t.Fatal(err)
	}
	defer maker.Wait() // it was killed
	defer maker.Process.Kill()
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != thawed {
		t.Logf("child: %s", lines.Text())
	}
	if lines.Text() != thawed || len(roomsLeft(t, dir)) != 1 {
		t.Fatalf("the child thawed no machine: %v", lines.Err())
	}
	maker.Process.Kill()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(15 * time.Second); len(roomsLeft(t, dir)) > 0; {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("the machine lives on, or its folder is left")
		}
	}
	sandboxtest.NothingLeft(t, o.Spec)
}

// thawAndWait thaws a sandbox, says so, and waits to be killed.
func thawAndWait(t *testing.T, raw string) {
	var o thawOrders
	if err := json.Unmarshal([]byte(raw), &o); err != nil {
		t.Fatal(err)
	}
	b, err := microvm.New(o.Config).Thaw(t.Context(), o.Spec, o.Folder)
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString(thawed + "\n")
	<-b.Done()
}
