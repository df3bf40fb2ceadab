package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"choiros/internal/bus/cluster"
	"choiros/internal/choir"
)

// patience bounds every wait of these tests.
const patience = 60 * time.Second

// insideVar says to a test that it runs in a network namespace of its own.
const insideVar = "CHOIR_TEST_IN_NETNS"

// isolated runs the test once more, in a process with an empty network, and
// reports whether this is that process. What the test makes there goes with it.
func isolated(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideVar) != "" {
		return true
	}
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	for _, tool := range []string{"ip", "nsenter", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed")
		}
	}
	args := []string{"-test.run=^" + t.Name() + "$", "-test.timeout=10m"}
	if testing.Verbose() {
		args = append(args, "-test.v")
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), insideVar+"=yes")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("network namespaces are not allowed here")
	}
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("in a network of its own: %v", err)
	}
	return false
}

// node is one nats-server. Its network is that of a process which only sleeps,
// so that it outlives the server; both die with the test.
type node struct {
	t       *testing.T
	name    string
	address string
	link    string // this end of its cable
	dir     string
	binary  string
	home    *exec.Cmd
	server  *exec.Cmd
}

// nodes are a cluster of three.
type nodes [3]*node

// startNodes makes a bridge with three nodes on it.
func startNodes(t *testing.T) *nodes {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "nats-server")
	run(t, "go", "build", "-o", binary, "github.com/nats-io/nats-server/v2")
	run(t, "ip", "link", "set", "lo", "up")
	run(t, "ip", "link", "add", "br0", "type", "bridge")
	run(t, "ip", "address", "add", "10.77.0.254/24", "dev", "br0")
	run(t, "ip", "link", "set", "br0", "up")
	var all nodes
	for i := range all {
		n := &node{t: t, name: fmt.Sprintf("n%d", i+1), address: fmt.Sprintf("10.77.0.%d", i+1), link: fmt.Sprintf("cable%d", i+1), binary: binary}
		n.dir = filepath.Join(dir, n.name)
		all[i] = n
		n.plugIn()
		n.start()
	}
	return &all
}

func run(t *testing.T, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(argv, " "), err, out)
	}
}

// child starts a process that dies with this one.
func (n *node) child(flags uintptr, argv ...string) *exec.Cmd {
	n.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() {
		cmd.Process.Kill() // it may be gone already
		cmd.Wait()
	})
	return cmd
}

// plugIn makes the node's network and connects it to the bridge.
func (n *node) plugIn() {
	n.t.Helper()
	n.home = n.child(syscall.CLONE_NEWNET, "sleep", "infinity")
	pid := strconv.Itoa(n.home.Process.Pid)
	run(n.t, "ip", "link", "add", n.link, "type", "veth", "peer", "name", "eth0", "netns", pid)
	run(n.t, "ip", "link", "set", n.link, "master", "br0", "up")
	for _, args := range []string{"address add " + n.address + "/24 dev eth0", "link set eth0 up", "link set lo up"} {
		run(n.t, append([]string{"nsenter", "--target", pid, "--net", "ip"}, strings.Fields(args)...)...)
	}
}

const nodeConfig = `server_name: %s
listen: "0.0.0.0:4222"
jetstream { store_dir: %q, max_file_store: 1GB }
cluster {
  name: choir, listen: "0.0.0.0:6222", ping_interval: "500ms", ping_max: 2
  routes: ["nats://10.77.0.1:6222", "nats://10.77.0.2:6222", "nats://10.77.0.3:6222"]
}
log_file: %q
`

func (n *node) start() {
	n.t.Helper()
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		n.t.Fatal(err)
	}
	file := filepath.Join(n.dir, "nats.conf")
	text := fmt.Sprintf(nodeConfig, n.name, filepath.Join(n.dir, "store"), filepath.Join(n.dir, "log"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		n.t.Fatal(err)
	}
	// nsenter becomes the server: no process stands between.
	n.server = n.child(0, "nsenter", "--target", strconv.Itoa(n.home.Process.Pid), "--net", n.binary, "-c", file)
}

func (n *node) signal(s syscall.Signal) {
	n.t.Helper()
	if err := n.server.Process.Signal(s); err != nil {
		n.t.Fatal(err)
	}
}

func (n *node) kill() {
	n.signal(syscall.SIGKILL)
	n.server.Wait() // it says that it was killed
}

func (n *node) wipe() {
	n.kill()
	if err := os.RemoveAll(filepath.Join(n.dir, "store")); err != nil {
		n.t.Fatal(err)
	}
}

func (n *node) cable(state string) { run(n.t, "ip", "link", "set", n.link, state) }

func (c *nodes) servers() (all []string) {
	for _, n := range c {
		all = append(all, "nats://"+n.address+":4222")
	}
	return all
}

// look asks whichever node answers about a stream; nil when none does.
func (c *nodes) look(ctx context.Context, computer choir.ID) *jetstream.StreamInfo {
	for _, server := range c.servers() {
		if info := look(ctx, server, computer); info != nil {
			return info
		}
	}
	return nil
}

func look(ctx context.Context, server string, computer choir.ID) *jetstream.StreamInfo {
	nc, err := nats.Connect(server, nats.Timeout(300*time.Millisecond), nats.NoReconnect())
	if err != nil {
		return nil
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	stream, err := js.Stream(ctx, cluster.StreamName(computer))
	if err != nil {
		return nil
	}
	return stream.CachedInfo()
}

// whole waits until every node has every event of the stream, and names the
// leader.
func (c *nodes) whole(t *testing.T, computer choir.ID) (leader *node) {
	t.Helper()
	until(t, "the three nodes are one cluster again", func() bool {
		info := c.look(t.Context(), computer)
		if info == nil || info.Cluster == nil || len(info.Cluster.Replicas) != 2 {
			return false
		}
		for _, r := range info.Cluster.Replicas {
			if !r.Current || r.Offline {
				return false
			}
		}
		i := slices.IndexFunc(c[:], func(n *node) bool { return n.name == info.Cluster.Leader })
		if i >= 0 {
			leader = c[i]
		}
		return i >= 0
	})
	return leader
}

func (c *nodes) other(than *node) *node {
	i := slices.Index(c[:], than)
	return c[(i+1)%len(c)]
}

// until waits for a condition, looking again and again.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("after %s it is still not so that %s", patience, what)
		}
	}
}
