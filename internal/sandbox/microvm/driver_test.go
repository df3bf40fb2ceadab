package microvm_test

import (
	"cmp"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/machineimage"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/microvm"
	"choiros/internal/sandbox/sandboxtest"

	"go.uber.org/goleak"
)

// slower is how many times as long everything takes in an emulated machine.
const slower = 10

// whole makes the suite run all its cases, which takes long under emulation: make soak
// does.
var whole = flag.Bool("whole", false, "run every case of the suite")

func TestMain(m *testing.M) {
	sandboxtest.SetPatience(3 * time.Minute)
	goleak.VerifyTestMain(m)
}

func configOf(t testing.TB, dir string) microvm.Config {
	image := sandboxtest.MachineImage(t)
	return microvm.Config{StateDir: dir, Kernel: image + machineimage.KernelSuffix, Rootfs: image, BootTimeout: 3 * time.Minute}
}

func newDriver(t testing.TB, s sandboxtest.Setup) sandbox.Driver {
	c := configOf(t, s.StateDir)
	c.Orphan = cmp.Or(s.Orphan, sandbox.OrphanSeconds*time.Second) * slower
	return microvm.New(c)
}

// TestMicroVM runs the suite in machines that are really booted.
func TestMicroVM(t *testing.T) {
	if *whole || os.Getenv("CHOIR_SANDBOXTEST_CHILD") != "" {
		sandboxtest.Run(t, newDriver).Check(t)
		return
	}
	sandboxtest.RunSome(t, newDriver, nil, "each boots an emulated machine; make soak runs it, PART=microvm",
		"contract/a workspace is carried to the next sandbox", "profile")
}

// TestMachinesThatDoNotComeUp: one dies while it boots, one takes longer than it may. Both
// are refused with the last lines of the console, and nothing of them is left.
func TestMachinesThatDoNotComeUp(t *testing.T) {
	broken := sandboxtest.DataDir(t)
	if err := os.WriteFile(filepath.Join(broken, "choir-init"), []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, guest, why, console string
		patience                  time.Duration
	}{
		{"it dies", broken, "ended before it answered", "Kernel panic", 3 * time.Minute},
		{"it hangs", sandboxtest.InitDir(t), "did not answer", "", 100 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := sandboxtest.DataDir(t)
			config := configOf(t, dir)
			config.BootTimeout = c.patience
			d := microvm.New(config)
			defer d.Close()
			spec := sandboxtest.SpecIn(t, sandboxtest.DataDir(t), c.guest, choir.RoleDirector)
			_, err := d.Create(t.Context(), spec)
			if choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), c.why) || !strings.Contains(err.Error(), c.console) {
				t.Errorf("got %v", err)
			}
			sandboxtest.NothingLeft(t, spec)
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
				t.Errorf("besides the initial file system there are %v, %v", entries, err)
			}
		})
	}
}

// TestWhatIsMissingIsSaid probes drivers that lack a part, each with the command that
// provides it.
func TestWhatIsMissingIsSaid(t *testing.T) {
	t.Parallel()
	image := filepath.Join(t.TempDir(), "image")
	for _, name := range []string{image, image + machineimage.KernelSuffix} {
		if err := os.WriteFile(name, []byte("cut short"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	manifest := `{"kernel":{"path":"k","bytes":9,"release":"6.1.0"},"root":{"path":"r","bytes":90}}`
	if err := os.WriteFile(image+machineimage.ManifestSuffix, []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, check, remedy string
		config              microvm.Config
	}{
		{"no image", "image", "choir image build", microvm.Config{}},
		{"no such image", "image", "choir image build", microvm.Config{Kernel: "/nowhere.kernel", Rootfs: "/nowhere"}},
		{"an image cut short", "image", "choir image build", microvm.Config{Kernel: image + machineimage.KernelSuffix, Rootfs: image}},
		{"no QEMU", "qemu", "apt-get install -y qemu-system-x86", microvm.Config{QEMU: "/nowhere/qemu"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.config.StateDir = t.TempDir()
			d := microvm.New(c.config)
			defer d.Close()
			r := d.Probe(t.Context())
			for _, check := range r.Checks {
				if check.Name == c.check && (check.OK || !strings.Contains(check.Remedy, c.remedy)) {
					t.Errorf("got %+v", check)
				}
			}
			if r.Usable {
				t.Error("it is called usable")
			}
			_, err := d.Create(t.Context(), sandboxtest.NewSpec(t, choir.RoleDirector))
			if choir.CodeOf(err) != choir.CodeUnavailable {
				t.Errorf("create says %v", err)
			}
		})
	}
}
