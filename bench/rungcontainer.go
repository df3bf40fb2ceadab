package bench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"choiros/bench/attacks"
	"choiros/internal/choir"
	"choiros/internal/sandbox/container"
	"choiros/internal/sandbox/host"
)

const podmanPeer = "podman run of the same command, with the same engine, image and folders"

// findContainer returns the rung of container engines, beside the engine's own client.
func (l *lab) findContainer(ctx context.Context) (rung, error) {
	driver := container.New(container.Config{StateDir: filepath.Join(l.dir, container.Name)})
	r := rung{
		driver: driver, why: cannotIsolate(ctx, driver), settings: attacks.RungSettings(container.Name, ""),
		about: podmanPeer, held: "podman run of cat, with the same engine, image and folders",
		starts: l.count(20), burst: burstSize(l), wakes: l.count(20), computers: l.count(10),
	}
	if _, err := exec.LookPath("podman"); err != nil && r.why == "" {
		r.why = "podman is not on this machine"
	}
	if r.why != "" {
		return r, nil
	}
	peer, err := newBarePodman(ctx)
	if err != nil {
		return r, err
	}
	r.peer, r.hold = peer.run, peer.hold
	return r, nil
}

// barePodman makes containers with Podman's own client.
type barePodman struct {
	client []string // its arguments
	box    []string // of a container, up to its command
}

// newBarePodman returns a client of the engine that choir's driver uses, whose containers have
// its image and the folders of programs.
func newBarePodman(ctx context.Context) (*barePodman, error) {
	const op = "bench.tti"
	socket, err := container.FindSocket(container.Config{})
	if err != nil {
		return nil, err
	}
	p := &barePodman{client: []string{"--url", "unix://" + socket}}
	out, err := p.command(ctx, []string{"images", "--quiet", "--filter", "reference=" + container.ImageName}).Output()
	images := strings.Fields(string(out))
	if err != nil || len(images) == 0 {
		return nil, choir.Wrap(op, choir.CodeUnavailable, errors.Join(err, errors.New("the engine has no image of sandboxes")), "ask podman for images")
	}
	p.box = []string{"--rm", "--network=none", "--read-only", "--cap-drop=all", "--ulimit=nofile=8192:8192", "--ulimit=nproc=32768:32768", "--volume=/usr:/usr:ro"}
	for _, name := range host.SystemFolders {
		if info, err := os.Lstat("/" + name); err == nil && info.IsDir() {
			p.box = append(p.box, "--volume=/"+name+":/"+name+":ro")
		}
	}
	p.box = append(p.box, images[0])
	return p, nil
}

func (p *barePodman) command(ctx context.Context, parts ...[]string) *exec.Cmd {
	return exec.CommandContext(ctx, "podman", slices.Concat(append([][]string{p.client}, parts...)...)...)
}

// hold starts a container in which cat waits, without the client that started it.
func (p *barePodman) hold(ctx context.Context) (func(), error) {
	out, err := p.command(ctx, []string{"run", "--detach", "--interactive"}, p.box, []string{"/bin/cat"}).Output()
	end := func() {
		// A container that has ended already is gone.
		_ = p.command(context.WithoutCancel(ctx), []string{"rm", "--force", "--time=0", strings.TrimSpace(string(out))}).Run()
	}
	return end, choir.Wrap("bench.density", choir.CodeUnavailable, err, "start a container with podman")
}

func (p *barePodman) run(ctx context.Context) (float64, error) {
	began := time.Now()
	out, err := p.command(ctx, []string{"run"}, p.box, firstCommand).Output()
	took := time.Since(began)
	if err == nil && string(out) != "choir\n" {
		err = choir.E("bench.tti", choir.CodeInternal, "podman said %q", out)
	}
	return millis(took), choir.Wrap("bench.tti", choir.CodeUnavailable, err, "start a container with podman")
}
