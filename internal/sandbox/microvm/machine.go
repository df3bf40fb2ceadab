package microvm

import (
	"context"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/machineimage"
	"choiros/internal/sandbox/host"
)

const remedyKVM = "run choir on hardware, or on a machine with nested virtualization: modprobe kvm_intel || modprobe kvm_amd"

// machineParts holds what is found and prepared once for all calls of Create.
type machineParts struct {
	cfg           Config
	vmm           monitor
	mkfs          string
	prlimit       string // starts the monitor with limits
	modules       []byte // an archive
	image         machineimage.Manifest
	manifestGuest map[string]choir.Digest
	facts         facts
	limits        host.Limiter
	bootID        string

	mu      sync.Mutex        // guards initial
	initial map[string]string // paths of initial file systems, by folder of guest binaries
}

// setUpPatience is how long a monitor may take to be found and tried.
const setUpPatience = time.Minute

func newMachineParts(cfg Config) (*machineParts, error) {
	const op = "microvm.setup"
	m := &machineParts{cfg: cfg, vmm: newMonitor(cfg), bootID: host.BootID(), initial: map[string]string{}}
	ctx, cancel := context.WithTimeout(context.Background(), setUpPatience)
	defer cancel()
	if err := m.vmm.find(ctx); err != nil {
		return nil, err
	}
	var err error
	if m.mkfs, err = findMkfs(); err != nil {
		return nil, err
	}
	if m.prlimit, err = exec.LookPath("prlimit"); err != nil {
		return nil, choir.Refuse(op, choir.ReasonVMNoPrlimit)
	}
	if m.image, err = loadImage(cfg); err != nil {
		return nil, err
	}
	m.manifestGuest = guestIn(m.image)
	if m.modules, err = os.ReadFile(cfg.Kernel + machineimage.ModulesSuffix); err != nil {
		return nil, noImage(err)
	}
	if err := os.MkdirAll(cfg.StateDir, 0o711); err != nil {
		return nil, choir.Wrap(op, choir.CodeInternal, err, "make the driver's folder")
	}
	m.limits = host.FindLimiter(false, host.GroupLabel(cfg.StateDir))
	m.facts = facts{Kernel: m.image.Kernel.Release, Root: os.Geteuid() == 0, Host: m.limits.Name(), Nameless: !m.image.AsksForNames()}
	if err := m.vmm.setUp(ctx, m); err != nil {
		return nil, err
	}
	m.limits.Sweep()
	return m, nil
}

func findMkfs() (string, error) {
	for _, name := range []string{"mke2fs", "/usr/sbin/mke2fs", "/sbin/mke2fs"} {
		if at, err := exec.LookPath(name); err == nil {
			return at, nil
		}
	}
	return "", choir.Refuse("microvm.setup", choir.ReasonVMNoMke2fs)
}

// loadImage returns the manifest of the image. Code unavailable when a part of it is
// missing, or the kernel or the root file system has another size than the manifest says.
func loadImage(cfg Config) (machineimage.Manifest, error) {
	const op = "microvm.setup"
	if cfg.Kernel == "" || cfg.Rootfs == "" {
		return machineimage.Manifest{}, choir.Refuse(op, choir.ReasonVMNoImage, choir.TextOf("suffix", machineimage.KernelSuffix))
	}
	m, err := machineimage.Load(cfg.Rootfs)
	if err != nil {
		return m, noImage(err)
	}
	for at, want := range map[string]int64{cfg.Kernel: m.Kernel.Bytes, cfg.Rootfs: m.Root.Bytes} {
		info, err := os.Stat(at)
		if err != nil {
			return m, noImage(err)
		}
		if info.Size() != want {
			return m, choir.Refuse(op, choir.ReasonVMImageSize, choir.TextOf("suffix", machineimage.KernelSuffix), choir.TextOf("path", at), choir.CountOf("size", info.Size()), choir.CountOf("wanted", want))
		}
	}
	return m, nil
}

func noImage(err error) error {
	e := choir.Refuse("microvm.setup", choir.ReasonVMImageUnreadable, choir.TextOf("suffix", machineimage.KernelSuffix))
	e.Err = err
	return e
}

// guestIn returns the digests of the guest binaries in an image, by name.
func guestIn(m machineimage.Manifest) map[string]choir.Digest {
	out := map[string]choir.Digest{}
	for _, f := range m.Files {
		if strings.HasPrefix(f.Path, machineimage.GuestFolder+"/") {
			out[path.Base(f.Path)] = f.Digest
		}
	}
	return out
}
