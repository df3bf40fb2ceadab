//go:build !faultpoints

package fault

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const program = `package main

import "choiros/internal/fault"

func main() { fault.Point("a.point.that.leaves.no.trace"); println("done") }
`

// TestAPointLeavesNoTrace builds a program that passes a point, with and without
// the tag, and looks for the point's name in it.
func TestAPointLeavesNoTrace(t *testing.T) {
	for tags, want := range map[string]bool{"": false, "faultpoints": true} {
		dir, err := os.MkdirTemp(".", "trace-") // inside the module, because the package is internal
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600); err != nil {
			t.Fatal(err)
		}
		binary := filepath.Join(t.TempDir(), "program")
		build := exec.Command("go", "build", "-trimpath", "-tags", tags, "-o", binary, "./"+dir)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		raw, err := os.ReadFile(binary)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(raw), "a.point.that.leaves.no.trace"); got != want {
			t.Errorf("with tags %q the point is in the program: %v", tags, got)
		}
	}
}

func TestNothingIsSabotaged(t *testing.T) {
	if NoSync || NoChain || NoTaskKeys {
		t.Error("a part of the contract is left out")
	}
}
