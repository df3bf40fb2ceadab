package guest

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"testing"
)

// benchmarkBytes is how much goes through a tunnel each time.
const benchmarkBytes = 16 << 20

// BenchmarkTunnel sends to a port inside and reads from it: through the smallest tunnel
// there is, which is the peer, through init over a stream of its own, and through init
// over one stream that everything shares.
func BenchmarkTunnel(b *testing.B) {
	port := servePort(b)
	for _, way := range []struct {
		name string
		dial func(b *testing.B) func(context.Context) (net.Conn, error)
	}{
		{"bare", func(b *testing.B) func(context.Context) (net.Conn, error) { return bareTunnel(b, port) }},
		{"separate streams", func(b *testing.B) func(context.Context) (net.Conn, error) {
			client := serve(b, nil).Client
			return func(ctx context.Context) (net.Conn, error) { return client.DialPort(ctx, port) }
		}},
		{"one stream", func(b *testing.B) func(context.Context) (net.Conn, error) {
			client := overOneStream(b, serve(b, nil))
			return func(ctx context.Context) (net.Conn, error) { return client.DialPort(ctx, port) }
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			dial := way.dial(b)
			b.Run("to", func(b *testing.B) { transfer(b, dial, 'w') })
			b.Run("from", func(b *testing.B) { transfer(b, dial, 'r') })
			b.Run("exchange of 1 KiB", func(b *testing.B) { pingPong(b, dial) })
		})
	}
}

// servePort listens at a port: of a caller that says w it reads benchmarkBytes, to one
// that says r it writes them, and any other's bytes it sends back.
func servePort(b *testing.B) int {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { // ends with its connection
				defer c.Close()
				answerTransfer(c)
			}()
		}
	}()
	_, text, _ := net.SplitHostPort(l.Addr().String())
	port, err := strconv.Atoi(text)
	if err != nil {
		b.Fatal(err)
	}
	return port
}

func answerTransfer(c net.Conn) {
	buf := make([]byte, 64<<10)
	if _, err := io.ReadFull(c, buf[:1]); err != nil {
		return
	}
	switch buf[0] {
	case 'w':
		if n, _ := io.CopyBuffer(struct{ io.Writer }{io.Discard}, io.LimitReader(c, benchmarkBytes), buf); n == benchmarkBytes {
			c.Write([]byte("!"))
		}
	case 'r':
		for sent := 0; sent < benchmarkBytes; sent += len(buf) {
			if _, err := c.Write(buf); err != nil {
				return
			}
		}
	default:
		io.CopyBuffer(struct{ io.Writer }{c}, struct{ io.Reader }{c}, buf)
	}
}

// bareTunnel joins connections to a socket with a port, and does nothing else.
func bareTunnel(b *testing.B, port int) func(context.Context) (net.Conn, error) {
	path := filepath.Join(b.TempDir(), "tunnel.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { // ends with its connection
				defer c.Close()
				if to, err := dialLoopback(context.Background(), port); err == nil {
					join(c, to)
					to.Close()
				}
			}()
		}
	}()
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
}

func transfer(b *testing.B, dial func(context.Context) (net.Conn, error), way byte) {
	buf := make([]byte, 64<<10)
	b.SetBytes(benchmarkBytes)
	for b.Loop() {
		c, err := dial(b.Context())
		if err == nil {
			_, err = c.Write([]byte{way})
		}
		for sent := 0; way == 'w' && err == nil && sent < benchmarkBytes; sent += len(buf) {
			_, err = c.Write(buf)
		}
		left := int64(benchmarkBytes)
		if way == 'w' {
			left = 1
		}
		if err == nil {
			_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{io.LimitReader(c, left)}, buf)
		}
		if err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}

func pingPong(b *testing.B, dial func(context.Context) (net.Conn, error)) {
	c, err := dial(b.Context())
	if err == nil {
		_, err = c.Write([]byte("e"))
	}
	if err != nil {
		b.Fatal(err)
	}
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
}
