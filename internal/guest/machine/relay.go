package machine

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The lines on the state port. The driver asks with AskSession or AskUsage and a mark of
// MarkBytes random bytes in hex; the answer repeats both and, for AskUsage, adds three
// numbers.
const (
	AskSession = "session"
	AskUsage   = "usage"
	MarkBytes  = 16
)

// HeadBytes is how many bytes the length before a piece has, MostBytes how long one is.
const (
	HeadBytes = 4
	MostBytes = 32 << 10
)

// idle is how long the relay waits before it looks again for a control plane.
const idle = 20 * time.Millisecond

type ports struct{ data, state *os.File }

// openPorts opens the two serial ports by the names that the driver gave them.
func openPorts() (ports, error) {
	var p ports
	const class = "/sys/class/virtio-ports"
	for deadline := time.Now().Add(5 * time.Second); p.data == nil || p.state == nil; {
		entries, _ := os.ReadDir(class) // they come a moment after their module
		for _, e := range entries {
			name, _ := os.ReadFile(class + "/" + e.Name() + "/name")
			where := map[string]**os.File{DataPort: &p.data, StatePort: &p.state}[strings.TrimSpace(string(name))]
			if where == nil || *where != nil {
				continue
			}
			f, err := os.OpenFile("/dev/"+e.Name(), os.O_RDWR|unix.O_NONBLOCK, 0)
			if err != nil {
				return p, err
			}
			*where = f
		}
		if time.Now().After(deadline) {
			return p, errors.New("the machine lacks its serial ports")
		}
		time.Sleep(time.Millisecond)
	}
	return p, nil
}

// relay carries one stream at a time between the data port and choir-init's control door.
// A control plane marks the beginning of its stream: both ends pass over everything before
// the mark, which is what an earlier control plane left on the way.
type relay struct {
	data io.ReadWriter
	dial func() (net.Conn, error) // to choir-init

	mu   sync.Mutex // guards what follows
	mark []byte     // of the stream that is to come; nil for none
	conn net.Conn   // to choir-init, of the stream under way
	back sync.WaitGroup

	carrying sync.WaitGroup
}

func newRelay(data io.ReadWriter) *relay {
	return &relay{data: data, dial: func() (net.Conn, error) { return net.Dial("unix", control) }}
}

// serve carries streams and answers the lines of the state port, for as long as the machine
// runs.
func (r *relay) serve(state io.ReadWriter) {
	r.carrying.Go(r.readPort)
	defer r.carrying.Wait()
	lines := bufio.NewReaderSize(state, 256)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			if isClosed(err) {
				return
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				time.Sleep(idle) // no control plane is there, and a port cannot be waited on then
			}
			continue
		}
		what, mark, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		raw, err := hex.DecodeString(mark)
		if err != nil || len(raw) != MarkBytes {
			continue
		}
		switch what {
		case AskSession:
			r.expect(raw)
			io.WriteString(state, AskSession+" "+mark+"\n")
		case AskUsage:
			io.WriteString(state, AskUsage+" "+mark+" "+usage()+"\n")
		}
	}
}

// isClosed reports whether this end of a port was closed, which ends the relay.
func isClosed(err error) bool {
	return errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}

// expect ends the stream under way and makes readPort begin another at the mark.
func (r *relay) expect(mark []byte) {
	r.closeStream()
	r.mu.Lock()
	r.mark = mark
	r.mu.Unlock()
}

// closeStream closes the stream under way.
func (r *relay) closeStream() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn != nil {
		r.conn.Close()
		r.conn = nil
	}
}

// readPort reads the data port and passes what it reads to choir-init.
func (r *relay) readPort() {
	buf := make([]byte, 64<<10)
	var passed []byte // over which a mark may reach
	for {
		n, err := r.data.Read(buf)
		if n == 0 {
			if err != nil {
				r.closeStream() // the control plane is gone
			}
			if isClosed(err) {
				return
			}
			time.Sleep(idle) // a port cannot be waited on while its far end is closed
			continue
		}
		r.mu.Lock()
		mark, conn := r.mark, r.conn
		r.mu.Unlock()
		data := buf[:n]
		if mark != nil {
			passed = append(passed, data...)
			at := bytes.Index(passed, mark)
			if at < 0 {
				passed = passed[max(0, len(passed)-len(mark)):]
				continue
			}
			data = bytes.Clone(passed[at+len(mark):])
			passed = nil
			if conn = r.openStream(mark); conn == nil {
				continue
			}
		}
		if conn != nil {
			if _, err := conn.Write(data); err != nil {
				r.closeStream()
			}
		}
	}
}

// openStream opens the stream of a mark, answers the mark, and passes on what choir-init
// says. It returns the connection to choir-init, nil if that has ended.
func (r *relay) openStream(mark []byte) net.Conn {
	r.back.Wait() // the end of the last one's writer, so that nothing of it follows the mark
	conn, err := r.dial()
	if err != nil {
		return nil // choir-init has ended, and the machine is about to
	}
	r.mu.Lock()
	r.mark, r.conn = nil, conn
	r.mu.Unlock()
	r.back.Go(func() {
		defer conn.Close()
		if _, err := r.data.Write(mark); err == nil {
			r.carryBack(conn)
		}
	})
	return conn
}

// carryBack passes what choir-init says, in pieces behind their length. The last one is
// empty: the far end of a port cannot see that this end has closed.
func (r *relay) carryBack(conn net.Conn) {
	buf := make([]byte, HeadBytes+MostBytes)
	for {
		n, err := conn.Read(buf[HeadBytes:])
		if err != nil {
			n = 0
		}
		binary.BigEndian.PutUint32(buf, uint32(n))
		if _, failed := r.data.Write(buf[:HeadBytes+n]); failed != nil || n == 0 {
			return
		}
	}
}
