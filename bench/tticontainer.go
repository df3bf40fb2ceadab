package bench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox/container"
	"choiros/internal/sandbox/host"
)

const podmanPeer = "podman run of the same command, with the same engine, image and folders"

// benchContainerTTI measures the time to the first command's output in sandboxes of a
// container engine, beside the engine's own client.
func benchContainerTTI(ctx context.Context, l *lab, emit func(Row)) error {
	driver := container.New(container.Config{StateDir: filepath.Join(l.dir, container.Name)})
	r := rungTTI{driver: driver, why: cannotIsolate(ctx, driver), about: podmanPeer, n: l.count(20), burst: burstSize(l)}
	if _, err := exec.LookPath("podman"); err != nil && r.why == "" {
		r.why = "podman is not on this machine"
	}
	if r.why == "" {
		peer, err := newBarePodman(ctx)
		if err != nil {
			return errors.Join(err, driver.Close())
		}
		r.peer = peer.run
	}
	return l.benchRungTTI(ctx, r, emit)
}

// barePodman runs the first command with Podman's own client.
type barePodman struct{ args []string }

// newBarePodman returns a client of the engine that choir's driver uses, whose containers have
// its image and the folders of programs.
func newBarePodman(ctx context.Context) (*barePodman, error) {
	const op = "bench.tti"
	socket, err := container.FindSocket(container.Config{})
	if err != nil {
		return nil, err
	}
	args := []string{"--url", "unix://" + socket}
	out, err := exec.CommandContext(ctx, "podman", append(args, "images", "--quiet", "--filter", "reference="+container.ImageName)...).Output()
	images := strings.Fields(string(out))
	if err != nil || len(images) == 0 {
		return nil, choir.Wrap(op, choir.CodeUnavailable, errors.Join(err, errors.New("the engine has no image of sandboxes")), "ask podman for images")
	}
	args = append(args, "run", "--rm", "--network=none", "--read-only", "--cap-drop=all", "--ulimit=nofile=8192:8192", "--ulimit=nproc=32768:32768", "--volume=/usr:/usr:ro")
	for _, name := range host.SystemFolders {
		if info, err := os.Lstat("/" + name); err == nil && info.IsDir() {
			args = append(args, "--volume=/"+name+":/"+name+":ro")
		}
	}
	return &barePodman{append(append(args, images[0]), firstCommand...)}, nil
}

func (p *barePodman) run(ctx context.Context) (float64, error) {
	began := time.Now()
	out, err := exec.CommandContext(ctx, "podman", p.args...).Output()
	took := time.Since(began)
	if err == nil && string(out) != "choir\n" {
		err = choir.E("bench.tti", choir.CodeInternal, "podman said %q", out)
	}
	return millis(took), choir.Wrap("bench.tti", choir.CodeUnavailable, err, "start a container with podman")
}
