package roledoor

import (
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// Listener is init's end of one role's door.
type Listener struct{ conn *net.UnixConn }

// Listen makes a door. It returns the listener, and the role's end, which the caller
// passes to the role's process as descriptor FD and then closes.
func Listen() (*Listener, *os.File, error) {
	mine, theirs, err := pair()
	if err != nil {
		return nil, nil, choir.Wrap("roledoor.listen", choir.CodeUnavailable, err, "make the role's door")
	}
	conn, err := seqpacket(mine)
	if err != nil {
		theirs.Close()
		return nil, nil, choir.Wrap("roledoor.listen", choir.CodeUnavailable, err, "make the role's door")
	}
	return &Listener{conn}, theirs, nil
}

// Accept waits for the next request of the role. An error means that the door was closed,
// or that no process has the role's end any more.
func (l *Listener) Accept() (*Request, error) {
	for {
		answer, name, err := readWithFile(l.conn)
		if err != nil {
			return nil, err
		}
		if answer == nil {
			continue // nobody to be told
		}
		conn, err := seqpacket(answer)
		if err != nil {
			continue
		}
		return &Request{Door: Door(name), answer: conn}, nil
	}
}

// Close closes the door. Accepted requests and streams stay open.
func (l *Listener) Close() error { return l.conn.Close() }

// Request is a role's request for a stream.
type Request struct {
	Door   Door
	answer *net.UnixConn
}

// Gone returns a channel that is closed once the role does not wait any more. Call it at
// most once; its goroutine ends at the latest with Close.
func (r *Request) Gone() <-chan struct{} {
	gone := make(chan struct{})
	go func() { // ends with the answer's socket
		defer close(gone)
		var one [1]byte
		r.answer.Read(one[:])
	}()
	return gone
}

// Pass sends the descriptor of a stream to the role. The caller then closes its own.
func (r *Request) Pass(stream syscall.Conn) error {
	raw, err := stream.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = raw.Control(func(fd uintptr) {
		_, _, sent = r.answer.WriteMsgUnix([]byte{1}, unix.UnixRights(int(fd)), nil)
	})
	if err != nil {
		return err
	}
	return sent
}

// Close ends the request; without a Pass before, it refuses it.
func (r *Request) Close() error { return r.answer.Close() }
