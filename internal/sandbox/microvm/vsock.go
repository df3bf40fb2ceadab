package microvm

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest/machine"
	"choiros/internal/sandbox/host"
)

// vsockLine is the way into a machine of Firecracker: its vsock, whose end on the host is a
// unix socket in the machine's folder. Nothing listens there for the machine, so no
// connection leads out of it.
type vsockLine struct {
	of *state // the handle's, whose process alone may listen
}

func (l vsockLine) many() bool { return true }

func (l vsockLine) stream(ctx context.Context) (net.Conn, error) {
	return l.connect(ctx, machine.ControlVsock)
}

func (l vsockLine) questions(ctx context.Context) (net.Conn, error) {
	return l.connect(ctx, machine.StateVsock)
}

// remove ends what is left of the machine's processes and removes its folder.
func (l vsockLine) remove(ctx context.Context) error {
	if l.of.Room == "" {
		return nil // it was not made
	}
	for _, pid := range roomProcesses(l.of.Name) {
		if err := host.KillAndWait(ctx, pid); err != nil {
			return err
		}
	}
	err := os.RemoveAll(filepath.Dir(l.of.Room))
	return choir.Wrap("microvm.destroy", choir.CodeInternal, err, "remove the folder of a machine")
}

// connect opens a connection to a port of the machine, as Firecracker's docs/vsock.md says.
// Code unavailable: the machine has ended, or nothing listens at that port.
func (l vsockLine) connect(ctx context.Context, port int) (net.Conn, error) {
	const op = "microvm.dial"
	conn, err := host.DialIn(ctx, l.of.Room, l.of.Socket, l.of.PID)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	err = askFor(conn, port)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, choir.Wrap(op, choir.CodeUnavailable, err, "reach port %d of the machine", port)
	}
	return conn, nil
}

// longestAnswer is one byte more than the longest answer: OK, a space, a number of 32 bits and
// the end of the line.
const longestAnswer = len("OK 4294967295\n") + 1

// askFor asks for a port, and reads the answer and not a byte more.
func askFor(conn net.Conn, port int) error {
	if _, err := fmt.Fprintf(conn, "CONNECT %d\n", port); err != nil {
		return err
	}
	var line []byte
	for one := make([]byte, 1); len(line) < longestAnswer; {
		if _, err := io.ReadFull(conn, one); err != nil {
			return choir.Wrap("microvm.dial", choir.CodeUnavailable, err, "nothing listens there")
		}
		if one[0] != '\n' {
			line = append(line, one[0])
			continue
		}
		number, ok := strings.CutPrefix(string(line), "OK ")
		if _, err := strconv.ParseUint(number, 10, 32); ok && err == nil {
			return nil
		}
		break
	}
	return choir.E("microvm.dial", choir.CodeUnavailable, "the answer is %q, not OK and a number", line)
}
