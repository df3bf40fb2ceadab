package guest

import (
	"io"
	"testing"
)

// runSession runs a script as a terminal does.
func runSession(t *testing.T, script string) (p *Process, out <-chan string, ended <-chan Exit) {
	t.Helper()
	in := serve(t, func(c *Config) { c.Session = sessionHelper() })
	spec := sh(script)
	spec.TTY, spec.Session = &Size{Rows: 24, Cols: 80}, true
	p, err := in.Exec(within(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	exit := make(chan Exit, 1)
	go func() {
		x, _ := p.Wait(w, nil)
		w.Close()
		exit <- x
	}()
	return p, lines(r), exit
}

// daemon is a shell's way to start something that has left session, group and
// parents behind.
const daemon = `(setsid setsid sh -c 'echo $$; exec sleep 100' &) ; `

func TestASessionEndsWithAllThatItLeft(t *testing.T) {
	t.Parallel()
	p, out, ended := runSession(t, daemon+`read x; exit 7`)
	pid := <-out
	if _, err := p.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	for range out {
	}
	if x := <-ended; x.Code != 7 || x.Signal != "" {
		t.Errorf("got %+v", x)
	}
	waitGoneProcess(t, pid)
}

func TestAClosedSessionEndsWithAllThatItLeft(t *testing.T) {
	t.Parallel()
	p, out, ended := runSession(t, daemon+`trap '' HUP TERM; sleep 100 & wait`)
	pid := <-out
	p.Close()
	for range out {
	}
	<-ended
	waitGoneProcess(t, pid)
}

func TestAKilledSessionIsGoneWhenItIsTold(t *testing.T) {
	t.Parallel()
	p, out, ended := runSession(t, daemon+`trap '' HUP TERM; sleep 100 & wait`)
	pid := <-out
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	for range out {
	}
	if x := <-ended; x.Signal != "SIGKILL" {
		t.Errorf("got %+v", x)
	}
	waitGoneProcess(t, pid)
}

func TestAHangupReachesTheProgramOfASession(t *testing.T) {
	t.Parallel()
	p, out, ended := runSession(t, `trap 'echo hung up; exit 5' HUP; echo ready; while :; do sleep 0.01; done`)
	<-out
	if err := p.Signal("SIGHUP"); err != nil {
		t.Fatal(err)
	}
	var rest []string
	for line := range out {
		rest = append(rest, line)
	}
	if x := <-ended; x.Code != 5 || len(rest) == 0 || rest[len(rest)-1] != "hung up" {
		t.Errorf("got %+v after %q", x, rest)
	}
}

func TestASessionTellsTheSignalThatEndedIt(t *testing.T) {
	t.Parallel()
	_, out, ended := runSession(t, `kill -KILL $$`)
	for range out {
	}
	if x := <-ended; x.Signal != "SIGKILL" {
		t.Errorf("got %+v", x)
	}
}

func TestASessionOwnsItsTerminal(t *testing.T) {
	t.Parallel()
	p, out, ended := runSession(t, `trap 'echo interrupted; exit 3' INT; ps -o sid= -p $$ | tr -d ' '; echo $$; while :; do sleep 0.01; done`)
	if sid, pid := <-out, <-out; sid != pid {
		t.Errorf("process %s leads no session, it is in %s", pid, sid)
	}
	if _, err := p.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	for range out {
	}
	if x := <-ended; x.Code != 3 {
		t.Errorf("^C ended it with %+v", x)
	}
}

func TestNoSessionWithoutItsHelper(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	spec := sh("true")
	spec.Session = true
	_, err := in.Run(within(t), spec, nil, 1)
	wantCode(t, err, "unavailable")
}
