// Package microvm is the rung of the isolation ladder with a kernel of its own: each
// sandbox is a virtual machine of QEMU's kind microvm, or of Firecracker, with a read-only
// root file system, a disk for the workspace, and one way in: a serial line or a vsock. It
// has no network, and sees no folder and no process of the host. docs/THREATS.md says what it
// protects.
package microvm

import (
	"time"

	"choiros/internal/sandbox"
)

// Name is the rung of this driver.
const Name = "microvm"

// The monitors: programs that run virtual machines.
const (
	VMMQEMU        = "qemu"
	VMMFirecracker = "firecracker"
)

// NoJailer in the place of the jailer's path is none.
const NoJailer = "none"

// Config configures the driver; StateDir, Kernel and Rootfs are required.
type Config struct {
	// StateDir is a folder below the data folder, kept by the driver.
	StateDir string
	// Kernel and Rootfs are made by choir image build, which puts the kernel's modules and
	// a manifest beside them.
	Kernel, Rootfs string
	// VCPU is the number of processors of a machine; 0 is as many as the CPU limit has use
	// for, and one where machines are emulated.
	VCPU int
	// MemoryMB is the memory of a machine; 0 is the memory limit and what the kernel needs.
	MemoryMB int
	// DiskBytes is the size of a workspace's disk, which grows to it; 0 is 8 GiB.
	DiskBytes int64
	// VMM is the monitor of new sandboxes, VMMQEMU or VMMFirecracker; empty is QEMU. Those of
	// the other are recovered.
	VMM string
	// Firecracker and Jailer are the paths of these programs; empty looks them up in PATH. The
	// jailer is used where choir is root, and must be there if it is named; NoJailer uses none.
	Firecracker, Jailer string
	// GuestCID is the context id of each Firecracker machine's vsock; 0 is 3.
	GuestCID int
	// UDSName is the name of the vsock's socket in the folder of a Firecracker machine; empty
	// is v.sock.
	UDSName string
	// KVM is the device by which Firecracker runs machines; empty is /dev/kvm.
	KVM string
	// WithoutTrial boots no kernel to find out whether KVM serves Firecracker.
	WithoutTrial bool
	// QEMU is the path of qemu-system-x86_64; empty looks it up in PATH.
	QEMU string
	// Emulated takes no notice of KVM.
	Emulated bool
	// Orphan is how long a sandbox outlives its control plane; zero means
	// sandbox.OrphanSeconds.
	Orphan time.Duration
	// BootTimeout ends a Create that does not get an answer; zero means three minutes, which
	// an emulated machine takes on a busy host.
	BootTimeout time.Duration
}

func (c Config) withDefaults() Config {
	if c.Orphan == 0 {
		c.Orphan = sandbox.OrphanSeconds * time.Second
	}
	if c.BootTimeout == 0 {
		c.BootTimeout = 3 * time.Minute
	}
	if c.DiskBytes == 0 {
		c.DiskBytes = 8 << 30
	}
	if c.VMM == "" {
		c.VMM = VMMQEMU
	}
	if c.GuestCID == 0 {
		c.GuestCID = 3 // the first that is no special one
	}
	if c.UDSName == "" {
		c.UDSName = "v.sock"
	}
	if c.KVM == "" {
		c.KVM = deviceKVM
	}
	return c
}

// deviceKVM is the kernel's device for virtual machines.
const deviceKVM = "/dev/kvm"

func (c Config) capabilities() sandbox.Capabilities {
	return sandbox.Capabilities{Transports: []sandbox.Transport{sandbox.TransportCopy}, Streams: c.VMM == VMMFirecracker, Prestart: true}
}
