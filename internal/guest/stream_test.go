package guest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest/roledoor"
)

const playArg = "-play-role"

// playRole makes the sandbox's role this test binary, playing a part.
func playRole(t *testing.T, part string) func(*Config) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return roleDir(t, fmt.Sprintf("exec %s %s %s\n", self, playArg, part))
}

// play is the part of a role. It ends with its standard input or as it says.
func play(part []string) int {
	door, err := roledoor.Inherited()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var keep []net.Conn
	for _, word := range part {
		switch word {
		case "bus", "egress", "nowhere":
			conn, err := door.Dial(context.Background(), roledoor.Door(word))
			if err != nil {
				fmt.Fprintln(os.Stderr, choir.CodeOf(err))
				return 2
			}
			io.WriteString(conn, word+" of "+fmt.Sprint(os.Getpid())+"\n")
			keep = append(keep, conn)
		case "leak": // leaves the last stream to a child that outlives this process
			f, err := keep[len(keep)-1].(*net.UnixConn).File()
			if err != nil {
				return 3
			}
			child := exec.Command("sh", "-c", "echo $$ >&3; exec cat <&3")
			child.ExtraFiles = []*os.File{f}
			if child.Start() != nil {
				return 3
			}
			return 0
		case "fork": // a child that gets nothing on purpose
			out, _ := exec.Command("sh", "-c", "for f in /proc/$$/fd/*; do readlink $f; done").CombinedOutput()
			fmt.Fprint(keep[0], strings.ReplaceAll(string(out), "\n", " ")+"\n")
		}
	}
	io.Copy(io.Discard, os.Stdin)
	return 0
}

// linesOf reads what comes over a stream, line by line.
func linesOf(t *testing.T, c net.Conn) func() (string, error) {
	r := bufio.NewReader(c)
	return func() (string, error) {
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		return r.ReadString('\n')
	}
}

func TestARoleIsKnownByItsDescriptor(t *testing.T) {
	t.Parallel()
	in := serve(t, playRole(t, "bus egress fork"))
	ctx := within(t)
	pid, err := in.StartRole(ctx, spec(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	for i, door := range []roledoor.Door{roledoor.Bus, roledoor.Egress} {
		s, err := in.Accept(ctx, door, CallerRole)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		read := linesOf(t, s)
		if got, err := read(); err != nil || got != fmt.Sprintf("%s of %d\n", door, pid) || s.Caller != CallerRole {
			t.Errorf("%q, %v as %s", got, err, s.Caller)
		}
		if i > 0 {
			continue
		}
		defer func() {
			if got, err := read(); err != nil || strings.Contains(got, "socket:") || !strings.Contains(got, "pipe:") {
				t.Errorf("the role's child has %q, %v", got, err)
			}
		}()
	}
}

func TestAToolIsNotTheRole(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	in := serve(t, func(c *Config) { c.Proxy = address })
	ctx := within(t)
	tools, role := in.Listen(roledoor.Egress, CallerTool, 4), in.Listen(roledoor.Egress, CallerRole, 4)
	defer tools.Close()
	answered := make(chan *Stream, 1)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := role.Accept()
			if err != nil {
				return
			}
			answered <- c.(*Stream)
		}
	})
	defer serving.Wait()
	defer role.Close()
	if _, err := in.Hello(ctx); err != nil {
		t.Fatal(err)
	}
	echo(t, tools)
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if got := exchange(t, c, "out"); got != "out" {
		t.Errorf("got %q", got)
	}
	select {
	case s := <-answered:
		s.Close()
		t.Errorf("a tool's stream came as one of the %s", s.Caller)
	default:
	}
	for door, caller := range map[roledoor.Door]Caller{roledoor.Bus: CallerTool, "nowhere": CallerRole, roledoor.Egress: "system"} {
		_, err := in.Accept(ctx, door, caller)
		wantCode(t, err, choir.CodeInvalid)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	return free.Addr().String()
}

func TestAnUnknownDoorIsRefused(t *testing.T) {
	t.Parallel()
	in := serve(t, playRole(t, "nowhere"))
	ctx := within(t)
	a, err := in.Attach(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := in.StartRole(ctx, spec(`{}`)); err != nil {
		t.Fatal(err)
	}
	if n := <-a.Notices(); n.Exit.Code != 2 || strings.TrimSpace(n.Output) != string(choir.CodeUnavailable) {
		t.Errorf("got %+v, %s", n.Exit, n.Output)
	}
}

// A stream that the role gave to a child on purpose speaks as the role while the
// role lives, which is the role's own act, and for nobody afterwards.
func TestAStreamEndsWithTheRoleThatOpenedIt(t *testing.T) {
	t.Parallel()
	in := serve(t, playRole(t, "egress leak"))
	ctx := within(t)
	a, err := in.Attach(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	l := in.Listen(roledoor.Egress, CallerRole, 4)
	defer l.Close()
	if _, err := in.StartRole(ctx, spec(`{}`)); err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	read := linesOf(t, c)
	for range 2 { // the role's and the child's
		if got, err := read(); err != nil {
			t.Fatalf("%q, %v", got, err)
		}
	}
	n := <-a.Notices()
	if n.Launch != 1 {
		t.Errorf("the notice is of launch %d", n.Launch)
	}
	l.EndRole(n.Launch)
	if got, err := read(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the stream still says %q, %v", got, err)
	}
	if l.admit(&Stream{Caller: CallerRole, launch: n.Launch}) {
		t.Error("a stream of the role that ended is admitted")
	}
	if next := (&Stream{Caller: CallerRole, launch: n.Launch + 1}); !l.admit(next) {
		t.Error("a stream of the next role is not admitted")
	}
}

// What waits in the sandbox while no control plane is there goes to the next one.
func TestAStreamWaitsForTheNextControlPlane(t *testing.T) {
	t.Parallel()
	in := serve(t, playRole(t, "bus"))
	ctx := within(t)
	gone, cancel := context.WithCancel(ctx)
	cancelled := make(chan error, 1)
	go func() {
		_, err := in.Accept(gone, roledoor.Bus, CallerRole)
		cancelled <- err
	}()
	cancel()
	wantCode(t, <-cancelled, choir.CodeCancelled)
	if _, err := in.StartRole(ctx, spec(`{}`)); err != nil {
		t.Fatal(err)
	}
	s, err := in.Accept(ctx, roledoor.Bus, CallerRole)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, err := linesOf(t, s)(); err != nil || !strings.HasPrefix(got, "bus of ") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAListenerHoldsNoMoreThanItsPlaces(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	in := serve(t, func(c *Config) { c.Proxy = address })
	if _, err := in.Hello(within(t)); err != nil {
		t.Fatal(err)
	}
	l := in.Listen(roledoor.Egress, CallerTool, 2)
	accepted := make(chan net.Conn)
	var serving sync.WaitGroup
	serving.Go(func() {
		defer close(accepted)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	})
	var mine []net.Conn
	for range 3 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		mine = append(mine, c)
	}
	first := <-accepted
	second := <-accepted
	select {
	case <-accepted:
		t.Error("a third stream stands where two may")
	case <-time.After(100 * time.Millisecond):
	}
	first.Close()
	third := <-accepted
	for _, c := range []net.Conn{second, third} {
		c.Close()
	}
	l.Close()
	serving.Wait()
	for _, c := range mine {
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.Copy(io.Discard, c); err != nil {
			t.Error(err)
		}
	}
}

// A role that reads no more is ended, and nothing else is.
func TestARoleThatHangsIsKilled(t *testing.T) {
	t.Parallel()
	in := serve(t, roleDir(t, `read line; while :; do sleep 0.05; done`))
	ctx := within(t)
	a, err := in.Attach(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	reads := sh("read line")
	reads.Stdin = true
	other, err := in.Exec(ctx, reads)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := in.StartRole(ctx, spec(`{}`)); err != nil {
		t.Fatal(err)
	}
	line := []byte(`"` + strings.Repeat("x", 2000) + `"`)
	sent := 0
	for err == nil && sent < 20 {
		err = in.SendCredentials(ctx, line)
		sent++
	}
	wantCode(t, err, choir.CodeUnavailable)
	if sent > 4 {
		t.Errorf("noticed after %d lines", sent)
	}
	if n := <-a.Notices(); n.Exit.Signal != "SIGKILL" {
		t.Errorf("got %+v", n.Exit)
	}
	if p, ok := readProcess(other.PID()); !ok || p.state == 'Z' {
		t.Error("a command ended with the role")
	}
}
