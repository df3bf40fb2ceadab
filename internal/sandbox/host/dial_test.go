package host

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// TestDialInTrustsNoFolder connects in a folder that another user may have filled: to a socket
// of the right process, to one of another process, to a link, and to a plain file. The path of
// the folder is longer than a socket's address may be.
func TestDialInTrustsNoFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 30))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := ListenIn(dir, "real")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.FileListener(f)
	f.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		pid  int
		code choir.Code
	}{
		{"real", os.Getpid(), ""}, {"real", os.Getpid() + 1, choir.CodeForbidden}, {"link", os.Getpid(), choir.CodeForbidden},
		{"plain", os.Getpid(), choir.CodeForbidden}, {"none", os.Getpid(), choir.CodeUnavailable},
	} {
		conn, err := DialIn(t.Context(), dir, c.name, c.pid)
		if err == nil {
			conn.Close()
		}
		if (err == nil) != (c.code == "") || err != nil && choir.CodeOf(err) != c.code {
			t.Errorf("%s by process %d: %v", c.name, c.pid, err)
		}
	}
}
