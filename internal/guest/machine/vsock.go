package machine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// The ports of a machine's vsock. On the first two this machine listens, for streams to
// choir-init and for questions; on the last the host does, until the first two can be reached.
const (
	ControlVsock = 1001
	StateVsock   = 1002
	ReadyVsock   = 1003
)

// openVsock listens on the machine's ports, tells the host, and serves both for as long as
// the machine runs.
func openVsock() error {
	streams, err := listenVsock(ControlVsock)
	if err != nil {
		return err
	}
	questions, err := listenVsock(StateVsock)
	if err != nil {
		return err
	}
	go ServeStreams(streams, questions, control, usage)
	ready, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make a vsock: %w", err)
	}
	defer unix.Close(ready)
	// A machine that is restored from a snapshot does not come here again.
	if err := unix.Connect(ready, &unix.SockaddrVM{CID: unix.VMADDR_CID_HOST, Port: ReadyVsock}); err != nil {
		return fmt.Errorf("tell the host that the machine is ready: %w", err)
	}
	return nil
}

// ServeStreams carries every connection of streams to the unix socket door, and answers the
// lines of those of questions with what the sandbox uses, until both are closed and their
// connections have ended.
func ServeStreams(streams, questions net.Listener, door string, usage func() string) {
	var serving sync.WaitGroup
	serving.Go(func() {
		eachConnection(questions, func(conn net.Conn) { answer(conn, usage) })
	})
	eachConnection(streams, func(outer net.Conn) {
		inner, err := net.Dial("unix", door)
		if err != nil {
			return // choir-init has ended, and the machine is about to
		}
		defer inner.Close()
		copyBothWays(outer, inner)
	})
	serving.Wait()
}

// eachConnection serves every connection of a listener until that is closed, and waits for
// the connections.
func eachConnection(l net.Listener, serve func(net.Conn)) {
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(idle) // there is no room for more at the moment
		default:
			serving.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	}
}

// answer answers AskUsage, the only question where each stream has a connection of its own.
func answer(conn net.Conn, usage func() string) {
	//lint:ignore scannererr the connection ends, however the reading ended
	lines := bufio.NewScanner(conn)
	lines.Buffer(make([]byte, 256), 256)
	for lines.Scan() {
		if what, mark, _ := strings.Cut(lines.Text(), " "); what == AskUsage {
			io.WriteString(conn, AskUsage+" "+mark+" "+usage()+"\n")
		}
	}
}

// halves is a connection of which one direction can be closed.
type halves interface {
	net.Conn
	CloseWrite() error
}

// copyBothWays copies between two connections until both directions have ended.
func copyBothWays(a, b net.Conn) {
	var both sync.WaitGroup
	oneWay := func(to, from net.Conn) {
		_, err := io.Copy(to, from)
		if half, ok := to.(halves); ok && err == nil {
			half.CloseWrite()
			return
		}
		to.Close()
		from.Close()
	}
	both.Go(func() { oneWay(a, b) })
	both.Go(func() { oneWay(b, a) })
	both.Wait()
}

// vsockListener is a listening vsock, which package net does not know.
type vsockListener struct {
	file   *os.File
	port   uint32
	closed atomic.Bool
}

func listenVsock(port uint32) (*vsockListener, error) {
	fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("make a vsock: %w", err)
	}
	l := &vsockListener{file: os.NewFile(uintptr(fd), "vsock"), port: port}
	err = unix.Bind(fd, &unix.SockaddrVM{CID: unix.VMADDR_CID_ANY, Port: port})
	if err == nil {
		err = unix.Listen(fd, 128)
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("listen on port %d of the vsock: %w", port, err)
	}
	return l, nil
}

// Accept implements net.Listener.
func (l *vsockListener) Accept() (net.Conn, error) {
	raw, err := l.file.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd int
	var failed error
	err = raw.Read(func(listening uintptr) bool {
		fd, _, failed = unix.Accept4(int(listening), unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
		return failed != unix.EAGAIN
	})
	if err = errors.Join(err, failed); err != nil {
		if l.closed.Load() {
			err = net.ErrClosed // the runtime's error for it is no other's
		}
		return nil, err
	}
	return newVsockConn(fd, l.port), nil
}

// Close implements net.Listener.
func (l *vsockListener) Close() error {
	l.closed.Store(true)
	return l.file.Close()
}

// Addr implements net.Listener.
func (l *vsockListener) Addr() net.Addr { return vsockAddr(l.port) }

// vsockConn is a connection by vsock. Its file waits in the runtime's poller, and is hidden:
// io.Copy would have the kernel copy from file to socket, which it does not do for a vsock.
type vsockConn struct {
	file *os.File
	addr net.Addr
}

// newVsockConn returns a connection for a socket, which does not block.
func newVsockConn(fd int, port uint32) *vsockConn {
	return &vsockConn{os.NewFile(uintptr(fd), "vsock"), vsockAddr(port)}
}

// Read, Write and Close implement net.Conn.
func (c *vsockConn) Read(p []byte) (int, error)  { return c.file.Read(p) }
func (c *vsockConn) Write(p []byte) (int, error) { return c.file.Write(p) }
func (c *vsockConn) Close() error                { return c.file.Close() }

// SetDeadline, SetReadDeadline and SetWriteDeadline implement net.Conn.
func (c *vsockConn) SetDeadline(t time.Time) error      { return c.file.SetDeadline(t) }
func (c *vsockConn) SetReadDeadline(t time.Time) error  { return c.file.SetReadDeadline(t) }
func (c *vsockConn) SetWriteDeadline(t time.Time) error { return c.file.SetWriteDeadline(t) }

// LocalAddr and RemoteAddr return the address of this end; they implement net.Conn.
func (c *vsockConn) LocalAddr() net.Addr  { return c.addr }
func (c *vsockConn) RemoteAddr() net.Addr { return c.addr }

// CloseWrite ends this end's direction.
func (c *vsockConn) CloseWrite() error {
	raw, err := c.file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = unix.Shutdown(int(fd), unix.SHUT_WR) })
	return errors.Join(err, failed)
}

// vsockAddr is a port.
type vsockAddr uint32

// Network returns "vsock"; it implements net.Addr.
func (vsockAddr) Network() string { return "vsock" }

// String returns the port; it implements net.Addr.
func (a vsockAddr) String() string { return fmt.Sprint(uint32(a)) }
