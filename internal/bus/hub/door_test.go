package hub_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/bus/bustest"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

func door(t *testing.T, s *hub.Server, path string, allow func(int32) bool) *hub.Door {
	t.Helper()
	d, err := hub.ListenDoor(t.Context(), path, s, allow)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func me(pid int32) bool { return int(pid) == os.Getpid() }

func to(path string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
}

func TestADoorLeadsToTheBus(t *testing.T) {
	t.Parallel()
	s, l := bustest.Start(t), bustest.NewLog(bustest.NewHome(t))
	answerFrom(t, s, l)
	path := filepath.Join(t.TempDir(), "bus.sock")
	d := door(t, s, path, me)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o666 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	c := bustest.DialWith(t, to(path), bustest.Mint(t, s, choir.RoleDirector, l.Home), choir.RoleDirector, l.Home)
	if _, err := c.EventsAfter(bustest.Within(t), 0, 1); err != nil {
		t.Fatal(err)
	}
	// The control plane is killed and comes back: its socket lies there, the client returns.
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	door(t, s, path, me)
	if _, err := c.EventsAfter(bustest.Within(t), 0, 1); err != nil {
		t.Fatal(err)
	}
}

func TestADoorHangsUpOnWhoIsNotAllowed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bus.sock")
	asked := make(chan int32, 1)
	door(t, bustest.Start(t), path, func(pid int32) bool { asked <- pid; return false })
	nc, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if got, err := io.ReadAll(nc); err != nil || len(got) != 0 {
		t.Errorf("it said %q, %v", got, err)
	}
	if pid := <-asked; !me(pid) {
		t.Errorf("asked about pid %d, not %d", pid, os.Getpid())
	}
}

func TestADoorWithALongPath(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "bus.sock")
	d := door(t, bustest.Start(t), path, me)
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left behind: %v", err)
	}
}

func TestADoorRefusesToReplaceAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bus.sock")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := hub.ListenDoor(t.Context(), path, bustest.Start(t), me); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Fatalf("got %v", err)
	}
}

func TestADoorHoldsNoMoreThanItsPlaces(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bus.sock")
	door(t, bustest.Start(t), path, me)
	refused := 0
	for range 40 {
		nc, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		// The server greets with INFO; a door that is full with nothing.
		if line, err := bufio.NewReader(nc).ReadString('\n'); err != nil {
			refused++
		} else if !strings.HasPrefix(line, "INFO ") {
			t.Errorf("it said %q", line)
		}
	}
	if refused != 40-16 {
		t.Errorf("%d of 40 were refused, want 24", refused)
	}
}

func TestClosingTheServerEndsWhatCameThroughADoor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bus.sock")
	s := bustest.Start(t)
	door(t, s, path, me)
	nc, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	r := bufio.NewReader(nc)
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestAGuestIsKnownByItsPIDInside(t *testing.T) {
	t.Parallel()
	if hub.IsGuest(int32(os.Getpid()), os.Getpid()) {
		t.Error("a process of the host passes for a guest")
	}
	if hub.IsGuest(1<<22+1, 1) {
		t.Error("a process that is not there passes for a guest")
	}
	host := inNamespace(t, "--unshare-pid", "--as-pid-1")
	if !hub.IsGuest(host, 1) {
		t.Error("PID 1 of a sandbox is not known")
	}
	if hub.IsGuest(host, 2) {
		t.Error("PID 1 of a sandbox passes for another")
	}
}

func TestAGuestOfAGuestIsNobody(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]bool{
		"Name:\tx\nNSpid:\t4242\t7\nUid:\t0\n": true,
		"NSpid:\t4242\n":                       false,
		"NSpid:\t7\n":                          false,
		"NSpid:\t4242\t31\t7\n":                false, // it made a namespace of its own
		"NSpid:\t4242\t7\t1\n":                 false,
		"NSpid:\t4242\t77\n":                   false,
		"Name:\tx\n":                           false,
	} {
		if got := hub.HasPID(strings.NewReader(status), 7); got != want {
			t.Errorf("%q: %t, want %t", status, got, want)
		}
	}
}

// inNamespace starts a process in a sandbox and returns its pid out here.
func inNamespace(t *testing.T, flags ...string) int32 {
	t.Helper()
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Skip("bubblewrap is not installed: ", err)
	}
	info, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer info.Close()
	cmd := exec.Command(bwrap, append(flags, "--info-fd", "3", "--dev-bind", "/", "/", "--proc", "/proc", "cat")...)
	cmd.ExtraFiles = []*os.File{w}
	hold, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hold.Close(); cmd.Wait() })
	return childPID(t, info)
}
