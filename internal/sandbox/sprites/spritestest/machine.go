package spritestest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"choiros/internal/inherited"
)

// machine is one sprite.
type machine struct {
	name   string
	config json.RawMessage
	made   time.Time
	outer  *exec.Cmd // bubblewrap
	user   bool      // programs are run by an ordinary user
	pid    int       // of the first process of its pid namespace, as the host counts

	mu       sync.Mutex // guards what follows
	policy   []byte
	sessions map[string]*session
	last     int
}

// newMachine starts a sprite: a root folder in memory with this machine's programs.
func newMachine(name string, config json.RawMessage) (*machine, error) {
	args := []string{
		"--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--new-session",
		"--cap-add", "ALL", "--hostname", "sprite", "--clearenv",
		"--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev",
		"--dir", "/var/lib", "--dir", "/run", "--dir", "/root", "--dir", "/home/sprite", "--perms", "1777", "--dir", "/tmp",
	}
	for _, folder := range []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"} {
		if to, err := os.Readlink("/" + folder); err == nil {
			args = append(args, "--symlink", to, "/"+folder)
		} else if _, err := os.Stat("/" + folder); err == nil {
			args = append(args, "--ro-bind", "/"+folder, "/"+folder)
		}
	}
	cmd := exec.Command("bwrap", append(args, "--json-status-fd", "3", "--", "/bin/sleep", "infinity")...)
	status, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer status.Close()
	cmd.ExtraFiles, cmd.Stderr = []*os.File{theirs}, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err = inherited.KeepFromChildren(); err == nil {
		err = cmd.Start()
	}
	theirs.Close()
	if err != nil {
		return nil, err
	}
	m := &machine{name: name, config: config, made: time.Now(), outer: cmd, sessions: map[string]*session{}}
	if m.pid, err = firstProcess(status); err != nil {
		m.killAll()
		return nil, err
	}
	return m, nil
}

// firstProcess reads the pid that bubblewrap says, and waits until the machine is set up:
// then its root folder is no longer this machine's.
func firstProcess(status *os.File) (int, error) {
	line, err := bufio.NewReader(status).ReadBytes('\n')
	if err != nil {
		return 0, err
	}
	var said struct {
		PID int `json:"child-pid"`
	}
	if err := json.Unmarshal(line, &said); err != nil || said.PID == 0 {
		return 0, fmt.Errorf("bubblewrap says %q, %v", line, err)
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for range 5000 {
		raw, err := os.ReadFile("/proc/" + strconv.Itoa(said.PID) + "/root/proc/1/comm")
		if hostname, _ := os.ReadFile("/proc/1/comm"); err == nil && string(raw) != string(hostname) {
			return said.PID, nil
		}
		<-tick.C
	}
	return 0, fmt.Errorf("the sprite was not set up")
}

// killAll kills every process of the sprite and waits for their end.
func (m *machine) killAll() {
	if m.pid != 0 {
		syscall.Kill(m.pid, syscall.SIGKILL) // it may have ended
	} else {
		m.outer.Process.Kill()
	}
	m.outer.Wait() // how it ended says nothing
	m.cut()
}

// cut breaks the connections of all programs.
func (m *machine) cut() {
	m.mu.Lock()
	var all []*session
	for _, s := range m.sessions {
		all = append(all, s)
	}
	m.mu.Unlock()
	for _, s := range all {
		s.cut()
	}
}

// info returns the service's description of a sprite.
func (m *machine) info() spriteInfo {
	return spriteInfo{
		ID: "sprite-" + m.name, Name: m.name, Organization: "test", Status: "running", URL: "https://" + m.name + ".sprites.test",
		Settings: map[string]string{"auth": "sprite"}, Created: m.made, Updated: m.made, Config: m.config,
	}
}

// asUser returns the command line of an ordinary user's program: sudo is played, because
// bubblewrap lets no program gain a right.
func asUser(argv []string) []string {
	if len(argv) > 3 && slices.Equal(argv[:3], []string{"/usr/bin/sudo", "-n", "--"}) {
		return argv[3:]
	}
	return append([]string{"/usr/bin/setpriv", "--reuid=1001", "--regid=1001", "--clear-groups", "--inh-caps=-all", "--"}, argv...)
}

// command returns a command that runs inside of the sprite.
func (m *machine) command(argv, env []string, dir string) *exec.Cmd {
	if m.user {
		argv = asUser(argv)
	}
	args := []string{
		"--target", strconv.Itoa(m.pid), "--mount", "--pid", "--net", "--ipc", "--uts", "--root", "--wdns=" + dir, "--",
	}
	cmd := exec.Command("nsenter", append(args, argv...)...)
	cmd.Env = env
	return cmd
}
