package host

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"choiros/internal/sandbox"

	"golang.org/x/sys/unix"
)

// greedyVariable makes this test process take what it can get.
const greedyVariable = "CHOIR_LOCAL_GREEDY"

// groupVariable names the group below which the groups of sandboxes are to lie; the
// part cgroup2 of the soak sets it.
const groupVariable = "CHOIR_TEST_CGROUP"

// TestV2Limits checks the kernel's part of version 2. On machines that hold the
// controllers in version 1, as many old ones do, it has nothing to check.
func TestV2Limits(t *testing.T) {
	if what := os.Getenv(greedyVariable); what != "" {
		beGreedy(what)
		return
	}
	l := newV2(hierarchies(), "choir-v2-limits-test-"+strconv.Itoa(os.Getpid()))
	if l == nil {
		t.Skip("no cgroup v2 with the controllers pids, memory and cpu is ours here; the part cgroup2 of make soak tries it")
	}
	// Each probe and each driver asks anew, and must come to the same place.
	for range 2 {
		if again := newV2(hierarchies(), "again"); again == nil || filepath.Dir(again.prefix) != filepath.Dir(l.prefix) {
			t.Fatalf("first in %+v, then in %+v", l, again)
		}
	}
	if own := os.Getenv(groupVariable); own != "" && filepath.Dir(l.prefix) != own {
		t.Errorf("its groups are %s*, not below %s", l.prefix, own)
	}
	for _, c := range []struct {
		what string
		ok   func(said string, state *os.ProcessState) bool
	}{
		{"processes", func(said string, _ *os.ProcessState) bool { n, err := strconv.Atoi(said); return err == nil && n < 40 }},
		{"memory", func(_ string, s *os.ProcessState) bool { return !s.Success() }},
		{"cpu", func(_ string, s *os.ProcessState) bool {
			return s.Success() && s.UserTime()+s.SystemTime() < 500*time.Millisecond
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			g, err := l.Create("group-"+c.what, sandbox.Limits{Processes: 40, MemoryBytes: 64 << 20, CPUMilli: 200})
			if err != nil {
				t.Fatal(err)
			}
			said, state := runGreedy(t, g, c.what)
			if !c.ok(said, state) {
				t.Errorf("it said %q and ended as %v", said, state)
			}
			if u, err := g.Usage(); err != nil || u.CPUMillis == 0 {
				t.Errorf("%+v, %v", u, err)
			}
			if err := g.Remove(); err != nil {
				t.Error(err)
			}
		})
	}
}

func runGreedy(t *testing.T, g Group, what string) (string, *os.ProcessState) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^TestV2Limits$")
	cmd.Env = append(os.Environ(), greedyVariable+"="+what)
	var said strings.Builder
	cmd.Stdout = &said
	if err := g.Start(func(a *syscall.SysProcAttr) error { cmd.SysProcAttr = a; return cmd.Start() }); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // its state says how it went
	if err := KillAll(t.Context(), g); err != nil {
		t.Error(err)
	}
	text, _, _ := strings.Cut(said.String(), "\n")
	return text, cmd.ProcessState
}

func beGreedy(what string) {
	switch what {
	case "processes":
		n := 0
		for ; n < 100; n++ {
			if err := exec.Command("/bin/sleep", "60").Start(); err != nil {
				break
			}
		}
		fmt.Println(n)
	case "memory":
		for range 256 {
			b, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
			if err != nil {
				os.Exit(1)
			}
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
		}
	case "cpu":
		for end := time.Now().Add(time.Second); time.Now().Before(end); {
			continue
		}
	}
}
