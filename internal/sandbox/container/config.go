// Package container is the rung of the isolation ladder on which a container engine, Docker
// or Podman, makes the sandboxes: for machines that have one and lack bubblewrap, or whose
// operators want to see the sandboxes beside their other containers. It speaks the Docker
// Engine API. docs/THREATS.md says what it protects.
//
// # How the parts fit
//
// The image is made of the files at hand, without a registry: mount points and the made-up
// /etc of all sandboxes. The programs are the host's, bound read-only, as on the rung local.
// A container has no network, no capability and a read-only root; its user is the
// computer's host user.
//
// The engine starts unshare (util-linux), which makes a user and a mount namespace in the
// container. A script there covers what engines leave visible (/sys, parts of /proc), makes
// the home folder, and ends as choir-init, the user 1000 inside, in a further user namespace
// without any capability. Choir-init then loads the filter of system calls that all rungs
// have; the engine's own filter is off, because it would refuse the namespaces, and is the
// weaker one.
//
// # The control door
//
// Choir-init fetches the listening socket of the control door through another socket, in a
// folder that is bound into the container. The first process that connects there must be the
// container's first process, and the socket is removed before anything else runs inside. So
// the control plane speaks to choir-init directly, also when the engine is restarted.
package container

import (
	"time"

	"choiros/internal/sandbox"
)

// Name is the rung of this driver.
const Name = "container"

// Sockets are the places where an engine listens, in the order in which they are tried.
var Sockets = []string{"/var/run/docker.sock", "/run/podman/podman.sock"}

// Config configures the driver; only StateDir is required.
type Config struct {
	// StateDir is a folder of the driver's own below the data folder. Its path also tells
	// the containers of this data folder from those of another.
	StateDir string
	// Toolchains are folders of the host that an Associate sees at the same path,
	// read-only, with their bin first in PATH, see config.CheckToolchains.
	Toolchains []string
	// Modules is a folder of the host that an Associate sees as host.ModulesInside,
	// read-only; empty for none.
	Modules string
	// Socket is the path of the engine's socket; empty takes the first of Sockets that is
	// there, and then the socket of a Podman of the user's own.
	Socket string
	// Orphan is how long a sandbox outlives its control plane; zero means
	// sandbox.OrphanSeconds.
	Orphan time.Duration
	// BootTimeout ends a Create that does not get an answer; zero means 30 s.
	BootTimeout time.Duration
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
