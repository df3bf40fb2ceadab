package hub_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"path/filepath"
	"testing"

	"choiros/internal/bus/bustest"
	"choiros/internal/bus/hub"
	"choiros/internal/choir"
)

// door serves a listener at a path.
func door(t testing.TB, s *hub.Server, path string) *hub.Door {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	d := hub.ServeDoor(t.Context(), l, s)
	t.Cleanup(func() { d.Close() })
	return d
}

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
	d := door(t, s, path)
	c := bustest.DialWith(t, to(path), bustest.Mint(t, s, choir.RoleDirector, l.Home), choir.RoleDirector, l.Home)
	if _, err := c.EventsAfter(bustest.Within(t), 0, 1); err != nil {
		t.Fatal(err)
	}
	// The control plane goes and comes back, and so does the client.
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	door(t, s, path)
	if _, err := c.EventsAfter(bustest.Within(t), 0, 1); err != nil {
		t.Fatal(err)
	}
}

func TestClosingTheServerEndsWhatCameThroughADoor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bus.sock")
	s := bustest.Start(t)
	door(t, s, path)
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
