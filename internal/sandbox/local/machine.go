package local

import (
	"os"
	"os/exec"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// machine holds what is found and prepared once for all calls of Create.
type machine struct {
	cfg   Config
	bwrap string
	// common and commonWorkspace are bubblewrap's arguments that no spec
	// changes, without and with a workspace.
	common, commonWorkspace []string
	toolchains              []toolchain
	filter                  *os.File // the seccomp program, in memory
	limits                  host.Limiter
	root                    bool
	bootID                  string
}

func newMachine(cfg Config) (*machine, error) {
	bwrap, err := findBwrap(cfg)
	if err != nil {
		return nil, err
	}
	if err := host.MakeFolders(Name, cfg.Modules, cfg.StateDir); err != nil {
		return nil, err
	}
	toolchains, err := findToolchains(cfg, os.Geteuid() == 0)
	if err != nil {
		return nil, err
	}
	points := append(toolchainPoints(toolchains), sandbox.WorkspaceInside)
	shared := toolchainArgs(toolchains)
	if cfg.Modules != "" {
		points = append(points, host.ModulesInside)
		shared = append(shared, "--ro-bind", cfg.Modules, host.ModulesInside)
	}
	roots, err := host.PrepareRoots(cfg.StateDir, nil, points)
	if err != nil {
		return nil, err
	}
	filter, err := filterFile()
	if err != nil {
		return nil, err
	}
	m := &machine{
		cfg: cfg, bwrap: bwrap, filter: filter,
		common: commonArgs(roots[0]), commonWorkspace: append(commonArgs(roots[1]), shared...), toolchains: toolchains,
		limits: host.FindLimiter(cfg.WithoutCgroups, host.GroupLabel(cfg.StateDir)), root: os.Geteuid() == 0, bootID: host.BootID(),
	}
	m.limits.Sweep()
	return m, nil
}

// Close implements host.Maker.
func (m *machine) Close() { m.filter.Close() }

func (m *machine) cgroups() bool { return m.limits.Name() != host.LimitsRlimits }

func findBwrap(cfg Config) (string, error) {
	name := cfg.Bwrap
	if name == "" {
		name = "bwrap"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", choir.Refuse("local.setup", choir.ReasonLocalNoBwrap, choir.TextOf("name", name))
	}
	return path, nil
}

// filterFile returns the seccomp program in a sealed file in memory.
func filterFile() (*os.File, error) {
	program, err := host.SeccompProgram()
	if err != nil {
		return nil, err
	}
	return host.MemoryFile("choir-seccomp", program, int64(len(program)))
}
