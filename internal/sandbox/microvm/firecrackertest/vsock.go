package firecrackertest

import (
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"choiros/internal/guest/machine"
)

// vsock is the host's end of a machine's vsock, as Firecracker's docs/vsock.md describes it.
type vsock struct {
	socket             net.Listener
	streams, questions *port
	numbers            atomic.Uint32 // of the host's ends
}

// firstNumber is the first number that Firecracker gives to the host's end of a connection.
const firstNumber = 1 << 30

func listenVsock(path string) (*vsock, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, refuse("Vsock config error: Cannot create backend for vsock device: %v", err)
	}
	v := &vsock{socket: l, streams: newPort(), questions: newPort()}
	v.numbers.Store(firstNumber)
	go v.serve()
	return v, nil
}

func (v *vsock) serve() {
	for {
		conn, err := v.socket.Accept()
		if err != nil {
			return // it was closed
		}
		go v.forward(conn)
	}
}

// forward hands a connection to the port that it asks for, or closes it.
func (v *vsock) forward(conn net.Conn) {
	to, err := v.readPort(conn)
	if err == nil {
		_, err = fmt.Fprintf(conn, "OK %d\n", v.numbers.Add(1))
	}
	if err != nil || !to.hand(conn) {
		conn.Close()
	}
}

// readPort reads "CONNECT PORT\n" and not a byte more.
func (v *vsock) readPort(conn net.Conn) (*port, error) {
	var line []byte
	for one := make([]byte, 1); ; {
		if _, err := io.ReadFull(conn, one); err != nil || len(line) > 32 {
			return nil, fmt.Errorf("the line %q: %v", line, err)
		}
		if one[0] == '\n' {
			break
		}
		line = append(line, one[0])
	}
	number, ok := strings.CutPrefix(string(line), "CONNECT ")
	n, err := strconv.Atoi(number)
	to := map[int]*port{machine.ControlVsock: v.streams, machine.StateVsock: v.questions}[n]
	if !ok || err != nil || to == nil {
		return nil, fmt.Errorf("nothing listens at %q", line)
	}
	return to, nil
}

// close ends the machine's ports and the socket.
func (v *vsock) close() {
	v.socket.Close()
	v.streams.Close()
	v.questions.Close()
}

// port is a port at which the machine listens.
type port struct {
	coming chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newPort() *port { return &port{coming: make(chan net.Conn), closed: make(chan struct{})} }

// hand hands a connection to the machine; false if it has ended.
func (p *port) hand(conn net.Conn) bool {
	select {
	case p.coming <- conn:
		return true
	case <-p.closed:
		return false
	}
}

// Accept implements net.Listener.
func (p *port) Accept() (net.Conn, error) {
	select {
	case conn := <-p.coming:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *port) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *port) Addr() net.Addr { return &net.UnixAddr{Net: "unix", Name: "vsock"} }
