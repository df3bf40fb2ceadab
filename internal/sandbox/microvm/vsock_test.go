package microvm

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"choiros/internal/choir"
)

// answered asks a monitor for a port that answers with text, and returns what was asked, what
// is left of the answer, and the error.
func answered(text string) (asked, left string, err error) {
	here, there := net.Pipe()
	var monitor sync.WaitGroup
	monitor.Go(func() {
		defer there.Close()
		line := make([]byte, len("CONNECT 1001\n"))
		if _, err := io.ReadFull(there, line); err == nil {
			asked = string(line)
			io.WriteString(there, text)
		}
	})
	err = askFor(here, 1001)
	if err == nil {
		rest, _ := io.ReadAll(here) // up to the end of the pipe
		left = string(rest)
	}
	here.Close()
	monitor.Wait()
	return asked, left, err
}

// TestAPortIsAskedFor checks the words of the vsock, and that nothing behind them is read.
func TestAPortIsAskedFor(t *testing.T) {
	t.Parallel()
	if asked, left, err := answered("OK 1073741824\nOK and more"); err != nil || asked != "CONNECT 1001\n" || left != "OK and more" {
		t.Errorf("asked %q, left %q, %v", asked, left, err)
	}
	for _, lie := range []string{"", "OK", "OK \n", "OK x\n", "OK -1\n", "OK 4294967296\n", "NO 1\n", "\n", strings.Repeat("O", 1<<20)} {
		if _, _, err := answered(lie); choir.CodeOf(err) != choir.CodeUnavailable {
			t.Errorf("%.20q is taken for an answer: %v", lie, err)
		}
	}
}

func FuzzAnswerOfAVsock(f *testing.F) {
	f.Add("OK 7\n")
	f.Fuzz(func(t *testing.T, text string) {
		line, rest, whole := strings.Cut(text, "\n")
		var n uint32
		_, bad := fmt.Sscanf(line, "OK %d", &n)
		if _, left, err := answered(text); err == nil && (!whole || bad != nil || left != rest) {
			t.Errorf("%q is taken for an answer, and %q is left", text, left)
		}
	})
}

// TestAStreamOverASerialLineIsShared recovers a machine of QEMU by a driver for Firecracker,
// whose callers open many streams: they share the only one.
func TestAStreamOverASerialLineIsShared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		driver, made string
		shared       bool
	}{
		{VMMFirecracker, "", true}, {VMMFirecracker, VMMFirecracker, false}, {VMMQEMU, "", false}, {VMMQEMU, VMMFirecracker, false},
	} {
		b := newBox(state{Facts: facts{VMM: c.made}})
		b.shareStream(Config{VMM: c.driver}.capabilities())
		if (b.shared != nil) != c.shared {
			t.Errorf("%+v: shared %v", c, b.shared != nil)
		}
	}
}

// TestTheGroupOfADevice checks which group a monitor gets besides its own: the device's, where
// that may use it and is not root's.
func TestTheGroupOfADevice(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kvm")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	group := os.Getgid()
	if os.Geteuid() == 0 {
		if group = 700_001; os.Chown(path, 0, group) != nil {
			t.Fatal("the file keeps its group")
		}
	}
	for mode, want := range map[os.FileMode]int{0o600: 0, 0o640: 0, 0o660: group, 0o666: group} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if got := kvmGroup(path); got != want {
			t.Errorf("of mode %o: group %d, not %d", mode, got, want)
		}
	}
	if got := kvmGroup(path + "none"); got != 0 {
		t.Errorf("of no device: %d", got)
	}
}
