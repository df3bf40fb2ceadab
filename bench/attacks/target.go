package attacks

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"choiros/internal/sandbox"
)

// target is the choir under attack and what surrounds it.
type target struct {
	dir, data, choir, origin, secret string
	settings                         string        // of the rung
	level                            sandbox.Level // the isolation in force
	cmd                              *exec.Cmd
	ended                            chan struct{}
	said                             *bytes.Buffer
	provider                         *httptest.Server
	// inherited are open when choir starts: a secret file, the root folder, a socket.
	inherited []*os.File
}

// settings of the choir under attack; the provider's address goes in.
const settings = `[listen]
address = "127.0.0.1:0"

[limits]
cost_usd = 5.0

[models]
director = "fake/associate"
associate = "fake/associate"

[[models.provider]]
name = "fake"
kind = "openai"
base_url = "http://%s/v1"
key_file = "%s"
%s
`

// firstInherited is the number of the first inherited descriptor.
const firstInherited = 40

// newTarget starts a choir that inherits descriptors it did not ask for.
func newTarget(ctx context.Context, p Plan) (t *target, err error) {
	path, err := filepath.Abs(p.Choir)
	if err != nil {
		return nil, err
	}
	t = &target{choir: path, secret: "TOP-SECRET-" + rand.Text(), settings: p.Settings, ended: make(chan struct{}), said: &bytes.Buffer{}}
	if t.dir, err = os.MkdirTemp("/var/tmp", "choir-attack-"); err != nil {
		return nil, err
	}
	if err := t.prepare(ctx); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

func (t *target) prepare(ctx context.Context) error {
	t.data = filepath.Join(t.dir, "data")
	if err := errors.Join(os.Chmod(t.dir, 0o711), os.Mkdir(t.data, 0o711)); err != nil {
		return err
	}
	t.provider = httptest.NewServer(&provider{})
	address := strings.TrimPrefix(t.provider.URL, "http://")
	key := filepath.Join(t.dir, "provider.key")
	config := t.settings + "\n" + fmt.Sprintf(settings, address, key, priceSetting)
	if err := errors.Join(os.WriteFile(key, []byte(t.secret), 0o600), os.WriteFile(filepath.Join(t.data, "choir.toml"), []byte(config), 0o600)); err != nil {
		return err
	}
	if err := t.openInherited(key); err != nil {
		return err
	}
	return t.start(ctx)
}

func (t *target) openInherited(secret string) error {
	file, err := os.Open(secret)
	if err != nil {
		return err
	}
	t.inherited = append(t.inherited, file)
	root, err := os.Open("/")
	if err != nil {
		return err
	}
	t.inherited = append(t.inherited, root)
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	t.inherited = append(t.inherited, os.NewFile(uintptr(pair[0]), "socket"))
	// Their numbers must lie above those that a driver gives what it starts.
	t.inherited = append(make([]*os.File, firstInherited-3), t.inherited...)
	return syscall.Close(pair[1])
}

// start starts choir and waits until it says where it is and its sandboxes run.
func (t *target) start(ctx context.Context) error {
	t.cmd = exec.CommandContext(context.WithoutCancel(ctx), t.choir, "up", "--json", "--data", t.data)
	t.cmd.ExtraFiles, t.cmd.Stderr = t.inherited, t.said
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := t.cmd.Start(); err != nil {
		t.cmd = nil
		return err
	}
	line, readErr := bufio.NewReader(out).ReadBytes('\n')
	go func() {
		_ = t.cmd.Wait() // its last words are in said
		close(t.ended)
	}()
	var up struct{ Address string }
	if readErr != nil || json.Unmarshal(line, &up) != nil || up.Address == "" {
		return fmt.Errorf("choir did not come up: %s%s", line, t.said)
	}
	t.origin = strings.TrimPrefix(up.Address, "http://")
	return t.ready(ctx)
}

// ready waits until a task runs.
func (t *target) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.choir, "task", "-", "--data", t.data)
	cmd.Stdin = strings.NewReader(`{"version":1,"kind":"run","instruction":"ready","commands":[{"argv":["true"]}],"verify_profile":{"mode":"none"}}`)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("choir runs no task: %w\n%s%s", err, out, t.said)
	}
	return t.learnLevel(ctx)
}

// learnLevel asks choir for the isolation in force.
func (t *target) learnLevel(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, t.choir, "doctor", "--json", "--data", t.data).Output()
	if err != nil {
		return fmt.Errorf("ask choir for its isolation: %w", err)
	}
	var said struct{ Isolation sandbox.Report }
	err = json.Unmarshal(out, &said)
	t.level = said.Isolation.Level
	return err
}

// env names the target to a program.
func (t *target) env() []string {
	_, port, _ := strings.Cut(t.origin, ":")
	return []string{
		"CHOIR=" + t.choir, "DATA=" + t.data, "SECRET=" + t.secret, "ORIGIN=choir.localhost:" + port,
		"BILL=" + strings.TrimPrefix(t.provider.URL, "http://"), fmt.Sprintf("CHOIR_PID=%d", t.cmd.Process.Pid),
		"RUNG=" + t.level.Driver, "CONFINED=" + t.level.Tasks, "SETTINGS=" + t.settings, "SLOWER=" + strconv.Itoa(t.slower()),
	}
}

// slower returns how many times as long as here programs take in the sandbox: ten in a machine
// that is emulated, which tells so.
func (t *target) slower() int {
	if strings.Contains(t.level.Name, "emulation") {
		return 10
	}
	return 1
}

// close stops choir and removes all that was made.
func (t *target) close() error {
	if t.cmd != nil {
		_ = t.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-t.ended:
		case <-time.After(time.Minute):
			_ = syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL)
			<-t.ended
		}
	}
	if t.provider != nil {
		t.provider.Close()
	}
	for _, f := range t.inherited {
		if f != nil {
			f.Close()
		}
	}
	// os.RemoveAll has a folder open for each that lies above: too many for some attacks.
	if out, err := exec.Command("rm", "-rf", "--", t.dir).CombinedOutput(); err != nil {
		return fmt.Errorf("remove %s: %w: %s", t.dir, err, tail(string(out), 300))
	}
	return nil
}
