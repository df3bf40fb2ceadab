package machineimage

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
)

// kernelIn returns the folder of an unpacked kernel package with the given modules.
func kernelIn(t *testing.T, modules ...string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(path, content string) {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("boot/vmlinuz-6.1.0-test", "kernel")
	write("lib/modules/6.1.0-test/modules.builtin", "kernel/drivers/virtio/virtio.ko\nkernel/drivers/virtio/virtio_ring.ko\n")
	for _, m := range modules {
		write("lib/modules/6.1.0-test/kernel/"+m+".ko", m)
	}
	return dir
}

var someModules = []string{"drivers/virtio/virtio_mmio", "drivers/block/virtio_blk", "drivers/char/virtio_console", "fs/squashfs/squashfs",
	"net/vmw_vsock/vsock", "net/vmw_vsock/vmw_vsock_virtio_transport_common", "net/vmw_vsock/vmw_vsock_virtio_transport"}

func TestTheKernelComesWithItsModulesInOrder(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "k")
	var m Manifest
	if err := copyKernel(kernelIn(t, someModules...), out, &m); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range m.Modules {
		names = append(names, f.Path)
	}
	if want := []string{"virtio_mmio", "virtio_blk", "virtio_console", "squashfs", "vsock", "vmw_vsock_virtio_transport_common", VsockModule}; !slices.Equal(names, want) || !m.HasModule(VsockModule) || m.Kernel.Release != "6.1.0-test" {
		t.Errorf("%v of %q", names, m.Kernel.Release)
	}
	err := copyKernel(kernelIn(t, someModules[1:]...), out, &m)
	if choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "virtio_mmio") {
		t.Errorf("a module that is missing: %v", err)
	}
}

// TestTheArchiveIsOneOfTheKernels unpacks an archive with cpio, as the kernel does.
func TestTheArchiveIsOneOfTheKernels(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("cpio"); err != nil {
		t.Skip("cpio is not installed")
	}
	var buf bytes.Buffer
	a := NewArchive(&buf)
	a.Add("a/b/c", 0o755, []byte("content"))
	a.Add("a/odd", 0o111, []byte("x"))
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("cpio", "-i", "-d", "--quiet")
	cmd.Dir, cmd.Stdin = t.TempDir(), &buf
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	got, err := os.ReadFile(filepath.Join(cmd.Dir, "a/b/c"))
	info, statErr := os.Stat(filepath.Join(cmd.Dir, "a/odd"))
	if string(got) != "content" || err != nil || statErr != nil || info.Mode() != 0o111 {
		t.Errorf("%q, %v, %v %v", got, err, info, statErr)
	}
}

func TestPackagesComeWithWhatTheyDependOn(t *testing.T) {
	t.Parallel()
	all := packages{
		"libc6": {}, "mawk": {provides: []string{"awk"}}, "left-out": {},
		"tool": {depends: relations("libc6 (>= 2.36), awk | gawk:any, absent")},
	}
	for _, name := range base {
		if _, ok := all[name]; !ok {
			all[name] = pkg{}
		}
	}
	got, err := all.closure([]string{"tool"})
	if err != nil || !slices.Contains(got, "libc6") || !slices.Contains(got, "mawk") || slices.Contains(got, "left-out") || !slices.IsSorted(got) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := all.closure([]string{"nowhere"}); choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "apt-get install -y nowhere") {
		t.Errorf("got %v", err)
	}
}

// TestTwoRootsAreTheSame writes one tree twice and compares the bytes, and looks at what
// the manifest and the file system say of it.
func TestTwoRootsAreTheSame(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sqfstar"); err != nil {
		t.Skip("sqfstar is not installed: " + remedySquashfs)
	}
	host := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(host, bytes.Repeat([]byte("tool"), 1<<18), 0o644); err != nil {
		t.Fatal(err)
	}
	later := time.Unix(2_000_000_000, 0)
	var roots [][]byte
	var said Manifest
	for range 2 {
		tr := tree{
			"usr/bin/tool": {mode: fs.ModeSetuid | 0o4777, host: host, time: later},
			"usr/bin/link": {mode: fs.ModeSymlink | 0o777, link: "tool", time: later},
		}
		tr.addContent("opt/choir/choir-init", 0o111, []byte("init"))
		tr.finish(time.Unix(1_000_000_000, 0))
		out := filepath.Join(t.TempDir(), "root")
		said = Manifest{}
		if err := writeRoot(t.Context(), os.Environ(), tr, out, &said); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, raw)
	}
	if !bytes.Equal(roots[0], roots[1]) {
		t.Error("two builds differ")
	}
	text, err := json.Marshal(said.Files)
	if err != nil || len(said.Files) != 3 || said.Files[2].Mode != "0755" || !strings.Contains(string(text), string(choir.DigestOf([]byte("init")))) {
		t.Errorf("the manifest says %s, %v", text, err)
	}
	if _, err := exec.LookPath("unsquashfs"); err != nil {
		return
	}
	at := filepath.Join(t.TempDir(), "root")
	if err := os.WriteFile(at, roots[0], 0o644); err != nil {
		t.Fatal(err)
	}
	listing, err := exec.Command("unsquashfs", "-lln", "-UTC", at).CombinedOutput()
	if err != nil || strings.Contains(string(listing), "2026-") || !strings.Contains(string(listing), "1048576 2001-09-09 01:46 squashfs-root/usr/bin/tool") {
		t.Errorf("%v\n%s", err, listing)
	}
}

func TestPathsOfPackagesAreInUsr(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"bin/sh": "usr/bin/sh", "lib64/ld.so": "usr/lib64/ld.so", "usr/bin/sh": "usr/bin/sh", "etc/x": "etc/x"} {
		if got := inUsr(name); got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
	if !isLeftOut("usr/share/man/man1/x") || isLeftOut("usr/share/manual") {
		t.Error("what is left out")
	}
}

// TestAFailedBuildLeavesTheOldImage asks for a package that this machine does not have.
func TestAFailedBuildLeavesTheOldImage(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		t.Skip("this machine has no dpkg")
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "image")
	if err := os.WriteFile(out, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Build(t.Context(), Config{Out: out, Environ: os.Environ(), Kernel: kernelIn(t, someModules...), Packages: []string{"no-such-package"}})
	if choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("got %v", err)
	}
	entries, err := os.ReadDir(dir)
	if old, readErr := os.ReadFile(out); err != nil || len(entries) != 1 || string(old) != "old" || readErr != nil {
		t.Errorf("there are %v, %v; %q", entries, err, old)
	}
}
