package guest

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"choiros/internal/choir"
)

// inside is a running server and a client of it.
type inside struct {
	*Client
	server    *Server
	workspace string
	served    chan error
	stop      context.CancelFunc
}

// serve runs a server over a real socket in this process until the test ends.
func serve(t testing.TB, change func(*Config)) *inside {
	t.Helper()
	door := filepath.Join(t.TempDir(), "control.sock")
	listener, err := net.Listen("unix", door)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		Version: "test", Listener: listener, Workspace: t.TempDir(),
		Allow: func(net.Conn) error { return nil }, Env: Environment(nil, ""), Programs: NewReaper(false),
	}
	if change != nil {
		change(&cfg)
	}
	ctx, stop := context.WithCancel(context.Background())
	in := &inside{workspace: cfg.Workspace, served: make(chan error, 1), stop: stop}
	in.Client = NewClient(func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", door)
	})
	in.server = NewServer(cfg)
	go func() { in.served <- in.server.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		select {
		case <-in.served:
		case <-time.After(time.Minute):
			t.Error("the server does not end")
		}
	})
	return in
}

// within bounds a test's operations.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func wantCode(t *testing.T, err error, code choir.Code) {
	t.Helper()
	if choir.CodeOf(err) != code {
		t.Fatalf("got %v (code %q), want code %q", err, choir.CodeOf(err), code)
	}
}

func TestHello(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	info, err := in.Hello(within(t))
	if err != nil || info.Version != "test" {
		t.Fatalf("got %+v, %v", info, err)
	}
}

func TestPeersInsideAreRefused(t *testing.T) {
	t.Parallel()
	in := serve(t, func(c *Config) { c.Allow = OutsideOnly })
	_, err := in.Hello(within(t))
	wantCode(t, err, choir.CodeForbidden)
}

func TestAnOrphanEnds(t *testing.T) {
	t.Parallel()
	patience := 20 * time.Millisecond
	in := serve(t, func(c *Config) { c.Orphan = patience })
	a, err := in.Attach(within(t))
	for ; err != nil && patience < time.Minute; a, err = in.Attach(within(t)) { // attaching took longer, on a busy machine
		patience *= 2
		in = serve(t, func(c *Config) { c.Orphan = patience })
	}
	if err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-in.served:
		t.Fatalf("ended while attached: %v", err)
	case <-time.After(5 * patience):
	}
	a.Close()
	err = <-in.served
	wantCode(t, err, choir.CodeTimeout)
	in.served <- err // for the cleanup
}

func TestAttachmentEndsWithTheSandbox(t *testing.T) {
	t.Parallel()
	in := serve(t, nil)
	a, err := in.Attach(within(t))
	if err != nil {
		t.Fatal(err)
	}
	in.stop()
	<-a.Done()
	wantCode(t, a.Err(), choir.CodeUnavailable)
	if _, open := <-a.Notices(); open {
		t.Error("a notice after the end")
	}
	a.Close()
}

// crowdedListener has no room for a connection a few times.
type crowdedListener struct {
	net.Listener
	times atomic.Int32
}

func (l *crowdedListener) Accept() (net.Conn, error) {
	if l.times.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "unix", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

func TestALackOfDescriptorsEndsNoServer(t *testing.T) {
	t.Parallel()
	in := serve(t, func(c *Config) {
		crowded := &crowdedListener{Listener: c.Listener}
		crowded.times.Store(3)
		c.Listener = crowded
	})
	if _, err := in.Hello(within(t)); err != nil {
		t.Error(err)
	}
}
