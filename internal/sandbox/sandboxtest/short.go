package sandboxtest

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// short makes sandboxes in another process, which may open few files.
func (s suite) short(t *testing.T) {
	o := s.newOrders(t, 0)
	o.Short = true
	child, out := startChild(t, o)
	said, _ := io.ReadAll(out) // Wait tells the rest
	if err := child.Wait(); err != nil || !strings.Contains(string(said), "were refused") {
		t.Errorf("%v\n%s", err, said)
	}
	for line := range strings.Lines(string(said)) {
		if strings.Contains(line, "were refused") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

// mostSpare is more file descriptors than the creation of a sandbox needs at once.
const mostSpare = 40

// createShort creates a sandbox with no file descriptor to spare, with one, and so on, until it is
// made. Each one before must be refused with the reason, and leave nothing.
func createShort(t *testing.T, d sandbox.Driver, spec sandbox.Spec) {
	defer closeDriver(t, d)
	b, err := d.Create(timeout(t), spec) // sets the driver up
	if err != nil {
		t.Fatal(err)
	}
	destroy(t, b)
	for spare := range uint64(mostSpare) {
		var whole syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &whole); err != nil {
			t.Fatal(err)
		}
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		limit := syscall.Rlimit{Cur: uint64(len(open)) - 1 + spare, Max: whole.Max} // without the listing's own
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
		b, err := d.Create(timeout(t), spec)
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &whole); err != nil {
			t.Fatal(err)
		}
		if err == nil {
			destroy(t, b)
			t.Logf("%d creations were refused", spare)
			if spare == 0 {
				t.Error("the limit had no effect")
			}
			return
		}
		if !strings.Contains(err.Error(), "too many open files") || choir.CodeOf(err) == "" {
			t.Errorf("with %d to spare: %v", spare, err)
		}
		nothingLeft(t, spec)
	}
	t.Errorf("no sandbox was made with %d to spare", mostSpare)
}
