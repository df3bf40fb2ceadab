package attacks

import (
	"context"
	"io"
	"path/filepath"
	"strconv"

	"choiros/internal/machineimage"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/container"
	"choiros/internal/sandbox/gvisor"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/microvm"
)

// RungNames are the rungs of the isolation ladder that can be attacked on one machine.
var RungNames = []string{local.Name, gvisor.Name, container.Name, microvm.Name}

// ShortSet are the programs for a rung on which each takes long.
var ShortSet = []string{"descriptors", "files", "money", "network", "syscalls", "web", "words"}

// Rung is a rung of the isolation ladder as this machine has it.
type Rung struct {
	Name string
	// Settings are the keys of the configuration that choose it, for Plan.
	Settings string
	// Missing is why it cannot be attacked here; empty when it can.
	Missing string
}

// RungSettings returns the keys of the configuration that choose a rung; image is one of virtual
// machines, empty for none.
func RungSettings(name, image string) string {
	settings := "runtime.mode = " + strconv.Quote(name)
	if name == microvm.Name && image != "" {
		settings += "\nmicrovm.kernel = " + strconv.Quote(image+machineimage.KernelSuffix) + "\nmicrovm.rootfs = " + strconv.Quote(image)
	}
	return settings
}

// FindRung looks whether this machine has a rung. dir is a folder for the driver's state, image
// an image of virtual machines, which the rung microvm needs.
func FindRung(ctx context.Context, name, dir, image string) Rung {
	r := Rung{Name: name, Settings: RungSettings(name, image)}
	state := filepath.Join(dir, name)
	var driver interface {
		sandbox.Driver
		io.Closer
	}
	switch name {
	case local.Name:
		driver = local.New(local.Config{StateDir: state})
	case gvisor.Name:
		driver = gvisor.New(gvisor.Config{StateDir: state})
	case container.Name:
		driver = container.New(container.Config{StateDir: state})
	case microvm.Name:
		if image == "" {
			r.Missing = "it needs an image of virtual machines, see choir image build --help"
			return r
		}
		driver = microvm.New(microvm.Config{StateDir: state, Kernel: image + machineimage.KernelSuffix, Rootfs: image})
	default:
		r.Missing = "there is no such rung"
		return r
	}
	defer driver.Close()
	report := driver.Probe(ctx)
	if !report.Usable {
		r.Missing = "this machine cannot isolate a sandbox"
	}
	for _, c := range report.Checks {
		if !report.Usable && c.Required && !c.OK {
			r.Missing += ": " + c.Detail
			break
		}
	}
	return r
}
