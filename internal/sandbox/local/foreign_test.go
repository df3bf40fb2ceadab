//go:build amd64

package local_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox/local"
	"choiros/internal/sandbox/sandboxtest"
)

// foreignProgram is a program for 32-bit x86 whose first system call ends it with
// code 42.
func foreignProgram() []byte {
	const base, headers = 0x08048000, 52 + 32
	code := []byte{0xb8, 1, 0, 0, 0, 0xbb, 42, 0, 0, 0, 0xcd, 0x80} // mov eax, 1; mov ebx, 42; int 0x80
	out := append([]byte("\x7fELF\x01\x01\x01"), make([]byte, 9)...)
	short := func(all ...uint16) {
		for _, v := range all {
			out = binary.LittleEndian.AppendUint16(out, v)
		}
	}
	long := func(all ...uint32) {
		for _, v := range all {
			out = binary.LittleEndian.AppendUint32(out, v)
		}
	}
	short(2, 3) // an executable for i386
	long(1, base+headers, 52, 0, 0)
	short(52, 32, 1, 0, 0, 0)
	size := uint32(headers + len(code))
	long(1, 0, base, base, size, size, 5, 0x1000) // all of the file, readable and executable
	return append(out, code...)
}

// TestAProgramOfAnotherMachineTypeIsKilled runs a program for 32-bit x86 on the
// host, where it ends as it likes, and in a sandbox, where its first system call
// must not be made.
func TestAProgramOfAnotherMachineTypeIsKilled(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "foreign")
	if err := os.WriteFile(outside, foreignProgram(), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(outside)
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 42 {
		t.Skipf("this kernel runs no programs for 32-bit x86: %v", err)
	}
	d := local.New(local.Config{StateDir: sandboxtest.DataDir(t)})
	defer d.Close()
	b, err := d.Create(t.Context(), spec(t, choir.RoleAssociate))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Destroy(t.Context())
	c := guest.NewClient(b.Dial)
	if _, err := c.WriteFile(t.Context(), "foreign", 0o755, mustOpen(t, outside)); err != nil {
		t.Fatal(err)
	}
	out, err := c.Run(t.Context(), guest.ExecSpec{Argv: []string{"./foreign"}}, nil, 1000)
	if err != nil || out.Exit.Signal != "SIGSYS" {
		t.Errorf("it ended with %+v, %v: %s", out.Exit, err, out.Stderr)
	}
}

func mustOpen(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
