package main

import (
	"context"
	"log/slog"
	"path/filepath"

	"choiros/internal/config"
	keyfiles "choiros/internal/keyring/files"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/container"
	"choiros/internal/sandbox/gvisor"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/microvm"
	"choiros/internal/sandbox/pool"
	"choiros/internal/sandbox/sprites"
)

// newDrivers returns the drivers of this choir, with their folders below state, and with
// the folder modules, if any, shown to tasks. All of them recover what an earlier choir made;
// runtime.mode names the driver of new sandboxes.
func newDrivers(file config.Config, state, modules string) (*sandbox.Registry, error) {
	tools := file.Runtime.Toolchains
	return sandbox.NewRegistry(file.Runtime.Mode,
		local.New(local.Config{StateDir: state, Toolchains: tools, Modules: modules}),
		gvisor.New(gvisor.Config{StateDir: filepath.Join(state, gvisor.Name), Toolchains: tools, Modules: modules, Runsc: file.Gvisor.Runsc}),
		container.New(container.Config{StateDir: filepath.Join(state, container.Name), Toolchains: tools, Modules: modules, Socket: file.Container.Socket}),
		newMicroVM(file, filepath.Join(state, microvm.Name)),
		newSprites(file, filepath.Join(state, sprites.Name)))
}

// newPool returns the pool of sandboxes that are started before they are needed, over the drivers.
func newPool(file config.Config, state string, drivers *sandbox.Registry, log *slog.Logger) *pool.Pool {
	return pool.New(drivers, pool.Config{Dir: filepath.Join(state, "ready"), Most: file.Computers.Ready, Log: log})
}

// newMicroVM returns the driver of virtual machines.
func newMicroVM(file config.Config, state string) *microvm.Driver {
	c := file.MicroVM
	return microvm.New(microvm.Config{
		StateDir: state, Kernel: c.Kernel, Rootfs: c.Rootfs, VCPU: c.VCPU, MemoryMB: c.MemoryMB, DiskBytes: int64(file.Storage.DiskGB) << 30,
		VMM: c.VMM, Firecracker: c.Firecracker, Jailer: c.Jailer, GuestCID: c.GuestCID, UDSName: c.UDSPath,
	})
}

// newSprites returns the driver of sprites at Fly. The token is read at each request, so that a
// new one is taken without a start.
func newSprites(file config.Config, state string) *sprites.Driver {
	c := sprites.Config{StateDir: state, URL: file.Sprites.URL, Region: file.Sprites.Region, DiskGB: file.Storage.DiskGB}
	if path := file.Sprites.TokenFile; path != "" {
		c.Token = func(context.Context) (string, error) { return keyfiles.ReadFile(path) }
	}
	return sprites.New(c)
}
