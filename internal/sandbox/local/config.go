// Package local is the rung of the isolation ladder that needs nothing but
// Linux: bubblewrap namespaces, a seccomp filter, cgroup limits and a host user
// of its own for every computer. docs/THREATS.md says what it protects.
package local

import (
	"time"

	"choiros/internal/sandbox"
)

// Name is the rung of this driver.
const Name = "local"

// Config configures the driver; only StateDir is required.
type Config struct {
	// StateDir is a folder below the data folder, kept by the driver: the
	// made-up /etc lies there. It must be traversable by other users when the
	// control plane is root. Its path is also what tells this control plane's
	// cgroups from those of another.
	StateDir string
	// Toolchains are folders of the host that an Associate sees at the same path,
	// read-only, with their bin first in PATH. The caller has checked that they show
	// nothing else; see config.CheckToolchains.
	Toolchains []string
	// Modules is a folder of the host that an Associate sees as host.ModulesInside,
	// read-only: what Node finds there needs no download. It may be filled while
	// sandboxes run. Everybody must be able to enter it; empty for none.
	Modules string
	// Bwrap is the path of bubblewrap; empty looks it up in PATH.
	Bwrap string
	// Orphan is how long a sandbox outlives its control plane; zero means
	// sandbox.OrphanSeconds.
	Orphan time.Duration
	// BootTimeout ends a Create that does not get an answer; zero means 10 s.
	BootTimeout time.Duration
	// WithoutCgroups takes rlimits even where cgroups could hold the limits.
	WithoutCgroups bool
}

func (c Config) withDefaults() Config {
	if c.Orphan == 0 {
		c.Orphan = sandbox.OrphanSeconds * time.Second
	}
	if c.BootTimeout == 0 {
		c.BootTimeout = 10 * time.Second
	}
	return c
}
