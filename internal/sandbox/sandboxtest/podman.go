package sandboxtest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Podman is a Podman with a storage of its own, so that neither it nor the machine's sees the
// other's containers.
type Podman struct {
	Socket  string // its path
	dir     string
	service *exec.Cmd
}

// NewPodman returns a Podman that is not started. Runc is needed: crun does not start
// containers where cgroups of both versions are mounted.
func NewPodman() (*Podman, error) {
	for _, name := range []string{"podman", "runc"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "choir-podman-")
	return &Podman{dir: dir, Socket: filepath.Join(dir, "engine.sock")}, err
}

// Start starts the service and returns when it listens.
func (p *Podman) Start() error {
	p.service = exec.Command("podman", "--root", filepath.Join(p.dir, "root"), "--runroot", filepath.Join(p.dir, "run"), "--runtime", "runc",
		"--cgroup-manager", "cgroupfs", "system", "service", "--time=0", "unix://"+p.Socket)
	if err := p.service.Start(); err != nil {
		return err
	}
	for began := time.Now(); time.Since(began) < 30*time.Second; {
		if conn, err := net.Dial("unix", p.Socket); err == nil {
			conn.Close()
			return nil
		}
	}
	return fmt.Errorf("podman does not listen at %s", p.Socket)
}

// Kill ends the service; its containers live on.
func (p *Podman) Kill() {
	p.service.Process.Kill()
	p.service.Wait()
	os.Remove(p.Socket)
}

// Remove ends the service and removes its storage.
func (p *Podman) Remove() {
	p.Kill()
	syscall.Unmount(filepath.Join(p.dir, "root", "overlay"), syscall.MNT_DETACH)
	os.RemoveAll(p.dir)
}
