package guest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// TestMain also plays choir-init reap, in a process of its own.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "reap" {
		end, err := Reap(ReapConfig{Argv: os.Args[2:], Env: os.Environ(), Lifeline: os.Stdin})
		if err != nil {
			panic(err)
		}
		end.Leave()
	}
	goleak.VerifyTestMain(m)
}

// reaping is a running Reap.
type reaping struct {
	*exec.Cmd
	lifeline io.WriteCloser
	out      *bufio.Reader
}

func startReap(t *testing.T, script string) *reaping {
	t.Helper()
	r := &reaping{Cmd: exec.Command(os.Args[0], "reap", "sh", "-c", script)}
	r.Stderr = os.Stderr
	var err error
	if r.lifeline, err = r.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := r.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewReader(out)
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Process.Kill() })
	return r
}

func (r *reaping) pids(t *testing.T, n int) []string {
	t.Helper()
	var pids []string
	for range n {
		line, err := r.out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, strings.TrimSpace(line))
	}
	return pids
}

// daemons leave their parents and sessions in several ways.
const daemons = `
setsid sh -c 'trap "" TERM HUP INT; echo $$; sleep 1000' &
( ( setsid sh -c 'echo $$; exec sleep 1000' & ) & )
sh -c 'setsid sh -c "echo \$\$; exec sleep 1000" & exit' &
( trap "" TERM; sh -c 'echo $$; exec sleep 1000' & )
`

func gone(t *testing.T, pid string) {
	t.Helper()
	if err := syscall.Kill(atoi(t, pid), 0); err != syscall.ESRCH {
		t.Errorf("process %s survived (%v)", pid, err)
	}
}

func TestReapPassesTheExitCodeAndLeavesNothing(t *testing.T) {
	t.Parallel()
	r := startReap(t, daemons+"read x < /dev/null; sleep 0.2; exit 7")
	pids := r.pids(t, 4)
	r.Wait()
	if code := r.ProcessState.ExitCode(); code != 7 {
		t.Errorf("exit code %d", code)
	}
	for _, pid := range pids {
		gone(t, pid)
	}
}

func TestReapKillsEverything(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*reaping){
		"on SIGTERM":           func(r *reaping) { r.Process.Signal(syscall.SIGTERM) },
		"when stdin is closed": func(r *reaping) { r.lifeline.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startReap(t, daemons+"wait; sleep 1000")
			pids := r.pids(t, 4)
			end(r)
			r.Wait()
			status := r.ProcessState.Sys().(syscall.WaitStatus)
			if !status.Signaled() || status.Signal() != syscall.SIGKILL {
				t.Errorf("status %v", r.ProcessState)
			}
			for _, pid := range pids {
				gone(t, pid)
			}
		})
	}
}

// breeder forks copies of itself that fork again, for ever, and all of them
// leave their session; each holds a pipe open, so that its end can be seen.
const breeder = `
f() { setsid sh -c "$S" & setsid sh -c "$S" & }
S='n=$((n+1)); export n; [ $n -gt 6 ] && n=3; sleep 0.01; setsid sh -c "$S" & setsid sh -c "$S" & sleep 0.05'
export S; echo breeding; f; wait; sleep 1000`

func TestReapOutrunsBreeders(t *testing.T) {
	t.Parallel()
	held, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	r := &reaping{Cmd: exec.Command(os.Args[0], "reap", "sh", "-c", "ulimit -u 400 2>/dev/null; "+breeder)}
	r.ExtraFiles = []*os.File{hold}
	if r.lifeline, err = r.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := r.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewReader(out)
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	hold.Close()
	r.pids(t, 1)
	r.lifeline.Close()
	r.Wait()
	if _, err := io.ReadAll(held); err != nil { // ends only when every holder has
		t.Fatal(err)
	}
}
