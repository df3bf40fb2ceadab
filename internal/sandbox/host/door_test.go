package host

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/sandbox"
)

// TestTheNextSandboxKeepsItsDoor removes the door of a sandbox that has ended while the next one listens
// there, with connections that wait or with as many as can, and once that one has ended too.
func TestTheNextSandboxKeepsItsDoor(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), strings.Repeat("long", 30))} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		listenIn(t, dir, sandbox.ControlSocket).Close()
		next := listenIn(t, dir, sandbox.ControlSocket)
		var waiting []net.Conn
		for full := false; !full; {
			if err := RemoveDoor(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(doorIn(dir)); err != nil {
				t.Fatalf("with %d connections that wait: %v", len(waiting), err)
			}
			conn, err := DialDoor(t.Context(), dir)
			if full = err != nil; !full {
				waiting = append(waiting, conn)
			}
		}
		if err := RemoveDoor(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(doorIn(dir)); err != nil {
			t.Fatalf("with no room for another connection: %v", err)
		}
		for _, conn := range waiting {
			conn.Close()
		}
		next.Close()
		// A process that another test forks in this moment has the listener until it runs its program.
		for began, there := time.Now(), true; there; {
			if err := RemoveDoor(dir); err != nil {
				t.Fatal(err)
			}
			_, err := os.Stat(doorIn(dir))
			if there = !os.IsNotExist(err); there && time.Since(began) > 10*time.Second {
				t.Fatalf("the door of a sandbox that has ended: %v", err)
			}
		}
		if err := RemoveDoor(dir); err != nil {
			t.Errorf("a door that is not there: %v", err)
		}
	}
}
