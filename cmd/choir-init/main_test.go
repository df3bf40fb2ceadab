package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"choiros/internal/blob/fs"
	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// binary is choir-init as it ships, built once.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "choir-init-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "choir-init")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build choir-init: %v\n%s", err, out)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

func TestInitStaysSmall(t *testing.T) {
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() >= 9<<19 {
		t.Errorf("choir-init has %d bytes; it starts with every sandbox and must stay below 4.5 MiB", info.Size())
	}
}

// box is choir-init as PID 1 of a sandbox.
type box struct {
	*guest.Client
	cmd       *exec.Cmd
	ended     chan error
	workspace string
}

func boot(t testing.TB, args ...string) *box {
	t.Helper()
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not installed")
	}
	doors, workspace := t.TempDir(), t.TempDir()
	door := filepath.Join(doors, "control.sock")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: door, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := listener.File()
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false)
	listener.Close()
	defer f.Close()
	b := &box{workspace: workspace, ended: make(chan error, 1)}
	b.cmd = exec.Command("bwrap", append([]string{
		"--as-pid-1", "--die-with-parent", "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/run",
		"--ro-bind", doors, "/run/choir", "--bind", workspace, "/tmp/workspace", "--ro-bind", binary, "/tmp/choir-init",
		"/tmp/choir-init", "-workspace", "/tmp/workspace",
	}, args...)...)
	b.cmd.ExtraFiles, b.cmd.Stderr = []*os.File{f}, os.Stderr
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { b.ended <- b.cmd.Wait() }()
	t.Cleanup(func() {
		b.cmd.Process.Kill()
		<-b.ended
	})
	b.Client = guest.NewClient(func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", door)
	})
	if _, err := b.Hello(within(t)); err != nil {
		t.Fatal(err)
	}
	return b
}

// wait returns how the sandbox ended, and lets the cleanup have it too.
func (b *box) wait() error {
	err := <-b.ended
	b.ended <- err
	return err
}

func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func (b *box) sh(t testing.TB, script string) string {
	t.Helper()
	out, err := b.Run(within(t), guest.ExecSpec{Argv: []string{"sh", "-c", script}}, nil, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out.Stdout) + string(out.Stderr))
}

func TestInitIsPidOneAndCollectsOrphans(t *testing.T) {
	t.Parallel()
	b := boot(t)
	if got := b.sh(t, "cat /proc/1/comm"); got != "choir-init" {
		t.Fatalf("pid 1 is %q", got)
	}
	b.sh(t, "for i in 1 2 3 4 5 6 7 8; do (sh -c 'exit 3' & ) & done; wait")
	deadline := time.Now().Add(5 * time.Second)
	for b.sh(t, "grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l") != "0" {
		if time.Now().After(deadline) {
			t.Fatal("zombies stay")
		}
	}
	out, err := b.Run(within(t), guest.ExecSpec{Argv: []string{"sh", "-c", "exit 5"}}, nil, 10)
	if err != nil || out.Exit.Code != 5 {
		t.Errorf("an exit was taken for an orphan's: %+v, %v", out, err)
	}
}

func TestTheDoorIsClosedFromInside(t *testing.T) {
	t.Parallel()
	b := boot(t)
	got := b.sh(t, `python3 -c '
import socket, struct
s = socket.socket(socket.AF_UNIX); s.connect("/run/choir/control.sock")
p = b"{\"op\":\"hello\"}"; s.sendall(b"Q" + struct.pack(">I", len(p)) + p)
print(s.recv(1000))'`)
	if !strings.Contains(got, "forbidden") {
		t.Errorf("got %s", got)
	}
}

func TestInitCannotBeLookedInto(t *testing.T) {
	t.Parallel()
	b := boot(t)
	for _, script := range []string{"cat /proc/1/environ", "ls /proc/1/fd/", "head -c1 /proc/1/mem"} {
		if got := b.sh(t, script+" >/dev/null && echo open"); strings.Contains(got, "open") && os.Getuid() != 0 {
			t.Errorf("%s: %s", script, got)
		}
	}
}

func TestAnOrphanedSandboxEnds(t *testing.T) {
	t.Parallel()
	b := boot(t, "-orphan", "300ms")
	var exit *exec.ExitError
	if err := b.wait(); !errors.As(err, &exit) {
		t.Errorf("got %v", err)
	}
	if _, err := b.Hello(within(t)); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("got %v", err)
	}
}

func TestSIGTERMReachesWhatRuns(t *testing.T) {
	t.Parallel()
	b := boot(t)
	p, err := b.Exec(within(t), guest.ExecSpec{Argv: []string{"sh", "-c", `trap 'echo bye > /tmp/workspace/word; exit' TERM; echo on; while :; do sleep 0.01; done`}})
	if err != nil {
		t.Fatal(err)
	}
	on := make(chan struct{}, 1)
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		p.Wait(signalWriter(on), nil)
	}()
	<-on
	// Bubblewrap passes no signal on; PID 1 is its child.
	b.signalInit(t)
	b.wait()
	<-waited
	if word, _ := os.ReadFile(filepath.Join(b.workspace, "word")); string(word) != "bye\n" {
		t.Errorf("the command was not asked: %q", word)
	}
}

type signalWriter chan<- struct{}

func (s signalWriter) Write(b []byte) (int, error) {
	select {
	case s <- struct{}{}:
	default:
	}
	return len(b), nil
}

// signalInit sends SIGTERM to PID 1 inside.
func (b *box) signalInit(t *testing.T) {
	t.Helper()
	pid := b.cmd.Process.Pid
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Sscan(string(raw), &child); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(child, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// Init is not dumpable and has no capabilities; what it restores by
// /proc/self/fd must work all the same.
func TestSnapshotsInside(t *testing.T) {
	t.Parallel()
	b := boot(t)
	store, err := fs.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	k, ctx := snapshot.NewKeeper(store), within(t)
	b.sh(t, `cd /tmp/workspace && mkdir -p d/e ro && echo 1 > d/e/f && echo 2 > d/g && mkfifo d/p && ln -s g d/l && echo 3 > ro/k && chmod 555 ro && chmod 4711 d/g`)
	base, err := b.Scan(ctx, k)
	if err != nil {
		t.Fatal(err)
	}
	b.sh(t, `cd /tmp/workspace && chmod 0 d/g && chmod 700 d/p && touch -h d/l && chmod 755 ro && rm ro/k && chmod 555 ro && echo x > d/e/f && chmod 0 d/e`)
	r, err := b.Restore(ctx, base.Root, k, guest.RestoreOptions{})
	if err != nil || r.Root != base.Root {
		t.Fatalf("got %+v, %v", r, err)
	}
	b.sh(t, `chmod 755 /tmp/workspace/ro`) // so that the test can remove it
}

func BenchmarkExecTrueInside(b *testing.B) {
	box := boot(b)
	for b.Loop() {
		if _, err := box.Run(context.Background(), guest.ExecSpec{Argv: []string{"/bin/true"}}, nil, 10); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScanInside(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			box := boot(b)
			store, err := fs.Open(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { store.Close() })
			keeper := snapshot.NewKeeper(store)
			for i := range n {
				put(b, filepath.Join(box.workspace, fmt.Sprintf("d%02d/e%02d/f%d", i/2500, i/50%50, i)), fmt.Sprint(i))
			}
			i := 0
			for b.Loop() {
				b.StopTimer()
				i++
				put(b, filepath.Join(box.workspace, "d00/e00/f0"), fmt.Sprint("change", i))
				b.StartTimer()
				if _, err := box.Scan(context.Background(), keeper); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkBootToFirstCommand(b *testing.B) {
	for b.Loop() {
		box := boot(b)
		if _, err := box.Run(context.Background(), guest.ExecSpec{Argv: []string{"/bin/true"}}, nil, 10); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		box.cmd.Process.Kill()
		box.wait()
		b.StartTimer()
	}
}

func put(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
