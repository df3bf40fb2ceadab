package guest

import (
	"fmt"
	"io"
	"net"
	"testing"

	"choiros/internal/choir"
)

// echo answers every connection with what it sends, until the test ends.
func echo(t *testing.T, l net.Listener) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			io.Copy(c, c)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended })
}

func exchange(t *testing.T, c net.Conn, words string) string {
	t.Helper()
	if _, err := io.WriteString(c, words); err != nil {
		t.Fatal(err)
	}
	if err := c.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	return string(got)
}

func TestDialPort(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	echo(t, l)
	port := l.Addr().(*net.TCPAddr).Port
	c, err := in.DialPort(within(t), port)
	if err != nil {
		t.Fatal(err)
	}
	if got := exchange(t, c, "hello"); got != "hello" {
		t.Errorf("got %q", got)
	}
	l.Close()
	// A child that another test forks holds the listener until its exec.
	for ctx := within(t); err == nil; {
		if c, err = in.DialPort(ctx, port); err == nil {
			c.Close()
		}
	}
	wantCode(t, err, choir.CodeUnavailable)
	p := choir.ProblemOf(err)
	if want := fmt.Sprintf("nothing listens at port %d of the sandbox", port); p.Message != want || p.Remedy == "" {
		t.Errorf("people are told %q (%s), not %q", p.Message, p.Remedy, want)
	}
	_, err = in.DialPort(within(t), 0)
	wantCode(t, err, choir.CodeInvalid)
	_, err = in.DialPort(within(t), 70000)
	wantCode(t, err, choir.CodeInvalid)
}
