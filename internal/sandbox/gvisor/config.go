// Package gvisor is the rung of the isolation ladder at which every sandbox has a kernel
// of its own: runsc (gVisor) in its systrap platform, which needs no hardware. A program
// inside never makes a system call of the host; the sentry, written in Go and held by a
// seccomp filter, answers it. docs/THREATS.md says what that protects.
//
// # How the parts fit
//
// The driver writes an OCI bundle and starts "runsc run" in the sandbox's cgroup. Runsc
// starts the sentry and the gofer, which alone opens files of the host (--directfs=false),
// and waits for them. All four end with each other.
//
// The workspace is bound through the gofer (share=shared), so that both
// sides see each other's changes at once. A user namespace of the bundle maps the user
// inside to the host user of the computer, so that files belong to it on the host, and the
// gofer, although its user is root, has rights to files of that user and of root only, and
// to nothing outside of what is mounted for it.
//
// # The control door
//
// The sentry imports connected sockets of the host, and no listening ones. Host sockets
// bound through the gofer (--host-uds=create) would be open for every program inside to
// connect to and to make more of them; "runsc exec" would cost a process and 100 ms for
// every stream. So choir-init gets one end of a socket pair (runsc run --pass-fd), and a
// relay the other end: choir-init again, on the host, as the computer's host user and
// without privileges. The relay listens at the control door and multiplexes its
// connections, see guest.Relay. It is not a child that the control plane's end would
// kill, so that a later control plane dials the same socket. What is inside can only
// speak the multiplexer's protocol to it, the same that a control plane would read.
package gvisor

import (
	"time"

	"choiros/internal/sandbox"
)

// Name is the rung of this driver.
const Name = "gvisor"

// Config configures the driver; only StateDir is required.
type Config struct {
	// StateDir is a folder of the driver's own below the data folder: bundles, state and
	// the made-up /etc lie there. Its path is also what tells this control plane's cgroups
	// from those of another.
	StateDir string
	// Toolchains are folders of the host that an Associate sees at the same path,
	// read-only, with their bin first in PATH, see config.CheckToolchains.
	Toolchains []string
	// Modules is a folder of the host that an Associate sees as host.ModulesInside,
	// read-only; empty for none.
	Modules string
	// Runsc is the path of runsc; empty looks it up in PATH.
	Runsc string
	// Orphan is how long a sandbox outlives its control plane; zero means
	// sandbox.OrphanSeconds.
	Orphan time.Duration
	// BootTimeout ends a Create that does not get an answer; zero means 30 s.
	BootTimeout time.Duration
	// WithoutCgroups makes sandboxes without cgroups even where there are some.
	WithoutCgroups bool
}

func (c Config) withDefaults() Config {
	if c.Orphan == 0 {
		c.Orphan = sandbox.OrphanSeconds * time.Second
	}
	if c.BootTimeout == 0 {
		c.BootTimeout = 30 * time.Second
	}
	return c
}
