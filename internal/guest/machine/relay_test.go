package machine

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ends are the host's ends of a relay's ports, and choir-init behind it.
type ends struct {
	data, state net.Conn
	lines       *bufio.Reader
	inits       chan net.Conn
}

func startRelay(t *testing.T) ends {
	t.Helper()
	data, portData := net.Pipe()
	state, portState := net.Pipe()
	e := ends{data: data, state: state, lines: bufio.NewReader(state), inits: make(chan net.Conn, 8)}
	r := newRelay(portData)
	r.dial = func() (net.Conn, error) {
		here, there := net.Pipe()
		e.inits <- there
		return here, nil
	}
	var serving sync.WaitGroup
	serving.Go(func() { r.serve(portState) })
	t.Cleanup(func() {
		for _, c := range []io.Closer{portData, portState, data, state} {
			c.Close()
		}
		serving.Wait()
		r.back.Wait()
	})
	return e
}

// open opens a stream with a mark and returns choir-init's end of it.
func (e ends) open(t *testing.T, mark, before string) net.Conn {
	t.Helper()
	question := AskSession + " " + hex.EncodeToString([]byte(mark)) + "\n"
	io.WriteString(e.state, "cut off by an end\n"+question)
	if line, err := e.lines.ReadString('\n'); line != question || err != nil {
		t.Fatalf("it answers %q, %v", line, err)
	}
	var sent sync.WaitGroup
	sent.Go(func() { io.WriteString(e.data, before+mark) })
	got := make([]byte, len(mark))
	if _, err := io.ReadFull(e.data, got); string(got) != mark || err != nil {
		t.Fatalf("the mark that comes back is %q, %v", got, err)
	}
	sent.Wait()
	return <-e.inits
}

// piece reads a piece of what choir-init says.
func (e ends) piece(t *testing.T) string {
	t.Helper()
	var head [HeadBytes]byte
	if _, err := io.ReadFull(e.data, head[:]); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(e.data, text); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestStreamsBeginBehindTheirMark opens two streams, each behind what another control
// plane left on the way: choir-init gets what comes after the mark, and its end is seen.
func TestStreamsBeginBehindTheirMark(t *testing.T) {
	e := startRelay(t)
	for _, mark := range []string{"0123456789abcdef", "fedcba9876543210"} {
		init := e.open(t, mark, "left by another "+mark[:8])
		go io.WriteString(e.data, "question")
		got := make([]byte, len("question"))
		if _, err := io.ReadFull(init, got); string(got) != "question" || err != nil {
			t.Fatalf("init reads %q, %v", got, err)
		}
		io.WriteString(init, "answer")
		if got := e.piece(t); got != "answer" {
			t.Errorf("the answer is %q", got)
		}
		init.Close()
		if got := e.piece(t); got != "" {
			t.Errorf("its end is %q", got)
		}
	}
}

func TestUsageIsAsked(t *testing.T) {
	e := startRelay(t)
	question := AskUsage + " " + strings.Repeat("ab", MarkBytes)
	go io.WriteString(e.state, question+" nonsense\n"+strings.Repeat("x", 4096)+"\n"+question+"\n")
	if line, err := e.lines.ReadString('\n'); !strings.HasPrefix(line, question) || err != nil {
		t.Errorf("it answers %q, %v", line, err)
	}
}

func TestTheCommandLineOfAMachineIsReadAgain(t *testing.T) {
	c := Config{Processes: 7, Memory: 1 << 30, CPUMilli: 250, Workspace: true, Tmp: 9, Files: 8, Vsock: true, Args: []string{"--max-files", "256"}}
	args := c.Flags()
	// The kernel passes nothing on behind the second "--" of its command line.
	if args[0] != BootArg || slices.Contains(args, "--") {
		t.Fatalf("it begins with %q", args[0])
	}
	got, err := Parse(args[1:])
	if err != nil || got.Processes != 7 || got.Memory != 1<<30 || !got.Workspace || !got.Vsock || strings.Join(got.Args, " ") != "--max-files 256" {
		t.Errorf("%+v, %v", got, err)
	}
}
