package roledoor

import (
	"context"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// door is init's listener with the role's dialer.
func door(t *testing.T) (*Listener, *Dialer) {
	t.Helper()
	l, end, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	d, err := NewDialer(end)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return l, d
}

// streamPair is a stream's two ends.
func streamPair(t *testing.T) (inits, planes net.Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]net.Conn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "stream")
		if ends[i], err = net.FileConn(f); err != nil {
			t.Fatal(err)
		}
		f.Close()
		t.Cleanup(func() { ends[i].Close() })
	}
	return ends[0], ends[1]
}

func TestADialerGetsTheStreamThatInitPasses(t *testing.T) {
	l, d := door(t)
	inits, planes := streamPair(t)
	go func() {
		r, err := l.Accept()
		if err != nil || r.Door != Egress {
			t.Errorf("init got %+v, %v", r, err)
			return
		}
		defer r.Close()
		if err := r.Pass(inits.(syscall.Conn)); err != nil {
			t.Error(err)
		}
		inits.Close()
	}()
	got, err := d.To(Egress)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		got.Write([]byte("hello"))
		got.Close() // ends the read below
	}()
	if said, err := io.ReadAll(planes); string(said) != "hello" || err != nil {
		t.Errorf("the other end got %q, %v", said, err)
	}
}

func TestARefusedRequestIsUnavailable(t *testing.T) {
	l, d := door(t)
	go func() {
		r, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		r.Close()
	}()
	if _, err := d.Dial(t.Context(), Bus); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("a refused request is %v", err)
	}
}

func TestARoleThatGivesUpIsNoticed(t *testing.T) {
	l, d := door(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { _, err := d.Dial(ctx, Bus); ended <- err }()
	r, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	gone := r.Gone()
	stop()
	<-gone
	if err := <-ended; choir.CodeOf(err) != choir.CodeCancelled {
		t.Errorf("a request that was given up is %v", err)
	}
}

func TestTheDoorEndsWithTheRole(t *testing.T) {
	l, d := door(t)
	d.Close()
	if r, err := l.Accept(); err == nil {
		t.Errorf("a door without a role gave %+v", r)
	}
}
