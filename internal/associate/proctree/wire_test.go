package proctree

import (
	"encoding/json"
	"os"
	"syscall"
	"testing"
)

// The far end wakes up for each write; a message in pieces costs each command two
// switches more.
func TestAMessageIsOneWrite(t *testing.T) {
	t.Parallel()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0) // which keeps writes apart
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fds[1])
	w, err := newWire(os.NewFile(uintptr(fds[0]), "wire"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.conn.Close()
	if err := w.send(request{Op: opRun, ID: 7, Argv: []string{"true"}}, os.Stdin); err != nil {
		t.Fatal(err)
	}
	packet, rights := make([]byte, 1<<10), make([]byte, syscall.CmsgSpace(4))
	n, oobn, _, _, err := syscall.Recvmsg(fds[1], packet, rights, 0)
	if passed, err := rightsIn(rights[:oobn]); err == nil {
		for _, fd := range passed {
			syscall.Close(fd)
		}
	}
	var got request
	if err != nil || n < 4 || oobn == 0 || json.Unmarshal(packet[4:n], &got) != nil || got.ID != 7 {
		t.Errorf("%d bytes and %d of descriptors came with the first write: %v, %v", n, oobn, got, err)
	}
}
