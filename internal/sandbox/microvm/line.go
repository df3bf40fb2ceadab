package microvm

import (
	"bufio"
	"context"
	"encoding/hex"
	"io"
	"net"
	"strings"
	"time"
)

// line is the way into a machine. It is found again from a handle alone.
type line interface {
	// many reports whether there may be any number of streams at once.
	many() bool
	// stream opens a stream to choir-init.
	stream(ctx context.Context) (net.Conn, error)
	// questions opens a connection to the machine's first process, see ask.
	questions(ctx context.Context) (net.Conn, error)
	// remove removes what the line has on the host, once the machine has ended. It is
	// idempotent.
	remove(ctx context.Context) error
}

// ask sends a question to the machine's first process and returns what its answer says
// after the mark. What the machine says is no more than its word.
func ask(ctx context.Context, l line, what string, mark []byte) (string, error) {
	conn, err := l.questions(ctx)
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
