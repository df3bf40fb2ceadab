package container_test

import (
	"context"
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/container"
	"choiros/internal/sandbox/host"
	"choiros/internal/sandbox/sandboxtest"
)

// memoryCase is a sandbox in which a program takes more memory than it may have, or none does, and
// which ends by itself or is destroyed.
type memoryCase struct{ hog, ends, want bool }

// TestASandboxThatTookTooMuchMemorySaysSo has the kernel end a program that takes more memory than its
// sandbox may have: the sandbox says so if it ends by itself, as where the kernel ends its first
// process too, and not if it runs until it is destroyed. Where the engine removes the group before
// choir has looked at it the sandbox cannot say so, which happens seldom.
func TestASandboxThatTookTooMuchMemorySaysSo(t *testing.T) {
	d := container.New(container.Config{StateDir: sandboxtest.DataDir(t), Socket: engine(t)})
	defer d.Close()
	const most = 5
	for _, c := range []memoryCase{{true, true, true}, {true, false, false}, {false, true, false}} {
		tries := 1
		for c.ranOut(t, d) != c.want {
			if tries++; tries > most || !c.want {
				t.Errorf("%+v: after its end it says %v", c, !c.want)
				break
			}
		}
	}
}

// ranOut makes the sandbox of a case, and reports whether it says after its end that it ran out of
// memory.
func (c memoryCase) ranOut(t *testing.T, d sandbox.Driver) bool {
	t.Helper()
	spec := sandboxtest.NewSpec(t, choir.RoleAssociate)
	spec.Limits.MemoryBytes = 128 << 20
	b, err := d.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.Level().Limits, "cgroups") {
		b.Destroy(context.Background())
		t.Skip("no cgroups here, so that memory is not limited")
	}
	if c.hog {
		exec := guest.ExecSpec{Argv: []string{"python3", "-c", "x = b'x' * (1 << 30)"}}
		if _, err := guest.NewClient(b.Dial).Run(t.Context(), exec, nil, 1<<10); err != nil {
			t.Error(err)
		}
	}
	if c.ends {
		killInit(t, b.Handle())
		<-b.Done()
	}
	if err := b.Destroy(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b.(sandbox.MemoryBound).RanOutOfMemory()
}

// killInit kills the first process of a sandbox.
func killInit(t *testing.T, h sandbox.Handle) {
	t.Helper()
	var state struct {
		Init host.ProcessName `json:"init"`
	}
	err := json.Unmarshal(h.State, &state)
	if err == nil {
		err = syscall.Kill(state.Init.PID, syscall.SIGKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
}
