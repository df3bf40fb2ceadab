package gvisor

import (
	"bytes"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/sandbox/host"
)

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

// rootKind is a kind of root folder: its guest binaries, from CopyReadable, and whether there is a
// workspace.
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
		points = append(host.MountPoints(m.cfg.Toolchains, m.cfg.Modules), alwaysPoints...)
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
	if err := host.MakeFolders(Name, cfg.Modules, cfg.StateDir, boxes); err != nil {
		return nil, err
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

// Close implements host.Maker.
func (m *machine) Close() {}

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
