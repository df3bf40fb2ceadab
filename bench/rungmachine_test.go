package bench

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestTheFirstProcessOfBareQEMUSaysItsText runs the program on this machine.
func TestTheFirstProcessOfBareQEMUSaysItsText(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the program is for amd64")
	}
	const text = "choir\n"
	path := filepath.Join(t.TempDir(), "init")
	if err := os.WriteFile(path, sayingProgram(text), 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), path)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := make([]byte, len(text))
	if _, err := io.ReadFull(out, said); err != nil || string(said) != text {
		t.Errorf("it said %q, %v", said, err)
	}
	if err := c.Process.Kill(); err != nil { // it waits, and has not ended
		t.Error(err)
	}
	_ = c.Wait() // it was killed
}
