package roledoor

import (
	"context"
	"errors"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// Dialer opens streams from a role's process to the doors of the control plane. It is
// safe for concurrent use.
type Dialer struct{ conn *net.UnixConn }

// Inherited returns the dialer for the descriptor that choir-init passed to this process,
// and closes the descriptor for child processes. Call it once, before any process is
// started. If choir-init did not start this process the error is code unavailable.
func Inherited() (*Dialer, error) {
	unix.CloseOnExec(FD)
	f := os.NewFile(FD, "role door")
	if f == nil {
		return nil, choir.E("roledoor.open", choir.CodeUnavailable, "there is no descriptor %d", FD)
	}
	return NewDialer(f)
}

// NewDialer returns a dialer for the role's end of a door, and closes the file.
func NewDialer(end *os.File) (*Dialer, error) {
	conn, err := seqpacket(end)
	if err != nil {
		return nil, choir.Wrap("roledoor.open", choir.CodeUnavailable, err, "use the descriptor that choir-init passed")
	}
	return &Dialer{conn}, nil
}

// To returns a function that opens streams to one door.
func (d *Dialer) To(door Door) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) { return d.Dial(ctx, door) }
}

// Dial opens a stream to a door. It waits until a control plane accepts it; ctx bounds
// the wait. If init refuses the error is code unavailable.
func (d *Dialer) Dial(ctx context.Context, door Door) (net.Conn, error) {
	answer, err := d.ask(door)
	if err != nil {
		return nil, choir.Wrap("roledoor.dial", choir.CodeUnavailable, err, "ask for the %s door", door)
	}
	defer answer.Close()
	stop := context.AfterFunc(ctx, func() { answer.Close() })
	defer stop()
	conn, err := receive(answer)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, choir.Wrap("roledoor.dial", choir.CodeCancelled, ctx.Err(), "wait for the %s door", door)
	default:
		return nil, choir.Wrap("roledoor.dial", choir.CodeUnavailable, err, "open the %s door", door)
	}
}

// ask sends a request and returns the socket on which the answer arrives.
func (d *Dialer) ask(door Door) (*net.UnixConn, error) {
	mine, theirs, err := pair()
	if err != nil {
		return nil, err
	}
	_, _, err = d.conn.WriteMsgUnix([]byte(door), unix.UnixRights(int(theirs.Fd())), nil)
	theirs.Close()
	if err != nil {
		mine.Close()
		return nil, err
	}
	return seqpacket(mine)
}

// receive waits for the descriptor of a stream and returns it as a connection.
func receive(answer *net.UnixConn) (net.Conn, error) {
	f, _, err := readWithFile(answer)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, errors.New("choir-init answered without a stream")
	}
	defer f.Close()
	return net.FileConn(f)
}

// Close closes the dialer; open streams stay open.
func (d *Dialer) Close() error { return d.conn.Close() }

// pair returns two connected SOCK_SEQPACKET sockets, which child processes do not
// inherit.
func pair() (a, b *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "role door"), os.NewFile(uintptr(fds[1]), "role door"), nil
}

// seqpacket returns a connection for a unix socket's file, which it closes.
func seqpacket(f *os.File) (*net.UnixConn, error) {
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	if u, ok := conn.(*net.UnixConn); ok {
		return u, nil
	}
	conn.Close()
	return nil, errors.New("it is no unix socket")
}

// readWithFile reads one message and returns the first descriptor sent with it, nil if
// none, and its bytes. Further descriptors are closed. io.EOF means that the other end is
// closed.
func readWithFile(conn *net.UnixConn) (*os.File, []byte, error) {
	var buf [maxName + 1]byte
	oob := make([]byte, unix.CmsgSpace(4*4))
	n, oobn, _, _, err := conn.ReadMsgUnix(buf[:], oob)
	if err == nil && n == 0 && oobn == 0 {
		err = io.EOF
	}
	if err != nil {
		return nil, nil, err
	}
	var first *os.File
	messages, _ := unix.ParseSocketControlMessage(oob[:oobn])
	for _, m := range messages {
		fds, _ := unix.ParseUnixRights(&m)
		for _, fd := range fds {
			if first == nil {
				first = os.NewFile(uintptr(fd), "passed")
				continue
			}
			unix.Close(fd)
		}
	}
	return first, buf[:n], nil
}
