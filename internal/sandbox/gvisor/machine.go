package gvisor

import (
	"bytes"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

const initName = "choir-init"

// machine holds what is found and prepared once for all calls of Create.
type machine struct {
	cfg    Config
	runsc  string
	boxes  string // the folder of the sandboxes' own folders
	filter string // the seccomp program, in base64
	limits host.Limiter
	bootID string

	mu    sync.Mutex // guards roots
	roots map[rootKind]string
}

// rootKind is the use of a root folder: its guest binaries, from CopyReadable, and whether there
// is a workspace.
type rootKind struct {
	guests    string
	workspace bool
}

// rootOf returns the root folder of a kind, which it prepares once.
func (m *machine) rootOf(kind rootKind) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if root, ok := m.roots[kind]; ok {
		return root, nil
	}
	points := alwaysPoints
	if kind.workspace {
		points = append(workspacePoints(m.cfg), alwaysPoints...)
	}
	root, err := host.PrepareRootWith(m.cfg.StateDir, points, kind.guests)
	if err == nil {
		m.roots[kind] = root
	}
	return root, err
}

func newMachine(cfg Config) (*machine, error) {
	runsc, err := findRunsc(cfg)
	if err != nil {
		return nil, err
	}
	if os.Geteuid() != 0 {
		return nil, choir.Refuse("gvisor.setup", choir.ReasonGvisorNotRoot)
	}
	boxes := filepath.Join(cfg.StateDir, "boxes")
	for _, dir := range []string{cfg.StateDir, boxes} {
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return nil, choir.Wrap("gvisor.setup", choir.CodeInternal, err, "make the driver's folder")
		}
		if err := os.Chmod(dir, 0o711); err != nil { // whatever the umask
			return nil, choir.Wrap("gvisor.setup", choir.CodeInternal, err, "open the driver's folder for sandboxes")
		}
	}
	if cfg.Modules != "" {
		if err := host.MakePublic(cfg.Modules); err != nil {
			return nil, choir.Wrap("gvisor.setup", choir.CodeInternal, err, "make the folder of packages")
		}
	}
	filter, err := host.SeccompProgram()
	if err != nil {
		return nil, err
	}
	m := &machine{
		filter: base64.StdEncoding.EncodeToString(filter),
		cfg:    cfg, runsc: runsc, boxes: boxes, bootID: host.BootID(),
		limits: host.FindLimiter(cfg.WithoutCgroups, host.GroupLabel(cfg.StateDir)),
		roots:  map[rootKind]string{},
	}
	m.limits.Sweep()
	m.sweepBoxes()
	return m, nil
}

// sweepBoxes removes the folders of sandboxes that a control plane left which was killed
// while it made or removed them. A folder that a process has in its arguments is in use.
func (m *machine) sweepBoxes() {
	left, err := os.ReadDir(m.boxes)
	if err != nil || len(left) == 0 {
		return // what is left takes some kilobytes; the next start tries again
	}
	var arguments []byte
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	for _, path := range lines {
		line, _ := os.ReadFile(path) // it may have ended
		arguments = append(arguments, line...)
	}
	for _, e := range left {
		if !bytes.Contains(arguments, []byte(e.Name())) {
			os.RemoveAll(filepath.Join(m.boxes, e.Name())) // as above
		}
	}
}

// alwaysPoints are the mount points of every sandbox that the root folder of package host
// lacks. The gofer would make what is missing, in the folder that all sandboxes share.
var alwaysPoints = []string{"sys"}

// workspacePoints returns the further mount points of a sandbox with a workspace.
func workspacePoints(cfg Config) []string {
	points := []string{strings.TrimPrefix(sandbox.WorkspaceInside, "/")}
	for _, path := range cfg.Toolchains {
		if !strings.HasPrefix(path, "/usr/") {
			points = append(points, strings.TrimPrefix(path, "/"))
		}
	}
	if cfg.Modules != "" {
		points = append(points, strings.TrimPrefix(ModulesInside, "/"))
	}
	return points
}

func (m *machine) close() {}

func (m *machine) cgroups() bool { return m.limits.Name() != host.LimitsRlimits }

func findRunsc(cfg Config) (string, error) {
	name := cfg.Runsc
	if name == "" {
		name = "runsc"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", choir.Refuse("gvisor.setup", choir.ReasonGvisorNoRunsc, choir.TextOf("version", Pinned), choir.TextOf("name", name))
	}
	return filepath.Abs(path)
}
