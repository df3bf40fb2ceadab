package guest

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"choiros/internal/guest/roledoor"
)

// BenchmarkConnection is a connection of the role until the first byte of the
// control plane, which knows by then who called: with a stream from init, and, as
// the peer, with a socket of the host whose caller is looked up by its number.
func BenchmarkConnection(b *testing.B) {
	b.Run("stream", func(b *testing.B) {
		in := serve(b, nil)
		door, end, err := roledoor.Listen()
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(b.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			in.server.serveRoleDoor(ctx, door, 1)
		}()
		dialer, err := roledoor.NewDialer(end)
		if err != nil {
			b.Fatal(err)
		}
		l := in.Listen(roledoor.Bus, CallerRole, 16)
		greet(b, l, func(c net.Conn) bool { return c.(*Stream).Caller == CallerRole })
		b.Cleanup(func() { dialer.Close(); cancel(); <-done })
		connections(b, dialer.To(roledoor.Bus))
	})
	b.Run("looked up", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "bus.sock")
		l, err := net.Listen("unix", path)
		if err != nil {
			b.Fatal(err)
		}
		greet(b, l, func(c net.Conn) bool {
			pid, err := PeerPID(c)
			if err != nil {
				return false
			}
			status, err := os.ReadFile("/proc/" + strconv.Itoa(int(pid)) + "/status")
			return err == nil && strings.Contains(string(status), "\nNSpid:\t"+strconv.Itoa(os.Getpid()))
		})
		connections(b, func(ctx context.Context) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		})
	})
}

// greet says a byte to every caller that is known, and then what it says back.
func greet(b *testing.B, l net.Listener, known func(net.Conn) bool) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { // ends with its connection
				defer c.Close()
				if known(c) {
					c.Write([]byte("!"))
					io.Copy(c, struct{ io.Reader }{c})
				}
			}()
		}
	}()
	b.Cleanup(func() { l.Close(); <-ended })
}

// connections measures how long one takes, and what then goes over it.
func connections(b *testing.B, dial func(context.Context) (net.Conn, error)) {
	var one [1]byte
	open := func(b *testing.B) net.Conn {
		c, err := dial(b.Context())
		if err == nil {
			_, err = c.Read(one[:])
		}
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			open(b).Close()
		}
	})
	b.Run("exchange of 1 KiB", func(b *testing.B) {
		c := open(b)
		defer c.Close()
		message := make([]byte, 1<<10)
		for b.Loop() {
			if _, err := c.Write(message); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(c, message); err != nil {
				b.Fatal(err)
			}
		}
	})
}
