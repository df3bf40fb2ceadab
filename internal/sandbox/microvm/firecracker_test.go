package microvm_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"choiros/internal/machineimage"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/microvm"
	"choiros/internal/sandbox/microvm/firecrackertest"
	"choiros/internal/sandbox/sandboxtest"
)

// standInsVariable has the folder of the stand-ins, for a process that cannot build them.
const standInsVariable = "CHOIR_FIRECRACKERTEST_PROGRAMS"

// standIns returns the folder of the stand-ins for Firecracker and its jailer.
func standIns(t testing.TB) string {
	if dir := os.Getenv(standInsVariable); dir != "" {
		return dir
	}
	return sandboxtest.BuildProgram(t, "./internal/sandbox/microvm/firecrackertest/program", "firecracker", "jailer", "jailer"+firecrackertest.Old,
		"firecracker"+firecrackertest.Hangs, "firecracker"+firecrackertest.Dies, "firecracker"+firecrackertest.Silent,
		"firecracker"+firecrackertest.Refuses, "firecracker"+firecrackertest.Old, "firecracker"+firecrackertest.Mute)
}

// smallImage makes an image of the right form for a stand-in, which boots none.
func smallImage(t testing.TB) string {
	t.Helper()
	image := filepath.Join(sandboxtest.DataDir(t), "image")
	manifest := `{"kernel":{"path":"k","bytes":10,"release":"6.12.0"},"root":{"path":"r","bytes":9},"modules":[{"path":"` + machineimage.VsockModule + `"}]}`
	for suffix, text := range map[string]string{
		"": "hsqs root", machineimage.KernelSuffix: "\x7fELF kernel"[:10], machineimage.KernelSuffix + machineimage.ModulesSuffix: "", machineimage.ManifestSuffix: manifest,
	} {
		if err := os.WriteFile(image+suffix, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return image
}

// standInConfig returns the configuration of a driver with stand-ins, with a file in the place
// of KVM.
func standInConfig(t testing.TB, dir string) microvm.Config {
	image, programs := smallImage(t), standIns(t)
	return microvm.Config{
		StateDir: dir, Kernel: image + machineimage.KernelSuffix, Rootfs: image, BootTimeout: 30 * time.Second, DiskBytes: 64 << 20,
		VMM: microvm.VMMFirecracker, Firecracker: filepath.Join(programs, "firecracker"), KVM: os.DevNull,
	}
}

// withoutJail makes a driver whose Firecracker, a stand-in, is in no jail.
func withoutJail(t testing.TB, s sandboxtest.Setup) sandbox.Driver {
	c := standInConfig(t, s.StateDir)
	c.Orphan, c.Jailer = s.Orphan, microvm.NoJailer
	return microvm.New(c)
}

// TestFirecrackerStandIn runs what of the suite has meaning without a kernel of its own: every
// request is held against Firecracker's description of its API.
func TestFirecrackerStandIn(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("the stand-in runs choir-init under bubblewrap, which is not installed")
	}
	sandboxtest.RunWithout(t, withoutJail, map[sandboxtest.Demand]string{
		sandboxtest.Isolation: "the stand-in for Firecracker has no kernel of its own",
	}).Check(t, sandboxtest.Isolation)
}

// TestFirecrackerOrdinaryUser runs a part of the suite again as a user without privilege, whose
// machines are in no jail and in no cgroup.
func TestFirecrackerOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user; TestFirecrackerStandIn is this test then")
	}
	uid, dir := 500_000+os.Getpid()%100_000, sandboxtest.DataDir(t)
	home := filepath.Join(dir, "home")
	if err := errors.Join(os.Mkdir(home, 0o711), os.Chown(home, uid, uid)); err != nil {
		t.Fatal(err)
	}
	// Guest binaries cannot be read by others.
	probe := filepath.Join(dir, "probe")
	if out, err := exec.Command("/bin/sh", "-c", `cp -R "$0" "$1" && chmod -R a+rX "$1"`, sandboxtest.ProbeDir(t), probe).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cases := "^TestFirecrackerStandIn$/^(contract|lifecycle)$/^(both_sides_see_the_same_files|usage_is_of_what_lives|a_second_driver_takes_a_sandbox_up|a_handle_survives_JSON)$"
	cmd := exec.Command(sandboxtest.CopySelf(t, dir), "-test.run", cases, "-test.v")
	cmd.Dir = home
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home,
		sandboxtest.ProbeVariable + "=" + probe, standInsVariable + "=" + standIns(t),
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	text, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(text), "--- PASS: TestFirecrackerStandIn/") != 6 {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestFirecracker runs the suite on Firecracker itself, where that is installed and KVM boots
// a kernel.
func TestFirecracker(t *testing.T) {
	if _, err := exec.LookPath("firecracker"); err != nil {
		t.Skip("no program firecracker is in PATH, so only a stand-in for it was tested")
	}
	driver := func(t testing.TB, s sandboxtest.Setup) sandbox.Driver {
		c := configOf(t, s.StateDir)
		c.VMM, c.Orphan = microvm.VMMFirecracker, s.Orphan
		return microvm.New(c)
	}
	d := driver(t, sandboxtest.Setup{StateDir: sandboxtest.DataDir(t)}).(*microvm.Driver)
	report := d.Probe(t.Context())
	d.Close()
	if !report.Usable {
		t.Skipf("Firecracker boots no machine here, so only a stand-in for it was tested: %+v", report.Checks)
	}
	sandboxtest.Run(t, driver).Check(t)
}
