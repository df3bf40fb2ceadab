package microvm_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/microvm"
	"choiros/internal/sandbox/sandboxtest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newDriver(t testing.TB, s sandboxtest.Setup) sandbox.Driver {
	image := os.Getenv("CHOIR_TEST_IMAGE")
	return microvm.New(microvm.Config{StateDir: s.StateDir, Orphan: s.Orphan, Kernel: image + ".kernel", Rootfs: image})
}

func TestBoot(t *testing.T) {
	d := newDriver(t, sandboxtest.Setup{StateDir: sandboxtest.DataDir(t)})
	spec := sandboxtest.SpecIn(t, sandboxtest.DataDir(t), sandboxtest.ProbeDir(t), choir.RoleAssociate)
	spec.Mounts = []sandbox.Mount{sandbox.Workspace("", sandbox.TransportCopy)}
	began := time.Now()
	b, err := d.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("booted in", time.Since(began))
	mux := guest.NewMux(b.Dial)
	c := guest.NewClient(mux.Dial)
	out, err := c.Run(t.Context(), guest.ExecSpec{Argv: strings.Fields("/bin/sh -c id;mount;ls\\ -la\\ /;cat\\ /proc/uptime")}, nil, 1<<16)
	t.Logf("%s %s %v", out.Stdout, out.Stderr, err)
	t.Log(time.Since(began))
	t.Log(b.Usage(t.Context()))
	mux.Close()
	if err := b.Destroy(context.Background()); err != nil {
		t.Error(err)
	}
	d.(*microvm.Driver).Close()
	_ = filepath.Join
}
