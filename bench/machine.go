package bench

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"choiros/internal/blob"
	"choiros/internal/blob/fs"
	"choiros/internal/bus"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/computer/projects"
	"choiros/internal/config"
	"choiros/internal/control/auth"
	"choiros/internal/control/auth/linklogin"
	"choiros/internal/control/connections"
	"choiros/internal/control/egress"
	"choiros/internal/control/supervisor"
	"choiros/internal/desktop"
	"choiros/internal/guestbin"
	keyfiles "choiros/internal/keyring/files"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/local"
	"choiros/internal/webui"
)

// machine is a whole choir without its doors: bus, log, both sandboxes.
type machine struct {
	sys  *supervisor.System
	c    *computer.Computer
	dir  string
	stop func() error
}

// project is the tree that a machine works in.
const project = "tree"

// cannotServe says why no whole choir can run here; empty when one can.
func (l *lab) cannotServe(ctx context.Context) string {
	for _, name := range guestbin.Names() {
		if _, err := guestbin.Read(name); err != nil {
			return err.Error()
		}
	}
	return l.cannotIsolate(ctx)
}

// start starts a choir with a project of so many files, which is under git.
func (l *lab) start(ctx context.Context, files int) (*machine, error) {
	dir, err := l.folder()
	if err != nil {
		return nil, err
	}
	return l.startIn(ctx, dir, files, l.driver, supervisor.DesktopConfig{})
}

// startDesktop starts a choir whose workspace has the desktop's own source, and
// all that serves it once it is changed.
func (l *lab) startDesktop(ctx context.Context, files int) (*machine, error) {
	dir, err := l.folder()
	if err != nil {
		return nil, err
	}
	state := filepath.Join(dir, "sandbox")
	carried, sandboxes := supervisor.DesktopConfig{Source: webui.DesktopSource()}, local.Config{StateDir: state}
	if digest, packages, tools := webui.DesktopModules(); digest != "" {
		carried.Modules = desktop.NewModules(state, digest[:16], packages, tools)
		sandboxes.Modules = carried.Modules.Folder()
	}
	driver := local.New(sandboxes)
	m, err := l.startIn(ctx, dir, files, driver, carried)
	if err != nil {
		return nil, errors.Join(err, driver.Close())
	}
	stop := m.stop
	m.stop = func() error { return errors.Join(stop(), driver.Close()) }
	return m, nil
}

func (l *lab) startIn(ctx context.Context, dir string, files int, driver sandbox.Driver, carried supervisor.DesktopConfig) (*machine, error) {
	models, err := connections.Open(connections.Config{Data: dir, Keys: keyfiles.New(filepath.Join(dir, "keys", "models")), Now: time.Now})
	if err != nil {
		return nil, err
	}
	sys, err := supervisor.Open(ctx, supervisor.Config{
		Data: dir, File: config.Default(), Driver: driver, Desktop: carried, Connections: models, Outside: egress.Internet(),
		OpenBlobs: func(dir string) (blob.Store, error) { return fs.Open(dir) },
		StartBus: func(ctx context.Context, at supervisor.BusFolders) (bus.Server, error) {
			return hub.Start(ctx, hub.Config{Dir: at.Dir, Keys: at.Keys, StoreMax: config.Default().Bus.StreamMB << 20})
		},
		OpenAuth: func(dir string, owner choir.ID) (auth.Authority, error) {
			return linklogin.OpenFolder(dir, owner, time.Now)
		},
		Version: l.version, Now: time.Now, Random: rand.Reader, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	m := &machine{sys: sys, c: sys.Computers()[0], dir: dir}
	// It stops in order also when the context ends, to leave nothing behind.
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- sys.Serve(serving) }()
	m.stop = func() error {
		cancel()
		return errors.Join(<-done, sys.Close())
	}
	if err := m.lay(ctx, files); err != nil {
		return nil, errors.Join(err, m.stop())
	}
	return m, nil
}

// lay brings the project in; that waits for the Associate.
func (m *machine) lay(ctx context.Context, files int) error {
	tar, err := tarOf(files)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	first := &projects.FirstCommit{Message: "Begin", At: benchTime.Std()}
	_, err = m.c.Projects().Add(ctx, choir.RoleCLI, projects.NewProject{Name: project, Commit: first}, tar)
	return err
}

// file is where a file of the project lies on the host.
func (m *machine) file(name string) string {
	return filepath.Join(m.dir, "computers", string(m.c.ID()), "associate", "workspace", "workspace", project, name)
}

// do submits a task and waits for its durable result.
func (m *machine) do(ctx context.Context, t choir.DirectorTask) (choir.AssociateResult, error) {
	t, err := m.c.Tasks().NewTask(t)
	if err != nil {
		return choir.AssociateResult{}, err
	}
	if _, err := m.c.Tasks().Submit(ctx, choir.RoleCLI, t); err != nil {
		return choir.AssociateResult{}, err
	}
	res, err := m.c.Tasks().Wait(ctx, t.TaskID)
	if err == nil && res.Status != choir.StatusOK {
		err = choir.E("bench.task", choir.CodeInternal, "the task ended %s (%s): %s", res.Status, res.Code, res.Summary)
	}
	return res, err
}
