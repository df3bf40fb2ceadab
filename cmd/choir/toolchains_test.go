package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/config"
	"choiros/internal/control/api"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/sandboxtest"
)

// TestToolchainsThatShowTooMuch names folders that no sandbox may see; choir
// does not start.
func TestToolchainsThatShowTooMuch(t *testing.T) {
	m := newMachine(t, "")
	home := filepath.Join(filepath.Dir(m.data), "me")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	m.env = []string{"HOME=" + home}
	for dir, why := range map[string]string{
		m.data: "data folder", filepath.Dir(m.data): "home folder", home: "home folder", "/": "much more than a toolchain",
		filepath.Join(home, "gone"): "not a folder", "tools": "not an absolute path",
	} {
		m.configure(fmt.Sprintf("[runtime]\ntoolchains = [%q]\n", dir))
		for _, command := range []string{"up", "doctor"} {
			m.refuses(t, 2, choir.CodeInvalid, why, command)
		}
	}
}

// TestDoctorSaysHowToShowAToolchain follows the doctor's advice.
func TestDoctorSaysHowToShowAToolchain(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "")
	dir := sandboxtest.DataDir(t)
	tool := filepath.Join(dir, "closed", "rust")
	programs := map[string]string{
		filepath.Join(tool, "bin", "cargo"): "echo cargo of the test",
		filepath.Join(dir, "bin", "rustc"):  "echo " + tool,
	}
	for path, line := range programs {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+line+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	chmod(t, filepath.Join(dir, "closed"), 0o700)
	m.env = []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH")}
	before := m.cargo(t)
	if before.OK {
		t.Skip("sandboxes on this machine see a cargo anyway: " + before.Detail)
	}
	want := fmt.Sprintf("toolchains = [%q]", tool)
	if !strings.Contains(before.Remedy, "runtime."+want) || !strings.Contains(before.Detail, tool) {
		t.Fatalf("the advice is %+v", before)
	}
	m.configure("[runtime]\n" + want + "\n")
	if after := m.cargo(t); !after.OK || !strings.Contains(after.Detail, "cargo of the test") {
		t.Errorf("not running: %+v", after)
	}
	if os.Geteuid() == 0 {
		// The sandbox's user is then another one.
		chmod(t, filepath.Join(tool, "bin", "cargo"), 0o700)
		if c := m.cargo(t); c.OK || !strings.Contains(c.Remedy, "chmod -R o+rX "+tool) {
			t.Errorf("not for everybody: %+v", c)
		}
		chmod(t, filepath.Join(tool, "bin", "cargo"), 0o755)
	}
	m.up().healthy()
	if after := m.cargo(t); !after.OK || !strings.Contains(after.Detail, "cargo of the test") {
		t.Errorf("running: %+v", after)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// cargo is what the doctor says about it.
func (m *machine) cargo(t *testing.T) sandbox.Check {
	t.Helper()
	var d api.Doctor
	if err := json.Unmarshal([]byte(m.must("doctor", "--json")), &d); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(d.Checks, func(c sandbox.Check) bool { return c.Name == sandbox.ToolCargo })
	if i < 0 {
		t.Fatalf("no word about cargo: %+v", d.Checks)
	}
	return d.Checks[i]
}

// TestDoctorNamesTheCommandForAToolThatIsNowhere gives the doctor a tool that this machine does not
// have, for each kind of sandbox.
func TestDoctorNamesTheCommandForAToolThatIsNowhere(t *testing.T) {
	t.Parallel()
	a := &app{printer: newPrinter(newConsole(io.Discard, io.Discard), func(string) string { return "" })}
	for mode, want := range map[string]string{
		"local": "install it with: apt-get install -y python3-pytest", "gvisor": "install it with: apt-get install -y python3-pytest",
		"container": "install it with: apt-get install -y python3-pytest", "microvm": "", "sprites": "",
	} {
		file := config.Default()
		file.Runtime.Mode = mode
		if c := a.suggest(sandbox.CheckTool(sandbox.ToolPytest, "", false), file, config.Host{}, nil); c.Remedy != want {
			t.Errorf("%s: the remedy is %q, want %q", mode, c.Remedy, want)
		}
	}
}
