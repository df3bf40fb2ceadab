package fake

import (
	"context"
	"net"
	"os"
	"sync"

	"choiros/internal/choir"

	"golang.org/x/sys/unix"
)

// door is a listener without an address. Its connections are socket pairs, because roles
// need descriptors.
type door struct {
	name   string
	coming chan net.Conn
	once   sync.Once
	closed chan struct{}
}

var _ net.Listener = (*door)(nil)

func newDoor(name string) *door {
	return &door{name: name, coming: make(chan net.Conn), closed: make(chan struct{})}
}

// dial opens a connection to the door. Once the door is closed the error is code
// unavailable.
func (d *door) dial(ctx context.Context) (*net.UnixConn, error) {
	mine, theirs, err := pair()
	if err != nil {
		return nil, choir.Wrap("fake.dial", choir.CodeUnavailable, err, "make a pair of sockets")
	}
	select {
	case d.coming <- theirs:
		return mine, nil
	case <-d.closed:
		err = choir.E("fake.dial", choir.CodeUnavailable, "the sandbox has ended")
	case <-ctx.Done():
		err = choir.Wrap("fake.dial", choir.CodeUnavailable, ctx.Err(), "open the %s door", d.name)
	}
	mine.Close()
	theirs.Close()
	return nil, err
}

// Accept returns the next connection, or net.ErrClosed; it implements net.Listener.
func (d *door) Accept() (net.Conn, error) {
	select {
	case c := <-d.coming:
		return c, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

// Close makes dial and Accept fail; it implements net.Listener. It is idempotent.
func (d *door) Close() error {
	d.once.Do(func() { close(d.closed) })
	return nil
}

// Addr returns the name of the door; it implements net.Listener.
func (d *door) Addr() net.Addr { return &net.UnixAddr{Net: "unix", Name: d.name} }

// pair returns two connected stream sockets.
func pair() (a, b *net.UnixConn, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	if a, err = socket(fds[0]); err != nil {
		unix.Close(fds[1])
		return nil, nil, err
	}
	if b, err = socket(fds[1]); err != nil {
		a.Close()
	}
	return a, b, err
}

// socket returns a connection for a socket's descriptor, which it closes.
func socket(fd int) (*net.UnixConn, error) {
	f := os.NewFile(uintptr(fd), "fake door")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return c.(*net.UnixConn), nil // the kind that Socketpair makes
}

// conn is the control plane's end of a connection to a sandbox.
type conn struct {
	*net.UnixConn
	machine *Machine
	driver  *Driver
}

// watch registers a connection of a driver, so that the machine can break it, and returns
// it wrapped.
func (m *Machine) watch(u *net.UnixConn, d *Driver) *conn {
	c := &conn{u, m, d}
	m.mu.Lock()
	m.conns[c] = struct{}{}
	m.mu.Unlock()
	return c
}

// Close closes the connection and removes it from the machine's list.
func (c *conn) Close() error {
	c.machine.mu.Lock()
	delete(c.machine.conns, c)
	c.machine.mu.Unlock()
	return c.UnixConn.Close()
}

// shut shuts the connection down for both ends, even if another process holds the other
// one.
func (c *conn) shut() {
	_ = c.CloseRead() // it may have been closed meanwhile
	_ = c.CloseWrite()
}
