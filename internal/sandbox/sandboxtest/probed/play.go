package probed

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"choiros/internal/guest/roledoor"
)

// Host is the environment of one of the programs below.
type Host struct {
	Args           []string // after the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Path is where the program finds a file that is named relative to its working
	// folder.
	Path func(string) string
	// Dial opens a stream to the control plane as any program of the sandbox does.
	Dial func(context.Context, roledoor.Door) (net.Conn, error)
}

// Say and the following constants name the programs that the contract's cases run: they
// are the first argument of the probe. A driver without processes runs Play instead.
const (
	Say  = "say"  // OUT ERR CODE: writes OUT and ERR to its outputs, and exits with CODE
	Cat  = "cat"  // writes what it reads
	Wait = "wait" // says that it is there, and waits for its end
	Put  = "put"  // FILE TEXT: writes a file
	Ask  = "ask"  // says whom the egress door takes it for
)

var plays = map[string]func(context.Context, Host) (int, error){
	Say: writeOutputs, Cat: cat, Wait: waitForEnd, Put: put, Ask: askDoor,
}

// Play runs the program that the first argument names and returns its exit code; played
// is false if it names none.
func Play(ctx context.Context, h Host) (code int, played bool) {
	if len(h.Args) == 0 || plays[h.Args[0]] == nil {
		return 0, false
	}
	code, err := plays[h.Args[0]](ctx, h)
	if err != nil {
		io.WriteString(h.Stderr, err.Error()+"\n")
		return 1, true
	}
	return code, true
}

func writeOutputs(_ context.Context, h Host) (int, error) {
	io.WriteString(h.Stdout, h.Args[1])
	io.WriteString(h.Stderr, h.Args[2])
	return strconv.Atoi(h.Args[3])
}

func cat(_ context.Context, h Host) (int, error) {
	_, err := io.Copy(h.Stdout, h.Stdin)
	return 0, err
}

func waitForEnd(ctx context.Context, h Host) (int, error) {
	io.WriteString(h.Stdout, "waiting\n")
	select {
	case <-ctx.Done():
	case <-time.After(time.Hour): // without it Go would end a process that waits for nothing
	}
	return 0, nil
}

func put(_ context.Context, h Host) (int, error) {
	return 0, os.WriteFile(h.Path(h.Args[1]), []byte(h.Args[2]), 0o644)
}

func askDoor(ctx context.Context, h Host) (int, error) {
	conn, err := h.Dial(ctx, roledoor.Egress)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "?\n"); err != nil {
		return 0, err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	io.WriteString(h.Stdout, answer)
	return 0, err
}

// PlayRole acts as a role: it sends the line "role" over a stream to the egress door, and
// returns when its input ends.
func PlayRole(ctx context.Context, input io.Reader, dial func(context.Context, roledoor.Door) (net.Conn, error)) error {
	conn, err := dial(ctx, roledoor.Egress)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "role\n"); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, input)
	return err
}
