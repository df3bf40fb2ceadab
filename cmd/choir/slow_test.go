package main

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"choiros/internal/choir"
)

// TestASenderWhoNeverEndsIsCutOff: a request whose headers come a byte at a
// time holds its connection for seconds, not for ever, and nobody else waits.
func TestASenderWhoNeverEndsIsCutOff(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "")
	r := m.up()
	r.healthy()
	host := strings.TrimPrefix(r.Address, "http://")
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	began := time.Now()
	drip(t, conn, "GET / HTTP/1.1\r\nHost: "+host+"\r\nX-Slow: ")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it was cut off after %v", took)
	}
	r.page()
}

// drip sends a beginning and then a byte at a time, until the other side ends
// the connection.
func drip(t *testing.T, conn net.Conn, beginning string) {
	t.Helper()
	if _, err := io.WriteString(conn, beginning); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 1)
	for began := time.Now(); time.Since(began) < patience; {
		// The other side says nothing to a request that is not whole.
		if err := conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		_, err := conn.Read(answer)
		if err == nil || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
			return
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, "x"); err != nil {
			return
		}
	}
	t.Error("it is never cut off")
}

// TestAProjectThatCannotBeReadIsRefusedWhole: the command line reads as the one
// who calls it, names the file it may not read, and leaves nothing behind.
func TestAProjectThatCannotBeReadIsRefusedWhole(t *testing.T) {
	m := newMachine(t, "")
	m.up().healthy()
	dir := files{"a.txt": "a\n", "secret.txt": "s\n"}.write(t, "closed")
	secret := filepath.Join(dir, "secret.txt")
	if err := os.Chmod(secret, 0); err != nil {
		t.Fatal(err)
	}
	var code int
	var said string
	if os.Geteuid() == 0 {
		code, said = withoutOverride(t, m, "repo", "add", dir)
	} else {
		got := m.run("repo", "add", dir)
		code, said = got.code, got.errOut
	}
	if code != choir.CodeInvalid.ExitCode() || !strings.Contains(said, secret) || !strings.Contains(said, "permission denied") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if list := m.must("repo", "list"); strings.Contains(list, "closed") {
		t.Errorf("it left %s", list)
	}
	if err := os.Chmod(secret, 0o600); err != nil {
		t.Fatal(err)
	}
	m.must("repo", "add", dir)
}

// withoutOverride runs a command as root without root's power to read anything.
func withoutOverride(t *testing.T, m *machine, args ...string) (code int, said string) {
	t.Helper()
	path, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip("setpriv is not installed")
	}
	c := m.command(t.Context(), args...)
	c.Args = append([]string{path, "--bounding-set=-dac_override,-dac_read_search", c.Path}, c.Args[1:]...)
	c.Path = path
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}
