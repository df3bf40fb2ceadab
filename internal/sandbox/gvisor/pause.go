package gvisor

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox/host"
)

// pause stops a sandbox's programs by the sentry. Without that the sentry takes a program that has
// not run for 30 seconds of the host's clock for stuck and kills it, and the time of a freeze counts.
type pause struct {
	runsc, folder, name string
}

var _ host.Inner = pause{}

// pausePatience is how long runsc may take to stop programs or to let them go on. It is not cut
// short: half done it could not be taken back.
const pausePatience = 20 * time.Second

// mark is the path of a file that is there while the programs may be stopped.
func (p pause) mark() string { return filepath.Join(p.folder, "paused") }

// Stop implements host.Inner.
func (p pause) Stop(context.Context) error {
	if err := os.WriteFile(p.mark(), nil, 0o600); err != nil {
		return choir.Wrap("gvisor.pause", choir.CodeUnavailable, err, "note that a sandbox is paused")
	}
	_, err := p.run("pause")
	return err
}

// Continue implements host.Inner.
func (p pause) Continue() error {
	if _, err := os.Lstat(p.mark()); os.IsNotExist(err) {
		return nil
	}
	if _, err := p.run("resume"); err != nil && p.mayBePaused() {
		return err
	}
	err := os.Remove(p.mark())
	if os.IsNotExist(err) {
		return nil
	}
	return choir.Wrap("gvisor.resume", choir.CodeUnavailable, err, "note that a sandbox goes on")
}

// mayBePaused reports whether runsc says nothing else than that the programs are stopped.
func (p pause) mayBePaused() bool {
	raw, err := p.run("state")
	var said struct {
		Status string `json:"status"`
	}
	return err != nil || json.Unmarshal(raw, &said) != nil || said.Status == "paused"
}

// Command implements host.Inner.
func (p pause) Command() []string {
	return []string{p.runsc, "--root=" + filepath.Join(p.folder, "state"), "resume", p.name}
}

// run runs a command of runsc about the sandbox and returns its standard output.
func (p pause) run(command string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), pausePatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.runsc, "--root="+filepath.Join(p.folder, "state"), command, p.name)
	cmd.Env, cmd.Dir = []string{}, "/"
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	return out, choir.Wrap("gvisor."+command, choir.CodeUnavailable, err, "runsc %s: %s", command, bytes.TrimSpace(said.Bytes()))
}
