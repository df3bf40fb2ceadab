package guest

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// maxForwards bounds the connections through the forwarder; more wait.
const maxForwards = 256

// forward takes connections on loopback to the egress door.
func (s *Server) forward(ctx context.Context, listener net.Listener) {
	slots := make(chan struct{}, maxForwards)
	for {
		slots <- struct{}{}
		conn, err := listener.Accept()
		if err != nil {
			return // closed: the server ends
		}
		s.handlers.Go(func() {
			defer func() { <-slots }()
			s.forwardOne(ctx, conn)
		})
	}
}

// join copies both ways until both directions have ended.
func join(a, b net.Conn) {
	var both sync.WaitGroup
	both.Go(func() { oneWay(a, b) })
	both.Go(func() { oneWay(b, a) })
	both.Wait()
}

func oneWay(dst, src net.Conn) {
	if _, err := io.Copy(dst, src); err != nil {
		dst.Close()
		src.Close()
		return
	}
	if half, ok := dst.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	} else {
		dst.Close()
	}
}

// listenForward opens the forwarder's port. It makes the socket itself, because
// net.Listen first finds out about IPv6 and the backlog, a quarter of a
// millisecond on the way to the first command.
func listenForward(address string) (net.Listener, error) {
	listener, err := listenTCP(address)
	return listener, choir.Wrap("guest.forward", choir.CodeUnavailable, err, "open the way to the egress door at %s", address)
}

func listenTCP(address string) (net.Listener, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "proxy")
	defer f.Close()
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return nil, err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}); err != nil {
		return nil, err
	}
	if err := unix.Listen(fd, unix.SOMAXCONN); err != nil {
		return nil, err
	}
	return net.FileListener(f)
}
