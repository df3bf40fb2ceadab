package local_test

import (
	"os"
	"sync"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/sandboxtest"
)

// TestNoDescriptorLeaks makes and destroys sandboxes in a burst, some of which
// fail, and counts this process's open files.
func TestNoDescriptorLeaks(t *testing.T) {
	const burst = 100
	d := local.New(local.Config{StateDir: sandboxtest.DataDir(t)})
	defer d.Close()
	dir, probe := sandboxtest.DataDir(t), sandboxtest.ProbeDir(t)
	specs := make([]sandbox.Spec, burst)
	for i := range specs {
		specs[i] = sandboxtest.SpecIn(t, dir, probe, choir.RoleAssociate)
	}
	createAndDestroy(t, d, specs[0]) // what is opened once is open now
	before := openFiles(t)
	var wg sync.WaitGroup
	for i, spec := range specs {
		wg.Go(func() {
			if i%10 == 0 {
				spec.Mounts[0].Folder = "/nonexistent"
				if _, err := d.Create(t.Context(), spec); choir.CodeOf(err) != choir.CodeUnavailable {
					t.Errorf("a missing workspace: %v", err)
				}
				return
			}
			createAndDestroy(t, d, spec)
		})
	}
	wg.Wait()
	if after := openFiles(t); after > before {
		t.Errorf("%d open files before, %d after", before, after)
	}
}

func createAndDestroy(t *testing.T, d sandbox.Driver, spec sandbox.Spec) {
	b, err := d.Create(t.Context(), spec)
	if err != nil {
		t.Error(err)
		return
	}
	out, err := guest.NewClient(b.Dial).Run(t.Context(), guest.ExecSpec{Argv: []string{"/usr/bin/true"}}, nil, 1<<10)
	if err != nil || out.Exit.Code != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if err := b.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
}

func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
