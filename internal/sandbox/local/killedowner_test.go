package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/sandboxtest"
)

// killedOwner asks this program, in its environment, to make one sandbox and to
// be killed meanwhile.
const killedOwner = "CHOIR_TEST_KILLED_OWNER"

type ownerOrder struct {
	Dir, Bwrap string
	Orphan     time.Duration
	Spec       sandbox.Spec
}

// createForOrder is the control plane that is killed.
func createForOrder(raw string) error {
	var order ownerOrder
	if err := json.Unmarshal([]byte(raw), &order); err != nil {
		return err
	}
	d := local.New(local.Config{StateDir: order.Dir, Bwrap: order.Bwrap, Orphan: order.Orphan})
	_, err := d.Create(context.Background(), order.Spec)
	return errors.Join(errors.New("the control plane lived on"), err)
}

// slowBwrap waits for a line before it becomes bubblewrap. Each process of the
// sandbox that has not closed it holds the other pipe open for writing.
const slowBwrap = `#!/bin/sh
exec 9>"$0.alive"
read -r _ <"$0.go"
exec bwrap "$@"
`

// TestNoProcessOutlivesAKilledOwner kills the control plane after it started
// bubblewrap and before bubblewrap has made the sandbox. Bubblewrap must not end
// between making its child and letting it run: that child would wait for ever.
func TestNoProcessOutlivesAKilledOwner(t *testing.T) {
	t.Parallel()
	dir := sandboxtest.DataDir(t)
	order := ownerOrder{
		Dir: filepath.Join(dir, "state"), Bwrap: filepath.Join(dir, "slow-bwrap"), Orphan: 200 * time.Millisecond,
		Spec: sandboxtest.SpecIn(t, dir, sandboxtest.InitDir(t), choir.RoleAssociate),
	}
	if err := os.WriteFile(order.Bwrap, []byte(slowBwrap), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".alive", ".go"} {
		if err := errors.Join(unix.Mkfifo(order.Bwrap+name, 0o666), os.Chmod(order.Bwrap+name, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	owner := exec.Command(sandboxtest.CopySelf(t, dir))
	owner.Env = append(os.Environ(), killedOwner+"="+string(raw))
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	alive, err := os.Open(order.Bwrap + ".alive") // waits for the program in bubblewrap's place
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	owner.Wait() // killed, as intended
	// For reading too, which waits for no reader: the program may have ended with its owner.
	resume, err := os.OpenFile(order.Bwrap+".go", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer resume.Close()
	if _, err := resume.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	if err := alive.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, alive); err != nil {
		t.Errorf("processes of the sandbox live on without their owner: %v", err)
	}
}
