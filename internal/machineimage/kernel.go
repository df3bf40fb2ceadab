package machineimage

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"choiros/internal/choir"
)

// kernelPackage is Debian's package that depends on the newest cloud kernel.
const kernelPackage = "linux-image-cloud-amd64"

const remedyKernel = "refresh the lists of packages with: apt-get update"

// needed are the modules that a machine loads, in this order; those of the first are
// built into some kernels.
var needed = []string{
	"virtio_ring", "virtio", "virtio_mmio", "virtio_blk", "virtio_console", "squashfs",
	"vsock", "vmw_vsock_virtio_transport_common", VsockModule,
}

// VsockModule is the module of a machine's vsock, which images have since monitors need it.
const VsockModule = "vmw_vsock_virtio_transport"

// unpackKernel fetches the kernel package that apt offers into dir, unpacks it there, and
// returns the folder.
func unpackKernel(ctx context.Context, environ []string, dir string) (string, error) {
	out, err := output(ctx, environ, remedyKernel, "apt-cache", "depends", kernelPackage)
	if err != nil {
		return "", err
	}
	_, after, _ := strings.Cut(string(out), "Depends: ")
	name, _, _ := strings.Cut(after, "\n")
	if name = strings.TrimSpace(name); name == "" {
		return "", choir.Refuse("image.kernel", choir.ReasonImageNoPackage, choir.TextOf("name", kernelPackage))
	}
	get := exec.CommandContext(ctx, "apt-get", "download", "-q", name)
	get.Dir, get.Env = dir, environ
	if text, err := get.CombinedOutput(); err != nil {
		return "", choir.Refuse("image.kernel", choir.ReasonImageNotDownloaded, choir.TextOf("name", name), choir.TextOf("said", lastLine(text)))
	}
	debs, err := filepath.Glob(filepath.Join(dir, name+"_*.deb"))
	if err != nil || len(debs) != 1 {
		return "", choir.Refuse("image.kernel", choir.ReasonImageNoPackageFile, choir.TextOf("name", name))
	}
	to := filepath.Join(dir, "kernel")
	_, err = output(ctx, environ, "", "dpkg", "-x", debs[0], to)
	return to, err
}

// copyKernel copies the kernel in an unpacked package to path, with its modules as an
// archive beside it, and enters both in the manifest.
func copyKernel(folder, path string, m *Manifest) error {
	found, err := filepath.Glob(filepath.Join(folder, "boot", "vmlinuz-*"))
	if err != nil || len(found) != 1 {
		return choir.Refuse("image.kernel", choir.ReasonImageKernels, choir.TextOf("path", folder), choir.CountOf("n", len(found)))
	}
	m.Kernel.Release = strings.TrimPrefix(filepath.Base(found[0]), "vmlinuz-")
	raw, err := os.ReadFile(found[0])
	if err == nil {
		err = os.WriteFile(path, raw, 0o644)
	}
	if err != nil {
		return choir.Wrap("image.kernel", choir.CodeInternal, err, "copy the kernel")
	}
	if m.Kernel.File, err = describe(path, filepath.Base(found[0])); err != nil {
		return err
	}
	var archive bytes.Buffer
	a := NewArchive(&archive)
	base := filepath.Join(folder, "lib/modules", m.Kernel.Release)
	builtin, _ := os.ReadFile(filepath.Join(base, "modules.builtin")) // Debian's has one; without it nothing is built in
	for i, name := range needed {
		at := findModule(base, name)
		if at == "" && bytes.Contains(builtin, []byte("/"+name+".ko\n")) {
			continue
		}
		raw, err := os.ReadFile(at)
		if err != nil {
			return choir.Refuse("image.kernel", choir.ReasonImageNoModule, choir.TextOf("release", m.Kernel.Release), choir.TextOf("name", name))
		}
		raw = unsigned(raw)
		a.Add(fmt.Sprintf("modules/%02d-%s.ko", i, name), 0o644, raw)
		m.Modules = append(m.Modules, File{Path: name, Bytes: int64(len(raw)), Digest: choir.DigestOf(raw)})
	}
	a.Close()
	return choir.Wrap("image.kernel", choir.CodeInternal, os.WriteFile(path+ModulesSuffix, archive.Bytes(), 0o644), "write the modules")
}

// findModule returns the path of a kernel module below base; "" if there is none.
func findModule(base, name string) string {
	for _, folder := range []string{"drivers/virtio", "drivers/block", "drivers/char", "fs/squashfs", "net/vmw_vsock"} {
		path := filepath.Join(base, "kernel", folder, name+".ko")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

func lastLine(text []byte) string {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(lines[len(lines)-1])
}
