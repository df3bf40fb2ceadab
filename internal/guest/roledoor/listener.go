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

// Listen makes a door: the listener, and the end to be passed to the role's
// process as descriptor FD and closed then.
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

// Accept waits for a request. An error means that the door is closed, by Close
// or because no process has the role's end any more.
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

// Close ends Accept. Requests and streams stay.
func (l *Listener) Close() error { return l.conn.Close() }

// Request is a stream that the role wants.
type Request struct {
	Door   Door
	answer *net.UnixConn
}

// Gone is closed once the role no longer waits. It is called at most once, and
// Close ends what it starts.
func (r *Request) Gone() <-chan struct{} {
	gone := make(chan struct{})
	go func() { // ends with the answer's socket
		defer close(gone)
		var one [1]byte
		r.answer.Read(one[:])
	}()
	return gone
}

// Pass gives the role a stream. The caller then closes its own descriptor of it.
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

// Close refuses the request unless a stream was passed.
func (r *Request) Close() error { return r.answer.Close() }
