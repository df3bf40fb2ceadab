package local

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/syscallfilter"

	"golang.org/x/sys/unix"
)

const initName = "choir-init"

// machine holds what is found and prepared once for all calls of Create.
type machine struct {
	cfg   Config
	bwrap string
	// common and commonWorkspace are bubblewrap's arguments that no spec
	// changes, without and with a workspace.
	common, commonWorkspace []string
	toolchains              []toolchain
	filter                  *os.File // the seccomp program, in memory
	limits                  limiter
	root                    bool
	bootID                  string
}

func newMachine(cfg Config) (*machine, error) {
	bwrap, err := findBwrap(cfg)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.StateDir, 0o711); err != nil {
		return nil, choir.Wrap("local.setup", choir.CodeInternal, err, "make the driver's folder")
	}
	if err := os.Chmod(cfg.StateDir, 0o711); err != nil { // whatever the umask
		return nil, choir.Wrap("local.setup", choir.CodeInternal, err, "open the driver's folder for sandboxes")
	}
	toolchains, err := findToolchains(cfg, os.Geteuid() == 0)
	if err != nil {
		return nil, err
	}
	root, err := prepareRoot(cfg.StateDir, nil)
	if err != nil {
		return nil, err
	}
	points := append(toolchainPoints(toolchains), sandbox.WorkspaceInside)
	shared := toolchainArgs(toolchains)
	if cfg.Modules != "" {
		if err := makePublic(cfg.Modules); err != nil {
			return nil, choir.Wrap("local.setup", choir.CodeInternal, err, "make the folder of packages")
		}
		points = append(points, ModulesInside)
		shared = append(shared, "--ro-bind", cfg.Modules, ModulesInside)
	}
	rootWorkspace, err := prepareRoot(cfg.StateDir, points)
	if err != nil {
		return nil, err
	}
	filter, err := filterFile()
	if err != nil {
		return nil, err
	}
	m := &machine{
		cfg: cfg, bwrap: bwrap, filter: filter,
		common: commonArgs(root), commonWorkspace: append(commonArgs(rootWorkspace), shared...), toolchains: toolchains,
		limits: findLimiter(cfg, groupLabel(cfg.StateDir)), root: os.Geteuid() == 0, bootID: bootID(),
	}
	m.limits.sweep()
	return m, nil
}

func (m *machine) close() { m.filter.Close() }

func (m *machine) cgroups() bool { return m.limits.name() != limitsRlimits }

func findBwrap(cfg Config) (string, error) {
	name := cfg.Bwrap
	if name == "" {
		name = "bwrap"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", choir.E("local.setup", choir.CodeUnavailable, "bubblewrap (%s) is not installed", name).
			WithRemedy("%s", remedyBwrap)
	}
	return path, nil
}

// findLimiter returns the strongest limiter that works here: cgroups version 2, version
// 1, or rlimits.
func findLimiter(cfg Config, label string) limiter {
	if cfg.WithoutCgroups {
		return noLimiter{}
	}
	all := hierarchies()
	if l := newV2(all, label); l != nil {
		return l
	}
	if l := newV1(all, label); l != nil {
		return l
	}
	return noLimiter{}
}

// groupLabel returns the prefix of the names of all cgroups of one data folder.
func groupLabel(stateDir string) string {
	abs, err := filepath.Abs(stateDir)
	if err != nil {
		abs = stateDir // no working folder: the path is at least always the same
	}
	sum := sha256.Sum256([]byte(abs))
	return "choir-" + hex.EncodeToString(sum[:6])
}

// filterFile returns the seccomp program in a sealed file in memory.
func filterFile() (*os.File, error) {
	program, err := syscallfilter.Assemble()
	if err != nil {
		return nil, err
	}
	return memoryFile("choir-seccomp", program, int64(len(program)))
}

// memoryFile returns a file in memory with the given content and size. Its size cannot
// change.
func memoryFile(name string, content []byte, size int64) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, choir.Wrap("local.memory", choir.CodeInternal, err, "make a file in memory")
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err = f.WriteAt(content, 0); err == nil {
		err = f.Truncate(size)
	}
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_GROW|unix.F_SEAL_SHRINK)
	}
	if err != nil {
		f.Close()
		return nil, choir.Wrap("local.memory", choir.CodeInternal, err, "fill a file in memory")
	}
	return f, nil
}
