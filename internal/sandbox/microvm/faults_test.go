package microvm_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/machineimage"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/microvm"
	"choiros/internal/sandbox/microvm/firecrackertest"
	"choiros/internal/sandbox/sandboxtest"

	"golang.org/x/sys/unix"
)

// roomsLeft returns what is left in the folder of all machines of a driver.
func roomsLeft(t testing.TB, state string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(state, "machines", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// TestFirecrackersThatFail creates machines with monitors that refuse, hang, die, and run a
// machine that never says it is ready: each is an error with its reason, and leaves nothing.
func TestFirecrackersThatFail(t *testing.T) {
	t.Parallel()
	const short = 3 * time.Second
	for _, c := range []struct {
		fault, why, remedy string
		patience           time.Duration
	}{
		{firecrackertest.Refuses, "Error creating KVM object", "modprobe", time.Minute},
		{firecrackertest.Hangs, "Firecracker does not answer PUT /machine-config", "", short},
		{firecrackertest.Dies, "ended before it answered", "", time.Minute},
		{firecrackertest.Silent, "never said that it is ready", "", short},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			dir := sandboxtest.DataDir(t)
			config := standInConfig(t, dir)
			config.Firecracker += c.fault
			config.Jailer, config.BootTimeout, config.WithoutTrial = microvm.NoJailer, c.patience, true
			d := microvm.New(config)
			defer d.Close()
			spec := sandboxtest.NewSpec(t, choir.RoleDirector)
			_, err := d.Create(t.Context(), spec)
			if choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), c.why) || !strings.Contains(err.Error(), c.remedy) {
				t.Errorf("got %v", err)
			}
			sandboxtest.NothingLeft(t, spec)
			if left := roomsLeft(t, dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestWhatFirecrackerLacksIsSaid probes drivers that lack a part, each with what to do.
func TestWhatFirecrackerLacksIsSaid(t *testing.T) {
	t.Parallel()
	whole := standInConfig(t, "")
	old := smallImage(t)
	if err := os.WriteFile(old+machineimage.ManifestSuffix, []byte(`{"kernel":{"bytes":10,"release":"6.1.0"},"root":{"bytes":9}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, check, why, remedy string
		change                   func(*microvm.Config)
	}{
		{"no program", "firecracker", "Firecracker is not installed", "releases", func(c *microvm.Config) { c.Firecracker = "/nowhere/firecracker" }},
		{"an old version", "firecracker", "1.11.0 or newer is needed", "releases", func(c *microvm.Config) { c.Firecracker += firecrackertest.Old }},
		{"no version", "firecracker", "which is no version", "releases", func(c *microvm.Config) { c.Firecracker = "/bin/true" }},
		{"no KVM", "firecracker", "/nowhere/kvm cannot be used", "microvm.vmm to qemu", func(c *microvm.Config) { c.KVM = "/nowhere/kvm" }},
		{"a machine that does not boot", "machine", "KVM boots no Linux here", "microvm.vmm to qemu", func(c *microvm.Config) { c.Firecracker += firecrackertest.Silent }},
		{"an image of an older choir", "machine", "no module for the vsock", "choir image build", func(c *microvm.Config) {
			c.Kernel, c.Rootfs = old+machineimage.KernelSuffix, old
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			config := whole
			config.StateDir, config.Jailer = sandboxtest.DataDir(t), microvm.NoJailer
			c.change(&config)
			d := microvm.New(config)
			defer d.Close()
			r := d.Probe(t.Context())
			seen := false
			for _, check := range r.Checks {
				if check.Name == c.check {
					seen = true
					if check.OK || !strings.Contains(check.Detail, c.why) || !strings.Contains(check.Remedy, c.remedy) {
						t.Errorf("got %+v", check)
					}
				}
			}
			if r.Usable || !seen {
				t.Errorf("it is called usable, or its lack is not said: %+v", r.Checks)
			}
			_, err := d.Create(t.Context(), sandboxtest.NewSpec(t, choir.RoleDirector))
			if choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), c.why) {
				t.Errorf("create says %v", err)
			}
			if left := roomsLeft(t, config.StateDir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// jailedConfig returns the configuration of a driver whose Firecracker is in a jail.
func jailedConfig(t testing.TB, dir string) microvm.Config {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a jail")
	}
	c := standInConfig(t, dir)
	c.Jailer = filepath.Join(filepath.Dir(c.Firecracker), "jailer")
	return c
}

// TestAJail makes a machine in a jail, looks at its process from the host, and finds it again
// with another driver. Its end leaves nothing.
func TestAJail(t *testing.T) {
	t.Parallel()
	dir := sandboxtest.DataDir(t)
	config := jailedConfig(t, dir)
	first := microvm.New(config)
	spec := sandboxtest.NewSpec(t, choir.RoleAssociate)
	spec.Mounts = []sandbox.Mount{sandbox.Workspace("", sandbox.TransportCopy)}
	b, err := first.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if l := b.Level(); !strings.Contains(l.Name, "in a jail") || strings.Contains(strings.Join(l.Missing, " "), "jailer") {
		t.Errorf("the level is %+v", l)
	}
	checkJail(t, spec, dir)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := microvm.New(config)
	defer second.Close()
	found, err := second.Recover(t.Context(), b.Handle())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := guest.NewClient(found.Dial).WriteFile(t.Context(), "file", 0, strings.NewReader("text")); err != nil {
		t.Error(err)
	}
	if err := found.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	sandboxtest.NothingLeft(t, spec)
	if left := roomsLeft(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// checkJail looks at the process of a machine: its user, its root folder, its namespaces, its
// limits and what it has open.
func checkJail(t *testing.T, spec sandbox.Spec, state string) {
	t.Helper()
	rooms := roomsLeft(t, state)
	if len(rooms) != 1 {
		t.Fatalf("the rooms are %v", rooms)
	}
	pid, err := os.ReadFile(filepath.Join(rooms[0], "root", "firecracker.pid"))
	if err != nil {
		t.Fatal(err)
	}
	proc := "/proc/" + string(pid)
	status, err := os.ReadFile(proc + "/status")
	if err != nil {
		t.Fatal(err)
	}
	user := "\nUid:\t" + strings.Repeat(strconv.Itoa(spec.UID)+"\t", 3) + strconv.Itoa(spec.UID) + "\n"
	if !strings.Contains(string(status), user) || !strings.Contains(string(status), "\t1\nNSpgid") {
		t.Errorf("its user, or its number in its namespace, is not as it must be:\n%s", status)
	}
	for _, name := range []string{"bin", "usr", "etc", "proc", "sys", "home"} {
		if _, err := os.Stat(proc + "/root/" + name); !os.IsNotExist(err) {
			t.Errorf("the jail has a folder %s: %v", name, err)
		}
	}
	for _, name := range []string{"mnt", "pid", "net", "ipc", "uts"} {
		here, _ := os.Readlink("/proc/self/ns/" + name)
		if there, err := os.Readlink(proc + "/ns/" + name); err != nil || there == here {
			t.Errorf("it has the host's namespace %s: %v", name, err)
		}
	}
	limits, err := os.ReadFile(proc + "/limits")
	if err != nil || !strings.Contains(string(limits), "Max core file size        0 ") {
		t.Errorf("it may write core files: %s %v", limits, err)
	}
	for _, name := range []string{"root", "kernel", "initial"} {
		if info, err := os.Stat(filepath.Join(rooms[0], "root", name)); err != nil || info.Mode().Perm()&0o022 != 0 {
			t.Errorf("what all machines share can be written: %s %v, %v", name, info, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(rooms[0], "root", "v.sock_1003")); !os.IsNotExist(err) {
		t.Errorf("the machine finds a socket of the host: %v", err)
	}
}

// TestARoomThatCouldNotBeRemovedIsRemovedByTheNextDestroy destroys a machine while something is mounted in
// its room: one that this driver made without a jail, one in a jail, and one that was recovered.
func TestARoomThatCouldNotBeRemovedIsRemovedByTheNextDestroy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ jail, recovered bool }{{false, false}, {true, false}, {false, true}} {
		dir := sandboxtest.DataDir(t)
		config := jailedConfig(t, dir)
		if !c.jail {
			config.Jailer = microvm.NoJailer
		}
		d := microvm.New(config)
		defer func() { d.Close() }()
		spec := sandboxtest.NewSpec(t, choir.RoleDirector)
		b, err := d.Create(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if c.recovered {
			d.Close()
			d = microvm.New(config)
			if b, err = d.Recover(t.Context(), b.Handle()); err != nil {
				t.Fatal(err)
			}
		}
		at := filepath.Join(roomsLeft(t, dir)[0], "mounted")
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("choir-test", at, "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		err = b.Destroy(t.Context())
		if failed := unix.Unmount(at, 0); failed != nil {
			t.Fatal(failed)
		}
		if err == nil {
			t.Errorf("%+v: a room in which something is mounted was removed", c)
		}
		if err := b.Destroy(t.Context()); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		sandboxtest.NothingLeft(t, spec)
		if left := roomsLeft(t, dir); len(left) > 0 {
			t.Errorf("%+v: left behind: %v", c, left)
		}
	}
}

// TestJailersThatCannotBeUsed names a jailer that is not there, and one of another version.
func TestJailersThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	config := jailedConfig(t, sandboxtest.DataDir(t))
	for jailer, why := range map[string]string{
		"/nowhere/jailer":                   "the jailer is not there",
		config.Jailer + firecrackertest.Old: "or newer is needed",
		"/bin/false":                        "ask /usr/bin/false for its version",
	} {
		c := config
		c.Jailer = jailer
		d := microvm.New(c)
		if r := d.Probe(t.Context()); r.Usable || !strings.Contains(r.Checks[0].Detail, why) || r.Checks[0].Remedy == "" {
			t.Errorf("%s: %+v", jailer, r)
		}
		d.Close()
	}
}

// TestRoomsThatWereLeft checks that a new driver removes the folder of a machine without a
// process, and leaves the folder of a machine that runs.
func TestRoomsThatWereLeft(t *testing.T) {
	t.Parallel()
	config := standInConfig(t, sandboxtest.DataDir(t))
	config.Jailer = microvm.NoJailer
	first := microvm.New(config)
	spec := sandboxtest.NewSpec(t, choir.RoleDirector)
	b, err := first.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	left := filepath.Join(config.StateDir, "machines", "firecracker", "left", "root")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	second := microvm.New(config)
	defer second.Close()
	if r := second.Probe(t.Context()); !r.Usable {
		t.Fatalf("%+v", r)
	}
	if rooms := roomsLeft(t, config.StateDir); len(rooms) != 1 || strings.HasSuffix(rooms[0], "left") {
		t.Errorf("there are %v", rooms)
	}
	found, err := second.Recover(t.Context(), b.Handle())
	if err != nil {
		t.Fatal(err)
	}
	if err := found.Destroy(context.Background()); err != nil {
		t.Error(err)
	}
	if rooms := roomsLeft(t, config.StateDir); len(rooms) > 0 {
		t.Errorf("left behind: %v", rooms)
	}
}

// TestAnImageOnAnotherDisk makes two machines whose image cannot be linked to: they share one
// copy, and one of a changed image gets another.
func TestAnImageOnAnotherDisk(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/dev/shm", "choir-")
	if err != nil {
		t.Skipf("there is no second disk: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	config := standInConfig(t, dir)
	config.Jailer = microvm.NoJailer
	if os.Link(config.Rootfs, filepath.Join(dir, "link")) == nil {
		t.Skip("the folder of temporary files and /dev/shm are one disk")
	}
	d := microvm.New(config)
	defer d.Close()
	for copies := 1; copies <= 2; copies++ {
		for range 2 {
			b, err := d.Create(t.Context(), copied(t))
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Destroy(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if have, err := filepath.Glob(filepath.Join(dir, "copy-*")); len(have) != copies || err != nil {
			t.Errorf("there are the copies %v, %v", have, err)
		}
		if err := os.Chtimes(config.Rootfs, time.Time{}, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
}
