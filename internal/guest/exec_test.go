package guest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"choiros/internal/choir"
)

func sh(script string) ExecSpec { return ExecSpec{Argv: []string{"sh", "-c", script}} }

func TestExecStreamsAndExits(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	out, err := in.Run(within(t), sh("echo out; echo err >&2; pwd; exit 3"), nil, 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	if want := "out\n" + in.workspace + "\n"; string(out.Stdout) != want || string(out.Stderr) != "err\n" {
		t.Errorf("stdout %q, stderr %q", out.Stdout, out.Stderr)
	}
	if out.Exit.Code != 3 || out.Exit.Signal != "" || out.Exit.MaxRSS <= 0 {
		t.Errorf("exit %+v", out.Exit)
	}
}

func TestExecEnvironmentIsMadeUp(t *testing.T) {
	t.Setenv("CHOIR_TEST_SECRET", "leak")
	in := serve(t, nil)
	spec := sh("env")
	spec.Env = []string{"LC_CTYPE=x", "MINE=1"}
	out, err := in.Run(within(t), spec, nil, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	env := string(out.Stdout)
	if strings.Contains(env, "CHOIR_TEST_SECRET") || !strings.Contains(env, "LC_CTYPE=x\n") || !strings.Contains(env, "MINE=1\n") ||
		!strings.Contains(env, "http_proxy=http://127.0.0.1:8801\n") || strings.Count(env, "LC_CTYPE=") != 1 {
		t.Errorf("environment:\n%s", env)
	}
}

func TestExecRefusals(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	cases := map[string]struct {
		spec ExecSpec
		code choir.Code
	}{
		"no argv":      {ExecSpec{}, choir.CodeInvalid},
		"no program":   {ExecSpec{Argv: []string{"no-such-program"}}, choir.CodeNotFound},
		"empty name":   {ExecSpec{Argv: []string{""}}, choir.CodeNotFound},
		"no such path": {ExecSpec{Argv: []string{"/no/such"}}, choir.CodeNotFound},
		"no folder":    {ExecSpec{Argv: []string{"true"}, Cwd: "/no/such"}, choir.CodeNotFound},
		"a file":       {ExecSpec{Argv: []string{"true"}, Cwd: "/bin/sh"}, choir.CodeInvalid},
		"not a binary": {ExecSpec{Argv: []string{"/etc/passwd"}}, choir.CodeForbidden},
		"bad size":     {ExecSpec{Argv: []string{"true"}, TTY: &Size{}}, choir.CodeInvalid},
	}
	for name, c := range cases {
		_, err := in.Run(within(t), c.spec, nil, 10)
		if choir.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, want %s", name, err, c.code)
		}
	}
}

func TestExecStdinIsEchoedWithoutBound(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB, four windows
	out, err := in.Run(within(t), ExecSpec{Argv: []string{"cat"}}, big, 2<<20)
	if err != nil || !bytes.Equal(out.Stdout, big) {
		t.Fatalf("got %d bytes, %v", len(out.Stdout), err)
	}
}

func TestSignalsPassWhileStdinIsFull(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	spec := ExecSpec{Argv: []string{"sleep", "100"}, Stdin: true}
	p, err := in.Exec(within(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	wrote := make(chan error, 1)
	go func() {
		_, err := p.Write(make([]byte, 1<<20))
		wrote <- err
	}()
	if err := p.Signal("SIGTERM"); err != nil {
		t.Fatal(err)
	}
	x, err := p.Wait(nil, nil)
	if err != nil || x.Signal != "SIGTERM" || x.Code != -1 {
		t.Fatalf("got %+v, %v", x, err)
	}
	<-wrote // with an error, or with everything taken by a command that had ended
}

// lines passes what is written on, line by line.
func lines(w io.Reader) <-chan string {
	ch := make(chan string)
	go func() {
		defer close(ch)
		buf := make([]byte, 1)
		var line []byte
		for {
			if _, err := w.Read(buf); err != nil {
				return
			}
			if buf[0] == '\n' {
				ch <- strings.TrimRight(string(line), "\r")
				line = nil
				continue
			}
			line = append(line, buf[0])
		}
	}()
	return ch
}

func TestTimeoutKillsTheTree(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	spec := sh(`setsid sh -c 'echo $$; exec sleep 100' & echo $$; wait`)
	spec.TimeoutMS = 300
	var out bytes.Buffer
	p, err := in.Exec(within(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	x, err := p.Wait(&out, nil)
	if err != nil || !x.TimedOut || x.Signal != "SIGKILL" {
		t.Fatalf("got %+v, %v", x, err)
	}
	for _, pid := range strings.Fields(out.String()) {
		waitGoneProcess(t, pid)
	}
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// waitGoneProcess waits until a process has ended or is a zombie.
func waitGoneProcess(t *testing.T, pid string) {
	t.Helper()
	n := atoi(t, pid)
	deadline := time.Now().Add(5 * time.Second)
	for {
		p, ok := readProcess(n)
		if !ok || p.state == 'Z' {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %s lives", pid)
		}
		time.Sleep(time.Millisecond) // its parent is another process, so there is nothing to wait on
	}
}

func TestAClientThatIsGoneEndsItsCommand(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	ctx, cancel := context.WithCancel(within(t))
	p, err := in.Exec(ctx, sh("echo $$; exec sleep 100"))
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	waited := make(chan error, 1)
	go func() {
		_, err := p.Wait(w, nil)
		w.Close()
		waited <- err
	}()
	pids := lines(r)
	pid := <-pids
	cancel()
	wantCode(t, <-waited, choir.CodeCancelled)
	waitGoneProcess(t, pid)
	for range pids {
	}
}

func TestAWriterThatFailsEndsItsCommand(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	_, err := in.Run(within(t), ExecSpec{Argv: []string{"yes"}}, nil, 100<<10)
	wantCode(t, err, choir.CodeTooLarge)
}

func TestBackgroundDoesNotHoldTheAnswer(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	out, err := in.Run(within(t), sh("sleep 100 & echo $!"), nil, 100)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out.Stdout)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("the background process is gone: %v", err)
	}
}

func TestOutputIsNotBufferedWithoutBound(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	p, err := in.Exec(within(t), sh("echo $$; exec yes"))
	if err != nil {
		t.Fatal(err)
	}
	stuck := &stuckWriter{first: make(chan string, 1), release: make(chan struct{})}
	waited := make(chan error, 1)
	go func() { _, err := p.Wait(stuck, nil); waited <- err }()
	pid := strings.Fields(<-stuck.first)[0]
	// With nobody reading, yes comes to sleep in write(2).
	deadline := time.Now().Add(5 * time.Second)
	for {
		raw, _ := os.ReadFile("/proc/" + pid + "/wchan")
		if strings.Contains(string(raw), "pipe") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("yes never waits: %q", raw)
		}
		time.Sleep(time.Millisecond) // the kernel tells nobody
	}
	close(stuck.release)
	if err := <-waited; !errors.Is(err, io.ErrShortWrite) {
		t.Fatalf("got %v", err)
	}
}

type stuckWriter struct {
	first   chan string
	release chan struct{}
}

func (s *stuckWriter) Write(b []byte) (int, error) {
	s.first <- string(b)
	<-s.release
	return 0, io.ErrShortWrite
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	spec := sh("stty size; read x; stty size; echo got $x; tty >/dev/null && echo tty")
	spec.TTY = &Size{Rows: 24, Cols: 80}
	p, err := in.Exec(within(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	waited := make(chan error, 1)
	go func() {
		_, err := p.Wait(w, nil)
		w.Close()
		waited <- err
	}()
	out := lines(r)
	if got := <-out; got != "24 80" {
		t.Errorf("size %q", got)
	}
	if err := p.Resize(Size{Rows: 50, Cols: 132}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write([]byte("hi\n")); err != nil {
		t.Fatal(err)
	}
	var rest []string
	for line := range out {
		rest = append(rest, line)
	}
	if got := strings.Join(rest, "|"); got != "hi|50 132|got hi|tty" {
		t.Errorf("got %q", got)
	}
	if err := <-waited; err != nil {
		t.Error(err)
	}
}

func TestControlCEndsATerminalsCommand(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	spec := sh("echo ready; exec sleep 100")
	spec.TTY = &Size{Rows: 24, Cols: 80}
	p, err := in.Exec(within(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	done := make(chan Exit, 1)
	go func() {
		x, _ := p.Wait(w, nil)
		w.Close()
		done <- x
	}()
	out := lines(r)
	<-out
	if _, err := p.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	for range out {
	}
	if x := <-done; x.Signal != "SIGINT" {
		t.Errorf("got %+v", x)
	}
}

func BenchmarkExecTrue(b *testing.B) {
	in := serve(b, nil)
	for b.Loop() {
		if _, err := in.Run(context.Background(), ExecSpec{Argv: []string{"/bin/true"}}, nil, 10); err != nil {
			b.Fatal(err)
		}
	}
}
