package machine

import (
	"bufio"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// serving serves streams and questions until the test ends, with an echo in the place of
// choir-init.
func serving(t *testing.T, streams, questions net.Listener) {
	t.Helper()
	door := filepath.Join(t.TempDir(), "door")
	inner, err := net.Listen("unix", door)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		eachConnection(inner, func(c net.Conn) { io.Copy(c, c) })
	})
	all.Go(func() { ServeStreams(streams, questions, door, func() string { return "1 2 3" }) })
	t.Cleanup(func() {
		for _, l := range []net.Listener{streams, questions, inner} {
			l.Close()
		}
		all.Wait()
	})
}

// echoed sends text by a connection, ends that direction, and checks that it comes back.
func echoed(t *testing.T, conn halves, text string) {
	t.Helper()
	defer conn.Close()
	go func() {
		io.WriteString(conn, text)
		conn.CloseWrite()
	}()
	if got, err := io.ReadAll(conn); string(got) != text || err != nil {
		t.Errorf("of %d bytes %d came back: %v", len(text), len(got), err)
	}
}

// TestEachStreamHasAConnection opens two streams at once, and asks a question beside them.
func TestEachStreamHasAConnection(t *testing.T) {
	dir := t.TempDir()
	dial := func(name string) *net.UnixConn {
		c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: filepath.Join(dir, name), Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	var listeners []net.Listener
	for _, name := range []string{"streams", "questions"} {
		l, err := net.Listen("unix", filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, l)
	}
	serving(t, listeners[0], listeners[1])
	first, second := dial("streams"), dial("streams")
	echoed(t, second, strings.Repeat("second", 100_000))
	echoed(t, first, "first")
	q := dial("questions")
	defer q.Close()
	io.WriteString(q, "nonsense\nsession abcd\nusage abcd\n")
	if line, err := bufio.NewReader(q).ReadString('\n'); line != "usage abcd 1 2 3\n" || err != nil {
		t.Errorf("the answer is %q, %v", line, err)
	}
}

// TestStreamsByVsock does the same by a real vsock, where the kernel connects one to itself.
func TestStreamsByVsock(t *testing.T) {
	streams, err := listenVsock(ControlVsock)
	if err != nil {
		t.Skipf("there is no vsock here: %v", err)
	}
	questions, err := listenVsock(StateVsock)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Connect(fd, &unix.SockaddrVM{CID: unix.VMADDR_CID_LOCAL, Port: ControlVsock}); err != nil {
		unix.Close(fd)
		streams.Close()
		questions.Close()
		t.Skipf("the kernel connects no vsock to itself (modprobe vsock_loopback): %v", err)
	}
	serving(t, streams, questions)
	unix.SetNonblock(fd, true)
	echoed(t, newVsockConn(fd, ControlVsock), strings.Repeat("by vsock ", 50_000))
}

// TestAClosedVsockIsSaid closes a listening vsock while a connection is waited for, and after
// that: it once seemed to have no room, for ever.
func TestAClosedVsockIsSaid(t *testing.T) {
	l, err := listenVsock(ControlVsock)
	if err != nil {
		t.Skipf("there is no vsock here: %v", err)
	}
	waiting := make(chan error)
	go func() {
		_, err := l.Accept()
		waiting <- err
	}()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; !errors.Is(err, net.ErrClosed) {
		t.Errorf("while it waited: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after that: %v", err)
	}
}
