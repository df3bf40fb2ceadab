package guest

import (
	"bytes"
	"context"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// relayed runs a server that has one connection, and a relay before it, and returns a
// client of the relay's socket and the relay's end.
func relayed(t *testing.T) (in *inside, c *Client, ended <-chan error) {
	t.Helper()
	outer, inner, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	in = serve(t, func(cfg *Config) {
		cfg.Listener.Close()
		cfg.Listener = SingleListener(inner)
	})
	door := filepath.Join(t.TempDir(), "relay.sock")
	listener, err := net.Listen("unix", door)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- Relay(context.Background(), listener, outer) }()
	return in, NewClient(func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", door)
	}), done
}

// TestRelay checks that many connections reach a server that has one, both ways and
// half closed, and that the relay ends with the server.
func TestRelay(t *testing.T) {
	in, c, ended := relayed(t)
	content := strings.Repeat("0123456789abcdef", 1<<14)
	for range 3 {
		if _, err := c.WriteFile(within(t), "f", 0, strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		r, err := c.ReadFile(within(t), "f")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); string(got) != content || err != nil {
			t.Errorf("%d bytes came back: %v", len(got), err)
		}
		r.Close()
	}
	out, err := c.Run(within(t), ExecSpec{Argv: []string{"/bin/cat"}}, []byte(content), 1<<20)
	if err != nil || !bytes.Equal(out.Stdout, []byte(content)) {
		t.Errorf("%d bytes of standard input came back: %v", len(out.Stdout), err)
	}
	in.stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	_, err = c.Hello(within(t))
	wantCode(t, err, choir.CodeUnavailable)
}

// TestARelaysEndIsTheServers checks that a server that nobody can reach any more ends.
func TestARelaysEndIsTheServers(t *testing.T) {
	outer, inner, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	in := serve(t, func(cfg *Config) {
		cfg.Listener.Close()
		cfg.Listener = SingleListener(inner)
	})
	outer.Close()
	select {
	case err := <-in.served:
		in.served <- err
	case <-within(t).Done():
		t.Error("it lives on")
	}
}

// TestARelayBeforeSomethingElse checks that what answers in another way is refused.
func TestARelayBeforeSomethingElse(t *testing.T) {
	outer, inner, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "relay.sock"))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		inner.Write(bytes.Repeat([]byte{0xff}, 1<<16))
		inner.Close()
	}()
	if err := Relay(within(t), listener, outer); err == nil {
		t.Error("it was taken for choir-init")
	}
}
