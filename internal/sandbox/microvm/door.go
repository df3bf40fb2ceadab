package microvm

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest/machine"
	"choiros/internal/sandbox/host"
)

// Dial implements sandbox.Sandbox. One stream is open at a time.
func (b *box) Dial(ctx context.Context) (net.Conn, error) {
	conn, err := host.DialDoor(ctx, b.state.Doors)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	s, err := b.open(ctx, conn)
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
func (b *box) open(ctx context.Context, conn net.Conn) (*stream, error) {
	mark := make([]byte, machine.MarkBytes)
	rand.Read(mark) // never fails
	if _, err := b.ask(ctx, machine.AskSession, mark); err != nil {
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

// ask sends a question to the machine's first process and returns what its answer says
// after the mark. What the machine says is no more than its word.
func (b *box) ask(ctx context.Context, what string, mark []byte) (string, error) {
	conn, err := host.DialDoor(ctx, stateDoors(b.state.Doors))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	// The line before may have been cut by the end of another control plane.
	question := what + " " + hex.EncodeToString(mark)
	if _, err := io.WriteString(conn, "\n"+question+"\n"); err != nil {
		return "", err
	}
	lines := bufio.NewScanner(conn)
	lines.Buffer(make([]byte, 256), 256)
	for n := 0; lines.Scan() && n < 64; n++ {
		if rest, ok := strings.CutPrefix(lines.Text(), question); ok {
			return strings.TrimSpace(rest), nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", err
	}
	return "", io.ErrUnexpectedEOF
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
