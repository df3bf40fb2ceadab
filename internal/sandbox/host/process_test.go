package host

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"choiros/internal/choir"
)

func TestParseStat(t *testing.T) {
	tail := " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 0\n"
	for _, name := range []string{"sh", "a) S 9", "((", ""} {
		s, err := parseStat([]byte("77 (" + name + ")" + tail))
		if err != nil || s.Start != 4242 || s.State != 'S' || s.CPUTicks != 11+12+13+14 || !s.Exiting {
			t.Errorf("%q: %+v, %v", name, s, err)
		}
	}
	if s, err := parseStat([]byte("77 (x)" + strings.Replace(tail, " 6 ", " 4194560 ", 1))); err != nil || s.Exiting {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range []string{"", "1", "1 (x", "1 (x) S", "1 (x)" + strings.ReplaceAll(tail, "4242", "x")} {
		if _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// FuzzParseStat holds that no name of a process can make a start time of its
// own choosing.
func FuzzParseStat(f *testing.F) {
	f.Add("sh")
	f.Add(") S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 99 0")
	f.Fuzz(func(t *testing.T, name string) {
		s, err := parseStat([]byte("77 (" + name + ") S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 0\n"))
		if err != nil || s.Start != 4242 {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

func TestHoldRefusesAnotherProcess(t *testing.T) {
	p, err := OpenProcess(os.Getpid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := OpenProcess(p.PID, p.Start+1); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("a number used again: %v", err)
	}
	again, err := OpenProcess(p.PID, p.Start)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestHoldRefusesTheEnded(t *testing.T) {
	cmd := exec.Command("/bin/true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{pid, 0, -1} {
		if _, err := OpenProcess(n, 0); choir.CodeOf(err) != choir.CodeNotFound {
			t.Errorf("%d: %v", n, err)
		}
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	p, err := OpenProcess(os.Getpid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Wait(ctx); err != context.Canceled {
		t.Error(err)
	}
}

// TestAWaitLeavesNoDeadlineToTheNext waits for a process that has ended with a context that has
// ended too, and again without one.
func TestAWaitLeavesNoDeadlineToTheNext(t *testing.T) {
	cmd := exec.Command("/bin/cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, err := OpenProcess(cmd.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2000 {
		_ = p.Wait(ended) // either has ended
		if err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
