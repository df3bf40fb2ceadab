package proctree_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"choiros/internal/associate/proctree"
	"choiros/internal/choir"
)

// The test binary is also the tree process: it is started again with "tree".
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "tree" {
		if err := proctree.Serve(os.NewFile(3, "owner"), os.Args[2], os.Args[3:]...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func start(t testing.TB, name string, writable ...string) *proctree.Tree {
	t.Helper()
	tree, err := proctree.Start(append([]string{os.Args[0], "tree", name}, writable...), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree
}

// sink keeps output and says when the first arrived.
type sink struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	first chan struct{}
	idle  int
}

func newSink() *sink { return &sink{first: make(chan struct{})} }

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.buf.Len() == 0 {
		close(s.first)
	}
	return s.buf.Write(p)
}

func (s *sink) Idle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle++
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

func sh(script string, out, errOut proctree.Sink) proctree.Spec {
	return proctree.Spec{Argv: []string{"sh", "-c", script}, Dir: "/", Env: os.Environ(), Stdout: out, Stderr: errOut}
}

func TestRunTellsHowACommandEnded(t *testing.T) {
	t.Parallel()
	tree := start(t, t.Name()+strconv.Itoa(os.Getpid()))
	for _, c := range []struct {
		script, out, err string
		exit             proctree.Exit
	}{
		{"true", "", "", proctree.Exit{}},
		{"echo one; echo two >&2; exit 3", "one\n", "two\n", proctree.Exit{Code: 3}},
		{"kill -9 $$", "", "", proctree.Exit{Code: -1, Signal: "SIGKILL"}},
	} {
		out, errOut := newSink(), newSink()
		exit, err := tree.Run(context.Background(), sh(c.script, out, errOut))
		if err != nil || exit != c.exit || out.String() != c.out || errOut.String() != c.err {
			t.Errorf("%s: %+v, %v, %q, %q", c.script, exit, err, out, errOut)
		}
	}
	_, err := tree.Run(context.Background(), proctree.Spec{Argv: []string{"no-such-program"}, Dir: "/", Stdout: newSink()})
	if choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("a missing program: %v", err)
	}
}

func TestOutputIsStreamedAndUsageMeasured(t *testing.T) {
	t.Parallel()
	tree := start(t, t.Name()+strconv.Itoa(os.Getpid()))
	fifo := filepath.Join(t.TempDir(), "go on")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	out := newSink()
	type ended struct {
		exit proctree.Exit
		err  error
	}
	done := make(chan ended)
	go func() {
		exit, err := tree.Run(context.Background(), sh("echo first; read x < '"+fifo+"'; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", out, nil))
		done <- ended{exit, err}
	}()
	<-out.first // the command still waits
	if err := os.WriteFile(fifo, []byte("on\n"), 0); err != nil {
		t.Fatal(err)
	}
	if e := <-done; e.err != nil || e.exit.Code != 0 {
		t.Fatal(e)
	}
	used, err := tree.Clear()
	if err != nil || used.CPU <= 0 || used.MaxRSS < 100<<10 {
		t.Errorf("usage %+v, %v", used, err)
	}
}

func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + strings.TrimSpace(pid) + "/stat")
	return err == nil && !bytes.Contains(stat, []byte(") Z"))
}

func TestClearEndsDaemonsAndThoseWhoIgnoreTerm(t *testing.T) {
	t.Parallel()
	tree := start(t, t.Name()+strconv.Itoa(os.Getpid()))
	out := newSink()
	// A daemon in a session of its own, deaf to SIGTERM, that left its parent.
	exit, err := tree.Run(context.Background(), sh(`setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' & sleep 0.1`, out, nil))
	if err != nil || exit.Code != 0 {
		t.Fatal(exit, err)
	}
	if !alive(out.String()) {
		t.Fatalf("the daemon %q does not live on after its command", out)
	}
	if _, err := tree.Clear(); err != nil {
		t.Fatal(err)
	}
	if alive(out.String()) {
		t.Error("the daemon survived")
	}
}

func TestClearEndsAForkBomb(t *testing.T) {
	t.Parallel()
	tree := start(t, t.Name()+strconv.Itoa(os.Getpid()))
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := tree.Run(ctx, sh(`trap "" TERM; f() { [ $1 -lt 6 ] && { f $(($1+1)) & f $(($1+1)) & }; sleep 1000; }; f 0`, newSink(), nil))
	if err == nil {
		t.Fatal("the command ended by itself")
	}
	if _, err := tree.Clear(); err != nil {
		t.Fatal(err)
	}
}

func TestTheEndOfTheContextEndsTheCommand(t *testing.T) {
	t.Parallel()
	tree := start(t, t.Name()+strconv.Itoa(os.Getpid()))
	ctx, cancel := context.WithCancelCause(context.Background())
	out := newSink()
	go func() {
		<-out.first
		cancel(choir.E("test", choir.CodeCancelled, "enough"))
	}()
	exit, err := tree.Run(ctx, sh("echo begin; sleep 1000", out, nil))
	if choir.CodeOf(err) != choir.CodeCancelled || exit.Signal != "SIGTERM" || out.String() != "begin\n" {
		t.Errorf("%+v, %v, %q", exit, err, out)
	}
}

func TestTheNextTreeWaitsForTheEndOfTheFormer(t *testing.T) {
	t.Parallel()
	name := t.Name() + strconv.Itoa(os.Getpid())
	first, out := start(t, name), newSink()
	if _, err := first.Run(context.Background(), sh(`trap "" TERM; (while :; do sleep 1; done) & echo $!`, out, nil)); err != nil {
		t.Fatal(err)
	}
	second := start(t, name)
	closed := make(chan error)
	go func() { closed <- first.Close() }()
	out2 := newSink()
	if _, err := second.Run(context.Background(), sh("test -e /proc/"+strings.TrimSpace(out.String())+" && echo alive || echo gone", out2, nil)); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(out2.String(), "gone\n") {
		t.Errorf("the former tree's process is %s", out2)
	}
	<-closed
}

func TestALostTreeIsAnError(t *testing.T) {
	t.Parallel()
	tree := start(t, t.Name()+strconv.Itoa(os.Getpid()))
	out := newSink()
	go func() {
		<-out.first
		pid, _ := strconv.Atoi(strings.TrimSpace(out.String()))
		if pid > 1 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}()
	_, err := tree.Run(context.Background(), sh("echo $PPID; sleep 2", out, nil))
	if choir.CodeOf(err) != choir.CodeUnavailable || !tree.Lost() {
		t.Errorf("%v, lost %v", err, tree.Lost())
	}
}

// TestACommandSignalsOnlyCommands has a command try to end the tree process and this
// one, which have the same user; the control is a child of its own.
func TestACommandSignalsOnlyCommands(t *testing.T) {
	t.Parallel()
	if version := landlockVersion(); version < 6 {
		t.Skipf("Landlock of this kernel is version %d, and signals are scoped since 6", version)
	}
	tree := start(t, t.Name()+strconv.Itoa(os.Getpid()))
	own, out := newSink(), newSink()
	moved := newSink()
	move := "cd " + t.TempDir() + " && mkdir a b && echo x >a/x && ln a/x b/y && mv a/x b/x && cat b/x b/y"
	if _, err := tree.Run(context.Background(), sh(move, moved, moved)); err != nil || moved.String() != "x\nx\n" {
		t.Errorf("files between folders: %q, %v", moved, err)
	}
	if _, err := tree.Run(context.Background(), sh("sleep 60 & kill -9 $! && wait $!; echo $?", own, nil)); err != nil || !strings.HasSuffix(own.String(), "137\n") {
		t.Errorf("its own child: %q, %v", own, err)
	}
	script := fmt.Sprintf("for pid in $PPID %d; do kill -CONT $pid 2>/dev/null && echo reached $pid; done; kill -9 $PPID 2>/dev/null; echo refused", os.Getpid())
	if _, err := tree.Run(context.Background(), sh(script, out, nil)); err != nil || out.String() != "refused\n" {
		t.Errorf("others: %q, %v", out, err)
	}
}

func landlockVersion() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

func BenchmarkTrue(b *testing.B) {
	tree := start(b, "bench"+strconv.Itoa(os.Getpid()))
	for b.Loop() {
		if _, err := tree.Run(context.Background(), proctree.Spec{Argv: []string{"/bin/true"}, Dir: "/", Stdout: newSink(), Stderr: newSink()}); err != nil {
			b.Fatal(err)
		}
		if _, err := tree.Clear(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestAClearWithoutCommandsAsksNobody stops the tree process itself after a Clear: the
// next one has nothing to kill, and returns without an answer of that process.
func TestAClearWithoutCommandsAsksNobody(t *testing.T) {
	t.Parallel()
	tree := start(t, t.Name())
	clears := func() chan error {
		ended := make(chan error, 1)
		go func() {
			_, err := tree.Clear()
			ended <- err
		}()
		return ended
	}
	for range 2 {
		out := newSink()
		if _, err := tree.Run(t.Context(), sh("echo $PPID", out, nil)); err != nil {
			t.Fatal(err)
		}
		if err := <-clears(); err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		ended := clears()
		select {
		case err = <-ended:
		case <-time.After(5 * time.Second):
			err = errors.New("a Clear waits for a tree process below which nothing runs")
		}
		if cerr := syscall.Kill(pid, syscall.SIGCONT); err != nil || cerr != nil {
			t.Fatal(err, cerr)
		}
	}
}
