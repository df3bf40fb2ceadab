package sandboxtest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"choiros/internal/guest"
	"choiros/internal/guest/roledoor"
	"choiros/internal/guestbin"
	"choiros/internal/sandbox/sandboxtest/probed"
)

// asking is the number of connections that a tool opens: enough for a later role process
// to get the pid of a process that opened one.
const asking = 200

// callersAreKnown checks that init never takes a tool's stream for one of the role, even
// when pids are reused, and takes the role's own for the role's.
func (s suite) callersAreKnown(t *testing.T, b inside) {
	d := b.stand(t)
	if _, err := d.client.StartRole(timeout(t), associate); err != nil {
		t.Fatal(err)
	}
	d.heard(t, "role")
	role := "/proc/" + strconv.Itoa(rolePID(t, b.facts(t)))
	for _, file := range []string{"/fd/0", "/mem", "/environ"} {
		b.refused(t, forbidden, "read", role+file)
	}
	t.Run("what is open is not listed", s.part(func(t *testing.T) { b.refused(t, forbidden, "list", role+"/fd") }))
	t.Run("when numbers are used again", s.part(b.neverTakenForTheRole))
}

// neverTakenForTheRole checks that init takes no connection for the role's because the role
// has the number of the process that opened it.
func (b inside) neverTakenForTheRole(t *testing.T) {
	b.lowerPIDs(t)
	if most := b.run(t, "/bin/cat", "/proc/sys/kernel/pid_max"); len(strings.TrimSpace(string(most.Stdout))) > 5 {
		t.Skipf("processes have numbers up to %s here: they cannot be used up in a test", most.Stdout)
	}
	got := value[probed.Reuse](t, b.probe(t, "reuse", strconv.Itoa(asking)))
	if n := len(got.Before); n != asking || len(got.After) != n || got.Role == 0 {
		t.Fatalf("the probe asked %d and %d times of %d", n, len(got.After), asking)
	}
	for _, who := range slices.Concat(got.Before, got.After) {
		if who != string(guest.CallerTool) {
			t.Fatalf("with role %d a tool's connection is taken for %q", got.Role, who)
		}
	}
}

var associate = guest.RoleSpec{Name: guestbin.Associate, Credentials: []byte(`{}`)}

func rolePID(t *testing.T, f probed.Facts) int {
	t.Helper()
	for pid, line := range f.Processes {
		if strings.TrimSpace(line) == guestbin.Associate {
			return pid
		}
	}
	t.Fatalf("no role among %v", f.Processes)
	return 0
}

// lowerPIDs lowers pid_max inside the sandbox, so that pids are reused soon. It does
// nothing where pid_max is not per pid namespace (before Linux 6.14), which it recognises
// by the host having the same value.
func (b inside) lowerPIDs(t *testing.T) {
	t.Helper()
	here, err := os.ReadFile("/proc/sys/kernel/pid_max")
	if err != nil {
		t.Fatal(err)
	}
	there := b.run(t, "/bin/cat", "/proc/sys/kernel/pid_max").Stdout
	for _, p := range processesOf(t, b.spec) {
		pid, name, _ := strings.Cut(p, " ")
		if name != "choir-init" || string(here) == string(there) || !ownPIDs(t, pid) {
			continue
		}
		out, err := exec.Command("nsenter", "-t", pid, "-p", "sh", "-c", "echo 1500 > /proc/sys/kernel/pid_max").CombinedOutput()
		t.Logf("the sandbox's own pid_max is lowered: %s %v", out, err)
		return
	}
}

// ownPIDs reports whether a process of the host is in another pid namespace than this one. A
// relay is not: it is outside of its sandbox.
func ownPIDs(t *testing.T, pid string) bool {
	t.Helper()
	ours, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.Readlink("/proc/" + pid + "/ns/pid")
	return err == nil && theirs != ours // an error means that it has ended
}

// stand is a test control plane. It tells every caller at the egress door whether init
// takes it for the role or a tool, and restarts the role whenever it exits.
type stand struct {
	client *guest.Client
	lines  chan string // what the role said, and nobody else
}

func (b inside) stand(t *testing.T) *stand {
	t.Helper()
	d := &stand{client: b.client, lines: make(chan string, 1000)}
	a, err := d.client.Attach(timeout(t))
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	var listeners []*guest.Listener
	for caller, most := range map[guest.Caller]int{guest.CallerRole: 4, guest.CallerTool: asking + 8} {
		l := d.client.Listen(roledoor.Egress, caller, most)
		listeners = append(listeners, l)
		running.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				running.Go(func() { d.answer(c.(*guest.Stream)) })
			}
		})
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	running.Go(func() {
		for n := range a.Notices() {
			for _, l := range listeners {
				l.EndRole(n.Launch)
			}
			if _, err := d.client.StartRole(ctx, associate); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		for _, l := range listeners {
			l.Close()
		}
		destroy(t, b) // ends every stream and the attachment
		a.Close()
		running.Wait()
	})
	return d
}

// answer replies to each line of a stream with its Caller, until the stream ends, and
// passes on the role's lines.
func (d *stand) answer(s *guest.Stream) {
	defer s.Close()
	for r := bufio.NewScanner(s); r.Scan(); {
		if s.Caller == guest.CallerRole {
			select {
			case d.lines <- r.Text():
			default: // there are enough
			}
		}
		if _, err := s.Write([]byte(s.Caller + "\n")); err != nil {
			return
		}
	}
}

// heard waits for a line from the role over a stream of its own and checks it.
func (d *stand) heard(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-d.lines:
		if got != want {
			t.Errorf("the role said %q", got)
		}
	case <-timeout(t).Done():
		t.Fatal("the role has no stream")
	}
}
