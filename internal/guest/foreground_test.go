package guest

import (
	"io"
	"testing"
)

// TestForegroundCountsProgramsAndNoPrompts types into a shell that leads its terminal's
// session, as a person's does, and asks what is in the foreground.
func TestForegroundCountsProgramsAndNoPrompts(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	count := func() int {
		t.Helper()
		n, err := in.Foreground(within(t))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(); n != 0 {
		t.Errorf("without a terminal it says %d", n)
	}
	spec := ExecSpec{Argv: []string{"sh", "-i"}, TTY: &Size{Rows: 24, Cols: 80}, Env: []string{"PS1=", "ENV="}}
	p, err := in.Exec(within(t), spec)
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = p.Wait(w, nil) // it is hung up
		w.Close()
	}()
	out := lines(r)
	say := func(keys, until string) {
		t.Helper()
		if _, err := p.Write([]byte(keys)); err != nil {
			t.Fatal(err)
		}
		for line := range out {
			if line == until {
				return
			}
		}
		t.Fatalf("it never said %q", until)
	}
	say("stty -echo; echo at a $((1))\n", "at a 1")
	say("sh -c 'echo running $((2)); read x; echo over $((3))'\n", "running 2")
	if n := count(); n != 1 {
		t.Errorf("with a program it says %d", n)
	}
	say("\n", "over 3")
	say("echo at a $((4))\n", "at a 4")
	if n := count(); n != 0 {
		t.Errorf("at the prompt it says %d", n)
	}
	say("exec cat\n\nas cat\n", "as cat")
	if n := count(); n != 1 {
		t.Errorf("as another program it says %d", n)
	}
	p.Close()
	for range out {
	}
	<-ended
	for count() != 0 { // init kills it soon
	}
}
