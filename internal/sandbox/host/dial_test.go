package host

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// TestDialInTrustsNoFolder connects in a folder that another user may have filled: to a socket
// of the right process, to one of another process, to a link, and to a plain file. The path of
// the folder is longer than a socket's address may be.
// listenIn returns a listener at a door, until the test ends.
func listenIn(t *testing.T, dir, name string) net.Listener {
	t.Helper()
	f, err := ListenIn(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestDialInTrustsNoFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 30))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	listenIn(t, dir, "real")
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		pid  int
		code choir.Code
	}{
		{"real", os.Getpid(), ""}, {"real", os.Getpid() + 1, choir.CodeForbidden}, {"link", os.Getpid(), choir.CodeForbidden},
		{"plain", os.Getpid(), choir.CodeForbidden}, {"none", os.Getpid(), choir.CodeUnavailable},
	} {
		conn, err := DialIn(t.Context(), dir, c.name, c.pid)
		if err == nil {
			conn.Close()
		}
		if (err == nil) != (c.code == "") || err != nil && choir.CodeOf(err) != c.code {
			t.Errorf("%s by process %d: %v", c.name, c.pid, err)
		}
	}
}

// TestDescriptorsThatAGuestSendsAreNotTaken has the far end of a door send an open folder with its
// words, of which a reader of the words gets no descriptor.
func TestDescriptorsThatAGuestSendsAreNotTaken(t *testing.T) {
	dir := t.TempDir()
	l := listenIn(t, dir, "door")
	sent, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer sent.Close()
	for name, taken := range map[string]int{"control": 1, "door": 0} {
		conn, err := DialIn(t.Context(), dir, "door", os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		far, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := far.(*net.UnixConn).WriteMsgUnix([]byte("words"), unix.UnixRights(int(sent.Fd())), nil); err != nil {
			t.Fatal(err)
		}
		buf, rights := make([]byte, 5), make([]byte, 64)
		if name == "control" { // a reader that asks for them
			_, _, _, _, err = conn.(*net.UnixConn).ReadMsgUnix(buf, rights)
		} else {
			_, err = io.ReadFull(conn, buf)
		}
		if err != nil || string(buf) != "words" {
			t.Errorf("%s: %q, %v", name, buf, err)
		}
		if n := len(heldOf(t, sent.Name())) - 1; n != taken {
			t.Errorf("%s: %d descriptors were taken, wanted %d", name, n, taken)
		}
		for _, fd := range heldOf(t, sent.Name()) {
			if fd != int(sent.Fd()) {
				unix.Close(fd)
			}
		}
		conn.Close()
		far.Close()
	}
}

// heldOf returns the descriptors of this process that are open at a path.
func heldOf(t *testing.T, path string) (fds []int) {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == path {
			fd, err := strconv.Atoi(filepath.Base(link))
			if err != nil {
				t.Fatal(err)
			}
			fds = append(fds, fd)
		}
	}
	return fds
}
