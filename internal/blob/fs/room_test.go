package fs

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// TestContentLeavesTheReserveFree fills a small disk with content until it is
// refused: what the control plane writes beside it still fits.
func TestContentLeavesTheReserveFree(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	dir := t.TempDir()
	if err := syscall.Mount("choir-test", dir, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("this machine does not let root mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// One that is larger than the disk leaves nothing behind.
	if _, _, err := s.Put(t.Context(), io.LimitReader(rand.Reader, 100<<20)); choir.CodeOf(err) != choir.CodeNoSpace {
		t.Fatalf("got %v", err)
	}
	for i := 0; ; i++ {
		if _, _, err = s.Put(t.Context(), io.LimitReader(rand.Reader, 3<<20)); err != nil {
			break
		}
		if i > 30 {
			t.Fatal("it took more than the disk has")
		}
	}
	if choir.CodeOf(err) != choir.CodeNoSpace {
		t.Fatalf("got %v", err)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil || int64(st.Bavail)*st.Bsize < 64<<20/reserveShare-checkRoomEvery/4 {
		t.Errorf("%v, %d bytes are free", err, int64(st.Bavail)*st.Bsize)
	}
	// The journal's next events, say.
	if err := os.WriteFile(fmt.Sprintf("%s/own", dir), make([]byte, 2<<20), 0o600); err != nil {
		t.Error(err)
	}
}

// TestZerosTakeNoRoom keeps a long run of zeros as a hole, and reads it back whole.
func TestZerosTakeNoRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	content := make([]byte, 32<<20)
	copy(content[10<<20+7:], "in the middle")
	d, n, err := s.Put(t.Context(), bytes.NewReader(content))
	if err != nil || n != int64(len(content)) || d != choir.DigestOf(content) {
		t.Fatalf("%v %d %s", err, n, d)
	}
	var st unix.Stat_t
	if err := unix.Stat(s.path(d), &st); err != nil || st.Size != int64(len(content)) || st.Blocks*512 > 1<<20 {
		t.Errorf("%v: %d bytes in %d blocks", err, st.Size, st.Blocks)
	}
	r, err := s.Open(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%v, %d bytes", err, len(got))
	}
}
