package sandboxtest

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// childVariable is the environment variable with the orders of a child: a test process
// that acts as a control plane and is killed.
const childVariable = "CHOIR_SANDBOXTEST_CHILD"

// orders describes the sandbox that a child must make.
type orders struct {
	Setup Setup        `json:"setup"`
	Spec  sandbox.Spec `json:"spec"`
	Pause bool         `json:"pause"` // before it waits to be killed
	Alone bool         `json:"alone"` // nobody dials the sandbox
	// Short is the thing of which the child has too little; empty for enough of all.
	Short shortage `json:"short"`
	Quick bool     `json:"quick"` // a few amounts of it are tried, and not each
	Group []string `json:"group"` // the folders of the child's own cgroup, if it has one
	// Destroy has the child destroy the sandbox once it has said its handle.
	Destroy bool `json:"destroy"`

	group host.Group // of Group
}

// survival checks that a sandbox outlives its control plane for the configured time.
func (s suite) survival(t *testing.T) {
	t.Run("recovered after the control plane was killed", s.part(func(t *testing.T) {
		o := s.newOrders(t, 0)
		h := createAndDie(t, o)
		d := s.newDriver(t, o.Setup)
		defer closeDriver(t, d)
		b, err := d.Recover(timeout(t), h)
		if err != nil {
			t.Fatal(err)
		}
		connect(t, d, b, o.Spec).seeSleeper(t)
		destroy(t, b)
		ended(t, b)
		nothingLeft(t, o.Spec)
	}))
	t.Run("ended by itself when nobody came", s.part(func(t *testing.T) {
		o := s.newOrders(t, time.Second)
		h := createAndDie(t, o)
		waitForEnd(t, o.Spec)
		d := s.newDriver(t, o.Setup)
		defer closeDriver(t, d)
		_, err := d.Recover(timeout(t), h)
		wantVerdict(t, sandbox.Gone, err)
		nothingLeft(t, o.Spec)
	}))
	t.Run("kept alive while attached", s.part(s.attached))
	t.Run("refused without file descriptors", s.part(s.short(noFiles)))
	t.Run("refused without process ids", s.part(s.short(noProcesses)))
	t.Run("refused without room on the disk", s.part(s.short(noDisk)))
	t.Run("ends before the control plane", s.part(s.endsFirst))
	t.Run("ended with the maker while it was made", s.part(s.killedWhileMaking))
	t.Run("ended with the maker when nobody dialled it", s.part(s.killedUndialled))
	t.Run("destroyed after a kill in the middle of it", s.part(s.killedWhileDestroying))
}

// seeSleeper waits until the daemon of startSleeper is running; it may still be between
// fork and exec.
func (b inside) seeSleeper(t *testing.T) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := timeout(t); ; {
		seen := b.facts(t).Processes
		if strings.Contains(strings.Join(values(seen), "\n"), "probe sleep") {
			return
		}
		select {
		case <-tick.C:
		case <-deadline.Done():
			t.Fatalf("its processes are %v", seen)
		}
	}
}

func (s suite) newOrders(t *testing.T, orphan time.Duration) orders {
	return orders{
		Setup: Setup{StateDir: DataDir(t), Orphan: orphan},
		Spec:  s.spec(t, choir.RoleAssociate),
	}
}

// createAndDie makes another process create a sandbox with a daemon in it, kills that
// process, and returns the handle.
func createAndDie(t *testing.T, o orders) sandbox.Handle {
	t.Helper()
	cmd, out := startChild(t, o)
	defer cmd.Wait() // it was killed
	defer cmd.Process.Kill()
	return readHandle(t, out)
}

// startChild starts another process that creates a sandbox, and returns it and its output.
func startChild(t *testing.T, o orders) (*exec.Cmd, io.Reader) {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	top, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.Command(self, "-test.run", "^"+regexp.QuoteMeta(top)+"$", "-test.v")
	cmd.Env = append(os.Environ(), childVariable+"="+string(raw))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if o.Short == noDisk {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	}
	start := cmd.Start
	if o.Group != nil {
		start = func() error {
			return o.group.Start(func(attr *syscall.SysProcAttr) error {
				cmd.SysProcAttr = attr
				return cmd.Start()
			})
		}
	}
	if err := start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// readHandle returns the handle that a child prints.
func readHandle(t *testing.T, out io.Reader) sandbox.Handle {
	t.Helper()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var h sandbox.Handle
		if json.Unmarshal(lines.Bytes(), &h) == nil && h.Driver != "" {
			return h
		}
		t.Logf("child: %s", lines.Text())
	}
	t.Fatal("the child made no sandbox: ", lines.Err())
	return sandbox.Handle{}
}

// runChild is the child of createAndDie: it creates the sandbox, prints the handle, and
// waits to be killed.
func runChild(t *testing.T, newDriver Maker, raw string) {
	var o orders
	if err := json.Unmarshal([]byte(raw), &o); err != nil {
		t.Fatal(err)
	}
	if o.Short != "" {
		createShort(t, newDriver, o)
		return
	}
	d := newDriver(t, o.Setup)
	b, err := d.Create(timeout(t), o.Spec)
	if err != nil {
		t.Fatal(err)
	}
	if !o.Alone {
		connect(t, d, b, o.Spec).startSleeper(t)
	}
	if o.Pause {
		if err := b.(sandbox.Pauser).Pause(timeout(t)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(b.Handle())
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("\n" + string(text) + "\n")
	if o.Destroy {
		destroy(t, b)
		select {} // until it is killed
	}
	<-b.Done()
}

// waitForEnd polls until the sandbox has no processes any more.
func waitForEnd(t *testing.T, spec sandbox.Spec) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := timeout(t); len(processesOf(t, spec)) > 0; {
		select {
		case <-tick.C:
		case <-deadline.Done():
			t.Fatalf("still there: %v", processesOf(t, spec))
		}
	}
}

// attached checks that a sandbox lives beyond its time as an orphan while a control plane
// is attached, and ends after the detachment.
func (s suite) attached(t *testing.T) {
	const orphan = 300 * time.Millisecond
	o := s.newOrders(t, orphan)
	d := s.newDriver(t, o.Setup)
	defer closeDriver(t, d)
	b, err := d.Create(timeout(t), o.Spec)
	if err != nil {
		t.Fatal(err)
	}
	defer destroy(t, b)
	a, err := s.inside(t, b, o.Spec).client.Attach(timeout(t))
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-b.Done():
		t.Error("it ended although a control plane was attached")
	case <-time.After(3 * orphan):
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	ended(t, b)
	nothingLeft(t, o.Spec)
}

func values[K comparable, V any](m map[K]V) []V {
	var out []V
	for _, v := range m {
		out = append(out, v)
	}
	return out
}
