package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/guestbin"
	"choiros/internal/sandbox/sandboxtest"
)

// asChoir makes this test binary behave as choir itself, so that tests can run
// it as a process of its own and kill it.
const asChoir = "CHOIR_TEST_AS_CHOIR"

func TestMain(m *testing.M) {
	if part := os.Getenv(breaks); part != "" {
		fmt.Fprintln(os.Stderr, breakAndBecomeChoir(part))
		os.Exit(1)
	}
	if os.Getenv(asChoir) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// patience bounds every wait of these tests. The longest is for a sandbox that
// compiles the standard library of Go on a busy machine.
const patience = 6 * time.Minute

// machine is a data folder and the choir processes that run on it.
type machine struct {
	t *testing.T
	// program is the choir that runs; this test binary when empty.
	program string
	data    string
	env     []string
	// settings is TOML for the configuration.
	settings string
	// inherited are what choir's processes find open from descriptor 3 on; nil
	// leaves a number out.
	inherited []*os.File
}

func newMachine(t *testing.T, settings string) *machine {
	t.Helper()
	if _, err := guestbin.Read(guestbin.Init); err != nil {
		t.Skip("the guest binaries are not built: make guest")
	}
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not installed")
	}
	m := &machine{t: t, data: filepath.Join(sandboxtest.DataDir(t), "data"), settings: settings}
	if err := os.Mkdir(m.data, 0o711); err != nil {
		t.Fatal(err)
	}
	m.configure(settings)
	return m
}

// configure writes the configuration, with a free port.
func (m *machine) configure(settings string) {
	m.t.Helper()
	text := "[listen]\naddress = '" + freeAddress(m.t) + "'\n" + settings
	if err := os.WriteFile(filepath.Join(m.data, "choir.toml"), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// command is one choir command on this machine.
func (m *machine) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, cmp.Or(m.program, os.Args[0]), append(args, "--data", m.data)...)
	c.Env = append(append(os.Environ(), asChoir+"=1"), m.env...)
	c.ExtraFiles = m.inherited
	return c
}

// ran is how a command ended.
type ran struct {
	code        int
	out, errOut string
}

// run runs a command to its end.
func (m *machine) run(args ...string) ran {
	m.t.Helper()
	return m.runWith("", args...)
}

func (m *machine) runWith(stdin string, args ...string) ran {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	c := m.command(ctx, args...)
	var out, errOut bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &errOut
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatalf("choir %v: %v", args, err)
	}
	return ran{c.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// must runs a command that must succeed.
func (m *machine) must(args ...string) string {
	m.t.Helper()
	r := m.run(args...)
	if r.code != 0 {
		m.t.Fatalf("choir %v: exit code %d\n%s%s", args, r.code, r.out, r.errOut)
	}
	return r.out
}

// running is a choir that is up.
type running struct {
	m      *machine
	cmd    *exec.Cmd
	ended  chan struct{}
	errOut *bytes.Buffer

	Address string `json:"address"`
	Login   string `json:"login"`
}

// up starts choir and returns when it says where it is.
func (m *machine) up() *running {
	m.t.Helper()
	r := &running{m: m, cmd: m.command(context.WithoutCancel(m.t.Context()), "up", "--json"), ended: make(chan struct{}), errOut: &bytes.Buffer{}}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	r.cmd.Stderr = r.errOut
	if err := r.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	line, readErr := bufio.NewReader(out).ReadBytes('\n')
	go func() {
		// How it ended is seen in its exit code.
		_ = r.cmd.Wait()
		close(r.ended)
	}()
	if readErr != nil || json.Unmarshal(line, r) != nil || r.Address == "" {
		<-r.ended
		m.t.Fatalf("choir up: exit code %d: %s%s", r.cmd.ProcessState.ExitCode(), line, r.errOut)
	}
	m.t.Cleanup(func() {
		r.stop()
		if m.t.Failed() {
			m.t.Logf("choir said:\n%s", r.errOut)
		}
	})
	return r
}

// stop ends choir in order; once it has ended it does nothing.
func (r *running) stop() {
	select {
	case <-r.ended:
		return
	default:
	}
	r.signal(syscall.SIGTERM)
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.m.t.Errorf("choir does not stop: %s", r.errOut)
		r.kill()
	}
}

// kill ends choir as a crash does.
func (r *running) kill() {
	r.signal(syscall.SIGKILL)
	<-r.ended
}

func (r *running) signal(s os.Signal) {
	if err := r.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		r.m.t.Error(err)
	}
}

// client calls the API over the socket.
func (m *machine) client() *client {
	m.t.Helper()
	a := newApp()
	a.data = m.data
	var c *client
	m.eventually("choir answers", func() (err error) {
		c, err = a.dial(m.t.Context())
		return err
	})
	return c
}

// eventually tries until it succeeds.
func (m *machine) eventually(what string, try func() error) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			m.t.Fatalf("waited in vain: %s: %v", what, err)
		case <-tick.C:
		}
	}
}

// healthy waits until both sandboxes run.
func (r *running) healthy() {
	r.m.t.Helper()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(r.Address, "http://"))
	if err != nil {
		r.m.t.Fatal(err)
	}
	r.m.eventually("health", func() error {
		res, err := http.Get("http://127.0.0.1:" + port + "/health")
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("health: %s", res.Status)
		}
		return nil
	})
}

// log reads every event.
func (c *client) log(t *testing.T) []choir.Event {
	t.Helper()
	var all []choir.Event
	for after := uint64(0); ; {
		page, err := c.events(t.Context(), "", after, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Events) == 0 {
			return all
		}
		all = append(all, page.Events...)
		after = all[len(all)-1].Seq
	}
}

// file reads a file of the workspace as the log knows it.
func (c *client) file(t *testing.T, path string) string {
	t.Helper()
	var files []choir.FileState
	if err := c.get(t.Context(), c.path("/files?limit=1000&prefix="+path), &files); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Path != path {
			continue
		}
		res, err := c.do(t.Context(), http.MethodGet, c.path("/blobs/"+string(f.Digest)), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var b bytes.Buffer
		if _, err := b.ReadFrom(res.Body); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	t.Fatalf("the log knows no file %s", path)
	return ""
}

// view of a run.
func (c *client) view(t *testing.T, run choir.ID) api.RunView {
	t.Helper()
	var v api.RunView
	if err := c.get(t.Context(), c.path("/runs/"+string(run)), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// config reads the configuration.
func (m *machine) config() string {
	m.t.Helper()
	raw, err := os.ReadFile(filepath.Join(m.data, "choir.toml"))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(raw)
}
