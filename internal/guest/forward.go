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

// maxForwards bounds the concurrent connections through the forwarder; further ones wait.
const maxForwards = 256

// forward accepts connections on listener and joins each with a stream to the egress
// door, until the listener is closed.
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

// join copies between two connections in both directions until both directions have
// ended.
func join(a, b net.Conn) {
	var both sync.WaitGroup
	both.Go(func() { oneWay(a, b) })
	both.Go(func() { oneWay(b, a) })
	both.Wait()
}

func oneWay(dst, src net.Conn) {
	if _, err := copyStream(dst, src); err != nil {
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

// copyStream copies src to dst until the end of src and returns the number of bytes. It
// unwraps bare connections, so that the kernel can move the bytes between sockets.
func copyStream(dst, src net.Conn) (int64, error) {
	if b, ok := dst.(bare); ok {
		dst = b.Conn
	}
	b, ok := src.(bare)
	if !ok {
		return io.Copy(dst, src)
	}
	// What was read ahead comes first.
	n, err := io.CopyN(dst, b.w.in, int64(b.w.in.Buffered()))
	if err == nil {
		var more int64
		more, err = io.Copy(dst, b.Conn)
		n += more
	}
	return n, err
}

// listenForward listens on the forwarder's address. It creates the socket directly,
// because net.Listen first probes IPv6 and the backlog, which costs a quarter of a
// millisecond at boot. It shares no address: in gVisor's network a socket with SO_REUSEADDR that
// listens at all addresses leaves each single one to any program with the same option.
func listenForward(address string) (net.Listener, error) {
	listener, err := listenTCP(address, false)
	return listener, choir.Wrap("guest.forward", choir.CodeUnavailable, err, "open the way to the egress door at %s", address)
}

// listenTCP listens at an IPv4 address. With again it may do so while connections of an earlier
// listener there still end.
func listenTCP(address string, again bool) (net.Listener, error) {
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
	if again {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
			return nil, err
		}
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}); err != nil {
		return nil, err
	}
	if err := unix.Listen(fd, unix.SOMAXCONN); err != nil {
		return nil, err
	}
	return net.FileListener(f)
}
