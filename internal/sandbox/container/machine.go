package container

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"

	"choiros/internal/choir"
	"choiros/internal/sandbox/host"
)

// machine holds what is found and prepared once for all calls of Create.
type machine struct {
	cfg    Config
	engine *engine
	label  string // of this data folder's containers
	boxes  string // the folder of the sandboxes' own folders
	filter string // the seccomp program, in base64
	bootID string
	// root and rootWorkspace are the root folders without and with a workspace, of which the
	// images are made.
	root, rootWorkspace string
}

func newMachine(cfg Config) (*machine, error) {
	ctx, cancel := context.WithTimeout(context.Background(), cfg.BootTimeout)
	defer cancel()
	e, err := connect(ctx, cfg)
	if err != nil {
		return nil, err
	}
	m := &machine{
		cfg: cfg, engine: e, label: host.GroupLabel(cfg.StateDir), boxes: filepath.Join(cfg.StateDir, "boxes"), bootID: host.BootID(),
	}
	if err := m.prepare(ctx); err != nil {
		e.close()
		return nil, err
	}
	return m, nil
}

// prepare makes the driver's folders, the filter and the images, and removes the remains of
// earlier control planes.
func (m *machine) prepare(ctx context.Context) error {
	for _, dir := range []string{m.cfg.StateDir, m.boxes} {
		if err := os.MkdirAll(dir, 0o711); err != nil {
			return choir.Wrap("container.setup", choir.CodeInternal, err, "make the driver's folder")
		}
		if err := os.Chmod(dir, 0o711); err != nil { // whatever the umask
			return choir.Wrap("container.setup", choir.CodeInternal, err, "open the driver's folder for sandboxes")
		}
	}
	if m.cfg.Modules != "" {
		if err := host.MakePublic(m.cfg.Modules); err != nil {
			return choir.Wrap("container.setup", choir.CodeInternal, err, "make the folder of packages")
		}
	}
	filter, err := host.SeccompProgram()
	if err != nil {
		return err
	}
	m.filter = base64.StdEncoding.EncodeToString(filter)
	roots, err := host.PrepareRoots(m.cfg.StateDir, alwaysPoints, append(workspacePoints(m.cfg), alwaysPoints...))
	if err != nil {
		return err
	}
	m.root, m.rootWorkspace = roots[0], roots[1]
	if err := m.makeImages(ctx); err != nil {
		return err
	}
	m.engine.sweep(ctx, m.label, m.boxes)
	return nil
}

func (m *machine) close() { m.engine.close() }
