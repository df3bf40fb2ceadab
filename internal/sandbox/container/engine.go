package container

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"choiros/internal/choir"
	"choiros/internal/sandbox/host"
)

// ownerLabel is the label of every container, with the name of its data folder.
const ownerLabel = "choir.data"

// engineTimeout is the limit on the engine's answer to a question about itself.
const engineTimeout = 10 * time.Second

// engine is a container engine.
type engine struct {
	api      *client.Client
	socket   string
	title    string // such as "Podman 4.3.1"
	rootless bool   // it maps its root to the user it runs as
	limits   bool   // it holds limits of memory, CPU and processes
	options  []string
}

// FindSocket returns the path of the engine's socket, which is the configured one or the
// first that is there. If there is none the error is code
// unavailable.
func FindSocket(cfg Config) (string, error) {
	candidates := append(slices.Clone(Sockets), fmt.Sprintf("/run/user/%d/podman/podman.sock", os.Geteuid()))
	if cfg.Socket != "" {
		candidates = []string{cfg.Socket}
	}
	for _, path := range candidates {
		if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeSocket != 0 {
			return path, nil
		}
	}
	return "", choir.Refuse("container.setup", choir.ReasonContainerNoEngine, choir.TextOf("paths", strings.Join(candidates, ", ")))
}

// connect returns the engine that listens at the configured socket. Code unavailable: none
// does, or it does not answer.
func connect(ctx context.Context, cfg Config) (*engine, error) {
	socket, err := FindSocket(cfg)
	if err != nil {
		return nil, err
	}
	api, err := client.New(client.WithHost("unix://" + socket))
	if err != nil {
		return nil, choir.Wrap("container.setup", choir.CodeInternal, err, "make a client of the container engine")
	}
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	e := &engine{api: api, socket: socket}
	if err := e.readFacts(ctx); err != nil {
		api.Close()
		return nil, choir.Wrap("container.setup", choir.CodeUnavailable, err, "ask the container engine at %s about itself", socket)
	}
	return e, nil
}

// readFacts asks the engine for its name, limits and security options.
func (e *engine) readFacts(ctx context.Context) error {
	version, err := e.api.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return err
	}
	said, err := e.api.Info(ctx, client.InfoOptions{})
	if err != nil {
		return err
	}
	e.title = "Docker " + version.Version
	if slices.ContainsFunc(version.Components, isPodman) {
		e.title = "Podman " + version.Version
	}
	e.limits = said.Info.MemoryLimit && said.Info.PidsLimit && said.Info.CPUCfsQuota
	// The container is confined by namespaces, the filter and Landlock. These modules'
	// profiles for containers refuse mounts inside and the data folder.
	e.options = []string{"no-new-privileges", "seccomp=unconfined"}
	for _, option := range said.Info.SecurityOptions {
		switch {
		case strings.Contains(option, "rootless"):
			e.rootless = true
		case strings.Contains(option, "apparmor"):
			e.options = append(e.options, "apparmor=unconfined")
		case strings.Contains(option, "selinux"):
			e.options = append(e.options, "label=disable")
		}
	}
	return nil
}

func (e *engine) close() { e.api.Close() }

// countShortages counts what the kernel has refused to the engine; nothing if the engine is on
// another machine or cannot be asked.
func (e *engine) countShortages() host.Shortages {
	conn, err := net.Dial("unix", e.socket)
	if err != nil {
		return host.Shortages{}
	}
	defer conn.Close()
	peer, err := peerOf(conn.(*net.UnixConn))
	if err != nil {
		return host.Shortages{}
	}
	return host.CountShortages(peer)
}

// ImageName is the name of the images of sandboxes. Their tags depend on their content, so
// that all data folders share them, and they can be removed at any time.
const ImageName = "choir-sandbox"

// imageOf returns the name of the image of a root folder.
func imageOf(root string) string {
	return ImageName + ":" + strings.TrimPrefix(filepath.Base(root), "root-")
}

// ensureImage makes the image of a root folder if the engine lacks it.
func (e *engine) ensureImage(ctx context.Context, root string) error {
	name := imageOf(root)
	_, err := e.api.ImageInspect(ctx, name)
	if err == nil {
		return nil
	}
	if !errdefs.IsNotFound(err) {
		return choir.Wrap("container.image", choir.CodeUnavailable, err, "look for the image of sandboxes")
	}
	content, err := packRoot(root)
	if err != nil {
		return choir.Wrap("container.image", choir.CodeInternal, err, "pack the root folder of sandboxes")
	}
	said, err := e.api.ImageImport(ctx, client.ImageImportSource{Source: content, SourceName: "-"}, name, client.ImageImportOptions{})
	if err == nil {
		_, err = io.Copy(io.Discard, said)
		said.Close()
	}
	if err == nil {
		_, err = e.api.ImageInspect(ctx, name)
	}
	return choir.Wrap("container.image", choir.CodeUnavailable, err, "give the engine the image of sandboxes")
}

// create makes a container, and the images first if somebody has removed them.
func (m *machine) create(ctx context.Context, p program) (string, error) {
	made, err := m.engine.api.ContainerCreate(ctx, m.options(p))
	if errdefs.IsNotFound(err) {
		if err := m.makeImages(ctx); err != nil {
			return "", err
		}
		made, err = m.engine.api.ContainerCreate(ctx, m.options(p))
	}
	return made.ID, choir.Wrap("container.create", choir.CodeUnavailable, err, "ask %s for a container", m.engine.title)
}

// makeImages makes the images that the engine lacks.
func (m *machine) makeImages(ctx context.Context) error {
	if err := m.engine.ensureImage(ctx, m.root); err != nil {
		return err
	}
	return m.engine.ensureImage(ctx, m.rootWorkspace)
}

// packRoot returns the root folder as a tar archive, whose bytes depend on its content
// alone. Everything in it belongs to root.
func packRoot(root string) (io.Reader, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		target := ""
		if info.Mode()&fs.ModeSymlink != 0 {
			if target, err = os.Readlink(path); err != nil {
				return err
			}
		}
		head, err := tar.FileInfoHeader(info, target)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		head.Name, head.ModTime = name, time.Unix(0, 0)
		if name == "tmp" {
			head.Mode = 0o1777 // engines give its mode to the folder in memory over it
		}
		head.Uid, head.Gid, head.Uname, head.Gname = 0, 0, "", ""
		if err := w.WriteHeader(head); err != nil || !info.Mode().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil {
			_, err = w.Write(content)
		}
		return err
	})
	if err == nil {
		err = w.Close()
	}
	return &out, err
}

// sweep removes the containers of this data folder that do not run, and the folders below
// boxes that belong to no container: what a control plane left that was killed.
func (e *engine) sweep(ctx context.Context, label, boxes string) {
	all, err := e.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", ownerLabel+"="+label)})
	if err != nil {
		return // the next start tries again
	}
	var running []string
	for _, c := range all.Items {
		if c.State == container.StateRunning {
			running = append(running, strings.TrimPrefix(slices.Concat(c.Names, []string{""})[0], "/"))
		} else {
			e.remove(ctx, c.ID) // as above
		}
	}
	left, _ := os.ReadDir(boxes) // as above
	for _, entry := range left {
		if !slices.Contains(running, entry.Name()) {
			os.RemoveAll(filepath.Join(boxes, entry.Name())) // as above
		}
	}
}

// removals is how often an engine is asked to remove a container, and removalPause the time
// between two of these requests.
const (
	removals     = 50
	removalPause = 50 * time.Millisecond
)

// remove removes a container, with the processes in it. It is idempotent. An engine that has not
// noticed yet that the first process has ended refuses that for a moment, and is asked again.
func (e *engine) remove(ctx context.Context, id string) error {
	for left := removals; ; left-- {
		_, err := e.api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		if err == nil || errdefs.IsNotFound(err) {
			return nil
		}
		if left == 0 || client.IsErrConnectionFailed(err) {
			return choir.Wrap("container.remove", choir.CodeUnavailable, err, "remove a container")
		}
		select {
		case <-time.After(removalPause):
		case <-ctx.Done():
			return choir.Wrap("container.remove", choir.CodeUnavailable, err, "remove a container")
		}
	}
}

// start starts a container and returns the number of its first process on the host.
func (e *engine) start(ctx context.Context, id string) (int, error) {
	if _, err := e.api.ContainerStart(ctx, id, client.ContainerStartOptions{}); err != nil {
		return 0, err
	}
	said, err := e.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return 0, err
	}
	if s := said.Container.State; s == nil || s.Pid <= 0 {
		return 0, fmt.Errorf("it has ended already")
	}
	return said.Container.State.Pid, nil
}

// output returns the beginning of what a container's first process wrote, or "" if the
// engine does not say it.
func (e *engine) output(ctx context.Context, id string) string {
	ctx, cancel := host.ContextOfRemoval(ctx)
	defer cancel()
	logs, err := e.api.ContainerLogs(ctx, id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true})
	if err != nil {
		return ""
	}
	defer logs.Close()
	var text bytes.Buffer
	stdcopy.StdCopy(&text, &text, io.LimitReader(logs, diagnosticBytes)) // best effort: it only explains another error
	return strings.TrimSpace(text.String())
}

func isPodman(c system.ComponentVersion) bool { return strings.HasPrefix(c.Name, "Podman") }
