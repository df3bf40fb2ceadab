package container

import (
	"context"
	"encoding/base64"
	"path/filepath"

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
	if err := host.MakeFolders(Name, m.cfg.Modules, m.cfg.StateDir, m.boxes); err != nil {
		return err
	}
	filter, err := host.SeccompProgram()
	if err != nil {
		return err
	}
	m.filter = base64.StdEncoding.EncodeToString(filter)
	roots, err := host.PrepareRoots(m.cfg.StateDir, alwaysPoints, append(host.MountPoints(m.cfg.Toolchains, m.cfg.Modules), alwaysPoints...))
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

// Close implements host.Maker.
func (m *machine) Close() { m.engine.close() }
