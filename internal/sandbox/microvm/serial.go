package microvm

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest/machine"
	"choiros/internal/sandbox/host"

	"golang.org/x/sys/unix"
)

// serialLine is the way into a machine of QEMU: two virtual serial lines, whose ends on the
// host are sockets in the folder of doors. One stream is open at a time.
type serialLine struct{ doors string }

// stateDoors returns the folder of the second line, which asks the machine how it is.
func stateDoors(doors string) string { return filepath.Join(doors, "state") }

func (l serialLine) many() bool { return false }

func (l serialLine) stream(ctx context.Context) (net.Conn, error) {
	conn, err := host.DialDoor(ctx, l.doors)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	s, err := l.open(ctx, conn)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, choir.Wrap("microvm.dial", choir.CodeUnavailable, err, "open the control door")
	}
	return s, nil
}

// open asks the machine for a new stream and marks its beginning, see machine.AskSession.
func (l serialLine) open(ctx context.Context, conn net.Conn) (*stream, error) {
	mark := make([]byte, machine.MarkBytes)
	rand.Read(mark) // never fails
	if _, err := ask(ctx, l, machine.AskSession, mark); err != nil {
		return nil, err
	}
	if _, err := conn.Write(mark); err != nil {
		return nil, err
	}
	s := &stream{Conn: conn, in: bufio.NewReaderSize(conn, machine.HeadBytes+machine.MostBytes)}
	return s, passOver(s.in, mark)
}

// mostPassed bounds what an earlier stream may have left on the way: more is a machine that
// does not hold to the protocol.
const mostPassed = 64 << 20

// passOver reads up to and with the mark.
func passOver(in *bufio.Reader, mark []byte) error {
	for passed := 0; passed < mostPassed; {
		if _, err := in.Peek(len(mark)); err != nil {
			return err
		}
		seen, _ := in.Peek(in.Buffered()) // which is there
		at := bytes.Index(seen, mark)
		if at >= 0 {
			_, err := in.Discard(at + len(mark))
			return err
		}
		n, err := in.Discard(len(seen) - len(mark) + 1) // the mark may begin in the rest
		if err != nil {
			return err
		}
		passed += n
	}
	return choir.E("microvm.dial", choir.CodeTooLarge, "the machine sent %d bytes instead of the mark of the stream", mostPassed)
}

func (l serialLine) questions(ctx context.Context) (net.Conn, error) {
	return host.DialDoor(ctx, stateDoors(l.doors))
}

// remove removes both sockets, unless they are the next machine's. It is idempotent.
func (l serialLine) remove(context.Context) error {
	if err := host.RemoveDoor(l.doors); err != nil {
		return err
	}
	if err := host.RemoveDoor(stateDoors(l.doors)); err != nil {
		return err
	}
	err := os.Remove(stateDoors(l.doors))
	if os.IsNotExist(err) || errors.Is(err, unix.ENOTEMPTY) {
		return nil
	}
	return choir.Wrap("microvm.door", choir.CodeInternal, err, "remove the second door")
}

// stream is the host's end of the stream to choir-init. What comes is in pieces behind
// their length, the last one of which is empty.
type stream struct {
	net.Conn
	in   *bufio.Reader
	left int // of the piece
	over bool
}

// Read implements net.Conn.
func (s *stream) Read(p []byte) (int, error) {
	for s.left == 0 && !s.over && len(p) > 0 {
		var head [machine.HeadBytes]byte
		if _, err := io.ReadFull(s.in, head[:]); err != nil {
			return 0, err
		}
		n := binary.BigEndian.Uint32(head[:])
		if n > machine.MostBytes {
			return 0, choir.E("microvm.read", choir.CodeTooLarge, "a piece has %d bytes", n)
		}
		s.left, s.over = int(n), n == 0
	}
	if s.over {
		return 0, io.EOF
	}
	n, err := s.in.Read(p[:min(len(p), s.left)])
	if s.left -= n; err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
