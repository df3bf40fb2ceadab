package proctree

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// maxMessage limits the size of a message, in bytes. The kernel limits arguments and
// environment to far less.
const maxMessage = 8 << 20

// wire sends and receives messages on a unix socket: a big-endian length, then JSON. File
// descriptors are sent beside the length.
type wire struct {
	conn *net.UnixConn
	mu   sync.Mutex // guards writing: one message at a time
}

// newWire returns a wire on the socket f, which it closes.
func newWire(f *os.File) (*wire, error) {
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, choir.Wrap("proctree.open", choir.CodeInternal, err, "take up the socket")
	}
	f.Close()
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		conn.Close()
		return nil, choir.E("proctree.open", choir.CodeInternal, "the descriptor is no unix socket")
	}
	return &wire{conn: socket}, nil
}

// send sends v as JSON together with the descriptors of files.
func (w *wire) send(v any, files ...*os.File) error {
	body, err := json.Marshal(v)
	if err != nil {
		return choir.Wrap("proctree.send", choir.CodeInternal, err, "encode a message")
	}
	if len(body) > maxMessage {
		return choir.E("proctree.send", choir.CodeTooLarge, "a message of %d bytes", len(body))
	}
	message := append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body))), body...)
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		rights = syscall.UnixRights(fds...)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	// As a whole, so that the far end wakes up once for it; what does not fit follows.
	n, _, err := w.conn.WriteMsgUnix(message, rights, nil)
	if err == nil && n < len(message) {
		_, err = w.conn.Write(message[n:])
	}
	return err
}

// await blocks until a message or an error can be received. It blocks the thread in poll,
// which wakes a locked goroutine faster than the runtime's poller.
func (w *wire) await() {
	raw, err := w.conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for {
			if _, err := unix.Poll(polled, -1); err != unix.EINTR {
				return
			}
		}
	})
}

// receive decodes the next message into v and returns the file descriptors that came with
// it, which the caller closes. Only one goroutine may call it.
func (w *wire) receive(v any) ([]int, error) {
	var head [4]byte
	oob := make([]byte, syscall.CmsgSpace(4*4))
	n, oobn, _, _, err := w.conn.ReadMsgUnix(head[:], oob)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, io.EOF
	}
	fds, err := rightsIn(oob[:oobn])
	if err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(w.conn, head[n:]); err != nil {
		return fds, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxMessage {
		return fds, choir.E("proctree.receive", choir.CodeTooLarge, "a message of %d bytes", size)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(w.conn, body); err != nil {
		return fds, err
	}
	return fds, json.Unmarshal(body, v)
}

// rightsIn returns the file descriptors in a control message.
func rightsIn(oob []byte) ([]int, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var fds []int
	for _, m := range messages {
		more, err := syscall.ParseUnixRights(&m)
		if err != nil {
			return fds, err
		}
		fds = append(fds, more...)
	}
	return fds, nil
}
